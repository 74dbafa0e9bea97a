"""Generations on a real Elasticsearch: build, roll back, recover."""

import json
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import pytest
from elasticsearch import ConnectionError, ConnectionTimeout, Elasticsearch

from analyzers.rules.compile import NO_RULES
from indexer.errors import Damaged, IndexingError, Locked, LockLost
from indexer.posts.records import Origin, RawPost
from indexer.runs.build import Built, IndexSettings, reindex, rollback
from indexer.store.generations import building_alias, list_generations, live_alias, require_live
from indexer.store.state import CLEARING, Lock, ensure_state, read_swap, state_index
from tests.conftest import Run
from tests.live.conftest import Faulty
from tests.writing import delete_post, no_reject, put_comments, put_post

Build = Callable[[Iterable[RawPost]], Built]
Make = Callable[..., Built]
PostOids = Callable[[], set[str]]
SETTINGS = IndexSettings(NO_RULES, 1, 0)


def post(oid: str) -> RawPost:
    return RawPost(Origin("test"), oid, "A post", "<p>Text</p>", pub_date="2024-01-01")


@pytest.fixture
def make(index_posts: Build) -> Make:
    """Build a generation of posts with these oids."""
    return lambda *oids: index_posts(map(post, oids))


def states(elastic: Elasticsearch, alias: str) -> dict[int, str]:
    return {item.number: item.state for item in list_generations(elastic, alias)}


def test_a_rollback_and_a_second_one_lose_no_write(
    elastic: Elasticsearch, alias: str, make: Make, post_oids: PostOids
) -> None:
    make("a", "b", "x")
    make("a", "b", "y")
    put_post(elastic, alias, "new")
    put_post(elastic, alias, "not for long")
    put_comments(elastic, alias, "a", "c")
    delete_post(elastic, alias, "b")
    delete_post(elastic, alias, "not for long")

    back = rollback(elastic, alias)
    assert (back.index, back.previous) == (f"{alias}-000001", f"{alias}-000002")
    assert back.replayed == 3
    assert post_oids() == {"a", "x", "new"}
    assert len(elastic.get(index=alias, id="a")["_source"]["comments"]) == 1

    put_post(elastic, alias, "newer")
    delete_post(elastic, alias, "new")
    forth = rollback(elastic, alias)
    assert forth.index == f"{alias}-000002"
    assert post_oids() == {"a", "y", "newer"}
    put_post(elastic, alias, "newest")
    elastic.indices.delete(index=state_index(alias))
    assert "is lost" in rollback(elastic, alias).lost


SWAP = "POST /_aliases .*must_exist"


def test_swaps_that_fail_lose_no_write(
    elastic: Elasticsearch, alias: str, make: Make, post_oids: PostOids, faulty: Faulty
) -> None:
    make("a")
    make("b")
    with pytest.raises(ConnectionError):
        rollback(faulty(SWAP, ConnectionError("unreachable")), alias)
    blocked = {item.number: item.write_blocked for item in list_generations(elastic, alias)}
    assert states(elastic, alias) == {1: "previous", 2: "live"}
    assert blocked == {1: True, 2: False}

    def suspended(send: Callable[[], Any]) -> Any:
        elastic.delete(index=state_index(alias), id="lock")  # its lease is over
        put_post(elastic, alias, "meanwhile")
        return send()

    with pytest.raises(LockLost):
        rollback(faulty(SWAP, suspended), alias)
    assert post_oids() == {"b", "meanwhile"}
    assert rollback(elastic, alias).index == f"{alias}-000001"
    assert post_oids() == {"a", "meanwhile"}

    def lost(send: Callable[[], Any]) -> Any:
        send()
        raise ConnectionTimeout("no response")

    built = reindex(faulty(SWAP, lost), alias, [post("c")], SETTINGS, no_reject)
    assert (built.index, built.posts) == (f"{alias}-000003", 2)
    assert post_oids() == {"c", "meanwhile"}


@pytest.mark.parametrize("request_", [r"PUT /[\w-]+-000002\?", "PUT .*/_settings"])
def test_a_build_whose_index_cannot_be_made_or_set_changes_nothing(
    elastic: Elasticsearch, alias: str, make: Make, faulty: Faulty, request_: str
) -> None:
    make("a")
    broken = faulty(request_, ConnectionError("unreachable"))
    with pytest.raises(ConnectionError):
        reindex(broken, alias, [post("b")], SETTINGS, no_reject)
    assert states(elastic, alias) == {1: "live"}


def test_a_build_during_a_build_is_refused_and_a_failed_one_leaves_nothing(
    elastic: Elasticsearch, alias: str, make: Make, index_posts: Build
) -> None:
    def raws() -> Iterator[RawPost]:
        yield post("a")
        with pytest.raises(Locked):
            make("b")
        with pytest.raises(Locked):
            rollback(elastic, alias)
        yield post("c")

    assert index_posts(raws()).posts == 2

    def interrupted() -> Iterator[RawPost]:
        yield post("b")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index_posts(interrupted())
    with pytest.raises(IndexingError, match="no posts"):
        make()
    assert states(elastic, alias) == {1: "live"}


