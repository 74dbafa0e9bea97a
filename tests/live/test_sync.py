"""`blogsearch sync`: just what differs, and never an empty index by mistake."""

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from elasticsearch import Elasticsearch

from app.cli import main
from app.commands import syncing
from indexer.generations import list_generations, require_live
from indexer.lock import Lock
from indexer.normalise import comment_document
from indexer.records import Document, Origin, RawComment
from indexer.write.put import Write, put


def entry(oid: Any, **fields: Any) -> dict[str, Any]:
    return {"oid": str(oid), "title": f"Post {oid}", "text": "<p>Text</p>", **fields}


class Blog:
    """A file of posts and the index that is kept in step with it."""

    def __init__(self, folder: Path, elastic: Elasticsearch, alias: str) -> None:
        self.file = folder / "posts.jsonl"
        self.rules = folder / "rules"
        self.rules.mkdir()
        self._elastic = elastic
        self._alias = alias

    def write(self, *entries: dict[str, Any] | str) -> None:
        lines = [one if isinstance(one, str) else json.dumps(one) for one in entries]
        self.file.write_text("".join(f"{one}\n" for one in lines))

    def sync(self, *options: str) -> Result:
        return CliRunner().invoke(main, ["sync", str(self.file), *options])

    def ids(self) -> set[str]:
        self._elastic.indices.refresh(index=self._alias)
        found = self._elastic.search(index=self._alias, size=1_000)["hits"]["hits"]
        return {hit["_id"] for hit in found}

    def stored(self, oid: str) -> dict[str, Any]:
        found = self._elastic.get(index=self._alias, id=f"post:{oid}", routing=oid)
        return {**found["_source"], "version": found["_version"]}

    def comment(self, post_oid: str, oid: str) -> None:
        """A comment that comes over HTTP."""
        raw = RawComment(oid, "Over HTTP")
        document = comment_document(post_oid, raw, Origin("test"))
        assert isinstance(document, Document)
        (written,) = put(self._elastic, self._alias, [Write(document, newest=True)])
        assert written.status == 201


