"""What `sync` does with pages that are no posts now: every row of the table in reliability.md."""

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import pytest
from elastic_transport import ConnectionTimeout
from elasticsearch import Elasticsearch

from analyzers.rules.compile import NO_RULES
from indexer.errors import AllAlike, IndexingError, LockLost, NotBuilt
from indexer.posts.records import Reject
from indexer.runs.build import IndexSettings, reindex
from indexer.runs.ingest import IngestOptions
from indexer.runs.sync import SyncResult, sync
from indexer.sources import SourceOptions, open_source
from indexer.sources.fetch import FetchOptions
from indexer.store import generations
from indexer.store.bulk import BulkLimits
from indexer.store.retry import Retry
from indexer.store.state import Lock, next_number, state_index
from tests.conftest import Run
from tests.live.conftest import Faulty
from tests.writing import no_reject

Server = Any  # tests/live/conftest.py
SETTINGS = IndexSettings(NO_RULES, 1, 0)
PAGES = 24  # of which six are a quarter
FEW, MANY = 6, 24
WORDS = [
    "herring",
    "kipper",
    "bloater",
    "sprat",
    "pilchard",
    "anchovy",
    "whitebait",
    "turbot",
    "brill",
    "plaice",
    "sole",
    "dab",
]
TABLE = {
    name: (few, many)
    for name, few, many in re.findall(
        r"^\| (.+) \| (followed|kept|third run|read) \| (refused|kept) \|$",
        (Path(__file__).parents[2] / "docs/reliability.md").read_text("utf-8"),
        re.MULTILINE,
    )
}


def page(number: int) -> str:
    words = f"{WORDS[number % 12]} {WORDS[number // 12 % 12]}"
    text = f"{words} is what page {number} is about. " * 4
    return f"<!doctype html><title>Fish {WORDS[number % 12]} {number}</title><main><p>{text}</main>"


def html(body: str, head: str = "<title>A page</title>") -> Callable[..., Any]:
    text = f"<!doctype html>{head}<body>{body}"
    return lambda server, path: server.say(path, text, Content_Type="text/html")


def status(code: int) -> Callable[..., Any]:
    def say(server: Server, path: str) -> None:
        server.answers[path] = lambda request: request.send_error(code)

    return say


def redirect(to: str, host: str = "127.0.0.1") -> Callable[..., Any]:
    def say(server: Server, path: str) -> None:
        def answer(request: Any) -> None:
            request.send_response(302)
            request.send_header("Location", server.url(to, host))
            request.send_header("Content-Length", "0")
            request.end_headers()

        server.answers[path] = answer

    return say


def header(server: Server, path: str) -> None:
    server.say(path, page(3), Content_Type="text/html", X_Robots_Tag="max-snippet: 9, noindex")


def robots(server: Server, path: str) -> None:
    lines = f"{server.robots}Disallow: {path}$\n"
    server.robots = lines
    server.say("/robots.txt", lines)


LOGIN = "<h1>Log in</h1><form>{}<input name=user><input type=password><button>Go</button></form>"
SAID = (
    "Members of this site, and nobody else, read these pages. Ask the office for an account. " * 3
)
STATES: dict[str, list[Callable[..., Any]]] = {
    "404, 410, 451": [status(404), status(410), status(451)],
    "401, 403": [status(401), status(403)],
    "429, 5xx, no answer in time": [status(429), status(500), status(503)],
    "missing from the source": [lambda server, path: server.unlisted.add(path)],
    "`noindex` in a header or an element, or robots.txt": [
        *(header, robots),
        html(
            f"<p>{SAID}",
            '<meta name=robots content="max-snippet:9"><meta name=robots content=none>',
        ),
    ],
    "200 with a lock: a form for a password in place of the text": [
        html(LOGIN.format("Protected."))
    ],
    "a redirect to a login page, or to another site": [
        *(redirect("/login"), redirect("/members"), redirect("/login?next=/x")),
        redirect("/0", "localhost"),
    ],
    "a redirect of several to one page that is not in the sitemap": [redirect("/wait")],
    '200 that says "not found"': [
        html("<main><h1>Not found</h1><p>Try the search.</main>"),
        html("<main><h1>Oops! That page can’t be found.</h1><p>Nothing is at this address.</main>"),
        html(f"<main><p>{SAID}", "<title>Page not found – The blog</title>"),
        html("<main><p>Leider.</main>", "<title>Seite nicht gefunden | Das Blog</title>"),
    ],
    "200 with nothing": [html(""), html("<main> <p></p></main>"), lambda s, p: s.say(p, "")],
    "200 with another type: PDF, plain text": [
        lambda server, path: server.say(path, b"%PDF-1.7", Content_Type="application/pdf"),
        lambda server, path: server.say(path, SAID, Content_Type="text/plain"),
    ],
    "200 with the text of others: captcha, parked domain, database error, empty template": [
        html(f"<main><h1>Just a moment</h1><p>{SAID}</main>"),
        lambda server, path: html(
            f"<main><h1>{path}</h1><p>{SAID} Ray 8f{path[1:]}, 12:0{path[1:]}</main>",
            f"<title>The page {path}</title>",
        )(server, path),
        lambda server, path: html(
            f"<main><h1>Wait</h1><p>{SAID} Ray ID: {uuid5(NAMESPACE_URL, path).hex}</main>"
        )(server, path),
        lambda server, path: html(
            f"<h1>a.example is for sale</h1><p>{SAID} {WORDS[int(path[1:]) % 12]}",
            "<title>a.example</title>",
        )(server, path),
    ],
}


