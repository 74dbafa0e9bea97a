"""The lock of an index, on a real Elasticsearch."""

import os
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from elasticsearch import Elasticsearch

from indexer.build.builder import Built
from indexer.errors import Locked
from indexer.generations import block_writes, list_generations
from indexer.lock import Lock
from indexer.records import Origin, RawPost
from indexer.state import ensure_state, state_index


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
        killed = {"pid": 1, "host": "another", "purpose": "build", "since": "2024-01-01"}
        elastic.index(index=ensure_state(elastic, alias), id="lock", document=killed)
        started = time.monotonic()
        with Lock(elastic, alias, "reindex", lease=1) as lock:
            assert time.monotonic() - started > 0.9
            lock.check()

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
