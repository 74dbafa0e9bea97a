"""Feeds and sitemaps over HTTP, from a real server on this machine."""

import gzip
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.settings import Settings
from indexer.errors import SourceError
from indexer.posts.records import RawPost, Reject, Skipped, SourceItem
from indexer.sources import SourceOptions, open_source
from indexer.sources.fetch import FetchOptions
from tests.conftest import Run

Server = Any  # tests/live/conftest.py
FETCH = FetchOptions(allow_private=True, read_timeout=1.0, deadline=5.0, retries=1)
OPTIONS = SourceOptions(fetch=FETCH)
WORDS = "A sentence that is long enough to be taken for what the page is about. " * 3


def page(title: str, head: str = "") -> str:
    return f"<!doctype html><title>{title}</title>{head}<nav>Menu</nav><main><p>{WORDS}</p></main>"


def urlset(server: Server, *paths: str) -> str:
    urls = "".join(
        f"<url><loc>{server.url(path)}</loc><lastmod>2024-02-0{number}</lastmod></url>"
        for number, path in enumerate(paths, start=1)
    )
    namespace = "http://www.sitemaps.org/schemas/sitemap/0.9"
    # Plugins of a blog write blank lines before it.
    return f'\n<?xml version="1.0"?><urlset xmlns="{namespace}">{urls}</urlset>'


def index(*locations: str) -> str:
    listed = "".join(f"<sitemap><loc>{location}</loc></sitemap>" for location in locations)
    return f"<sitemapindex>{listed}</sitemapindex>"


def read(spec: str, options: SourceOptions = OPTIONS) -> list[SourceItem]:
    return list(open_source(spec, None, options).read())


def oids(items: list[SourceItem]) -> list[Any]:
    return [item.oid for item in items if isinstance(item, RawPost)]


def reasons(items: list[SourceItem]) -> list[tuple[str | None, str]]:
    """Why pages were left out, with the oid of those that `sync` keeps."""
    return [
        (None if item.declared else item.oid, item.reason)
        for item in items
        if isinstance(item, Skipped)
    ]


def asked(server: Server) -> list[str]:
    return sorted(path for path, _ in server.asked)


def redirect(to: str) -> Any:
    def answer(request: Any) -> None:
        request.send_response(301)
        request.send_header("Location", to)
        request.send_header("Content-Length", "0")
        request.end_headers()

    return answer


def test_a_sitemap_and_its_pages(server: Server) -> None:
    paths = ("/one/", "/two.html", "/tags/x/", "/gone", "/down", "/file.pdf", "/data", "/one/")
    server.say("/sitemap.xml", urlset(server, *paths), Content_Type="application/xml")
    date = '<meta property="article:published_time" content="2024-01-31">'
    server.say("/one/", page("One", date), Content_Type="text/html")
    canonical = f'<link rel="canonical" href="{server.url("/two")}">'
    server.say("/two.html", page("Zwei é", canonical).encode("latin-1"), Content_Type="text/html")
    links = "".join(f'<p><a href="/{number}">Post number {number}</a></p>' for number in range(20))
    server.say("/tags/x/", f"<!doctype html><title>Tagged</title><main>{links}</main>")
    server.say("/data", b"{}", Content_Type="application/json")
    server.answers["/down"] = lambda request: request.send_error(503)
    source = open_source(server.url("/sitemap.xml"), None, OPTIONS)
    items = list(source.read())
    assert source.kind == "sitemap"
    first, two = items[:2]
    assert isinstance(first, RawPost)
    assert (first.oid, first.title, first.url) == ("one", "One", server.url("/one/"))
    assert (str(first.pub_date)[:10], str(first.modified)[:10]) == ("2024-01-31", "2024-02-01")
    assert first.text.prose == WORDS.strip()
    assert isinstance(two, RawPost)
    assert (two.oid, two.title, two.url) == ("two", "Zwei é", server.url("/two"))
    assert reasons(items) == [
        ("tags/x", "list page"),
        (None, "gone (404)"),
        ("file.pdf", "not an HTML page"),
        ("data", "not an HTML page"),
    ]
    (down,) = (item for item in items if isinstance(item, Reject))
    assert (down.oid, "503" in down.reason) == ("down", True)
    assert "/file.pdf" not in asked(server)
    for path in ("/one/", "/sitemap.xml", "/robots.txt"):
        assert asked(server).count(path) == 1


def test_headers_that_forbid_to_index_a_page(server: Server) -> None:
    cases = json.loads((Path(__file__).parents[1] / "data/unit/robots.json").read_text())
    server.say("/sitemap.xml", urlset(server, *(f"/{number}" for number in range(len(cases)))))

    def answer(request: Any) -> None:
        request.send_response(200)
        for value in cases[int(request.path[1:])][0]:
            request.send_header("X-Robots-Tag", value)
        body = page(f"Page {request.path[1:]}").encode()
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    for number in range(len(cases)):
        server.answers[f"/{number}"] = answer
    read_as_posts = oids(read(server.url("/sitemap.xml")))
    wrong = [case for number, case in enumerate(cases) if (str(number) in read_as_posts) == case[1]]
    assert not wrong


