"""Generations on a real Elasticsearch: build, roll back, recover."""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from click.testing import Result
from elasticsearch import ConnectionError, ConnectionTimeout, Elasticsearch, NotFoundError

from analyzers.rules.compile import NO_RULES
from app.settings import Settings
from indexer.build.builder import Built, IndexSettings, reindex, rollback
from indexer.errors import Damaged, IndexingError, Locked
from indexer.generations import (
    block_writes,
    building_alias,
    list_generations,
    live_alias,
    require_live,
)
from indexer.records import Origin, RawPost
from indexer.state import read_swap, state_index
from tests.live.conftest import Faulty
from tests.writing import delete_post, no_reject, put_comments, put_post

Build = Callable[[Iterable[RawPost]], Built]
Make = Callable[..., Built]
Run = Callable[..., Result]
PostOids = Callable[[], set[str]]
SETTINGS = IndexSettings(NO_RULES, 1, 0)


def post(oid: str) -> RawPost:
    return RawPost(Origin("test"), oid, "A post", "<p>Text</p>", pub_date="2024-01-01")


@pytest.fixture
def settings(own_settings: Settings) -> Settings:
    """For commands that are run here: an index of the test's own."""
    return own_settings


@pytest.fixture
def make(index_posts: Build) -> Make:
    """Build a generation of posts with these oids."""
    return lambda *oids: index_posts(map(post, oids))


def states(elastic: Elasticsearch, alias: str) -> dict[int, str]:
    return {item.number: item.state for item in list_generations(elastic, alias)}


def test_the_previous_generation_is_kept_and_numbers_are_never_used_twice(
    elastic: Elasticsearch, alias: str, make: Make, post_oids: PostOids
) -> None:
    make("a")
    make("b")
    built = make("c")
    assert (built.index, built.previous) == (f"{alias}-000003", f"{alias}-000002")
    assert states(elastic, alias) == {2: "previous", 3: "live"}
    assert post_oids() == {"c"}
    body = elastic.indices.get(index=built.index)[built.index]
    assert body["settings"]["index"]["refresh_interval"] == "1s"
    assert set(body["aliases"]) == {alias, live_alias(built.index)}
    rollback(elastic, alias)
    assert make("d").index == f"{alias}-000004"
    with pytest.raises(Damaged):
        read_swap(elastic, alias, built.index)  # it was deleted, with what was stored of it


class TestRollback:
    def test_and_a_second_one_lose_no_write(
        self, elastic: Elasticsearch, alias: str, make: Make, post_oids: PostOids
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

    def test_says_if_it_cannot_know_what_was_written(
        self, elastic: Elasticsearch, alias: str, make: Make
    ) -> None:
        make("a")
        make("b")
        elastic.indices.delete(index=state_index(alias))
        assert "is lost" in rollback(elastic, alias).lost


SWAP = "POST /_aliases .*must_exist"


class TestSwap:
    def test_by_a_process_that_was_suspended_loses_no_write(
        self,
        elastic: Elasticsearch,
        alias: str,
        make: Make,
        post_oids: PostOids,
        faulty: Faulty,
    ) -> None:
        make("a")
        make("b")

        def suspended(send: Callable[[], Any]) -> Any:
            elastic.delete(index=state_index(alias), id="lock")  # its lease is over
            put_post(elastic, alias, "meanwhile")
            return send()

        with pytest.raises(NotFoundError):
            rollback(faulty(SWAP, suspended), alias)
        assert post_oids() == {"b", "meanwhile"}
        assert rollback(elastic, alias).index == f"{alias}-000001"
        assert post_oids() == {"a", "meanwhile"}

    def test_whose_response_is_lost_counts(
        self, alias: str, make: Make, post_oids: PostOids, faulty: Faulty
    ) -> None:
        make("a")

        def lost(send: Callable[[], Any]) -> Any:
            send()
            raise ConnectionTimeout("no response")

        built = reindex(faulty(SWAP, lost), alias, [post("b")], SETTINGS, no_reject)
        assert (built.index, built.posts) == (f"{alias}-000002", 1)
        assert post_oids() == {"b"}

    def test_that_fails_while_writes_are_blocked_allows_them_again(
        self, elastic: Elasticsearch, alias: str, make: Make, faulty: Faulty
    ) -> None:
        make("a")
        make("b")
        with pytest.raises(ConnectionError):
            rollback(faulty(SWAP, ConnectionError("unreachable")), alias)
        blocked = {item.number: item.write_blocked for item in list_generations(elastic, alias)}
        assert states(elastic, alias) == {1: "previous", 2: "live"}
        assert blocked == {1: True, 2: False}


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
    block_writes(elastic, f"{alias}-000001")
    assert run("rollback").exit_code == 0
    assert not elastic.indices.exists(index=stale)
    assert not require_live(elastic, alias).write_blocked
