"""Feeds and sitemaps over HTTP, from a real server on this machine."""

import gzip
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from indexer.errors import SourceError
from indexer.fetch import FetchOptions
from indexer.html_text import readable
from indexer.records import RawPost, Reject, Skipped, SourceItem
from indexer.sources import SourceOptions, open_source

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
    return f'<?xml version="1.0"?><urlset xmlns="{namespace}">{urls}</urlset>'


def read(spec: str, options: SourceOptions = OPTIONS) -> list[SourceItem]:
    return list(open_source(spec, None, options).read())


def asked(server: Server) -> list[str]:
    return sorted(path for path, _ in server.asked)


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
    assert source.kind == "sitemap"
    items = list(source.read())
    assert source.progress == 1
    first, two, tagged, gone, down, file, data = items
    assert isinstance(tagged, Skipped)
    assert (tagged.oid, tagged.reason) == ("tags/x", "list page")
    assert isinstance(data, Skipped)
    assert data.reason == "not an HTML page"
    assert isinstance(first, RawPost)
    assert (first.oid, first.title, first.url) == ("one", "One", server.url("/one/"))
    assert (str(first.pub_date)[:10], str(first.modified)[:10]) == ("2024-01-31", "2024-02-01")
    assert readable(first.text).prose == WORDS.strip()
    assert isinstance(two, RawPost)
    assert (two.oid, two.title, two.url) == ("two", "Zwei é", server.url("/two"))
    assert isinstance(gone, Skipped)
    assert (gone.oid, gone.reason) == (None, "gone (404)")
    assert isinstance(down, Reject)
    assert (down.oid, "503" in down.reason) == ("down", True)
    assert isinstance(file, Skipped)
    assert (file.oid, file.reason) == ("file.pdf", "not an HTML page")
    assert "/file.pdf" not in asked(server)
    assert asked(server).count("/one/") == 1
    assert asked(server).count("/sitemap.xml") == 1
    assert asked(server).count("/robots.txt") == 1


def test_an_index_of_sitemaps_some_of_them_zipped(server: Server) -> None:
    locations = "".join(f"<sitemap><loc>{path}</loc></sitemap>" for path in ("/a.xml.gz", "/b.xml"))
    server.say("/sitemap.xml", f"<sitemapindex>{locations}</sitemapindex>")
    server.say("/a.xml.gz", gzip.compress(urlset(server, "/1").encode()))
    server.say("/b.xml", urlset(server, "/2"), Content_Type="text/xml")
    server.say("/1", page("One"))
    server.say("/2", page("Two"))
    assert [item.oid for item in read(server.url("/sitemap.xml"))] == ["1", "2"]


def test_a_sitemap_on_the_disk(server: Server, tmp_path: Path) -> None:
    server.say("/1", page("One"))
    place = tmp_path / "sitemap.xml.gz"
    place.write_bytes(gzip.compress(urlset(server, "/1").encode()))
    assert [item.oid for item in read(str(place))] == ["1"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("<urlset><url>", "not XML"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><urlset>&a;</urlset>', "not XML"),
        ("<rss></rss>", "not a sitemap but <rss>"),
    ],
)
def test_a_sitemap_that_is_none(server: Server, body: str, reason: str) -> None:
    server.say("/sitemap.xml", body)
    with pytest.raises(SourceError, match=reason):
        list(open_source(server.url("/sitemap.xml"), "sitemap", OPTIONS).read())


def test_a_part_of_the_sitemap_that_cannot_be_had_is_an_error(server: Server) -> None:
    """Not a shorter list: what is missing from it would be taken for removed."""
    server.say("/sitemap.xml", "<sitemapindex><sitemap><loc>/a.xml</loc></sitemap></sitemapindex>")
    with pytest.raises(SourceError, match="answered 404"):
        read(server.url("/sitemap.xml"))


def test_an_index_too_deep_is_not_just_left_out(server: Server) -> None:
    for number in range(5):
        index = f"<sitemapindex><sitemap><loc>/{number + 1}.xml</loc></sitemap></sitemapindex>"
        server.say(f"/{number}.xml", index)
    server.say("/3.xml", urlset(server, "/p"))
    server.say("/p", page("One"))
    assert [item.oid for item in read(server.url("/0.xml"))] == ["p"]
    server.say("/3.xml", "<sitemapindex><sitemap><loc>/4.xml</loc></sitemap></sitemapindex>")
    with pytest.raises(SourceError, match="4 deep"):
        read(server.url("/0.xml"))