def test_one_page_at_several_addresses_is_one_post(server: Server) -> None:
    paths = ("/old", "/new/", "/new?utm_source=x", "/copy", "/away", "/gone-home")
    server.say("/sitemap.xml", urlset(server, *paths))
    server.answers["/old"] = redirect(server.url("/new/"))
    server.answers["/away"] = redirect(server.url("/new/", "localhost"))
    server.answers["/gone-home"] = redirect(server.url("/a.pdf"))
    server.say("/a.pdf", "no page")
    server.say("/new/", page("New"))
    server.say("/copy", page("New", f'<link rel="canonical" href="{server.url("/new/")}">'))
    post, *others = read(server.url("/sitemap.xml"))
    assert isinstance(post, RawPost)
    assert (post.oid, post.url) == ("new", server.url("/new/"))
    assert reasons(others) == [
        *[(None, "another address of a page that was read")] * 2,
        (None, "redirects elsewhere: on another host (--site allows one)"),
        (None, "redirects elsewhere: not an HTML page"),
    ]


def test_only_some_pages_are_read(server: Server) -> None:
    warnings: list[str] = []
    options = replace(OPTIONS, max_pages=2, exclude=("tags/*",), warn=warnings.append)
    server.say("/sitemap.xml", urlset(server, "/1", "/2", "/tags/x", "/4"))
    for path in ("/1", "/2", "/4"):
        server.say(path, page(path))
    items = read(server.url("/sitemap.xml"), options)
    assert (oids(items), reasons(items)) == (["4"], [(None, "excluded")])
    assert warnings == ["2 of 4 pages were not read."]


def test_an_index_of_sitemaps_some_of_them_zipped(server: Server, tmp_path: Path) -> None:
    server.say("/sitemap.xml", index("/a.xml.gz", "/more.xml", "/sitemap.xml"))
    server.say("/more.xml", index("/b.xml"))
    server.say("/a.xml.gz", gzip.compress(urlset(server, "/1").encode()))
    server.say("/b.xml", urlset(server, "/2"), Content_Type="text/xml")
    server.say("/1", page("One"))
    server.say("/2", page("Two"))
    assert oids(read(server.url("/sitemap.xml"))) == ["1", "2"]
    place = tmp_path / "sitemap.xml.gz"
    place.write_bytes(gzip.compress(urlset(server, "/1").encode()))
    assert oids(read(str(place))) == ["1"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("<urlset><url>", "not XML"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><urlset>&a;</urlset>', "not XML"),
        ("<rss></rss>", "not a sitemap but <rss>"),
        (index("/gone.xml"), "answered 404"),  # what is missing would be taken for removed
        (gzip.compress(b"<urlset>" + b" " * 50_000_000), "more than 50,000,000 bytes"),
    ],
)
def test_a_sitemap_that_cannot_be_read(server: Server, body: str | bytes, reason: str) -> None:
    server.say("/sitemap.xml", body)
    with pytest.raises(SourceError, match=reason):
        list(open_source(server.url("/sitemap.xml"), "sitemap", OPTIONS).read())


def test_a_sitemap_that_lists_files_and_other_hosts(server: Server, tmp_path: Path) -> None:
    secret = tmp_path / "secret.html"
    secret.write_text(page("Secret"))
    locations = (server.url("/b.xml"), secret.as_uri(), "http://other.test/c.xml")
    server.say("/sitemap.xml", index(*locations))
    others = [f"http://other.test/{number}" for number in range(1_000)]
    listed = "".join(f"<url><loc>{url}</loc></url>" for url in (secret.as_uri(), *others))
    server.say("/b.xml", f"<urlset>{listed}</urlset>", Content_Type="text/xml")
    warnings: list[str] = []
    items = read(server.url("/sitemap.xml"), replace(OPTIONS, warn=warnings.append))
    assert {reason for _, reason in reasons(items)} == {
        "neither http nor https",
        "on another host (--site allows one)",
    }
    assert len(reasons(items)) == len(items) == 1_001
    assert ["secret.html" in warnings[0], "other.test/c.xml" in warnings[1]] == [True, True]


def test_a_page_that_was_not_fetched_is_not_left_out_by_its_looks(
    server: Server, run: Run, own_settings: Settings
) -> None:
    locations = (server.url("/1"), "http://other.test/2")
    listed = "".join(f"<url><loc>{url}</loc></url>" for url in locations)
    server.say("/sitemap.xml", f"<urlset>{listed}</urlset>", Content_Type="text/xml")
    server.say("/1", page("One"))
    settings = replace(own_settings, fetch_allow_private=True)
    done = run("try", server.url("/sitemap.xml"), settings=settings)
    assert "Left out: 1 × on another host" in done.stderr


