"""`blogsearch sync`: writes only what differs, and never empties the index by mistake."""

import json
import signal
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from elasticsearch import Elasticsearch

from analyzers.rules.compile import NO_RULES
from app.cache import open_cache
from app.commands.runs import updates_cache_on_failure
from app.commands.sources import Sources
from app.commands.tools import Tools
from app.settings import Settings
from indexer.build.builder import IndexSettings, reindex
from indexer.errors import LockLost
from indexer.generations import require_live
from indexer.ingest import Ingest, IngestOptions
from indexer.lock import Lock
from indexer.scan import stored_digests
from indexer.sources import SourceOptions
from indexer.sources.json_lines import JSONLines
from indexer.sync import sync
from indexer.write.live import write
from indexer.write.merge import oids, with_comments, without_comment


def entry(oid: Any, **fields: Any) -> dict[str, Any]:
    return {"oid": str(oid), "title": f"Post {oid}", "text": "<p>Text</p>", **fields}


@pytest.fixture
def settings(own_settings: Settings) -> Settings:
    """For commands that are run here: an index of the test's own."""
    return own_settings


class Blog:
    """A file of posts and the index that is synced with it."""

    def __init__(
        self, file: Path, run: Callable[..., Result], elastic: Elasticsearch, alias: str
    ) -> None:
        self.file = file
        self._run = run
        self._elastic = elastic
        self._alias = alias

    def write(self, *entries: dict[str, Any] | str) -> None:
        lines = [entry if isinstance(entry, str) else json.dumps(entry) for entry in entries]
        self.file.write_text("".join(f"{entry}\n" for entry in lines))

    def sync(self, *options: str) -> Result:
        return self._run("sync", self.file, *options)

    def ids(self) -> set[str]:
        self._elastic.indices.refresh(index=self._alias)
        hits = self._elastic.search(index=self._alias, size=1_000)["hits"]["hits"]
        posts = [hit["_source"] for hit in hits]
        comments = {f"{post['oid']}/{oid}" for post in posts for oid in oids(post)}
        return comments | {post["oid"] for post in posts}

    def stored(self, oid: str) -> dict[str, Any]:
        response = self._elastic.get(index=self._alias, id=oid)
        return {**response["_source"], "version": response["_version"]}

    def comment(self, post_oid: str, oid: str, status: int = 201) -> None:
        """A comment that comes over HTTP; 201: a new one, 200: in place of another."""
        comment = {"oid": oid, "comment": "Over HTTP", "author": ""}
        change = with_comments([comment])
        written = write(self._elastic, self._alias, {post_oid: change})[post_oid]
        assert (oid in oids(written.before)) == (status == 200)
        assert oid in oids(written.after)


@pytest.fixture
def blog(run: Callable[..., Result], elastic: Elasticsearch, alias: str, tmp_path: Path) -> Blog:
    return Blog(tmp_path / "posts.jsonl", run, elastic, alias)


def printed(done: Result, text: str, code: int = 0) -> None:
    assert done.exit_code == code, done.output
    assert text in done.output


def read_by_commands(file: Path, options: SourceOptions) -> Sources:
    return Sources([JSONLines(str(file), options)], options)