@pytest.fixture
def blog(
    elastic: Elasticsearch,
    alias: str,
    elasticsearch_url: str,
    redis_url: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Blog:
    made = Blog(tmp_path, elastic, alias)
    monkeypatch.setenv("ELASTICSEARCH_URL", elasticsearch_url)
    monkeypatch.setenv("REDIS_URL", redis_url)
    monkeypatch.setenv("BLOGSEARCH_INDEX", alias)
    monkeypatch.setenv("BLOGSEARCH_SYNONYMS_DIR", str(made.rules))
    return made


def said(done: Result, text: str, code: int = 0) -> None:
    assert done.exit_code == code, done.output
    assert text in done.output


class TestDifferences:
    def test_are_all_that_is_written(self, blog: Blog) -> None:
        blog.write(entry("a"), entry("b"), entry("c"))
        said(blog.sync(), "3 documents added, 0 changed, 0 removed, 0 as they were")
        said(blog.sync(), "0 documents added, 0 changed, 0 removed, 3 as they were")
        before = blog.stored("a")["version"]
        blog.write(entry("a"), entry("b", title="Another"), entry("d"))
        said(blog.sync(), "1 documents added, 1 changed, 1 removed, 1 as they were")
        assert blog.ids() == {"post:a", "post:b", "post:d"}
        assert blog.stored("b")["title"] == "Another"
        assert blog.stored("a")["version"] == before

    def test_win_over_the_index_whatever_the_dates_say(self, blog: Blog) -> None:
        blog.write(entry("a", modified="2024-05-02"))
        blog.sync()
        blog.write(entry("a", title="Restored", modified="2024-05-01"))
        said(blog.sync(), "1 changed")
        assert blog.stored("a")["title"] == "Restored"
        said(blog.sync(), "1 as they were")

    def test_bring_a_removed_post_back(self, blog: Blog) -> None:
        blog.write(entry("a"), entry("b", pub_date="2020-01-01"))
        blog.sync()
        blog.write(entry("a"))
        said(blog.sync(), "1 removed")
        blog.write(entry("a"), entry("b", pub_date="2020-01-01"))
        said(blog.sync(), "1 documents added")
        assert blog.ids() == {"post:a", "post:b"}

    def test_in_comments_count_when_the_source_has_comments(self, blog: Blog) -> None:
        comments = [{"oid": "1", "comment": "One"}, {"oid": "2", "comment": "Two"}]
        blog.write(entry("a", comments=comments), entry("b"))
        blog.sync()
        blog.write(entry("a", comments=comments[:1]), entry("b"))
        said(blog.sync(), "1 removed")
        assert blog.ids() == {"post:a", "comment:a:1", "post:b"}

    def test_keep_comments_over_http_until_their_post_goes(self, blog: Blog) -> None:
        blog.write(entry("a"), entry("b"))
        blog.sync()
        blog.comment("a", "1")
        blog.comment("b", "2")
        said(blog.sync(), "0 removed")
        assert {"comment:a:1", "comment:b:2"} < blog.ids()
        blog.write(entry("a"))
        said(blog.sync(), "2 removed")
        assert blog.ids() == {"post:a", "comment:a:1"}


class TestCaution:
    def test_no_posts_at_all(self, blog: Blog) -> None:
        blog.write(entry("a"), entry("b"))
        blog.sync()
        blog.file.write_text("[]")
        said(blog.sync(), "Nothing was removed", 1)
        assert blog.ids() == {"post:a", "post:b"}
        said(blog.sync("--force"), "2 removed")

    def test_far_fewer(self, blog: Blog) -> None:
        blog.write(*(entry(number) for number in range(40)))
        blog.sync()
        blog.write(*(entry(number) for number in range(29)), entry("new"))
        done = blog.sync()
        said(done, "11 of 40 posts", 1)
        assert "1 documents added, 0 changed, 0 removed" in done.output
        assert len(blog.ids()) == 41
        said(blog.sync("--force"), "11 removed")
        blog.write(*(entry(number) for number in range(22)))
        said(blog.sync(), "8 of 30 posts", 1)

    def test_a_few(self, blog: Blog) -> None:
        blog.write(*(entry(number) for number in range(6)))
        blog.sync()
        blog.write(entry(0))
        said(blog.sync(), "5 removed")

    def test_rejected_posts_stay_as_they_are(self, blog: Blog) -> None:
        blog.write(entry("a", comments=[{"oid": "1", "comment": "One"}]), entry("b"))
        blog.sync()
        blog.write(entry("a", title="", comments=[{"oid": "1", "comment": "One"}]), entry("b"))
        said(blog.sync(), "0 removed", 3)
        blog.write(entry("b"), '{"oid": "a", broken')
        said(blog.sync(), "1 rejected lines", 1)
        assert blog.ids() == {"post:a", "comment:a:1", "post:b"}

    def test_a_source_that_breaks_off(self, blog: Blog) -> None:
        blog.write(entry("a"), entry("b"))
        blog.sync()
        blog.file.write_text("[" + json.dumps(entry("a")) + ",")
        assert blog.sync().exit_code == 1
        assert blog.ids() == {"post:a", "post:b"}


class TestRebuild:
    def test_when_the_rules_changed(self, blog: Blog, elastic: Elasticsearch, alias: str) -> None:
        blog.write(entry("a"))
        blog.sync()
        blog.comment("a", "1")
        (blog.rules / "my.synonyms").write_text("reactjs, react\n")
        said(blog.sync(), f"{alias}-000002 is live: 1 posts and 1 comments")
        said(blog.sync(), "1 as they were")
        assert require_live(elastic, alias).number == 2

    def test_when_the_mapping_changed_every_post_is_written_again(
        self, blog: Blog, elastic: Elasticsearch, alias: str
    ) -> None:
        blog.write(entry("a"), entry("b"))
        blog.sync()
        name = require_live(elastic, alias).name
        meta = elastic.indices.get_mapping(index=name)[name]["mappings"]["_meta"]
        meta["blogsearch"]["schema"] = 0
        elastic.indices.put_mapping(index=name, meta=meta)
        said(blog.sync(), "2 changed")
        assert [one.number for one in list_generations(elastic, alias)] == [1, 2]


def test_two_at_once_lock_each_other_out(blog: Blog, elastic: Elasticsearch, alias: str) -> None:
    blog.write(entry("a"))
    blog.sync()
    with Lock(elastic, alias, "sync of another"):
        said(blog.sync(), "(sync of another)", 1)


def test_watching_syncs_after_every_change(blog: Blog, monkeypatch: pytest.MonkeyPatch) -> None:
    blog.write(entry("a"))
    stop = threading.Event()
    watch = syncing.watch
    monkeypatch.setattr(
        syncing, "watch", lambda *args, **rest: watch(*args, stop_event=stop, **rest)
    )
    # Signals are for the main thread, where click runs otherwise.
    monkeypatch.setattr("signal.signal", lambda *_: None)
    thread = threading.Thread(target=blog.sync, args=("--watch",))
    thread.start()
    try:
        wait_for(lambda: blog.ids() == {"post:a"})
        blog.write(entry("a"), entry("b"))
        wait_for(lambda: blog.ids() == {"post:a", "post:b"})
        blog.write(entry("a"), entry("b"), "nonsense")
        other = blog.file.with_name("other")
        other.write_text(blog.file.read_text())
        other.rename(blog.file)
        blog.write(entry("a"), entry("c"))
        wait_for(lambda: blog.ids() == {"post:a", "post:c"})
    finally:
        stop.set()
        thread.join()


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while True:
        try:
            if condition():
                return
        except Exception:  # noqa: BLE001  (before the first sync there is no index)
            assert time.monotonic() < deadline
        assert time.monotonic() < deadline
        time.sleep(0.1)
