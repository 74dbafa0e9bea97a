"""Builds under load: no search fails or sees a partial index, and no write is lost."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from elasticsearch import Elasticsearch

from analyzers.rules.compile import NO_RULES, Rules
from indexer.errors import IndexingError, NoIndex, OutdatedIndex
from indexer.posts.records import Origin, RawComment, RawPost
from indexer.runs.build import Built, IndexSettings, reindex
from indexer.runs.build import rebuild as locked_rebuild
from indexer.runs.ingest import IngestOptions
from indexer.store.generations import list_generations, live_alias
from indexer.store.state import Lock
from tests.live.conftest import Faulty
from tests.writing import (
    delete_comment,
    delete_post,
    index_at_once,
    no_reject,
    put_comments,
    put_post,
)

BASE = 300


def post(number: int) -> RawPost:
    comments = tuple(RawComment(f"c{n}", f"Comment {n}") for n in range(number % 3))
    text = f"<p>about {number}</p>"
    return RawPost(
        Origin("test"),
        f"base-{number}",
        f"Post {number}",
        text,
        categories=["base"],
        comments=comments,
    )


@pytest.fixture
def filled(elastic: Elasticsearch, alias: str) -> str:
    index_at_once(elastic, alias, map(post, range(BASE)))
    return alias


@pytest.fixture
def rules(tmp_path: Path) -> Rules:
    file = tmp_path / "some.synonyms"
    file.write_text("reactjs, react\n")
    return Rules([file])


def rebuild(
    elastic: Elasticsearch,
    alias: str,
    rules: Rules,
    *,
    shards: int = 1,
    check: Callable[[str], None] | None = None,
) -> Built:
    settings = IndexSettings(rules, shards, 0, check=check)
    with Lock(elastic, alias, "rebuild") as lock:
        return locked_rebuild(elastic, lock, alias, settings)


@contextmanager
def repeating(*works: Callable[[int], None]) -> Iterator[None]:
    """Threads that do these over and over, with the number of the round."""
    stop = threading.Event()

    def repeat(work: Callable[[int], None]) -> None:
        number = 0
        while not stop.wait(0.01):
            work(number)
            number += 1

    with ThreadPoolExecutor(len(works)) as pool:
        running = [pool.submit(repeat, work) for work in works]
        try:
            yield
        finally:
            stop.set()
        for one in running:
            one.result()


def test_searches_and_writes_go_on_during_builds_and_nothing_is_lost(
    elastic: Elasticsearch, filled: str, rules: Rules
) -> None:
    there: dict[str, str] = {}
    comments: set[str] = set()

    def search(_: int) -> None:
        # Posts that nobody deletes: always all of them, whichever generation answers.
        response = elastic.count(index=filled, query={"term": {"categories": "base"}})
        assert response["count"] == BASE
        assert response["_shards"]["failed"] == 0

    def write_again(number: int) -> None:
        oid, title = f"new-{number % 40}", f"round {number}"
        put_post(elastic, filled, oid, title)
        there[oid] = title
        if number % 3 == 2:
            assert delete_post(elastic, filled, oid).result == "deleted"
            del there[oid]

    def write_once(number: int) -> None:
        put_post(elastic, filled, f"once-{number}")
        there[f"once-{number}"] = "Over HTTP"

    def comment(number: int) -> None:
        put_comments(elastic, filled, f"base-{number % BASE}", f"http-{number}")
        comments.add(f"base-{number % BASE}/http-{number}")

    settings = IndexSettings(NO_RULES, 1, 0)
    with repeating(search, write_again, write_once, comment):
        first = rebuild(elastic, filled, rules, shards=2)
        second = reindex(elastic, filled, map(post, range(BASE)), settings, no_reject)

    assert min(first.replayed, second.replayed) > 0
    assert second.previous == first.index
    elastic.indices.refresh(index=filled)
    hits = elastic.search(index=filled, size=10_000)["hits"]["hits"]
    sources = {hit["_id"]: hit["_source"] for hit in hits}
    titles = {oid: source["title"] for oid, source in sources.items() if source.get("over_http")}
    assert titles == there
    stored = {
        f"{oid}/{comment['oid']}"
        for oid, source in sources.items()
        for comment in source.get("comments", ())
        if comment.get("over_http")
    }
    assert stored == comments


def test_a_reindex_has_the_source_as_it_is_and_what_was_written_meanwhile(
    elastic: Elasticsearch, filled: str
) -> None:
    delete_comment(elastic, filled, "base-8", "c0")
    put_comments(elastic, filled, "base-6", "before")

    def raws() -> Iterator[RawPost]:
        for number in range(BASE):
            yield RawPost(Origin("test"), f"base-{number}", "New", "<p>new</p>")
        put_comments(elastic, filled, "base-7", "meanwhile")
        put_post(elastic, filled, "base-9", "Over HTTP")
        delete_comment(elastic, filled, "base-6", "before")
        delete_post(elastic, filled, "base-5")

    options = IngestOptions(force=True)
    settings = IndexSettings(NO_RULES, 1, 0)
    built = reindex(elastic, filled, raws(), settings, no_reject, options)
    assert built.posts == BASE - 1
    assert built.replayed == 4
    sources = {
        number: elastic.get(index=built.index, id=f"base-{number}")["_source"]
        for number in (6, 7, 8, 9)
    }
    assert [sources[number]["title"] for number in (6, 7, 8, 9)] == [*["New"] * 3, "Over HTTP"]
    oids = {number: [c["oid"] for c in sources[number].get("comments", ())] for number in sources}
    assert oids == {6: [], 7: ["meanwhile"], 8: [], 9: []}
    assert not elastic.exists(index=built.index, id="base-5")


def test_a_post_that_is_written_and_deleted_during_a_build_stays_deleted(
    elastic: Elasticsearch, filled: str
) -> None:
    def source() -> Iterator[RawPost]:
        put_post(elastic, filled, "short-lived")
        elastic.indices.refresh(index=filled)
        yield from map(post, range(BASE))

    def check(_: str) -> None:
        assert delete_post(elastic, filled, "short-lived").result == "deleted"

    settings = IndexSettings(NO_RULES, 1, 0, check=check)
    built = reindex(elastic, filled, source(), settings, no_reject)
    assert built.replayed == 2  # it was written, and deleted
    elastic.indices.refresh(index=filled)
    assert not elastic.exists(index=filled, id="short-lived")


def test_what_is_written_and_deleted_while_the_live_index_is_copied_is_replayed(
    elastic: Elasticsearch, filled: str, faulty: Faulty
) -> None:
    writes = iter([("base-1", "base-2", "late")])

    def meanwhile(send: Callable[[], Any]) -> Any:
        for *deleted, late in writes:  # once: the live index has been read
            for oid in deleted:
                assert delete_post(elastic, filled, oid).result == "deleted"
            put_post(elastic, filled, late)
            elastic.indices.refresh(index=filled)
        return send()

    built = rebuild(faulty("-building/_bulk|building.*_bulk", meanwhile), filled, NO_RULES)
    assert built.posts == BASE - 1
    elastic.indices.refresh(index=filled)
    assert elastic.exists(index=filled, id="late")
    assert not elastic.exists(index=filled, id="base-1")


_COMMENTS = [{"oid": str(number), "author": "", "comment": "x"} for number in range(10_001)]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"stray": "x"}, "did not write: 'odd'.*`stray`"),
        ({"comments": _COMMENTS}, "odd cannot be written.*nested"),
    ],
    ids=["not by this service", "refused by the new generation"],
)
def test_a_document_that_cannot_be_copied_changes_nothing(
    elastic: Elasticsearch, filled: str, fields: dict[str, Any], said: str
) -> None:
    elastic.indices.put_mapping(index=filled, properties={"stray": {"type": "keyword"}})
    limit = {"index.mapping.nested_objects.limit": 20_000}
    elastic.indices.put_settings(index=filled, settings=limit)
    post = {"oid": "odd", "title": "", "text": "", "code": "", "categories": [], "keywords": []}

    def write_odd(_: str) -> None:
        elastic.index(index=filled, id="odd", document=post | fields, refresh=True)

    for _ in range(2):  # replayed, and copied
        with pytest.raises(IndexingError, match=said):
            rebuild(elastic, filled, NO_RULES, check=write_odd)
        assert [generation.number for generation in list_generations(elastic, filled)] == [1]
    put_post(elastic, filled, "after")


def test_needs_an_index_of_this_schema_or_the_one_before(
    elastic: Elasticsearch, alias: str
) -> None:
    with pytest.raises(NoIndex, match="no index"):
        rebuild(elastic, alias, NO_RULES)
    future = {"_meta": {"blogsearch": {"schema": 999}}}
    name = f"{alias}-000001"
    elastic.indices.create(index=name, mappings=future, aliases={alias: {}, live_alias(name): {}})
    with pytest.raises(OutdatedIndex, match="newer version"):
        rebuild(elastic, alias, NO_RULES)
    settings = IndexSettings(NO_RULES, 1, 0)
    with pytest.raises(OutdatedIndex, match="newer version"):
        reindex(elastic, alias, [post(1)], settings, no_reject)
