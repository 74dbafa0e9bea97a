"""A live WordPress by its REST API, from a server that answers as WordPress 7.1 does.

`make test-engines` reads a real one.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from indexer.errors import SourceError
from indexer.posts.html_text import Readable
from indexer.posts.records import Origin, RawPost, Skipped, SourceItem
from indexer.sources import Source, SourceOptions, open_source
from indexer.sources.fetch import FetchFailed, FetchOptions
from indexer.sources.wordpress_rest import WordPressSite

Server = Any  # tests/live/conftest.py
FETCH = FetchOptions(allow_private=True, read_timeout=2.0, deadline=5.0, retries=0)
OPTIONS = SourceOptions(fetch=FETCH)
Entry = dict[str, Any]


class WordPress:
    """A site with posts; each change of `entries` is seen by the next request."""

    def __init__(self, server: Server) -> None:
        self.url: Callable[[str], str] = server.url
        self.asked: list[str] = []
        self.status: dict[str, int] = {}  # of a route, or of a route and a page of it
        self.entries: dict[str, list[Entry]] = {
            "posts": [],
            "pages": [],
            "comments": [],
            "media": [{"id": 90, "source_url": server.url("/mill.jpg")}],
            "categories": [
                {"id": 1, "name": "Uncategorized", "slug": "uncategorized"},
                {"id": 2, "name": "Bread &amp; butter", "slug": "bread"},
            ],
            "tags": [{"id": 5, "name": "rye", "slug": "rye"}],
        }
        link = f'<{server.url("/wp-json/")}>; rel="https://api.w.org/"'
        home = '<!doctype html><html lang="en-GB"><title>Mill</title><p>Welcome.</p>'
        server.say("/", home, Content_Type="text/html", Link=link)
        server.answers = _Routes(server.answers, self)

    def add(self, number: int, *, kind: str = "posts", text: str = "", **fields: Any) -> Entry:
        entry = {
            "id": number,
            "date": "2026-03-05T12:30:00",
            "date_gmt": "2026-03-05T11:30:00",
            "modified": "2026-03-06T12:30:00",
            "modified_gmt": "2026-03-06T11:30:00",
            "link": self.url(f"/2026/03/post-{number}/"),
            "title": {"rendered": f"Flour &#8211; {number}"},
            "content": {"rendered": text or f"<p>Sacks: {number}.</p>", "protected": False},
            "categories": [1, 2],
            "tags": [5],
            "featured_media": 0,
            **fields,
        }
        self.entries[kind].append(entry)
        return entry

    def comment(self, number: int, post: int, **fields: Any) -> None:
        self.entries["comments"].append(
            {
                "id": number,
                "post": post,
                "author_name": "Ann &amp; Bo",
                "date": "2026-03-07T12:30:00",
                "date_gmt": "2026-03-07T11:30:00",
                "content": {"rendered": "<p>Fine.</p>"},
                "type": "comment",
                **fields,
            }
        )

    def answer(self, path: str, request: Any) -> None:
        parts = urlsplit(path)
        route = parts.path.rpartition("/")[2]
        given = {name: values[0] for name, values in parse_qs(parts.query).items()}
        size, page = int(given.get("per_page", 10)), int(given.get("page", 1))
        found = self.entries[route]
        for name, key in (("include", "id"), ("post", "post")):
            if wanted := given.get(name):
                found = [entry for entry in found if str(entry[key]) in wanted.split(",")]
        last = -(-len(found) // size)
        status = self.status.get(f"{route} {page}", self.status.get(route, 200))
        if size > 100 or (page > 1 and page > last):
            status = 400
        body: Any = {"code": "rest_error", "data": {"status": status}}
        if status == 200:
            body = sorted(found, key=lambda entry: entry["id"])[(page - 1) * size : page * size]
        self.asked.append(f"{route} {'listed' if '_fields' in given else 'whole'} {len(body)}")
        content = json.dumps(body).encode()
        request.send_response(status)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(content)))
        request.send_header("X-WP-Total", str(len(found)))
        request.send_header("X-WP-TotalPages", str(last))
        request.end_headers()
        request.wfile.write(content)


class _Routes(dict[str, Any]):
    """The answers of a server, and those of the API for each path below it."""

    def __init__(self, others: dict[str, Any], site: WordPress) -> None:
        super().__init__(others)
        self._site = site

    def get(self, path: str, default: Any = None) -> Any:
        is_api = path.startswith("/wp-json/wp/v2/")
        return partial(self._site.answer, path) if is_api else super().get(path, default)


@pytest.fixture
def site(server: Server) -> WordPress:
    return WordPress(server)


def opened(site: WordPress, options: SourceOptions = OPTIONS) -> Source:
    return open_source(site.url("/"), None, options)


def read(site: WordPress, is_unchanged: Any = None) -> list[SourceItem]:
    source = opened(site)
    assert isinstance(source, WordPressSite)
    return list(source.read(is_unchanged))


def test_posts_and_pages_with_all_their_fields(site: WordPress) -> None:
    site.add(3, featured_media=90, text="<p>One.</p>\n<!--nextpage-->\n<p>Two.</p>")
    site.add(7, kind="pages", link=site.url("/about/"), title={"rendered": ""})
    site.add(4, content={"rendered": "", "protected": True})
    site.add(5, yoast_head_json={"robots": {"index": "noindex"}})
    site.add(6, rank_math_head='<meta name="robots" content="noindex, follow"/>')
    site.comment(30, 3)
    site.comment(31, 3, type="pingback")
    items = read(site)
    first, about = (item for item in items if isinstance(item, RawPost))
    assert (first.oid, first.title) == ("2026/03/post-3", "Flour – 3")
    assert (str(first.pub_date), first.language) == ("2026-03-05 12:30:00+01:00", None)
    assert (first.categories, first.keywords) == (["Bread & butter"], ["rye"])
    assert (first.url, first.image) == (site.url("/2026/03/post-3/"), site.url("/mill.jpg"))
    assert "One." in str(first.text)
    assert "Two." in str(first.text)
    assert [(comment.oid, comment.author) for comment in first.comments] == [(30, "Ann & Bo")]
    assert (about.oid, about.title) == ("about", "Sacks: 7.")
    left_out = [(item.oid, item.kind, item.declared) for item in items if isinstance(item, Skipped)]
    assert left_out == [
        ("2026/03/post-4", "locked", True),
        ("2026/03/post-5", "noindex", True),
        ("2026/03/post-6", "noindex", True),
    ]
    source = opened(site)
    assert (source.spec, source._options.language) == (site.url("/"), "en-GB")


def test_a_page_decides_what_the_api_leaves_open(site: WordPress, server: Server) -> None:
    """Seen of The SEO Framework (5), All in One SEO (6) and Paid Memberships Pro (7)."""
    head = '<meta name="robots" content="max-image-preview:large, noindex" />'
    notice = '<div class="members-access-error">You may not view this without an account.</div>'
    for number in range(3, 8):
        site.add(number, **({"aioseo_head": head} if number == 6 else {}))
    site.add(8, text=notice)
    gate = '<div class="pmpro"><div class="pmpro_content_message">Join, or log in.</div></div>'
    for number, inside in ((5, head), (6, "<p>Flour.</p>"), (7, f"<main>{gate}</main>")):
        page = f"<!doctype html><title>Flour</title>{inside}"
        server.say(f"/2026/03/post-{number}/", page, Content_Type="text/html")
    urls = [f"<url><loc>{site.url(f'/2026/03/post-{n}/')}</loc></url>" for n in (3, 4, 6, 8)]
    server.say("/sitemap.xml", f"<urlset>{''.join(urls)}</urlset>", Content_Type="text/xml")
    site.add(9, kind="pages", link=site.url("/legal/"))  # as if no page were in the sitemap
    server.say("/legal/", f"<!doctype html><title>Legal</title>{head}", Content_Type="text/html")
    for is_unchanged in (None, lambda mark, origin: False):
        items = read(site, is_unchanged)
        posts = [item.oid[-1:] for item in items if isinstance(item, RawPost) and item.oid]
        left_out = {(item.oid, item.kind) for item in items if isinstance(item, Skipped)}
        assert posts == ["3", "4", "6"]
        hidden = {("2026/03/post-5", "noindex"), ("2026/03/post-7", "locked")}
        assert left_out == hidden | {("2026/03/post-8", "locked"), ("legal", "noindex")}


def test_what_was_left_out_stays_out_when_a_sitemap_proves_useless(
    site: WordPress, server: Server
) -> None:
    """It lists posts, but no pages."""
    site.add(3)
    hidden = site.add(4)
    for number in range(30):
        site.add(100 + number, kind="pages")
    head = '<meta name="robots" content="noindex" />'
    page = f"<!doctype html><title>Flour</title>{head}"
    server.say(urlsplit(hidden["link"]).path, page, Content_Type="text/html")
    location = f"<url><loc>{site.url('/2026/03/post-3/')}</loc></url>"
    server.say("/sitemap.xml", f"<urlset>{location}</urlset>", Content_Type="text/xml")
    items = read(site, lambda mark, origin: False)
    assert [item.kind for item in items if isinstance(item, Skipped)] == ["noindex"]
    assert len([item for item in items if isinstance(item, RawPost)]) == 31


def test_blocks_that_only_pages_hide_stay_out(site: WordPress, server: Server) -> None:
    """Otter 3.2 does not apply its conditions of blocks in the API."""
    about = '{"namespaces":["otter\\/v1","wp\\/v2"]}'
    server.say("/wp-json/?_fields=namespaces", about, Content_Type="application/json")
    site.add(3, text="<p>Sow in May.</p><p>Then quinoa.</p>")
    page = "<!doctype html><title>Flour</title><main><h1>Flour</h1><p>Sow in May.</p></main>"
    server.say("/2026/03/post-3/", page, Content_Type="text/html")
    (post,) = read(site)
    assert isinstance(post, RawPost)
    assert isinstance(post.text, Readable)
    assert (post.text.prose, post.title) == ("Sow in May.", "Flour – 3")
    server.answers["/wp-json/?_fields=namespaces"] = lambda request: request.send_error(503)
    with pytest.raises(FetchFailed, match="503"):  # it may have Otter
        read(site)


def test_a_lock_that_changes_no_date_is_seen(site: WordPress) -> None:
    entry = site.add(3, excerpt={"rendered": "<p>Sacks: 3.</p>"})
    stored = {post.entry for post in read(site) if isinstance(post, RawPost)}
    notice = {"rendered": '<div class="swpm-post-not-logged-in-msg">Please log in.</div>'}
    entry |= {"content": {**notice, "protected": False}, "excerpt": notice}
    (left_out,) = read(site, lambda mark, origin: mark in stored)
    assert isinstance(left_out, Skipped)
    assert (left_out.kind, left_out.declared) == ("locked", True)


def test_only_what_has_changed_is_read_whole(site: WordPress) -> None:
    for number in range(1, 251):
        site.add(number)
    stored = {post.entry: post.oid for post in read(site) if isinstance(post, RawPost)}
    assert len(stored) == 250

    def is_unchanged(entry: bytes, origin: Origin) -> bool:
        return entry in stored

    site.asked.clear()
    assert read(site, is_unchanged) == []
    assert {asked for asked in site.asked if "whole" in asked} == {"posts whole 1"}  # is it open?
    site.entries["posts"][17]["modified_gmt"] = "2026-04-01T00:00:00"
    site.entries["posts"][40]["content"]["protected"] = True
    site.comment(9, 120)
    changed = read(site, is_unchanged)
    posts = [item.oid for item in changed if isinstance(item, RawPost)]
    assert posts == ["2026/03/post-18", "2026/03/post-120"]
    assert [item.reason for item in changed if isinstance(item, Skipped)] == [
        "protected by a password"
    ]
    later = opened(site, replace(OPTIONS, exclude=("2026/03/post-9",)))
    assert isinstance(later, WordPressSite)
    left_out = [item for item in later.read(is_unchanged) if isinstance(item, Skipped)]
    assert "2026/03/post-9" in [item.oid for item in left_out if item.kind == "excluded"]


@pytest.mark.parametrize("failure", ["posts 2", "pages", "comments"])
def test_what_fails_midway_changes_nothing(site: WordPress, failure: str) -> None:
    for number in range(1, 151):
        site.add(number)
    site.status[failure] = 429
    source = opened(site)
    assert isinstance(source, WordPressSite)
    seen: list[SourceItem] = []
    with pytest.raises(SourceError, match="429"):
        seen.extend(source.read(lambda entry, origin: False))
    assert seen == []
    with pytest.raises(SourceError, match="429"):
        list(source.read())


def test_entries_that_are_removed_meanwhile_may_have_moved_others(site: WordPress) -> None:
    for number in range(1, 251):
        site.add(number)
    items = opened(site).read()
    next(items)
    del site.entries["posts"][0]
    with pytest.raises(SourceError, match="removed while they were read"):
        list(items)


@pytest.mark.parametrize("status", [401, 403, 404])
def test_where_it_is_closed_the_posts_are_the_same_by_sitemap_feed_and_pages(
    site: WordPress, server: Server, status: int
) -> None:
    site.add(1)
    page = f"<!doctype html><title>Flour – 1</title><main><p>{'Sacks of rye. ' * 20}</p></main>"
    server.say("/2026/03/post-1/", page, Content_Type="text/html")
    feed = (
        '<rss version="2.0"><channel><title>Mill</title><item><title>Flour – 1</title>'
        f"<guid>{site.url('/?p=1')}</guid><link>{site.url('/2026/03/post-1/')}</link>"
        "<description>Sacks.</description></item></channel></rss>"
    )
    server.say("/feed/", feed, Content_Type="application/rss+xml")
    site.status["posts"] = status
    warnings: list[str] = []
    named = f"<urlset><url><loc>{site.url('/2026/03/post-1/')}</loc></url></urlset>"
    server.say("/sitemap.xml", named, Content_Type="application/xml")
    closed = opened(site, replace(OPTIONS, warn=warnings.append))
    assert (closed.kind, closed.stands_in) == ("sitemap", True)
    assert str(status) in warnings[0]
    by_feed = open_source(site.url("/feed/"), None, OPTIONS)
    site.status.clear()
    for source in (closed, by_feed, opened(site)):
        assert [getattr(item, "oid", "") for item in source.read()] == ["2026/03/post-1"]


def test_without_comments_media_and_terms_that_a_site_closes(site: WordPress) -> None:
    site.add(1, featured_media=90)
    site.status |= {"comments": 401, "media": 403, "tags": 404}
    warnings: list[str] = []
    (post,) = opened(site, replace(OPTIONS, warn=warnings.append)).read()
    assert isinstance(post, RawPost)
    assert (post.keywords, post.comments, post.image) == ([], (), None)
    assert [warning.rpartition(" ")[2] for warning in warnings] == ["comments.", "tags.", "media."]