def test_many_addresses_on_other_hosts_are_left_out_at_once(server: Server) -> None:
    urls = "".join(f"<url><loc>http://other.test/{n}</loc></url>" for n in range(10_000))
    server.say("/sitemap.xml", f"<urlset>{urls}</urlset>")
    items = read(server.url("/sitemap.xml"))
    assert len(items) == 10_000
    assert asked(server).count("/sitemap.xml") == 1


def test_a_zipped_sitemap_that_unpacks_to_too_much(server: Server) -> None:
    server.say("/sitemap.xml.gz", gzip.compress(b"<urlset>" + b" " * 50_000_000))
    with pytest.raises(SourceError, match="more than 50,000,000 bytes"):
        read(server.url("/sitemap.xml.gz"))


def test_robots_keep_us_out_and_slow_us_down(server: Server) -> None:
    server.say("/robots.txt", "User-agent: *\nDisallow: /secret\nCrawl-delay: 0.3")
    server.say("/sitemap.xml", urlset(server, "/1", "/secret", "/2"))
    server.say("/1", page("One"))
    server.say("/2", page("Two"))
    start = time.monotonic()
    first, secret, two = read(server.url("/sitemap.xml"))
    assert time.monotonic() - start >= 0.3
    assert (first.oid, two.oid) == ("1", "2")
    assert isinstance(secret, Skipped)
    assert (secret.oid, secret.reason) == (None, "disallowed by robots.txt")
    assert "/secret" not in asked(server)


def test_robots_that_cannot_be_had_make_no_page_look_removed(server: Server) -> None:
    server.answers["/robots.txt"] = lambda request: request.send_error(503)
    server.say("/sitemap.xml", urlset(server, "/1", "/2"))
    items = read(server.url("/sitemap.xml"))
    assert [item.oid for item in items if isinstance(item, Reject)] == ["1", "2"]
    assert all("/robots.txt: the server answered 503" in item.reason for item in items)  # type: ignore[union-attr]
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


def test_a_reader_that_stops_stops_the_fetching(server: Server) -> None:
    paths = [f"/{number}" for number in range(200)]
    for path in paths:
        server.say(path, page("x"))
    server.say("/sitemap.xml", urlset(server, *paths))
    posts = open_source(server.url("/sitemap.xml"), None, OPTIONS).read()
    next(iter(posts))
    time.sleep(0.3)
    before = len(server.asked)
    assert before < 30  # a few pages ahead, not the whole site
    posts.close()  # type: ignore[attr-defined]  # a generator
    time.sleep(0.2)
    assert len(server.asked) == before


FEED = """<rss version="2.0"><channel><title>B</title>
<item><title>One</title><link>/1</link><guid isPermaLink="false">1</guid></item>
</channel></rss>"""


def test_a_feed_in_the_wrong_charset(server: Server) -> None:
    body = '<?xml version="1.0"?>' + FEED.replace("One", "é 漢字")
    server.say("/feed", body, Content_Type="application/rss+xml; charset=iso-8859-1")
    (post,) = read(server.url("/feed"))
    assert isinstance(post, RawPost)
    assert post.title == "é 漢字"


@pytest.mark.parametrize("kind", ["jsonlines", "markdown", "html", "wordpress"])
def test_what_is_not_read_from_an_address(server: Server, kind: str) -> None:
    with pytest.raises(SourceError, match="Download it"):
        open_source(server.url("/"), kind, OPTIONS)
    server.say("/x.jsonl", '{"oid": 1}')
    with pytest.raises(SourceError, match="Download it"):
        open_source(server.url("/x.jsonl"), None, OPTIONS)


def test_an_address_inside_the_own_network_is_refused(server: Server) -> None:
    with pytest.raises(SourceError, match="BLOGSEARCH_FETCH_ALLOW_PRIVATE"):
        read(server.url("/feed"), SourceOptions())
    with pytest.raises(SourceError, match="neither http nor https"):
        read("file:///etc/passwd", SourceOptions())
    assert not server.asked