class Site:
    """A sitemap on a server, and the index that is synced with it."""

    def __init__(
        self, server: Server, elastic: Elasticsearch, alias: str, pages: int = PAGES
    ) -> None:
        self.server, self.elastic, self._alias, self.pages = server, elastic, alias, pages
        self.rejects: list[Reject] = []
        self.limits = BulkLimits()
        server.unlisted, server.robots = set(), "User-agent: *\n"
        for number in range(pages):
            server.say(f"/{number}", page(number), Content_Type="text/html")
        html(f"<main><p>{SAID}</main>", "<title>Wait</title>")(server, "/wait")
        for path, said in (("/login", ""), ("/members", SAID), ("/login?next=/x", SAID)):
            html(f"<main>{LOGIN.format(said)}</main>", "<title>Log in</title>")(server, path)

    def sync(self, *, force: bool = False) -> SyncResult:
        paths = {f"/{number}" for number in range(self.pages)} - self.server.unlisted
        urls = "".join(f"<url><loc>{self.server.url(path)}</loc></url>" for path in sorted(paths))
        self.server.say("/sitemap.xml", f"<urlset>{urls}</urlset>", Content_Type="text/xml")
        fetch = FetchOptions(allow_private=True, retries=0, connections=2)
        source = open_source(self.server.url("/sitemap.xml"), None, SourceOptions(fetch=fetch))
        options = IngestOptions(force=force, limits=self.limits, purpose="sync")
        self.rejects.clear()
        return sync(
            self.elastic,
            self._alias,
            lambda _: source.read(),
            SETTINGS,
            self.rejects.append,
            options,
        )

    def posts(self) -> dict[str, Any]:
        return self.posts_of(self.elastic, self._alias)

    @staticmethod
    def posts_of(elastic: Elasticsearch, alias: str) -> dict[str, Any]:
        elastic.indices.refresh(index=alias)
        hits = elastic.search(index=alias, size=1_000)["hits"]["hits"]
        return {hit["_id"]: (hit["_source"]["title"], hit["_source"]["text"]) for hit in hits}


@pytest.fixture
def alias(emptied: str) -> str:
    return emptied


@pytest.fixture
def site(server: Server, elastic: Elasticsearch, alias: str) -> Site:
    made = Site(server, elastic, alias)
    made.sync()
    return made


def test_the_table_has_every_state() -> None:
    assert TABLE.keys() == STATES.keys()


def test_few_pages(server: Server, elastic: Elasticsearch, alias: str) -> None:
    """Six pages in each state at once: together they are less than a quarter of the site."""
    pages_of = {
        name: [str(number) for number in range(nth * FEW, (nth + 1) * FEW)]
        for nth, name in enumerate(STATES)
    }
    site = Site(server, elastic, alias, pages=5 * FEW * len(STATES))
    site.sync()
    before = site.posts()
    assert len(before) == site.pages
    for name, oids in pages_of.items():
        for number, oid in enumerate(oids):
            STATES[name][number % len(STATES[name])](server, f"/{oid}")
    in_no_state = before.keys() - {oid for oids in pages_of.values() for oid in oids}
    outcomes: dict[str, list[str]] = {name: [] for name in STATES}
    for _ in range(3):
        result, now = site.sync(), site.posts()
        assert not result.removals_withheld
        assert all(now[oid] == before[oid] for oid in in_no_state)
        assert now.keys() <= before.keys()  # nothing comes in
        rejected = {reject.oid for reject in site.rejects}
        for name, oids in pages_of.items():
            if not now.keys() & set(oids):
                outcome = "followed"
            elif any(now.get(oid) != before[oid] for oid in oids):
                outcome = "read" if now.keys() >= set(oids) else "some followed"
            elif result.doubted.keys() >= set(oids):
                outcome = "third run"
            else:
                outcome = "kept" if rejected >= set(oids) else "nothing"
            outcomes[name].append(outcome)
    expected = {
        "followed": ["followed"] * 3,
        "kept": ["kept"] * 3,
        "third run": ["third run", "third run", "followed"],
        "read": ["read"] * 3,
    }
    assert outcomes == {name: expected[few] for name, (few, _) in TABLE.items()}


