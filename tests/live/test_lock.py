"""The lock of an index, on a real Elasticsearch."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import psutil
import pytest
from elasticsearch import Elasticsearch

from indexer.build.builder import Built
from indexer.errors import Locked
from indexer.generations import block_writes, list_generations
from indexer.lock import LEASE, Lock, start_time
from indexer.records import Origin, RawPost
from indexer.state import state_index


def leave_lock(elastic: Elasticsearch, alias: str, **changes: Any) -> None:
    """The lock as another process left it."""
    with Lock(elastic, alias, "something else"):
        held = elastic.get(index=state_index(alias), id="lock")["_source"]
    elastic.index(index=state_index(alias), id="lock", document={**held, **changes})


def change_lock(elastic: Elasticsearch, alias: str, **changes: Any) -> None:
    """As if another process had changed it."""
    held = elastic.get(index=state_index(alias), id="lock")["_source"]
    elastic.index(index=state_index(alias), id="lock", document={**held, **changes})


def dead_process() -> dict[str, Any]:
    """The pid and start of a process that was killed."""
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    started = start_time(psutil.Process(process.pid))
    process.kill()
    process.wait()
    return {"pid": process.pid, "started": started}


class TestLock:
    def test_excludes_others(self, elastic: Elasticsearch, alias: str) -> None:
        with (
            Lock(elastic, alias, "sync posts"),
            pytest.raises(Locked, match=r"process \d+ on .* \(sync posts\), since"),
            Lock(elastic, alias, "reindex"),
        ):
            pytest.fail("two hold the lock")
        with Lock(elastic, alias, "reindex"):
            pass

    def test_shows_a_path_that_is_not_utf_8(self, elastic: Elasticsearch, alias: str) -> None:
        path = os.fsdecode(b"caf\xe9")
        with (
            Lock(elastic, alias, f"sync {path}"),
            pytest.raises(Locked, match=r"\(sync caf\?\)"),
            Lock(elastic, alias, "reindex"),
        ):
            pytest.fail("two hold the lock")

    def test_does_not_depend_on_the_clock_of_this_machine(
        self, elastic: Elasticsearch, alias: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        leave_lock(elastic, alias, machine="another")
        monkeypatch.setattr(time, "time", lambda: 4e9)
        with pytest.raises(Locked), Lock(elastic, alias, "reindex"):
            pytest.fail("two hold the lock")

    def test_of_a_dead_process_on_this_machine_is_free(
        self, elastic: Elasticsearch, alias: str
    ) -> None:
        leave_lock(elastic, alias, **dead_process())
        with Lock(elastic, alias, "reindex") as lock:
            lock.check()

    def test_a_reused_process_id_is_another_process(
        self, elastic: Elasticsearch, alias: str
    ) -> None:
        leave_lock(elastic, alias, started=start_time(psutil.Process()) - 1000)
        with Lock(elastic, alias, "reindex"):
            pass

    def test_of_another_machine_lasts_for_its_lease(
        self, elastic: Elasticsearch, alias: str
    ) -> None:
        far = {"machine": "far away", "host": "far", **dead_process()}
        leave_lock(elastic, alias, **far, renewed=time.time() - LEASE + 10)
        with pytest.raises(Locked, match="on far"), Lock(elastic, alias, "reindex"):
            pytest.fail("two hold the lock")
        change_lock(elastic, alias, renewed=time.time() - LEASE - 1)
        with Lock(elastic, alias, "reindex", lease=1):
            pass

    @pytest.mark.parametrize("clock", [0.0, 4e9])
    def test_of_another_machine_depends_on_no_clock(
        self, elastic: Elasticsearch, alias: str, clock: float
    ) -> None:
        """The holder renews it through a node of Elasticsearch whose clock is wrong."""
        far = {"machine": "far away", "renewed": clock}
        leave_lock(elastic, alias, **far)
        stop = threading.Event()

        def renew() -> None:
            while not stop.wait(0.1):
                change_lock(elastic, alias, **far)

        holder = threading.Thread(target=renew)
        holder.start()
        try:
            with pytest.raises(Locked), Lock(elastic, alias, "reindex", lease=3):
                pytest.fail("two hold the lock")
        finally:
            stop.set()
            holder.join()
        with Lock(elastic, alias, "reindex", lease=3):
            pass

    def test_is_renewed(self, elastic: Elasticsearch, alias: str) -> None:
        with Lock(elastic, alias, "reindex", lease=0.3):
            first = elastic.get(index=state_index(alias), id="lock")["_source"]["renewed"]
            deadline = time.monotonic() + 10
            while elastic.get(index=state_index(alias), id="lock")["_source"]["renewed"] == first:
                assert time.monotonic() < deadline

    def test_a_build_that_lost_it_swaps_nothing_and_touches_nothing_else(
        self,
        elastic: Elasticsearch,
        alias: str,
        index_posts: Callable[[Iterable[RawPost]], Built],
    ) -> None:
        post = RawPost(Origin("test"), "a", "A post", "<p>Text</p>")
        live = index_posts([post]).index
        other = f"{alias}-000009"

        def slow() -> Iterator[RawPost]:
            yield post
            # Suspended for longer than the lease; another process took over and is building.
            change_lock(elastic, alias, token="another")
            elastic.indices.create(index=other, aliases={f"{other}-building": {}})
            block_writes(elastic, live)

        with pytest.raises(Locked, match="was lost"):
            index_posts(slow())
        found = {one.name: one for one in list_generations(elastic, alias)}
        assert set(found) == {live, other}
        assert found[live].write_blocked
