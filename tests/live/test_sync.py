"""`blogsearch sync`: writes only what differs, and never empties the index by mistake."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from elasticsearch import Elasticsearch

from analyzers.rules.compile import NO_RULES
from app.cli import main
from app.commands.tools import Tools
from app.settings import Settings
from indexer.posts.records import IsUnchangedEntry, SourceItem
from indexer.runs.build import IndexSettings
from indexer.runs.sync import sync
from indexer.sources import SourceOptions
from indexer.sources.json_lines import JSONLines
from indexer.store.generations import require_live
from tests.conftest import Run
from tests.live.conftest import Faulty
from tests.writing import delete_post, no_reject, put_comments, put_post

SETTINGS = IndexSettings(NO_RULES, 1, 0)


def entry(oid: Any, *comments: str, **fields: Any) -> dict[str, Any]:
    """A line of a source; each comment is its oid and its text."""
    if comments:
        fields["comments"] = [{"oid": comment, "comment": comment} for comment in comments]
    return {"oid": str(oid), "title": f"Post {oid}", "text": "<p>Text</p>", **fields}


@pytest.fixture
def alias(emptied: str) -> str:
    return emptied


class Blog:
    """A file of posts and the index that is synced with it."""

    def __init__(self, file: Path, run: Run, elastic: Elasticsearch, alias: str) -> None:
        self.file = file
        self._run = run
        self._elastic = elastic
        self._alias = alias

    def write(self, *entries: dict[str, Any] | str) -> None:
        lines = [entry if isinstance(entry, str) else json.dumps(entry) for entry in entries]
        self.file.write_text("".join(f"{entry}\n" for entry in lines))

    def read(self, is_unchanged: IsUnchangedEntry | None = None) -> Iterator[SourceItem]:
        return JSONLines(str(self.file), SourceOptions()).read(is_unchanged)

    def sync(self, *options: str) -> Result:
        return self._run("sync", self.file, *options)

    def add(self) -> Result:
        return self._run("add", self.file)

    def posts(self) -> dict[str, set[str]]:
        """The oids of posts, with those of their comments."""
        self._elastic.indices.refresh(index=self._alias)
        hits = self._elastic.search(index=self._alias, size=1_000)["hits"]["hits"]
        return {
            hit["_id"]: {comment["oid"] for comment in hit["_source"].get("comments", ())}
            for hit in hits
        }

    def stored(self, oid: str) -> dict[str, Any]:
        response = self._elastic.get(index=self._alias, id=oid)
        return {**response["_source"], "seq_no": response["_seq_no"]}

    def comment(self, post_oid: str, oid: str) -> None:
        put_comments(self._elastic, self._alias, post_oid, oid)

    def put(self, oid: str) -> None:
        put_post(self._elastic, self._alias, oid)


@pytest.fixture
def blog(run: Run, elastic: Elasticsearch, alias: str, tmp_path: Path) -> Blog:
    return Blog(tmp_path / "posts.jsonl", run, elastic, alias)


def printed(done: Result, text: str, code: int = 0) -> None:
    assert done.exit_code == code, done.output
    assert text in done.output


class TestDifferences:
    def test_only_are_written(self, blog: Blog) -> None:
        blog.write(entry("a"), entry("b"), entry("c", "1"))
        printed(blog.sync(), "3 posts added, 0 changed, 0 removed, 0 unchanged")
        before = blog.stored("a"), blog.stored("c")
        printed(blog.sync(), "0 posts added, 0 changed, 0 removed, 3 unchanged")
        blog.write(entry("a"), entry("b", title="Another"), entry("c", "1"), entry("d"))
        printed(blog.sync(), "1 post added, 1 changed, 0 removed, 2 unchanged")
        assert blog.stored("b")["title"] == "Another"
        assert (blog.stored("a"), blog.stored("c")) == before
        blog.write(entry("a"), entry("c", "1"), entry("d"))
        printed(blog.sync(), "1 removed, 3 unchanged")
        assert blog.posts() == {"a": set(), "c": {"1"}, "d": set()}

    def test_are_added_without_what_the_index_has_under_another_oid(self, blog: Blog) -> None:
        site = "https://blog.example.org"
        blog.write(entry("a", "1", url=f"{site}/a/"), entry("b", url=f"{site}/b/"))
        blog.sync()
        of_feed = entry("x7", title="Summary", url=f"{site}/a/?utm_source=rss")
        blog.write(of_feed, entry("b", title="New", url=f"{site}/b/"), entry("c", url=f"{site}/c/"))
        printed(blog.add(), "1 post added, 1 changed, 0 removed, 1 unchanged")
        assert blog.posts() == {"a": {"1"}, "b": set(), "c": set()}
        assert blog.stored("a")["title"] == "Post a"
        assert blog.stored("b")["title"] == "New"

    def test_in_html_with_the_same_text_are_written_once(self, blog: Blog) -> None:
        blog.write(entry("a"), entry("b"))
        blog.sync()
        blog.write(entry("a", text="<div class=new><p>Text</p></div>"), entry("b", views=17))
        printed(blog.sync(), "0 posts added, 2 changed, 0 removed, 0 unchanged")
        compared = blog.stored("a")
        blog.sync()
        assert blog.stored("a") == compared  # it is not written by every sync


def test_summaries_in_place_of_the_texts_are_said(blog: Blog) -> None:
    grains = ["wheat", "rye", "barley", "oats", "millet", "rice", "maize", "sorghum"]
    summaries = [entry(grain, text=f"<p>Bread of {grain}.</p>") for grain in grains]
    whole = [{**one, "text": one["text"] + "<p>More about it.</p>" * 9} for one in summaries]
    blog.write(*whole)
    blog.sync()
    blog.write(*summaries[:5])
    assert "warning" not in blog.add().stderr
    blog.write(*whole)
    assert "warning" not in blog.sync().stderr
    blog.write(*summaries)
    printed(blog.sync(), "8 posts have less than half of their former text (wheat, rye, ")


class TestComments:
    def test_are_removed_while_the_source_has_some(self, blog: Blog) -> None:
        blog.write(entry("a", "1", "2"), entry("b", "1"))
        blog.sync()
        blog.write(entry("a", "1"), entry("b", "1"))
        printed(blog.sync(), "1 removed")
        assert blog.posts() == {"a": {"1"}, "b": {"1"}}
        printed(blog.sync(), "0 removed, 2 unchanged")
        blog.write(entry("a"), entry("b"))
        printed(blog.sync(), "0 removed")
        assert blog.posts() == {"a": {"1"}, "b": {"1"}}
        kept = blog.stored("a")
        printed(blog.sync(), "0 removed, 2 unchanged")
        assert blog.stored("a") == kept

    def test_over_http_stay_until_their_post_goes(self, blog: Blog) -> None:
        blog.write(entry("a"), entry("b"))
        blog.sync()
        blog.comment("a", "http")
        blog.comment("b", "http")
        blog.write(entry("a", "1"), entry("b"))
        printed(blog.sync(), "1 changed, 0 removed")
        assert blog.posts() == {"a": {"1", "http"}, "b": {"http"}}
        blog.write(entry("a", "1"))
        printed(blog.sync(), "1 removed")
        assert blog.posts() == {"a": {"1", "http"}}
        blog.write(entry("a", "1", "http"))  # which takes it over
        blog.sync()
        blog.write(entry("a", "1"))
        printed(blog.sync(), "1 removed")
        assert blog.posts() == {"a": {"1"}}

    def test_far_fewer_need_force(self, blog: Blog) -> None:
        blog.write(entry("a", *"12345678"), entry("b", "1"))
        blog.sync()
        blog.write(entry("a", "1", title="Another"), entry("b", "1"))
        for _ in range(2):
            printed(blog.sync(), "7 of 9 comments", 1)
        assert blog.posts() == {"a": set("12345678"), "b": {"1"}}
        printed(blog.sync("--force"), "7 removed")
        assert blog.posts() == {"a": {"1"}, "b": {"1"}}
        assert blog.stored("a")["title"] == "Another"


class TestPostsOverHttp:
    def test_stay_and_belong_to_a_source_once_it_has_them(self, blog: Blog) -> None:
        blog.write(entry("a"))
        blog.sync()
        blog.put("http")
        printed(blog.sync(), "0 removed, 1 unchanged")
        blog.write(entry("a"), entry("http"))
        printed(blog.sync(), "1 changed")
        assert blog.stored("http")["title"] == "Post http"
        blog.write(entry("a"))
        printed(blog.sync(), "1 removed")

    def test_written_while_a_sync_reads_are_left_to_the_next_one(
        self, blog: Blog, elastic: Elasticsearch, alias: str
    ) -> None:
        blog.write(entry("written"), entry("deleted"), entry("commented"), entry("gone"))
        blog.sync()
        blog.write(*(entry(oid, title="Changed") for oid in ("written", "deleted", "commented")))

        def read(is_unchanged: IsUnchangedEntry | None) -> Iterator[SourceItem]:
            blog.put("written")
            blog.put("gone")
            blog.comment("commented", "http")
            delete_post(elastic, alias, "deleted")
            yield from blog.read(is_unchanged)

        result = sync(elastic, alias, read, SETTINGS, no_reject)
        assert list(result.changed) == ["commented"]
        assert blog.posts() == {"written": set(), "commented": {"http"}, "gone": set()}
        assert blog.stored("written")["title"] == "Over HTTP"
        assert blog.stored("commented")["title"] == "Changed"
        blog.sync()
        assert blog.stored("written")["title"] == blog.stored("deleted")["title"] == "Changed"


class TestCaution:
    def test_far_fewer(self, blog: Blog) -> None:
        blog.write(*(entry(number) for number in range(40)))
        blog.sync()
        blog.write(*(entry(number) for number in range(29)), entry("new"))
        done = blog.sync()
        printed(done, "11 of 40 posts", 1)
        assert "1 post added, 0 changed, 0 removed" in done.output
        assert len(blog.posts()) == 41
        printed(blog.sync("--force"), "11 removed")
        blog.write(*(entry(number) for number in range(25)))
        printed(blog.sync(), "5 removed")
        blog.file.write_text("[]")
        printed(blog.sync(), "Nothing was removed: the source has no posts", 1)
        blog.file.write_text("[" + json.dumps(entry(1)) + ",")
        assert blog.sync().exit_code == 1
        assert len(blog.posts()) == 25

    def test_sample_posts_are_replaced_whatever_came_over_http(self, blog: Blog) -> None:
        samples = [
            entry(number, url=f"https://sample.example.org/{number}/") for number in range(9)
        ]
        blog.write(*samples)
        blog.sync()
        blog.put("http")
        blog.comment("0", "http")
        blog.file.write_text("[]")
        printed(blog.sync(), "Nothing was removed", 1)
        blog.write(entry("own", url="https://blog.example.org/own/"))
        printed(blog.sync(), "9 removed")
        assert blog.posts().keys() == {"own", "http"}

    def test_rejected_posts_stay_as_they_are(self, blog: Blog) -> None:
        oids = ("abc ", "p/cafe\u0301", "c")
        blog.write(*map(entry, oids), entry("d", "1"))
        blog.sync()
        before = blog.posts()
        wrong = [entry(oid, pub_date="31.1.2024") for oid in oids[:2]]
        blog.write(*wrong, entry("c"), entry("d", "1", title=""))
        printed(blog.sync(), "0 removed", 3)
        assert blog.posts() == before
        for line in ({**entry("x"), "oid": ""}, {**entry("x"), "oid": 1.5}, '{"oid": "p", broken'):
            blog.write(entry("abc"), line, entry("c"), entry("d", "1"))
            printed(blog.sync(), "1 rejected lines", 1)
        assert blog.posts() == before


def test_after_a_change_of_the_rules_leaves_the_rebuild_to_its_command(
    blog: Blog, elastic: Elasticsearch, own_settings: Settings
) -> None:
    blog.write(entry("a"))
    blog.sync()
    live = require_live(elastic, own_settings.index)
    (own_settings.synonyms_dir / "my.synonyms").write_text("reactjs, react\n")
    blog.write(entry("a"), entry("b"))
    done = blog.sync()
    printed(done, "1 post added")
    assert "blogsearch rebuild" in done.stderr
    assert require_live(elastic, own_settings.index) == live


class TestFirst:
    @pytest.fixture
    def alias(self, own_alias: str) -> str:
        return own_alias

    def test_takes_no_source_that_was_not_understood(self, blog: Blog) -> None:
        blog.write(entry("a"), "nonsense", "nonsense")
        printed(blog.sync(), "2 of 3 posts were rejected", 1)
        printed(blog.sync("--force"), "1 post added", 3)


def test_one_of_a_changed_post_takes_few_requests(
    blog: Blog, faulty: Faulty, own_settings: Settings
) -> None:
    sent = 0

    def count(send: Callable[[], Any]) -> Any:
        nonlocal sent
        sent += 1
        return send()

    posts = [entry(number, f"c{number}") for number in range(85)]
    blog.write(*posts)
    blog.sync()
    tools = Tools(own_settings)
    tools.elastic = faulty(r"^(?!PUT \S+_doc/lock\?if)", count)  # renewals depend on the time
    for most, text in ((17, "<p>Another text</p>"), (15, "<p>Another text</p>")):
        blog.write(entry(0, "c0", text=text), *posts[1:])
        sent = 0
        done = CliRunner().invoke(main, ["sync", str(blog.file)], obj=tools)
        assert done.exit_code == 0, done.output
        assert sent <= most


PROSE = "A sentence that is long enough to be taken for what the page is about. " * 4


def test_a_page_that_looks_like_a_list_now_is_not_deleted(
    blog: Blog, run: Run, tmp_path: Path
) -> None:
    """A guess is not a reason to delete a post; what the page says is one."""
    links = "".join(f"<p><a href='/{number}'>A post {number}</a></p>" for number in range(20))
    site = tmp_path / "public"
    site.mkdir()
    for name in ("stays", "guessed", "hidden"):
        (site / f"{name}.html").write_text(f"<!doctype html><title>x</title><p>{PROSE}")
    assert run("sync", site).exit_code == 0
    (site / "guessed.html").write_text(f"<!doctype html><title>x</title><main>{links}</main>")
    noindex = '<meta name="robots" content="noindex">'
    (site / "hidden.html").write_text(f"<!doctype html><title>x</title>{noindex}<p>{PROSE}")
    done = run("sync", site)
    assert "1 removed" in done.stdout
    assert blog.posts().keys() == {"stays", "guessed"}


def test_pages_that_are_gone_do_not_keep_others_from_being_removed(
    run: Run,
    own_settings: Settings,
    server: Any,
    post_oids: Callable[[], set[str]],
) -> None:
    """A dead link in a sitemap may stay there for ever."""

    def listed(*names: str) -> None:
        urls = "".join(f"<url><loc>{server.url(f'/{name}')}</loc></url>" for name in names)
        server.say("/sitemap.xml", f"<urlset>{urls}</urlset>", Content_Type="text/xml")

    def sync_it() -> Result:
        settings = replace(own_settings, fetch_allow_private=True)
        return run("sync", server.url("/sitemap.xml"), settings=settings)

    for name in ("stays", "dead", "hidden", "removed"):
        server.say(f"/{name}", f"<!doctype html><title>x</title><main><p>{PROSE}</main>")
    listed("stays", "dead", "hidden", "removed")
    assert sync_it().exit_code == 0
    assert post_oids() == {"stays", "dead", "hidden", "removed"}
    del server.answers["/dead"]
    server.say("/robots.txt", "User-agent: *\nDisallow: /hidden")
    listed("stays", "dead", "hidden")
    done = sync_it()
    assert (done.exit_code, "3 removed" in done.output) == (0, True)
    assert post_oids() == {"stays"}