def test_robots_keep_us_out_and_if_they_cannot_be_had_no_page_looks_removed(
    server: Server,
) -> None:
    server.say("/robots.txt", "User-agent: *\nDisallow: /secret")
    server.say("/sitemap.xml", urlset(server, "/1", "/secret"))
    server.say("/1", page("One"))
    items = read(server.url("/sitemap.xml"))
    assert (oids(items), reasons(items)) == (["1"], [(None, "disallowed by robots.txt")])
    assert "/secret" not in asked(server)
    server.asked.clear()
    server.answers["/robots.txt"] = lambda request: request.send_error(503)
    server.say("/sitemap.xml", urlset(server, "/1", "/2"))
    rejects = [item for item in read(server.url("/sitemap.xml")) if isinstance(item, Reject)]
    assert [item.oid for item in rejects] == ["1", "2"]
    assert all("/robots.txt: the server answered 503" in item.reason for item in rejects)
    assert not {"/1", "/2"} & set(asked(server))


def test_a_few_pages_at_a_time(server: Server) -> None:
    running, most = 0, 0

    def slow(request: Any) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        time.sleep(0.1)
        running -= 1
        request.send_error(404)

    paths = [f"/{number}" for number in range(12)]
    server.answers |= dict.fromkeys(paths, slow)
    server.say("/sitemap.xml", urlset(server, *paths))
    options = replace(OPTIONS, fetch=replace(FETCH, connections=3))
    assert len(read(server.url("/sitemap.xml"), options)) == 12
    assert 2 <= most <= 3


def test_the_feed_of_the_site_says_which_pages_are_posts_and_of_when(server: Server) -> None:
    server.say("/sitemap.xml", urlset(server, "/short/", "/list/"))
    others = "".join(
        f'<li><h3><a href="/p{number}/">Post number {number}</a></h3><time datetime="2020-01-0'
        f'{number}">January {number}, 2020</time></li>'
        for number in range(1, 8)
    )
    body = f"<p>Flour is in.</p><h2>More posts</h2><ul>{others}</ul>"
    for path in ("/short/", "/list/"):
        server.say(path, f"<!doctype html><title>Flour {path}</title><main>{body}</main>")
    link = '<link rel="alternate" type="application/rss+xml" href="/feed/">'
    server.say("/", page("Mill", link))
    server.say(
        "/feed/",
        f"<rss version='2.0'><channel><title>Mill</title><item><link>{server.url('/short/')}</link>"
        "<pubDate>Thu, 05 Mar 2026 11:30:00 +0000</pubDate></item></channel></rss>",
    )
    items = read(server.url("/sitemap.xml"))
    (post,) = (item for item in items if isinstance(item, RawPost))
    assert (post.oid, str(post.pub_date)) == ("short", "2026-03-05 11:30:00+00:00")
    assert reasons(items) == [("list", "list page")]


@pytest.mark.parametrize(
    ("places", "found"),
    [
        ({"/robots.txt": "Sitemap: /map.xml", "/map.xml": "", "/sitemap.xml": ""}, "/map.xml"),
        ({"/blog/sitemap.xml": "", "/sitemap.xml": ""}, "/blog/sitemap.xml"),
        ({"/sitemap.xml": "<html>", "/sitemap_index.xml": ""}, "/sitemap_index.xml"),
        ({"/pages.xml": ""}, "/pages.xml"),
        ({"/blog/feed.json": '{"version": "https://jsonfeed.org/version/1"}'}, "/blog/feed.json"),
        ({}, "a web page of a site without a sitemap or a feed"),
        ({"/sitemap.xml": None}, "503"),
    ],
)
def test_the_home_page_of_a_blog(server: Server, places: dict[str, str], found: str) -> None:
    link = (
        '<link rel="sitemap" href="/pages.xml"><link rel="alternate" hreflang="de" href="/de/">'
        '<link rel="alternate" type="application/feed+json" href="feed.json">'
    )
    server.say("/blog/", page("Blog", link))
    server.say("/blog/1", page("One"))
    server.say("/elsewhere", page("Elsewhere"))
    for path, body in places.items():
        server.say(path, body or urlset(server, "/blog/1", "/elsewhere"))
        if body is None:
            server.answers[path] = lambda request: request.send_error(503)
    if not found.startswith("/"):
        with pytest.raises(SourceError, match=found):
            open_source(server.url("/blog/"), None, OPTIONS)
        return
    source = open_source(server.url("/blog/"), None, OPTIONS)
    assert source.spec == server.url(found)
    if source.kind == "sitemap":
        assert oids(list(source.read())) == ["blog/1"]


def test_what_is_not_read_from_an_address(server: Server) -> None:
    server.say("/x.jsonl", '{"oid": 1}')
    for kind, path in (*((kind, "/") for kind in ("jsonlines", "html")), (None, "/x.jsonl")):
        with pytest.raises(SourceError, match="Download it"):
            open_source(server.url(path), kind, OPTIONS)
    for url in (server.url("/feed"), "file:///etc/passwd"):
        with pytest.raises(SourceError, match=r"FETCH_ALLOW_PRIVATE|neither http nor https"):
            read(url, SourceOptions())