@pytest.mark.parametrize("name", STATES)
def test_many_pages(site: Site, name: str) -> None:
    before = site.posts()
    for kind, state in enumerate(STATES[name]):
        for number in range(1, MANY):
            state(site.server, f"/{number}")
        for _ in range(1 if kind else 4):  # also if it lasts
            try:
                outcome = "refused" if site.sync().removals_withheld else "kept"
            except AllAlike:
                outcome = "refused"
            assert outcome == TABLE[name][1]
            assert site.posts() == before
    if TABLE[name][1] == "refused":
        site.sync(force=True)
        assert site.posts() != before


def test_one_run_without_the_fault_begins_anew(site: Site) -> None:
    for say, named in (("", 1), ("", 1), (page(1), 0), ("", 1), ("", 1), ("", 0)):
        site.server.say("/1", say, Content_Type="text/html")
        assert len(site.sync().doubted) == named
    assert "1" not in site.posts()


# -- in a folder, by the commands ------------------------------------------------------------------


@pytest.mark.parametrize("command", ["sync", "reindex"])
def test_a_broken_template_in_a_folder_is_refused(
    run: Run, tmp_path: Path, elastic: Elasticsearch, alias: str, command: str
) -> None:
    """In a part of the pages; the titles are right."""
    for number in range(PAGES):
        (tmp_path / f"{number}.html").write_text(page(number))
    assert run("sync", tmp_path).exit_code == 0
    before = Site.posts_of(elastic, alias)
    for number in range(FEW + 1):
        head = re.match(".*</title>", page(number))
        assert head
        (tmp_path / f"{number}.html").write_text(f"{head[0]}<main><p>{SAID}</main>")
    done = run(command, tmp_path)
    assert done.exit_code == 1
    assert "7 of 24 posts would have the same text as others" in done.output
    assert "Members of this site" in done.output
    assert Site.posts_of(elastic, alias) == before
    assert run(command, tmp_path, "--force").exit_code == 0
    assert Site.posts_of(elastic, alias) != before
    assert run(command, tmp_path).exit_code == 0  # they are as they were


def test_a_page_that_is_doubted_is_named_and_the_run_does_not_end_with_0(
    run: Run, tmp_path: Path, elastic: Elasticsearch, alias: str
) -> None:
    for number in range(PAGES):
        (tmp_path / f"{number}.html").write_text(page(number))
    assert run("sync", tmp_path).exit_code == 0
    (tmp_path / "3.html").write_text("")
    for number in (1, 2):
        done = run("sync", tmp_path, "--quiet")
        assert (done.exit_code, f"3.html: part of a page, run {number} of 3" in done.stderr) == (
            3,
            True,
        )
    assert run("sync", tmp_path).exit_code == 0
    assert "3" not in Site.posts_of(elastic, alias)


# -- comments --------------------------------------------------------------------------------------