class TestDifferences:
    def test_only_are_written(self, blog: Blog) -> None:
        blog.write(entry("a"), entry("b"), entry("c"))
        printed(blog.sync(), "3 documents added, 0 changed, 0 removed, 0 unchanged")
        printed(blog.sync(), "0 documents added, 0 changed, 0 removed, 3 unchanged")
        before = blog.stored("a")["version"]
        blog.write(entry("a"), entry("b", title="Another"), entry("d"))
        printed(blog.sync(), "1 documents added, 1 changed, 1 removed, 1 unchanged")
        assert blog.ids() == {"a", "b", "d"}
        assert blog.stored("b")["title"] == "Another"
        assert blog.stored("a")["version"] == before

    def test_in_html_with_the_same_text_are_none(self, blog: Blog) -> None:
        blog.write(entry("a"), entry("b", comments=[{"oid": "1", "comment": "One"}]))
        blog.sync()
        blog.write(
            entry("a", text="<div class=new><p>Text</p></div>"),
            entry("b", comments=[{"oid": "1", "comment": "<p>One</p>"}]),
        )
        printed(blog.sync(), "0 documents added, 0 changed, 0 removed, 2 unchanged")

    def test_are_recognised_before_documents_are_made(
        self, blog: Blog, elastic: Elasticsearch, alias: str
    ) -> None:
        first, two = {"oid": "1", "comment": "One"}, {"oid": "2", "comment": "Over HTTP"}
        blog.write(entry("a", comments=[first]))
        blog.sync()
        blog.comment("a", "2")

        def changed_documents(**fields: Any) -> list[str]:
            blog.write(entry("a", comments=[first, two], **fields))
            posts = JSONLines(str(blog.file), SourceOptions()).read()
            elastic.indices.refresh(index=alias)
            ingest = Ingest(pytest.fail, stored=stored_digests(elastic, alias))
            return [document.oid for document in ingest.documents(posts)]

        assert changed_documents() == ["a"]

    @pytest.mark.parametrize("first", ["Post a", "Another", None])
    def test_of_a_second_with_the_same_oid_name_the_first(
        self, blog: Blog, first: str | None
    ) -> None:
        """The first may be unchanged, changed or new; the second unchanged, changed or new."""
        blog.write(*([entry("a")] if first else []), entry("b"))
        blog.sync()
        twice = [entry("a", title=first or "New"), entry("a"), entry("a", title="Third")]
        blog.write(entry("b"), *twice, entry("c"))
        done = blog.sync()
        reason = f"another post has the oid 'a' already ({blog.file}:2)"
        assert done.stderr.replace("\n", " ").count(reason) == 2
        assert blog.stored("a")["title"] == (first or "New")
        printed(blog.sync(), "0 documents added, 0 changed, 0 removed, 3 unchanged", 3)

    def test_win_over_the_index_whatever_the_dates_say(self, blog: Blog) -> None:
        blog.write(entry("a", modified="2024-05-02"))
        blog.sync()
        blog.write(entry("a", title="Restored", modified="2024-05-01"))
        printed(blog.sync(), "1 changed")
        assert blog.stored("a")["title"] == "Restored"
        printed(blog.sync(), "1 unchanged")

    def test_restore_a_removed_post(self, blog: Blog) -> None:
        blog.write(entry("a"), entry("b", pub_date="2020-01-01"))
        blog.sync()
        blog.write(entry("a"))
        printed(blog.sync(), "1 removed")
        blog.write(entry("a"), entry("b", pub_date="2020-01-01"))
        printed(blog.sync(), "1 documents added")
        assert blog.ids() == {"a", "b"}

    def test_in_comments_count_when_the_source_has_comments(self, blog: Blog) -> None:
        comments = [{"oid": "1", "comment": "One"}, {"oid": "2", "comment": "Two"}]
        blog.write(entry("a", comments=comments), entry("b"))
        blog.sync()
        blog.write(entry("a", comments=comments[:1]), entry("b"))
        printed(blog.sync(), "1 changed")
        assert blog.ids() == {"a", "a/1", "b"}
        blog.write(entry("a"), entry("b"))
        printed(blog.sync(), "2 unchanged")
        assert blog.ids() == {"a", "a/1", "b"}
        blog.write(entry("a"), entry("b", comments=comments[:1]))
        blog.sync()
        assert blog.ids() == {"a", "b", "b/1"}

    def test_keep_comments_over_http_until_their_post_goes(self, blog: Blog) -> None:
        blog.write(entry("a"), entry("b"))
        blog.sync()
        blog.comment("a", "1")
        blog.comment("b", "2")
        printed(blog.sync(), "0 removed")
        assert {"a/1", "b/2"} < blog.ids()
        blog.write(entry("a"))
        printed(blog.sync(), "1 removed")
        assert blog.ids() == {"a", "a/1"}


