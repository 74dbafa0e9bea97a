"""Generations and the lock, on a real Elasticsearch."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import psutil
import pytest
from click.testing import CliRunner, Result
from elasticsearch import Elasticsearch

from analyzers.rules import NO_RULES
from app.cli import main
from indexer import lock as lock_module
from indexer.build.builder import Built, IndexSettings
from indexer.build.reindex import reindex
from indexer.build.rollback import rollback
from indexer.errors import IndexingError, Locked, NoGeneration, VerificationFailed
from indexer.generations import NameTaken, block_writes, list_generations, live, prune, require_live
from indexer.lock import Lock
from indexer.normalise import documents
from indexer.records import Document, Origin, RawPost
from indexer.state import state_index
from indexer.write.delete import delete_post
from indexer.write.put import Write, put

Make = Callable[..., Built]


def post(oid: str, title: str = "A post") -> RawPost:
    return RawPost(Origin("test"), oid, title, "<p>Text</p>", pub_date="2024-01-01")


@pytest.fixture
def make(elastic: Elasticsearch, alias: str) -> Make:
    """Build a generation of posts with these oids."""

    def build(*oids: str) -> Built:
        return reindex(elastic, alias, map(post, oids), IndexSettings(NO_RULES, 1, 0), pytest.fail)

    return build


@pytest.fixture
def write(elastic: Elasticsearch, alias: str) -> Callable[[str], int]:
    """Write a post to the live index; the status."""

    def one(oid: str) -> int:
        (document,) = (one for one in documents(post(oid)) if isinstance(one, Document))
        (result,) = put(elastic, alias, [Write(document, newest=True)])
        return result.status

    return one


@pytest.fixture
def oids(elastic: Elasticsearch, alias: str) -> Callable[[], set[str]]:
    """What is live."""

    def all_of_them() -> set[str]:
        elastic.indices.refresh(index=alias)
        found = elastic.search(index=alias, size=100)["hits"]["hits"]
        return {hit["_source"]["oid"] for hit in found}

    return all_of_them


class TestGenerations:
    def test_count_up_and_keep_the_previous_one(
        self, elastic: Elasticsearch, alias: str, make: Make, oids: Callable[[], set[str]]
    ) -> None:
        assert live(elastic, alias) is None
        make("a")
        make("b")
        built = make("c")
        assert (built.index, built.previous) == (f"{alias}-000003", f"{alias}-000002")
        states = {one.number: one.state for one in list_generations(elastic, alias)}
        assert states == {1: "kept", 2: "previous", 3: "live"}
        assert oids() == {"c"}

    def test_are_set_up_for_searching(self, elastic: Elasticsearch, alias: str, make: Make) -> None:
        name = make("a").index
        found = elastic.indices.get(index=name)[name]
        assert found["settings"]["index"]["refresh_interval"] == "1s"
        meta = found["mappings"]["_meta"]["blogsearch"]
        assert meta["state"] == "ready"
        assert meta["rules"] == NO_RULES.digest
        assert meta["built"]
        assert set(found["aliases"]) == {alias}

    def test_numbers_are_never_used_twice(
        self, elastic: Elasticsearch, alias: str, make: Make
    ) -> None:
        make("a")
        newest = make("b").index
        rollback(elastic, alias)
        assert prune(elastic, alias, keep=0) == [newest]
        assert make("c").index == f"{alias}-000003"

    def test_prune_leaves_the_live_one_and_the_newest(
        self, elastic: Elasticsearch, alias: str, make: Make
    ) -> None:
        for oid in "abcd":
            make(oid)
        assert prune(elastic, alias, keep=2) == [f"{alias}-000001"]
        assert prune(elastic, alias, keep=1) == [f"{alias}-000002"]
        assert prune(elastic, alias, keep=1) == []
        assert prune(elastic, alias, keep=0) == [f"{alias}-000003"]
        found = live(elastic, alias)
        assert found is not None
        assert found.number == 4

    def test_an_index_called_like_the_alias_is_not_touched(
        self, elastic: Elasticsearch, alias: str, make: Make
    ) -> None:
        elastic.indices.create(index=alias)
        with pytest.raises(NameTaken, match="BLOGSEARCH_INDEX"):
            make("a")
        assert list(elastic.indices.get(index=f"{alias}*")) == [alias]

    def test_an_alias_on_a_strange_index_is_not_touched(
        self, elastic: Elasticsearch, alias: str, make: Make
    ) -> None:
        elastic.indices.create(index=f"{alias}-strange", aliases={alias: {}})
        with pytest.raises(NameTaken, match=f"{alias}-strange"):
            make("a")

    def test_those_of_another_alias_are_not_ours(
        self, elastic: Elasticsearch, alias: str, make: Make
    ) -> None:
        elastic.indices.create(index=f"{alias}-other-000007", aliases={f"{alias}-other": {}})
        assert make("a").index == f"{alias}-000001"


class TestRollback:
    def test_goes_back_and_forth_and_loses_no_write(
        self,
        elastic: Elasticsearch,
        alias: str,
        make: Make,
        write: Callable[[str], int],
        oids: Callable[[], set[str]],
    ) -> None:
        make("a", "b", "x")
        make("a", "b", "y")
        assert write("new") == 201
        assert delete_post(elastic, alias, "b") == (True, 0)

        back = rollback(elastic, alias)
        assert (back.index, back.previous) == (f"{alias}-000001", f"{alias}-000002")
        assert back.replayed == 2
        assert oids() == {"a", "x", "new"}

        assert write("newer") == 201
        forth = rollback(elastic, alias)
        assert forth.index == f"{alias}-000002"
        assert oids() == {"a", "y", "new", "newer"}
        assert write("newest") == 201

    def test_can_leave_the_writes_behind(
        self,
        elastic: Elasticsearch,
        alias: str,
        make: Make,
        write: Callable[[str], int],
        oids: Callable[[], set[str]],
    ) -> None:
        make("a")
        make("b")
        write("new")
        rollback(elastic, alias, discard_writes=True)
        assert oids() == {"a"}

    def test_needs_a_generation_to_go_back_to(
        self, elastic: Elasticsearch, alias: str, make: Make
    ) -> None:
        with pytest.raises(NoGeneration, match="no index"):
            rollback(elastic, alias)
        make("a")
        with pytest.raises(NoGeneration, match="previous"):
            rollback(elastic, alias)

    def test_leaves_all_as_it_was_when_a_write_does_not_fit(
        self, elastic: Elasticsearch, alias: str, make: Make, write: Callable[[str], int]
    ) -> None:
        make("a")
        newer = make("b").index
        elastic.indices.put_mapping(index=newer, properties={"stray": {"type": "keyword"}})
        elastic.index(
            index=alias, id="post:odd", routing="odd", document={"kind": "post", "stray": "x"}
        )
        with pytest.raises(VerificationFailed, match="post:odd"):
            rollback(elastic, alias)
        found = live(elastic, alias)
        assert found is not None
        assert found.name == newer
        assert write("more") == 201


def leave_lock(elastic: Elasticsearch, alias: str, **changes: Any) -> None:
    """The lock as another process left it."""
    with Lock(elastic, alias, "something else"):
        held = elastic.get(index=state_index(alias), id="lock")["_source"]
    elastic.index(index=state_index(alias), id="lock", document={**held, **changes})


def change_lock(elastic: Elasticsearch, alias: str, **changes: Any) -> None:
    """Behind its holder's back."""
    held = elastic.get(index=state_index(alias), id="lock")["_source"]
    elastic.index(index=state_index(alias), id="lock", document={**held, **changes})


