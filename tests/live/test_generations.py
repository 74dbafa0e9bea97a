"""Generations on a real Elasticsearch: build, roll back, prune, recover."""

import json
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from click.testing import Result
from elastic_transport import RequestsHttpNode
from elasticsearch import ConnectionError, ConnectionTimeout, Elasticsearch, NotFoundError

from analyzers.rules.compile import NO_RULES
from app.settings import Settings
from indexer.build.builder import Built, IndexSettings, reindex, rollback
from indexer.errors import IndexingError, Locked, VerificationFailed
from indexer.generations import (
    block_writes,
    building_alias,
    list_generations,
    live_alias,
    prune,
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


class TestGenerations:
    def test_are_numbered_and_the_previous_one_is_kept(
        self, elastic: Elasticsearch, alias: str, make: Make, post_oids: PostOids
    ) -> None:
        make("a")
        make("b")
        built = make("c")
        assert (built.index, built.previous) == (f"{alias}-000003", f"{alias}-000002")
        assert built.pruned == (f"{alias}-000001",)
        assert states(elastic, alias) == {2: "previous", 3: "live"}
        assert post_oids() == {"c"}
        assert prune(elastic, alias, "kept") == []
        assert prune(elastic, alias, "previous") == [f"{alias}-000002"]
        assert read_swap(elastic, alias, f"{alias}-000002") is None
        assert read_swap(elastic, alias, built.index) is not None
        assert require_live(elastic, alias).number == 3

    def test_are_set_up_for_searching(self, elastic: Elasticsearch, alias: str, make: Make) -> None:
        name = make("a").index
        body = elastic.indices.get(index=name)[name]
        assert body["settings"]["index"]["refresh_interval"] == "1s"
        assert body["mappings"]["_meta"]["blogsearch"]["rules"] == NO_RULES.digest
        assert set(body["aliases"]) == {alias, live_alias(name)}

    def test_numbers_are_never_used_twice(
        self, elastic: Elasticsearch, alias: str, make: Make
    ) -> None:
        make("a")
        newest = make("b").index
        rollback(elastic, alias)
        assert prune(elastic, alias, "previous") == [newest]
        assert make("c").index == f"{alias}-000003"


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

    def test_changes_nothing_if_a_write_does_not_fit(
        self, elastic: Elasticsearch, alias: str, make: Make
    ) -> None:
        make("a")
        newer = make("b").index
        elastic.indices.put_mapping(index=newer, properties={"stray": {"type": "keyword"}})
        elastic.index(index=alias, id="odd", document={"oid": "odd", "stray": "x"})
        with pytest.raises(VerificationFailed, match="odd"):
            rollback(elastic, alias)
        assert require_live(elastic, alias).name == newer
        put_post(elastic, alias, "more")

    def test_loses_no_write_where_somebody_removed_the_alias(
        self, elastic: Elasticsearch, alias: str, make: Make, post_oids: PostOids
    ) -> None:
        make("a")
        make("b")
        put_post(elastic, alias, "c")
        elastic.indices.delete_alias(index=f"{alias}-*", name=alias)
        assert rollback(elastic, alias).index == f"{alias}-000001"
        put_post(elastic, alias, "d")
        assert post_oids() == {"a", "c", "d"}

    def test_stands_in_for_a_live_one_that_was_deleted(
        self, elastic: Elasticsearch, alias: str, make: Make, post_oids: PostOids
    ) -> None:
        make("a")
        elastic.indices.delete(index=make("b").index)
        assert "is lost" in rollback(elastic, alias).lost
        put_post(elastic, alias, "c")
        assert post_oids() == {"a", "c"}


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

        client = faulty(SWAP, lost)
        built = reindex(client, alias, [post("b")], SETTINGS, no_reject)
        assert (built.index, built.counts.posts) == (f"{alias}-000002", 1)
        assert post_oids() == {"b"}
        assert rollback(client, alias).index == f"{alias}-000001"

    @pytest.mark.parametrize("command", ["reindex", "rollback"])
    def test_that_fails_while_writes_are_blocked_allows_them_again(
        self,
        elastic: Elasticsearch,
        elasticsearch_url: str,
        alias: str,
        make: Make,
        command: str,
    ) -> None:
        make("a")
        make("b")
        ends = [0.0]

        class Node(RequestsHttpNode):
            def perform_request(
                self, method: str, target: str, body: bytes | None = None, *rest: Any, **more: Any
            ) -> Any:
                if b"must_exist" in (body or b"") and ends == [0.0]:
                    ends[0] = time.monotonic() + 1.5
                if time.monotonic() < ends[0]:
                    raise ConnectionError("unreachable")
                return super().perform_request(method, target, body, *rest, **more)

        with Elasticsearch(elasticsearch_url, node_class=Node, max_retries=0) as client:
            run: dict[str, Callable[[], Built]] = {
                "reindex": lambda: reindex(client, alias, [post("c")], SETTINGS, no_reject),
                "rollback": lambda: rollback(client, alias),
            }
            with pytest.raises(ConnectionError):
                run[command]()
        blocked = {item.number: item.write_blocked for item in list_generations(elastic, alias)}
        assert states(elastic, alias) == {1: "previous", 2: "live"}
        assert blocked == {1: True, 2: False}

    def test_counts_though_old_generations_cannot_be_deleted(
        self, elastic: Elasticsearch, alias: str, make: Make, faulty: Faulty
    ) -> None:
        make("a")
        make("b")
        client = faulty("DELETE /[^ ]*-000001", ConnectionTimeout("no response"))
        assert reindex(client, alias, [post("c")], SETTINGS, no_reject).pruned == ()
        assert states(elastic, alias) == {1: "kept", 2: "previous", 3: "live"}
        assert set(make("d").pruned) == {f"{alias}-000001", f"{alias}-000002"}


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

    assert index_posts(raws()).counts.posts == 2

    def interrupted() -> Iterator[RawPost]:
        yield post("b")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index_posts(interrupted())
    with pytest.raises(IndexingError, match="no posts"):
        make()
    assert states(elastic, alias) == {1: "live"}


class TestCommands:
    def test_indices_lists_generations(self, run: Run, alias: str, make: Make) -> None:
        assert "blogsearch reindex" in run("indices").stdout
        make("a")
        make("b", "c")
        rows = json.loads(run("indices", "--json").stdout)
        assert [(row["generation"], row["state"], row["posts"]) for row in rows] == [
            (f"{alias}-000001", "previous", 1),
            (f"{alias}-000002", "live", 2),
        ]
        assert run("indices").stdout.splitlines()[2].startswith(f"{alias}-000002\tlive\t2\t")

    def test_rollback_and_prune(self, run: Run, alias: str, make: Make) -> None:
        assert run("rollback").exit_code == 1
        make("a")
        make("b")
        back = json.loads(run("rollback", "--json").stdout)
        assert (back["index"], back["posts"]) == (f"{alias}-000001", 1)
        assert json.loads(run("prune", "--json").stdout) == {"deleted": [f"{alias}-000002"]}
        assert run("rollback").exit_code == 1

    def test_prune_deletes_a_stale_build(
        self, run: Run, elastic: Elasticsearch, alias: str, make: Make
    ) -> None:
        make("a")
        stale = f"{alias}-000002"
        elastic.indices.create(index=stale, aliases={building_alias(stale): {}})
        block_writes(elastic, f"{alias}-000001")
        assert run("prune").exit_code == 0
        assert not elastic.indices.exists(index=stale)
        assert not require_live(elastic, alias).write_blocked