class TestLines:
    """A line is not parsed if the index has all documents that were made of it."""

    @pytest.fixture
    def parsed(self, blog: Blog, elastic: Elasticsearch, alias: str) -> Callable[..., list[int]]:
        """Returns the numbers of the lines that a sync would parse."""

        def numbers(**options: str) -> list[int]:
            source = read_by_commands(blog.file, SourceOptions(**options))
            elastic.indices.refresh(index=alias)
            ingest = Ingest(pytest.fail, stored=stored_digests(elastic, alias))
            items = source.read(ingest.is_unchanged_entry)
            return [item.origin.line or 0 for item in items]

        return numbers

    def test_with_a_change_is_parsed(self, blog: Blog, parsed: Callable[..., list[int]]) -> None:
        comments = [{"oid": "1", "comment": "One"}, {"oid": "2", "comment": "Two"}]
        a, b, c = entry("a"), entry("b", comments=comments), entry("c", comments=comments)
        blog.write(a, b, c)
        blog.sync()
        assert parsed() == []
        assert parsed(site="https://example.org") == [1, 2, 3]
        assert parsed(language="de") == [1, 2, 3]
        blog.write(c, entry("new"), b, a)
        assert parsed() == [2]
        blog.write(entry("a", title="Another"), b, entry("c", comments=comments[:1]))
        assert parsed() == [1, 3]

    def test_with_another_form_is_parsed_and_not_written(
        self, blog: Blog, parsed: Callable[..., list[int]]
    ) -> None:
        blog.write(entry("a"), entry("b"))
        blog.sync()
        blog.write(entry("a"), entry("b", views=17))
        assert parsed() == [2]
        done = blog.sync()
        printed(done, "0 documents added, 0 changed, 0 removed, 2 unchanged")
        assert "1 posts that are new or changed have a field 'views'" in done.stderr

    def test_that_is_there_twice_is_rejected(
        self, blog: Blog, parsed: Callable[..., list[int]]
    ) -> None:
        blog.write(entry("a"), entry("b"))
        blog.sync()
        blog.write(entry("a"), entry("b"), entry("a"))
        assert parsed() == [3]
        printed(blog.sync(), "another post has the oid 'a' already", 3)

    @pytest.mark.parametrize("what", ["post", "comment"])
    def test_of_which_something_was_deleted_is_parsed(
        self,
        what: str,
        blog: Blog,
        elastic: Elasticsearch,
        alias: str,
        parsed: Callable[..., list[int]],
    ) -> None:
        comments = [{"oid": "1", "comment": "One"}, {"oid": "2", "comment": "Two"}]
        blog.write(entry("a", comments=comments), entry("b"))
        blog.sync()
        if what == "post":
            write(elastic, alias, {"a": lambda stored: None})
        else:
            write(elastic, alias, {"a": without_comment("2")})
        assert parsed() == [1]
        blog.sync()
        assert blog.ids() == {"a", "a/1", "a/2", "b"}
        assert parsed() == []

    def test_of_which_a_comment_was_written_over_http_is_parsed(
        self, blog: Blog, parsed: Callable[..., list[int]]
    ) -> None:
        blog.write(entry("a", comments=[{"oid": "1", "comment": "One"}]), entry("b"))
        blog.sync()
        blog.comment("a", "1", status=200)
        blog.comment("b", "2")
        assert parsed() == [1]
        blog.sync()
        assert [each["comment"] for each in blog.stored("a")["comments"]] == ["One"]
        assert [each["comment"] for each in blog.stored("b")["comments"]] == ["Over HTTP"]

    def test_of_a_post_with_another_oid_is_parsed(
        self, blog: Blog, run: Callable[..., Result], parsed: Callable[..., list[int]]
    ) -> None:
        """`add` joins posts of one address, as those of a feed."""
        url = "https://example.org/a"
        blog.write(entry("a", url=url, modified="2024-01-01"))
        blog.sync()
        blog.write(entry("b", title="Newer", url=url, modified="2024-01-02"))
        assert run("add", blog.file).exit_code == 0
        assert blog.ids() == {"a"}
        assert parsed() == [1]
        printed(blog.sync(), "1 documents added, 0 changed, 1 removed")

    def test_of_two_files_is_parsed(
        self, blog: Blog, run: Callable[..., Result], tmp_path: Path
    ) -> None:
        """Of two posts with one address the second is left out, also if the first is unchanged."""
        other = tmp_path / "other.jsonl"
        other.write_text(json.dumps(entry("b", url="https://example.org/a")) + "\n")
        blog.write(entry("a", url="https://example.org/a"))
        for _ in range(2):
            done = run("sync", blog.file, other)
            assert done.exit_code == 0
            assert "Left out: 1" in done.output
            assert blog.ids() == {"a"}

    def test_counts_in_the_progress(
        self, blog: Blog, elastic: Elasticsearch, alias: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        blog.write(*(entry(number) for number in range(5)))
        blog.sync()
        monkeypatch.setattr("indexer.ingest._REPORTED", 2)
        reported: list[int] = []
        options = IngestOptions(on_progress=lambda progress: reported.append(progress.done))
        source = read_by_commands(blog.file, SourceOptions())
        shape = IndexSettings(NO_RULES, 1, 0)
        sync(elastic, alias, source.read, shape, pytest.fail, options)
        assert reported == [2, 4]


class TestCaution:
    def test_no_posts_at_all(self, blog: Blog) -> None:
        blog.write(entry("a"), entry("b"))
        blog.sync()
        blog.file.write_text("[]")
        printed(blog.sync(), "Nothing was removed", 1)
        assert blog.ids() == {"a", "b"}
        printed(blog.sync("--force"), "2 removed")

    def test_far_fewer(self, blog: Blog) -> None:
        blog.write(*(entry(number) for number in range(40)))
        blog.sync()
        blog.write(*(entry(number) for number in range(29)), entry("new"))
        done = blog.sync()
        printed(done, "11 of 40 posts", 1)
        assert "(29, 30, 31, 32, 33, …)" in done.output
        assert "1 documents added, 0 changed, 0 removed" in done.output
        assert len(blog.ids()) == 41
        printed(blog.sync("--force"), "11 removed")
        blog.write(*(entry(number) for number in range(22)))
        printed(blog.sync(), "8 of 30 posts", 1)

    def test_a_dry_run_says_what_would_be_done_and_writes_nothing(self, blog: Blog) -> None:
        blog.write(*(entry(number, comments=[{"oid": "c", "comment": "x"}]) for number in range(6)))
        assert blog.sync("--dry-run").exit_code == 1  # there is no index
        blog.sync()
        before = blog.ids()
        comments = [{"oid": "c", "comment": "x"}]
        changed = entry(1, title="Changed", comments=comments)
        blog.write(entry(0, comments=comments), changed, entry("new"))
        done = blog.sync("--dry-run")
        assert done.exit_code == 0
        removed = {f"remove  {number}" for number in range(2, 6)}
        lines = set(done.stdout.splitlines())
        assert lines - removed == {
            "add     new",
            "change  1",
            "1 documents would be added, 1 changed, 4 removed, 1 unchanged.",
        }
        assert removed < lines
        assert blog.ids() == before
        assert blog.stored("1")["title"] == "Post 1"
        blog.file.write_text("[]")
        printed(blog.sync("--dry-run"), "Nothing would be removed: the source has no posts", 1)
        assert blog.sync("--dry-run", "--watch").exit_code == 2

    def test_sample_posts_are_replaced(self, blog: Blog) -> None:
        samples = [entry(number, url=f"https://blog.example.org/{number}/") for number in range(9)]
        blog.write(*samples)
        blog.sync()
        blog.file.write_text("[]")
        printed(blog.sync(), "Nothing was removed", 1)
        blog.write(entry("own"))
        printed(blog.sync(), "9 removed")
        assert blog.ids() == {"own"}

    def test_the_first_comment_in_the_source(self, blog: Blog) -> None:
        blog.write(entry("a"))
        blog.sync()
        blog.comment("a", "http")
        blog.write(entry("a", comments=[{"oid": "1", "comment": "One"}]))
        printed(blog.sync(), "0 documents added, 1 changed, 0 removed")
        printed(blog.sync(), "1 unchanged")
        assert blog.ids() == {"a", "a/http", "a/1"}

    def test_a_comment_over_http_that_the_source_takes_over(self, blog: Blog) -> None:
        blog.write(entry("a"))
        blog.sync()
        blog.comment("a", "1")
        two = [{"oid": "1", "comment": "Over HTTP"}, {"oid": "2", "comment": "Two"}]
        blog.write(entry("a", comments=two))
        blog.sync()
        blog.write(entry("a", comments=two[1:]))
        printed(blog.sync(), "1 changed")
        assert blog.ids() == {"a", "a/2"}

    def test_a_few(self, blog: Blog) -> None:
        blog.write(*(entry(number) for number in range(6)))
        blog.sync()
        blog.write(entry(0))
        printed(blog.sync(), "5 removed")

    def test_rejected_posts_stay_as_they_are(self, blog: Blog) -> None:
        blog.write(entry("a", comments=[{"oid": "1", "comment": "One"}]), entry("b"))
        blog.sync()
        blog.write(entry("a", title="", comments=[{"oid": "1", "comment": "One"}]), entry("b"))
        printed(blog.sync(), "0 removed", 3)
        blog.write(entry("b"), '{"oid": "a", broken')
        printed(blog.sync(), "1 rejected lines", 1)
        assert blog.ids() == {"a", "a/1", "b"}

    def test_rejected_posts_stay_whatever_their_oid(self, blog: Blog) -> None:
        oids = ("abc ", "p/cafe\u0301", "c")
        blog.write(*map(entry, oids))
        blog.sync()
        blog.write(*(entry(oid, pub_date="31.1.2024") for oid in oids[:2]), entry("c"))
        printed(blog.sync(), "0 removed", 3)
        assert blog.ids() == {"abc", "p/cafe\u0301", "c"}
        for oid in ("", 1.5):
            blog.write(entry("abc"), {**entry("x"), "oid": oid}, entry("c"))
            printed(blog.sync(), "1 rejected lines", 1)

    def test_rejected_posts_whose_oid_cannot_be_read_keep_all_posts(
        self, blog: Blog, run: Callable[..., Result], tmp_path: Path
    ) -> None:
        folder = tmp_path / "posts"
        folder.mkdir()
        for name in "abcd":
            (folder / f"{name}.md").write_text(f"---\noid: my-{name}\ntitle: A\n---\nx")
        assert run("sync", folder).exit_code == 0
        (folder / "a.md").write_text("---\noid: my-a\ntitle: 'A\n---\nx")
        (folder / "b.md").write_bytes(b"---\noid: my-b\ntitle: A\n---\nf\xfcr")
        (folder / "c.md").unlink()
        printed(run("sync", folder), "Nothing was removed: 2 rejected lines", 1)
        assert blog.ids() == {f"my-{name}" for name in "abcd"}

    def test_a_source_that_breaks_off(self, blog: Blog) -> None:
        blog.write(entry("a"), entry("b"))
        blog.sync()
        blog.file.write_text("[" + json.dumps(entry("a")) + ",")
        assert blog.sync().exit_code == 1
        assert blog.ids() == {"a", "b"}


class TestRebuild:
    def test_not_after_a_rollback(
        self, blog: Blog, run: Callable[..., Result], elastic: Elasticsearch, settings: Settings
    ) -> None:
        blog.write(entry("a"))
        blog.sync()
        (settings.synonyms_dir / "my.synonyms").write_text("reactjs, react\n")
        printed(blog.sync(), f"{settings.index}-000002 is live")
        assert run("rollback").exit_code == 0
        blog.write(entry("a"), entry("b"))
        done = blog.sync()
        printed(done, "1 documents added")
        assert "rolled back" in done.stderr
        assert require_live(elastic, settings.index).number == 1
        (settings.synonyms_dir / "my.synonyms").write_text("reactjs, react, preact\n")
        printed(blog.sync(), f"{settings.index}-000003 is live")

    def test_when_the_rules_changed(
        self, blog: Blog, elastic: Elasticsearch, settings: Settings
    ) -> None:
        blog.write(entry("a"))
        blog.sync()
        blog.comment("a", "1")
        assert "would be built" not in blog.sync("--dry-run").stderr
        (settings.synonyms_dir / "my.synonyms").write_text("reactjs, react\n")
        printed(blog.sync("--dry-run"), "A new generation would be built first")
        assert require_live(elastic, settings.index).number == 1
        printed(blog.sync(), f"{settings.index}-000002 is live")
        assert blog.ids() == {"a", "a/1"}
        printed(blog.sync(), "1 unchanged")
        assert require_live(elastic, settings.index).number == 2


def test_only_one_runs_at_a_time(
    blog: Blog, elastic: Elasticsearch, alias: str, settings: Settings
) -> None:
    cache = open_cache(settings)
    blog.write(entry("a"))
    blog.sync()
    generation = cache.generation()
    with Lock(elastic, alias, "sync of another"):
        printed(blog.sync(), "(sync of another)", 1)
    assert cache.generation() == generation  # which has the index, so it is not ""
    assert generation.startswith(f"{alias}-000001 ")


class UnrenewedLock(Lock):
    """The lock of a process that seems to be dead, so that another one waits for it."""

    def check(self) -> None:
        pass


def test_the_first_one_waits_for_the_lock_before_it_looks_for_an_index(
    blog: Blog, elastic: Elasticsearch, alias: str
) -> None:
    """Else it would build from its source alone what another process has built meanwhile."""
    settings = IndexSettings(NO_RULES, 1, 0)
    file = blog.file.with_name("other.jsonl")
    file.write_text("".join(f"{json.dumps(entry(oid))}\n" for oid in ("a", "b", "c")))
    blog.write(entry("d"))
    feed = IngestOptions(complete=False)
    with ThreadPoolExecutor(1) as pool:
        with UnrenewedLock(elastic, alias, "build of another", lease=600) as lock:
            second = pool.submit(
                sync,
                elastic,
                alias,
                read_by_commands(blog.file, SourceOptions()).read,
                settings,
                pytest.fail,
                feed,
            )
            time.sleep(1)
            source = JSONLines(str(file), SourceOptions())
            reindex(elastic, alias, source.read(), settings, pytest.fail, lock=lock)
        done = second.result()
    assert done.built is None
    assert blog.ids() == {"a", "b", "c", "d"}


def test_one_that_loses_the_lock_makes_what_it_wrote_visible(
    blog: Blog, settings: Settings, elastic: Elasticsearch
) -> None:
    cache = open_cache(settings)
    blog.write(entry("a"))
    blog.sync()
    generation = cache.generation()
    elastic.index(index=settings.index, id="as-if-written", document={"title": "b"})
    with pytest.raises(LockLost), updates_cache_on_failure(Tools(settings)):
        raise LockLost("lost")
    assert cache.generation() != generation


def test_watching_syncs_after_every_change(
    blog: Blog, start: Callable[..., subprocess.Popen[str]]
) -> None:
    blog.write(entry("a"))
    process = start("sync", blog.file, "--watch")
    wait_for(lambda: blog.ids() == {"a"})
    blog.write(entry("a"), entry("b"))
    wait_for(lambda: blog.ids() == {"a", "b"})
    blog.write(entry("a"), entry("b"), "nonsense")
    other = blog.file.with_name("other")
    other.write_text(blog.file.read_text())
    other.rename(blog.file)
    blog.write(entry("a"), entry("c"))
    wait_for(lambda: blog.ids() == {"a", "c"})
    process.send_signal(signal.SIGINT)
    process.wait(30)  # raises TimeoutExpired if it keeps running


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


def test_a_page_that_looks_like_a_list_now_is_not_deleted(
    run: Callable[..., Result], elastic: Elasticsearch, alias: str, tmp_path: Path
) -> None:
    """A guess is not a reason to delete a post; what the page says is one."""
    prose = "A sentence that is long enough to be taken for what the page is about. " * 4
    links = "".join(f"<p><a href='/{number}'>A post {number}</a></p>" for number in range(20))
    site = tmp_path / "public"
    site.mkdir()
    for name in ("stays", "guessed", "hidden"):
        (site / f"{name}.html").write_text(f"<!doctype html><title>x</title><p>{prose}")
    assert run("sync", site).exit_code == 0
    (site / "guessed.html").write_text(f"<!doctype html><title>x</title><main>{links}</main>")
    noindex = '<meta name="robots" content="noindex">'
    (site / "hidden.html").write_text(f"<!doctype html><title>x</title>{noindex}<p>{prose}")
    done = run("sync", site)
    assert "1 removed" in done.stdout
    assert "1 list page, 1 noindex" in done.stderr
    elastic.indices.refresh(index=alias)
    assert {hit["_id"] for hit in elastic.search(index=alias)["hits"]["hits"]} == {
        "stays",
        "guessed",
    }


def test_pages_that_are_gone_do_not_keep_others_from_being_removed(
    run: Callable[..., Result],
    own_settings: Settings,
    server: Any,
    post_oids: Callable[[], set[str]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """A dead link in a sitemap may stay there for ever."""
    monkeypatch.setenv("HOME", str(tmp_path))
    words = "A sentence that is long enough to be taken for what the page is about. " * 4

    def listed(*names: str) -> None:
        urls = "".join(f"<url><loc>{server.url(f'/{name}')}</loc></url>" for name in names)
        server.say("/sitemap.xml", f"<urlset>{urls}</urlset>", Content_Type="text/xml")

    def sync() -> Result:
        settings = replace(own_settings, fetch_allow_private=True)
        return run("sync", server.url("/sitemap.xml"), settings=settings)

    for name in ("stays", "dead", "hidden", "removed"):
        server.say(f"/{name}", f"<!doctype html><title>x</title><main><p>{words}</main>")
    listed("stays", "dead", "hidden", "removed")
    assert sync().exit_code == 0
    assert post_oids() == {"stays", "dead", "hidden", "removed"}
    del server.answers["/dead"]
    server.say("/robots.txt", "User-agent: *\nDisallow: /hidden")
    listed("stays", "dead", "hidden")
    done = sync()
    assert (done.exit_code, "3 removed" in done.output) == (0, True)
    assert "1 gone (404), 1 disallowed by robots.txt" in done.output
    assert post_oids() == {"stays"}