def dead_process() -> dict[str, Any]:
    """The pid and start of a process that was killed."""
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    started = psutil.Process(process.pid).create_time()
    process.kill()
    process.wait()
    return {"pid": process.pid, "started": started}


class TestLock:
    def test_two_at_once_lock_each_other_out(self, elastic: Elasticsearch, alias: str) -> None:
        with (
            Lock(elastic, alias, "sync posts"),
            pytest.raises(Locked, match=r"process \d+ on .* \(sync posts\), since"),
            Lock(elastic, alias, "reindex"),
        ):
            pytest.fail("two hold it")
        with Lock(elastic, alias, "reindex"):
            pass

    def test_goes_with_a_process_that_died_here(self, elastic: Elasticsearch, alias: str) -> None:
        leave_lock(elastic, alias, **dead_process())
        with Lock(elastic, alias, "reindex") as lock:
            lock.check()

    def test_a_process_id_that_was_given_out_again_is_another_process(
        self, elastic: Elasticsearch, alias: str
    ) -> None:
        leave_lock(elastic, alias, started=psutil.Process().create_time() - 1000)
        with Lock(elastic, alias, "reindex"):
            pass

    def test_of_another_machine_lasts_as_long_as_its_lease(
        self, elastic: Elasticsearch, alias: str
    ) -> None:
        far = {"machine": "far away", "host": "far", **dead_process()}
        leave_lock(elastic, alias, **far, renewed=time.time() - lock_module.LEASE + 10)
        with pytest.raises(Locked, match="on far"), Lock(elastic, alias, "reindex"):
            pytest.fail("two hold it")
        change_lock(elastic, alias, renewed=time.time() - lock_module.LEASE - 1)
        with Lock(elastic, alias, "reindex"):
            pass

    def test_is_renewed(
        self, elastic: Elasticsearch, alias: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(lock_module, "_RENEWAL", 0.05)
        with Lock(elastic, alias, "reindex"):
            first = elastic.get(index=state_index(alias), id="lock")["_source"]["renewed"]
            deadline = time.monotonic() + 10
            while elastic.get(index=state_index(alias), id="lock")["_source"]["renewed"] == first:
                assert time.monotonic() < deadline

    def test_whoever_lost_it_swaps_nothing_and_touches_nothing(
        self, elastic: Elasticsearch, alias: str, make: Make
    ) -> None:
        live_one = make("a").index
        thief = f"{alias}-000009"

        def slow() -> Any:
            yield post("b")
            # Away for longer than the lease; somebody else took over, and is just building.
            change_lock(elastic, alias, token="another")
            elastic.indices.create(index=thief, aliases={f"{thief}-building": {}})
            block_writes(elastic, live_one)

        with pytest.raises(Locked, match="was lost"):
            reindex(elastic, alias, slow(), IndexSettings(NO_RULES, 1, 0), pytest.fail)
        found = {one.name: one for one in list_generations(elastic, alias)}
        assert set(found) == {live_one, thief}
        assert found[live_one].write_blocked


def test_a_build_during_a_build_is_refused_and_does_no_harm(
    elastic: Elasticsearch, alias: str, make: Make
) -> None:
    def raws() -> Any:
        yield post("a")
        with pytest.raises(Locked):
            make("b")
        with pytest.raises(Locked):
            rollback(elastic, alias)
        yield post("c")

    built = reindex(elastic, alias, raws(), IndexSettings(NO_RULES, 1, 0), pytest.fail)
    assert built.counts.posts == 2


def test_an_interrupted_build_leaves_nothing(
    elastic: Elasticsearch, alias: str, make: Make
) -> None:
    make("a")

    def raws() -> Any:
        yield post("b")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reindex(elastic, alias, raws(), IndexSettings(NO_RULES, 1, 0), pytest.fail)
    assert [one.number for one in list_generations(elastic, alias)] == [1]
    with pytest.raises(IndexingError, match="no posts"):
        make()
    assert [one.number for one in list_generations(elastic, alias)] == [1]


class TestCommands:
    @pytest.fixture(autouse=True)
    def _environment(
        self,
        alias: str,
        elasticsearch_url: str,
        redis_url: str,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setenv("ELASTICSEARCH_URL", elasticsearch_url)
        monkeypatch.setenv("REDIS_URL", redis_url)
        monkeypatch.setenv("BLOGSEARCH_INDEX", alias)
        monkeypatch.setenv("COLUMNS", "160")

    def run(self, *arguments: str) -> Result:
        return CliRunner().invoke(main, list(arguments))

    def test_indices_tell_what_there_is(self, alias: str, make: Make) -> None:
        assert "blogsearch reindex" in self.run("indices").stdout
        make("a")
        make("b", "c")
        rows = json.loads(self.run("indices", "--format", "json").stdout)
        assert [(row["generation"], row["live"], row["posts"]) for row in rows] == [
            (f"{alias}-000001", False, 1),
            (f"{alias}-000002", True, 2),
        ]
        assert all(row["bytes"] > 0 and row["rules"] == NO_RULES.digest for row in rows)
        lines = self.run("indices").stdout.splitlines()
        assert lines[2].startswith("*")
        assert f"{alias}-000001  previous" in lines[1]

    def test_rollback_and_prune_say_what_they_did(self, alias: str, make: Make) -> None:
        assert self.run("rollback").exit_code == 1
        make("a")
        make("b")
        assert f"{alias}-000001 is live: 1 posts" in self.run("rollback").stdout
        assert "Nothing to delete" in self.run("prune").stdout
        assert f"Deleted {alias}-000002." in self.run("prune", "--keep", "0").stdout
        assert self.run("rollback").exit_code == 1

    def test_prune_removes_what_a_killed_build_left(
        self, elastic: Elasticsearch, alias: str, make: Make
    ) -> None:
        make("a")
        orphan = f"{alias}-000002"
        elastic.indices.create(index=orphan, aliases={f"{orphan}-building": {}})
        block_writes(elastic, f"{alias}-000001")
        assert f"Removed {orphan}" in self.run("prune").stdout
        assert not elastic.indices.exists(index=orphan)
        assert not require_live(elastic, alias).write_blocked
