"""The lock of an index, on a real Elasticsearch."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from elasticsearch import Elasticsearch

from indexer.build.builder import Built
from indexer.errors import Locked
from indexer.generations import block_writes, list_generations
from indexer.lock import Lock
from indexer.records import Origin, RawPost
from indexer.retry import Retry
from indexer.state import state_index


def change_lock(elastic: Elasticsearch, alias: str, **changes: Any) -> None:
    """As if another process had changed it."""
    held = elastic.get(index=state_index(alias), id="lock")["_source"]
    elastic.index(index=state_index(alias), id="lock", document={**held, **changes})


class TestLock:
    def test_excludes_others(self, elastic: Elasticsearch, alias: str) -> None:
        path = os.fsdecode(b"caf\xe9")
        with (
            Lock(elastic, alias, f"sync {path}", lease=1),
            pytest.raises(Locked, match=r"process \d+ on .* \(sync caf\?\), since"),
            Lock(elastic, alias, "reindex"),
        ):
            pytest.fail("two hold the lock")
        with Lock(elastic, alias, "reindex"):
            pass

    def test_of_a_killed_process_is_free_after_the_lease(
        self, elastic: Elasticsearch, alias: str
    ) -> None:
        hold = "\n".join(
            (
                "import sys, time",
                "from elasticsearch import Elasticsearch",
                "from indexer.lock import Lock",
                "with Lock(Elasticsearch(sys.argv[1]), sys.argv[2], 'build', lease=1):",
                "    print('held', flush=True)",
                "    time.sleep(60)",
            )
        )
        url = elastic.transport.node_pool.get().base_url
        holder = subprocess.Popen(
            [sys.executable, "-c", hold, url, alias], stdout=subprocess.PIPE, text=True
        )
        try:
            assert holder.stdout
            assert holder.stdout.readline() == "held\n"
            with pytest.raises(Locked), Lock(elastic, alias, "reindex", lease=1):
                pytest.fail("two hold the lock")
        finally:
            holder.kill()
            holder.communicate()

        def take() -> None:
            with Lock(elastic, alias, "reindex", lease=1) as lock:
                lock.check()

        # Elasticsearch may still be applying the last renewal of the killed process.
        Retry(total=10, is_repeatable=lambda error: isinstance(error, Locked)).call(take)

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
        generations = {
            generation.name: generation for generation in list_generations(elastic, alias)
        }
        assert {live, other} <= set(generations)
        assert generations[live].state == "live"
        assert generations[live].write_blocked