def test_a_sitemap_that_lists_itself_files_and_other_hosts(server: Server, tmp_path: Path) -> None:
    secret = tmp_path / "secret.html"
    secret.write_text(page("Secret"))
    index = server.url("/sitemap.xml")
    locations = [index, index, server.url("/b.xml"), secret.as_uri(), "http://other.test/c.xml"]
    listed = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in locations)
    server.say("/sitemap.xml", f"<sitemapindex>{listed}</sitemapindex>")
    pages = [server.url("/1"), secret.as_uri(), "http://other.test/1"]
    listed = "".join(f"<url><loc>{url}</loc></url>" for url in pages)
    server.say("/b.xml", f"<urlset>{listed}</urlset>", Content_Type="text/xml")
    server.say("/1", page("One"))
    warnings: list[str] = []
    options = replace(OPTIONS, warn=warnings.append)
    file, other, first = sorted(read(index, options), key=lambda url: isinstance(url, RawPost))
    assert isinstance(first, RawPost)
    assert isinstance(file, Skipped)
    assert file.reason == "neither http nor https"
    assert isinstance(other, Skipped)
    assert "another host" in other.reason
    assert ["secret.html" in warnings[0], "other.test/c.xml" in warnings[1]] == [True, True]
    assert asked(server).count("/sitemap.xml") == 1


def test_one_page_at_several_addresses_is_one_post(server: Server) -> None:
    paths = ("/old", "/new/", "/new?utm_source=x", "/copy", "/away", "/gone-home")
    server.say("/sitemap.xml", urlset(server, *paths))
    server.answers["/old"] = redirect(server.url("/new/"))
    server.answers["/away"] = redirect(server.url("/new/", "localhost"))
    server.answers["/gone-home"] = redirect(server.url("/a.pdf"))
    server.say("/a.pdf", "no page")
    server.say("/new/", page("New"))
    server.say("/copy", page("New", f'<link rel="canonical" href="{server.url("/new/")}">'))
    post, *skipped = read(server.url("/sitemap.xml"))
    assert isinstance(post, RawPost)
    assert (post.oid, post.url) == ("new", server.url("/new/"))
    reasons = [str(item.reason) for item in skipped if isinstance(item, Skipped)]
    assert [reason.partition(":")[0] for reason in reasons] == [
        *("another address of a page that was read",) * 2,
        *("redirects elsewhere",) * 2,
    ]


def redirect(to: str) -> Any:
    def answer(request: Any) -> None:
        request.send_response(301)
        request.send_header("Location", to)
        request.send_header("Content-Length", "0")
        request.end_headers()

    return answer


def test_only_some_pages_are_read(server: Server) -> None:
    warnings: list[str] = []
    options = replace(OPTIONS, max_pages=2, exclude=("tags/*",), warn=warnings.append)
    server.say("/sitemap.xml", urlset(server, "/1", "/2", "/tags/x", "/4"))
    for path in ("/1", "/2", "/4"):
        server.say(path, page(path))
    post, tag = read(server.url("/sitemap.xml"), options)
    assert (post.oid, isinstance(tag, Skipped) and tag.reason) == ("4", "excluded")
    assert warnings == ["2 of 4 pages are not read."]


@pytest.mark.parametrize(
    ("places", "found"),
    [
        ({"/robots.txt": "Sitemap: /map.xml", "/map.xml": "", "/sitemap.xml": ""}, "/map.xml"),
        ({"/blog/sitemap.xml": "", "/sitemap.xml": ""}, "/blog/sitemap.xml"),
        ({"/sitemap.xml": "<html>", "/sitemap_index.xml": ""}, "/sitemap_index.xml"),
        ({"/blog/feed.json": '{"version": "https://jsonfeed.org/version/1"}'}, "/blog/feed.json"),
        ({}, "a web page of a site without a sitemap or a feed"),
        ({"/sitemap.xml": None}, "503"),
    ],
)
def test_the_home_page_of_a_blog(server: Server, places: dict[str, str], found: str) -> None:
    link = '<link rel="alternate" type="application/feed+json" href="feed.json">'
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
        assert [item.oid for item in source.read() if isinstance(item, RawPost)] == ["blog/1"]
