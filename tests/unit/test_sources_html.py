"""HTML pages: what is a post, dates, versions, limits; test_sources.py has what is read of them."""

import time
from pathlib import Path
from typing import Any

import pytest

from indexer.errors import SourceError
from indexer.html_text import readable
from indexer.records import RawPost, Reject, Skipped, SourceItem
from indexer.sources import SourceOptions, open_source

WORDS = "A sentence that is long enough to be taken for what the page is about. " * 4
HEAD = "<html><head><title>x</title>"


def read(place: Path, **options: Any) -> list[SourceItem]:
    return list(open_source(str(place), "html", SourceOptions(**options)).read())


def oids(place: Path, **options: Any) -> list[str]:
    return [item.oid for item in read(place, **options) if isinstance(item, RawPost)]


def save(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, "utf-8")


def page(title: str, body: str) -> str:
    return f"<html><head><title>{title}</title></head><body><main>{body}</main></body></html>"


LIST = "".join(
    f'<p><a href="/{number}">A post about something {number}</a></p>' for number in range(20)
)
LD = '<script type="application/ld+json">{"@type": "Article", "headline": "x"}</script>'
SITE = '<meta property="og:type" content="website">'
ARTICLE = '<meta property="og:type" content="article">'
ENTRY = f"<h2>A post</h2><p>{WORDS}</p><a href='/posts/a/' aria-label='A post'></a>"
CARDS = "".join(f"<a href='/{name}/'><img src='x'><span>{name}</span></a>" for name in "bcdef")
MENU = "".join(f"<li><a href='/docs/{name}/'>{name}</a>" for name in ("alt", "b", "c", "d"))
MENU = f"<ul><li><a href='/'>Welcome</a>{MENU}</ul>"
PLUGINS = "".join(f"<li><a href='/{name}/'>* {name}</a>: writes all files anew." for name in "bcd")
DATED = "<article><time>2019-01-02</time><div><a href='/b/'>About it</a></div></article>"
CLOUD = "<div><a href='/tags/advent-of-code/'>Advent of Code</a> <a href='/tags/x/'>x</a></div>"
ENTRIES = "".join(f"<p>A post of May<a href='/{number}/'></a></p>" for number in range(20))
COVERED = "".join(
    f"<div><h3>A post of that year, {n}</h3><a href='/posts/{n}/'></a></div>" for n in range(60)
)
STORIES = "".join(f"<li><a href='{{0}}/{n}'>Story {n}</a></li>" for n in range(30))


@pytest.mark.parametrize(
    ("path", "page", "is_post"),
    [
        ("a.html", f"{HEAD}<p>{WORDS}", True),
        ("tags/python/index.html", f"{HEAD}<p>{WORDS}<p>{WORDS}", True),
        ("tags/index.html", f"{HEAD}<article>{WORDS}</article>" * 2, False),
        ("blog/page/2/index.html", f"{HEAD}<p>{WORDS}", False),
        ("search.html", f"{HEAD}<p>{WORDS}", False),
        ("tag/x.html", f"{HEAD}{ARTICLE}<p>{WORDS}", True),
        ("index.html", f"{HEAD}<main>{LIST}</main>", False),
        ("index.html", HEAD + f"<article><p>{WORDS}</article>" * 3, False),
        ("tags/a/index.html", f"{HEAD}{LD}{SITE}<main><p>{WORDS}{LIST}", False),
        ("tags/a/index.html", f"{HEAD}{LD}<main><p>{WORDS}{LIST}", True),
        ("archives/index.html", f"{HEAD}{ARTICLE}<main>{ENTRIES}", False),
        ("archives/index.html", f"{HEAD}<main>{COVERED}", False),
        ("news.html", f"{HEAD}<main><p>The week.<ul>{STORIES.format('/posts')}", False),
        ("news.html", f"{HEAD}<main><p>The week.<ul>{STORIES.format('https://e.net')}", True),
        ("search/index.html", f"{HEAD}{ARTICLE}<main><h1>Search</h1></main>", False),
        ("de/search/index.html", f"{HEAD}<main>{WORDS}{WORDS}", False),
        ("docs/search/index.html", f"{HEAD}<main>{WORDS}{WORDS}", True),
        ("docs/alt/index.html", f"{HEAD}<body><h1>alt</h1>{MENU}<p>Of a record.", True),
        ("docs/index.html", f"{HEAD}<body><h1>Parts</h1>{MENU}<p>All parts.", False),
        ("tags/x/index.html", f"{HEAD}<main><h1>x</h1>{PLUGINS}", False),
        ("theme-tags/x/index.html", f"{HEAD}<body><h1>x</h1>{CARDS[: CARDS.index('</a>')]}", False),
        ("admin.html", f"{HEAD}</head><body><script src='cms.js'></script></body>", False),
        ("photo.html", f"{HEAD}</head><body><img src='a.png'><script src='a.js'></script>", True),
        ("docs/x/index.html", f"{HEAD}<main><h1>x</h1>{PLUGINS}", True),
        ("tags/x/index.html", f"{HEAD}{SITE}<main>{DATED}", False),
        ("tags/index.html", f"{HEAD}{SITE}<main><h1>Tags</h1><div>2 tags</div>{CLOUD}", False),
        ("index.html", f"{HEAD}{SITE}<main><article>{ENTRY}</article>", False),
        ("docs/genindex.html", f"{HEAD}<main>{WORDS}{WORDS}", False),
    ],
)
def test_a_list_is_no_post_whatever_it_calls_itself(
    tmp_path: Path, path: str, page: str, is_post: bool
) -> None:
    save(tmp_path / path, page)
    (item,) = read(tmp_path)
    assert isinstance(item, RawPost) is is_post
    assert item.oid  # what is left out by a guess keeps its oid, so that `sync` removes nothing


