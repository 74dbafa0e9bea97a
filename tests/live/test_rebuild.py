"""Rebuilds under load: no search fails or sees a partial index, and no write is lost."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from elasticsearch import Elasticsearch

from analyzers.rules.compile import NO_RULES, RuleSet, read_rules
from indexer.build.builder import Built, IndexSettings
from indexer.build.builder import rebuild as locked_rebuild
from indexer.errors import NoGeneration, VerificationFailed
from indexer.generations import list_generations, live, require_live
from indexer.lock import Lock
from indexer.records import (
    OnProgress,
    Origin,
    Progress,
    RawComment,
    RawPost,
    ignore_progress,
)
from tests.writing import delete_post, put_comments, put_post

BASE = 300


def post(oid: str, text: str, category: str = "base", comments: int = 0) -> RawPost:
    return RawPost(
        Origin("test"),
        oid,
        f"Post {oid}",
        f"<p>{text}</p>",
        pub_date="2024-01-01",
        categories=[category],
        comments=tuple(RawComment(f"c{n}", f"Comment {n} on {oid}") for n in range(comments)),
    )


@pytest.fixture
def filled(alias: str, index_posts: Callable[[Iterable[RawPost]], Built]) -> str:
    raws = (post(f"base-{n}", f"about number {n}", comments=n % 3) for n in range(BASE))
    index_posts(raws)
    return alias


@pytest.fixture
def rules(tmp_path: Path) -> RuleSet:
    file = tmp_path / "some.synonyms"
    file.write_text("reactjs, react\n")
    return read_rules([file])


def rebuild(
    elastic: Elasticsearch,
    alias: str,
    rules: RuleSet,
    *,
    shards: int = 1,
    on_progress: OnProgress = ignore_progress,
) -> Built:
    with Lock(elastic, alias, "rebuild") as lock:
        return locked_rebuild(elastic, lock, alias, IndexSettings(rules, shards, 0), on_progress)


class Load:
    """Threads that do something over and over until told to stop; failures are kept."""

    def __init__(self) -> None:
        self.failures: list[BaseException] = []
        self.rounds = 0
        self._stop = threading.Event()
        self._pool = ThreadPoolExecutor(8)

    def keep(self, work: Callable[[int], None]) -> None:
        def run() -> None:
            number = 0
            while not self._stop.is_set():
                try:
                    work(number)
                except BaseException as error:  # noqa: BLE001  (to be shown by the test)
                    self.failures.append(error)
                    return
                number += 1
                self.rounds += 1

        self._pool.submit(run)

    def end(self) -> None:
        self._stop.set()
        self._pool.shutdown()


@pytest.fixture
def load() -> Iterator[Load]:
    made = Load()
    yield made
    made.end()


def test_searches_and_writes_go_on_during_two_rebuilds(
    elastic: Elasticsearch, filled: str, rules: RuleSet, load: Load
) -> None:
    written: dict[str, str] = {}
    deleted: set[str] = set()

    def search(_: int) -> None:
        # Posts that nobody changes: always all of them, whichever generation answers.
        response = elastic.count(index=filled, query={"term": {"categories": "base"}})
        assert response["count"] == BASE
        assert response["_shards"]["failed"] == 0

    def write(number: int) -> None:
        oid = f"new-{number % 40}"
        text = f"round {number}"
        result = put_post(elastic, filled, post(oid, text, "new", comments=1))
        assert result.refusal is None, result
        written[oid] = text
        deleted.discard(oid)
        if number % 3 == 2:
            assert delete_post(elastic, filled, oid).result == "deleted"
            deleted.add(oid)

    def write_others(number: int) -> None:
        oid = f"other-{number}"
        result = put_post(elastic, filled, post(oid, "written once", "new"))
        assert result.result == "created", result
        written[oid] = "written once"

    for work in (search, search, write, write_others):
        load.keep(work)
    first = rebuild(elastic, filled, rules)
    second = rebuild(elastic, filled, NO_RULES, shards=2)
    time.sleep(0.3)
    load.end()

    assert load.failures == []
    assert load.rounds > 10
    assert first.replayed + second.replayed > 0
    assert second.previous == first.index
    elastic.indices.refresh(index=filled)
    response = elastic.search(index=filled, query={"term": {"categories": "new"}}, size=10_000)
    texts = {hit["_source"]["oid"]: hit["_source"]["text"] for hit in response["hits"]["hits"]}
    assert texts == {oid: text for oid, text in written.items() if oid not in deleted}
    counts = [len(hit["_source"].get("comments", ())) for hit in response["hits"]["hits"]]
    assert sum(counts) == sum(oid.startswith("new-") for oid in texts)


def test_keeps_posts_as_they_are(elastic: Elasticsearch, filled: str, rules: RuleSet) -> None:
    put_comments(elastic, filled, "base-2", "new")
    before = elastic.get(index=filled, id="base-2")
    assert len(before["_source"]["comments"]) == 3
    seen: list[Progress] = []

    built = rebuild(elastic, filled, rules, shards=3, on_progress=seen.append)

    after = elastic.get(index=filled, id="base-2")
    assert after["_index"] == built.index == f"{filled}-000002"
    assert after["_source"] == before["_source"]
    assert built.counts.posts == BASE
    assert built.rules == rules.digest
    assert next(progress.phase for progress in seen) == "copying"
    assert max(progress.fraction or 0 for progress in seen) == 1
    live_one = live(elastic, filled)
    assert live_one is not None
    assert live_one.rules == rules.digest


def test_a_document_the_new_generation_refuses_changes_nothing(
    elastic: Elasticsearch, filled: str
) -> None:
    elastic.indices.put_mapping(index=filled, properties={"stray": {"type": "keyword"}})
    elastic.index(index=filled, id="odd", document={"oid": "odd", "stray": "x"})
    with pytest.raises(VerificationFailed, match="odd"):
        rebuild(elastic, filled, NO_RULES)
    assert [generation.name for generation in list_generations(elastic, filled)] == [
        f"{filled}-000001"
    ]
    assert put_post(elastic, filled, post("after", "still writable")).result == "created"


def test_a_write_the_new_generation_refuses_changes_nothing(
    elastic: Elasticsearch, filled: str
) -> None:
    elastic.indices.put_mapping(index=filled, properties={"stray": {"type": "keyword"}})

    def write_stray() -> None:
        elastic.index(index=filled, id="odd", document={"oid": "odd", "stray": "x"})

    report = once("replaying", write_stray)
    with pytest.raises(VerificationFailed, match="odd cannot be written"):
        rebuild(elastic, filled, NO_RULES, on_progress=report)
    assert [generation.name for generation in list_generations(elastic, filled)] == [
        f"{filled}-000001"
    ]
    assert put_post(elastic, filled, post("after", "still writable")).result == "created"


def test_a_build_interrupted_while_writes_are_blocked_changes_nothing(
    elastic: Elasticsearch, filled: str
) -> None:
    def interrupt() -> None:
        assert require_live(elastic, filled).write_blocked
        raise KeyboardInterrupt

    report = once("swapping", interrupt)
    with pytest.raises(KeyboardInterrupt):
        rebuild(elastic, filled, NO_RULES, on_progress=report)
    assert [generation.name for generation in list_generations(elastic, filled)] == [
        f"{filled}-000001"
    ]
    assert not require_live(elastic, filled).write_blocked


def test_needs_something_to_build_from(elastic: Elasticsearch, alias: str) -> None:
    with pytest.raises(NoGeneration, match="no index"):
        rebuild(elastic, alias, NO_RULES)


def once(phase: str, work: Callable[[], object]) -> Callable[[Progress], None]:
    """A report that does something when a phase begins."""
    done = threading.Event()

    def report(progress: Progress) -> None:
        if progress.phase == phase and not done.is_set():
            done.set()
            work()

    return report


def test_a_deletion_while_posts_are_copied(elastic: Elasticsearch, filled: str) -> None:
    report = once("copying", lambda: delete_post(elastic, filled, "base-7"))
    built = rebuild(elastic, filled, NO_RULES, on_progress=report)
    assert not elastic.exists(index=built.index, id="base-7")
    assert built.counts.posts == BASE - 1