def test_indices_and_rollback(run: Run, elastic: Elasticsearch, alias: str, make: Make) -> None:
    assert json.loads(run("indices", "--json").stdout) == []
    assert run("rollback").exit_code == 1
    make("a")
    make("b", "c")
    rows = json.loads(run("indices", "--json").stdout)
    assert [(row["generation"], row["state"], row["posts"]) for row in rows] == [
        (f"{alias}-000001", "previous", "1"),
        (f"{alias}-000002", "live", "2"),
    ]
    assert run("indices").stdout.splitlines()[2].startswith(f"{alias}-000002\tlive\t2\t")
    back = json.loads(run("rollback", "--json").stdout)
    assert (back["index"], back["posts"]) == (f"{alias}-000001", 1)
    stale = f"{alias}-000003"
    elastic.indices.create(index=stale, aliases={building_alias(stale): {}})
    elastic.indices.add_block(index=f"{alias}-000001", block="write")
    assert run("rollback").exit_code == 0
    assert not elastic.indices.exists(index=stale)
    assert not require_live(elastic, alias).write_blocked
    # Numbers are never used twice, and the generation before the live one is kept.
    make("d")
    built = make("e")
    assert (built.index, built.previous) == (f"{alias}-000004", f"{alias}-000003")
    assert states(elastic, alias) == {3: "previous", 4: "live"}
    body = elastic.indices.get(index=built.index)[built.index]
    assert body["settings"]["index"]["refresh_interval"] == "1s"
    assert set(body["aliases"]) == {alias, live_alias(built.index)}
    with pytest.raises(Damaged):
        read_swap(elastic, alias, f"{alias}-000002")  # it was deleted, with what was stored of it


def test_a_build_in_place_of_a_deleted_index_keeps_the_previous_one(
    elastic: Elasticsearch, alias: str, make: Make, post_oids: PostOids
) -> None:
    """It alone has what came over HTTP."""
    make("a")
    put_post(elastic, alias, "sent")
    elastic.indices.delete(index=make("a").index)
    built = make("a")
    assert (built.previous, states(elastic, alias)) == (
        f"{alias}-000001",
        {1: "previous", 3: "live"},
    )
    rollback(elastic, alias)
    assert post_oids() == {"a", "sent"}
    elastic.indices.delete(index=f"{alias}-000001")
    rollback(elastic, alias)
    assert states(elastic, alias) == {3: "live"}
    assert not elastic.indices.exists_alias(name=f"{alias}-previous")


def test_what_no_run_has_made_is_left_alone(
    run: Run, elastic: Elasticsearch, alias: str, make: Make
) -> None:
    restored = f"{alias}-000001"  # from a snapshot, without its aliases
    elastic.indices.create(index=restored)
    for oid in "abc":
        make(oid)
    assert run("rollback").exit_code == 0
    assert states(elastic, alias) == {1: "unknown", 3: "live", 4: "previous"}


def change_lock(elastic: Elasticsearch, alias: str, **changes: Any) -> None:
    """As if another process had changed it."""
    held = elastic.get(index=state_index(alias), id="lock")["_source"]
    elastic.index(index=state_index(alias), id="lock", document={**held, **changes})


class TestLock:
    def test_of_a_killed_process_is_free_after_the_lease(
        self, elastic: Elasticsearch, alias: str
    ) -> None:
        killed = {"pid": 1, "host": "another", "purpose": "build", "since": "2024-01-01"}
        elastic.index(index=ensure_state(elastic, alias), id="lock", document=killed)
        started = time.monotonic()
        with Lock(elastic, alias, "reindex", lease=1) as lock:
            assert time.monotonic() - started > 0.9
            lock.check()

    def test_waits_for_what_others_hold_for_a_moment(
        self, elastic: Elasticsearch, alias: str, faulty: Faulty
    ) -> None:
        index = ensure_state(elastic, alias)

        def take(token: str) -> None:
            holder = {"token": token, "pid": 1, "host": "b", "purpose": CLEARING, "since": "2024"}
            elastic.index(index=index, id="lock", document=holder)

        def free() -> None:
            elastic.delete(index=index, id="lock")

        def nothing() -> None:
            pass

        # Before each look; the second "two" is a renewal, "three" comes before the lock is taken.
        taken = [partial(take, token) for token in ("one", "two", "two")]
        last = free, partial(take, "three"), nothing, free
        events: Iterator[Callable[[], None]] = iter((*taken, *last))

        def act(send: Callable[[], Any]) -> Any:
            next(events, nothing)()
            return send()

        with Lock(faulty("/_doc/lock", act), alias, "reindex") as lock:
            lock.check()
        assert next(events, None) is None

    def test_a_build_that_lost_it_swaps_nothing_and_touches_nothing_else(
        self,
        elastic: Elasticsearch,
        alias: str,
        index_posts: Callable[[Iterable[RawPost]], Built],
    ) -> None:
        live = index_posts([post("a")]).index
        other = f"{alias}-000009"

        def slow() -> Iterator[RawPost]:
            yield post("a")
            # Suspended for longer than the lease; another process took over and is building.
            change_lock(elastic, alias, token="another")
            elastic.indices.create(index=other, aliases={f"{other}-building": {}})
            elastic.indices.add_block(index=live, block="write")

        with pytest.raises(Locked, match="was lost"):
            index_posts(slow())
        generations = {
            generation.name: generation for generation in list_generations(elastic, alias)
        }
        assert {live, other} <= set(generations)
        assert generations[live].state == "live"
        assert generations[live].write_blocked