def test_comments_that_an_export_takes_back_are_removed(
    run: Run, tmp_path: Path, elastic: Elasticsearch, alias: str
) -> None:
    export = tmp_path / "export.xml"

    def write(*stati: str) -> None:
        space = 'xmlns:wp="http://wordpress.org/export/1.2/" xmlns:content="c"'
        comments = "".join(
            f"<wp:comment><wp:comment_id>{number}</wp:comment_id><wp:comment_content>Yes"
            f"</wp:comment_content><wp:comment_approved>{status}</wp:comment_approved></wp:comment>"
            for number, status in enumerate(stati)
        )
        export.write_text(
            f"<rss {space}><channel><wp:wxr_version>1.2</wp:wxr_version><item><title>A</title>"
            "<link>https://blog.example.org/a/</link><content:encoded>Text</content:encoded>"
            "<wp:post_id>7</wp:post_id><wp:status>publish</wp:status><wp:post_type>post"
            f"</wp:post_type>{comments}</item></channel></rss>"
        )

    def comments() -> set[str]:
        elastic.indices.refresh(index=alias)
        (hit,) = elastic.search(index=alias)["hits"]["hits"]
        return {comment["oid"] for comment in hit["_source"].get("comments", ())}

    for command in ("sync", "reindex"):
        write(*["1"] * 12)
        assert run(command, export).exit_code == 0
        assert len(comments()) == 12
        write("trash", *["1"] * 11)
        assert run(command, export).exit_code == 0
        assert len(comments()) == 11
        write("1", *["spam"] * 11)
        assert run(command, export).exit_code == 0
        assert comments() == {"0"}
        write(*["spam"] * 12)
        assert run(command, export).exit_code == 0
        assert comments() == set()
    write(*["1"] * 3)
    run("sync", export)
    write()  # deleted for good, the last one, too
    done = run("sync", export)
    assert (done.exit_code, comments()) == (0, set())
    assert "3 removed" in done.output


# -- a sync that was suspended ---------------------------------------------------------------------


@pytest.mark.parametrize("seconds", [60.0, 0.0])  # of tries; a suspension may use them up
@pytest.mark.parametrize(
    "request_", ["_search.*docvalue", "_bulk.*delete", "_bulk.*index", "_aliases"]
)
def test_a_suspended_sync_changes_nothing_that_a_later_one_confirmed(
    site: Site, elastic: Elasticsearch, alias: str, faulty: Faulty, request_: str, seconds: float
) -> None:
    def suspended(send: Callable[[], Any]) -> Any:
        if not later:
            later.append(True)
            elastic.delete(index=state_index(alias), id="lock")  # as one whose holder is dead
            site.server.unlisted.clear()
            site.server.say("/1", page(1), Content_Type="text/html")
            assert not site.sync().changed
        return send()

    later: list[bool] = []
    before = site.posts()
    site.limits = BulkLimits(retry=Retry(seconds))
    site.server.unlisted.add("/0")
    if "delete" not in request_:
        site.server.say("/1", page(13), Content_Type="text/html")
    healthy, site.elastic = site.elastic, faulty(request_, suspended)
    first = site.sync

    def later_sync(**options: Any) -> SyncResult:
        site.elastic = healthy
        return first(**options)

    site.sync = later_sync  # type: ignore[method-assign]
    with pytest.raises(LockLost):
        first()
    assert later
    assert site.posts() == before


def test_a_post_that_cannot_be_removed_is_an_error(site: Site, faulty: Faulty) -> None:
    site.server.unlisted.add("/0")
    site.limits = BulkLimits(retry=Retry(0.0))
    site.elastic = faulty("_bulk.*delete", ConnectionTimeout("no answer"))
    with pytest.raises(IndexingError, match="0: Connection timed out"):
        site.sync()


def test_a_late_request_of_a_suspended_sync_does_not_stop_a_later_one(
    site: Site, elastic: Elasticsearch, alias: str, faulty: Faulty
) -> None:
    """It takes away the alias through which the later one writes."""

    def late(send: Callable[[], Any]) -> Any:
        if not came:
            came.append(True)
            live = generations.require_live(elastic, alias).name
            with suppress(LockLost):
                generations.open_sync(elastic, live, Lock(elastic, alias, "sync"))
        return send()

    came: list[bool] = []
    site.server.say("/1", page(13), Content_Type="text/html")
    site.elastic = faulty("_bulk.*index", late)
    assert site.sync().changed == ["1"]
    assert came


# -- a build that was told of no live index --------------------------------------------------------


def test_a_build_does_not_replace_an_index_that_it_was_not_told_of(
    elastic: Elasticsearch, alias: str, site: Site, faulty: Faulty
) -> None:
    answers = 0

    def none(send: Callable[[], Any]) -> Any:
        nonlocal answers
        answers += 1
        answer = send()
        return answer if answers > 1 else type(answer)(answer.meta, b"{}")

    before = site.posts()
    next_number(elastic, alias, 1)  # that of the index of the test, which no build has made
    source = open_source(
        site.server.url("/sitemap.xml"), None, SourceOptions(fetch=FetchOptions(allow_private=True))
    )
    client = faulty(r"GET /\S+features=aliases", none)
    with pytest.raises(NotBuilt, match="became live during the build"):
        reindex(client, alias, list(source.read())[:3], SETTINGS, no_reject)
    assert site.posts() == before