@pytest.mark.parametrize("release", ["latest", "stable", "2.10"])
def test_of_the_versions_of_a_documentation_the_release_is_read(
    tmp_path: Path, release: str
) -> None:
    for folder in ("dev", "2.2", "2.9", "2.1", release):
        for number in range(6):
            save(tmp_path / f"{folder}/{number}/index.html", page(f"Page {number}", WORDS))
        save(tmp_path / f"{folder}/index.html", page("Welcome", WORDS))
    for release_notes in ("news/1.0/notes.html", "news/2.0/notes.html"):
        save(tmp_path / release_notes, page("Notes", WORDS))
    assert {oid.rpartition("/")[0] or oid for oid in oids(tmp_path)} == {
        *(release, "news/1.0", "news/2.0"),
    }


@pytest.mark.parametrize("is_index", [False, True])
def test_the_sitemap_says_what_is_public_and_where(tmp_path: Path, is_index: bool) -> None:
    names = [f"posts/{number}" for number in range(8)]
    for name in (*names, "posts/hidden"):
        save(tmp_path / f"{name}.html", page(name, f"<p>{WORDS}"))
    base = "https://e.org/blog"
    urls = "".join(f"<url><loc>{base}/{name}</loc></url>" for name in [*names, "posts/missing"])
    urlset = "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{}</urlset>"
    file = tmp_path / ("sitemap-0.xml" if is_index else "sitemap.xml")
    save(file, urlset.format(urls))
    if is_index:
        part = f"<sitemap><loc>{base}/sitemap-0.xml</loc></sitemap>"
        save(tmp_path / "sitemap-index.xml", urlset.replace("urlset", "sitemapindex").format(part))
    warned: list[str] = []
    *items, hidden = read(tmp_path, warn=warned.append)
    assert [item.url for item in items if isinstance(item, RawPost)] == [
        f"{base}/{n}" for n in names
    ]
    assert isinstance(hidden, Skipped)
    assert hidden.reason == "not in the sitemap"
    assert len(warned) == 1
    # One that lists few of the pages does not say which are public.
    save(file, urlset.format(urls[: urls.index("</url>") + 6]))
    assert len(oids(tmp_path)) == 9


def test_the_content_and_what_is_no_part_of_it_may_be_named(tmp_path: Path) -> None:
    body = f"<div class='promo'>Buy</div><div id='text'><p>{WORDS}</p><p class='ad'>More</p></div>"
    save(tmp_path / "a.html", page("A", body))
    (post,) = read(tmp_path, content="#text", exclude=(".ad", ".promo"))
    assert isinstance(post, RawPost)
    assert readable(post.text).prose == WORDS.strip()
    assert post.left_out["excluded by blogsearch.toml"] == len("BuyMore")
    with pytest.raises(SourceError, match="not a CSS selector"):
        read(tmp_path, content="[")


@pytest.mark.parametrize(
    ("markup", "reason"),
    [
        ("<div>" * 50_000, "inside one another"),
        ("<p " + " ".join(f"a{n}" for n in range(40_000)) + ">", "attributes in a tag"),
        ("".join(f"<body a{n}>" for n in range(40_000)), "attributes in a tag"),
        ("<select>" + "<option>x" * 300_000, "options to select from"),
        ("<p>" + "".join(f"<b a{n}>" for n in range(900)) + "</p>" + "<p>x" * 9_000, "unclosed"),
        ("<!-->" + "<div>" * 50_000 + "-->", "inside one another"),
        ('<p a">' + "<div>" * 50_000 + '"', "inside one another"),
        ("<svg><style>" + "<g>" * 50_000, "inside one another"),
        ("x" * 60_000_000, "20,000,000 bytes"),
    ],
)
def test_a_page_that_would_take_long_is_refused_before_it_is_parsed(
    tmp_path: Path, markup: str, reason: str
) -> None:
    save(tmp_path / "a.html", HEAD + markup)
    start = time.thread_time()
    (reject,) = read(tmp_path)
    assert isinstance(reject, Reject)
    assert (reject.oid, reason in reject.reason) == ("a", True)
    assert reject.remedy
    assert time.thread_time() - start < 1


def test_a_deep_page_is_read_in_linear_time(tmp_path: Path) -> None:
    inner = f"<p>{WORDS}</p>" * 2_000
    save(tmp_path / "a.html", f"{HEAD}<body>" + "<div>" * 1_900 + inner)
    start = time.thread_time()
    (post,) = read(tmp_path)
    assert isinstance(post, RawPost)
    assert readable(post.text).prose.count("A sentence") == 8_000
    assert time.thread_time() - start < 10


def test_a_canonical_address_on_a_disk_is_none(tmp_path: Path) -> None:
    link = '<link rel="canonical" href="file:///usr/share/x.html">'
    save(tmp_path / "a.html", f"{HEAD}{link}<p>{WORDS}")
    (post,) = read(tmp_path)
    assert isinstance(post, RawPost)
    assert post.url == "/a.html"
