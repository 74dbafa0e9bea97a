"""JSON Lines, JSON arrays, HTML folders, feeds and WordPress exports as files; recognition."""

import json
import time
from datetime import datetime
from itertools import chain, repeat
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from indexer.dates import iso
from indexer.errors import SourceError
from indexer.html_text import readable
from indexer.normalise import documents
from indexer.records import Document, RawPost, Reject, Skipped
from indexer.sources import SourceOptions, open_source


def read(place: Path | str, kind: str | None = None, **options: Any) -> list[RawPost | Reject]:
    return list(open_source(str(place), kind, SourceOptions(**options)).read())


def posts(place: Path | str, **options: Any) -> list[RawPost]:
    items = read(place, **options)
    assert not [item for item in items if isinstance(item, Reject)]
    return [item for item in items if isinstance(item, RawPost)]


def save(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


# -- HTML ------------------------------------------------------------------------------------------

WORDS = "A sentence that is long enough to be taken for what the page is about. " * 4


def test_html_folder(tmp_path: Path) -> None:
    save(
        tmp_path / "posts/hello/index.html",
        f"""<!doctype html><html><head><title>Hello &amp; more | The Blog</title>
        <meta property="og:site_name" content="The Blog">
        <meta property="article:published_time" content="2024-01-31T10:00:00+01:00">
        <meta name="keywords" content="a, b"><meta property="article:section" content="News">
        <link rel="canonical" href="/posts/hello/"></head>
        <body><header><a href="/">The Blog</a></header><nav>Menu</nav>
        <main><nav class="breadcrumb">Home</nav><article><h1>Hello &amp; more</h1><p>{WORDS}</p>
        <pre>code()</pre><aside>Aside</aside></article><div id="comments">No!</div></main>
        <footer>Footer</footer></body></html>""",
    )
    (read_post,) = posts(tmp_path, site="https://example.org")
    assert (read_post.oid, read_post.title) == ("posts/hello", "Hello & more")
    assert read_post.url == "https://example.org/posts/hello/"
    post, *_ = documents(read_post)
    assert isinstance(post, Document)
    assert post.source["pub_date"] == "2024-01-31T10:00:00+01:00"
    assert (post.source["keywords"], post.source["categories"]) == (["a", "b"], ["News"])
    assert (post.source["text"], post.source["code"]) == (WORDS.strip(), "code()")


def test_html_without_landmarks(tmp_path: Path) -> None:
    links = "".join(
        f'<li><a href="/{number}">Another page {number}</a></li>' for number in range(30)
    )
    save(
        tmp_path / "a b.html",
        f"""<html><head><title>Old page</title></head><body><table><tr><td><ul>{links}</ul></td>
        <td><div><h2>One</h2><p>{WORDS}</p></div><div><h2>Two</h2><p>{WORDS}</p></div></td></tr>
        </table><p>Copyright</p></body></html>""",
    )
    (post,) = posts(tmp_path)
    assert (post.oid, post.title, post.url) == ("a b", "Old page", "/a%20b.html")
    prose = readable(post.text).prose
    assert prose.count("A sentence") == 8
    assert "Two" in prose
    assert "Another page" not in prose


def test_html_with_a_container_for_each_section(tmp_path: Path) -> None:
    sections = "".join(f"<div><h2>Part {number}</h2><p>{WORDS}</p></div>" for number in range(3))
    menu = "".join(f'<div><a href="/{number}">Page {number}</a></div>' for number in range(9))
    save(tmp_path / "a.html", f"{HEAD}<div>{menu}</div><div id='x'>{sections}</div>")
    (post,) = posts(tmp_path)
    prose = readable(post.text).prose
    assert [f"Part {number}" in prose for number in range(3)] == [True] * 3
    assert "Page" not in prose


HEAD = "<html><head><title>x</title>"
LIST = "".join(
    f'<p><a href="/{number}">A post about something {number}</a></p>' for number in range(20)
)


@pytest.mark.parametrize(
    ("path", "page", "taken"),
    [
        ("a.html", f"{HEAD}<p>{WORDS}", True),
        ("404.html", f"{HEAD}<p>{WORDS}", False),
        ("tags/python/index.html", f"{HEAD}<p>{WORDS}<p>{WORDS}", True),
        ("tags/python/index.html", f"{HEAD}<p>{WORDS}{LIST}", False),
        ("tags/index.html", f"{HEAD}<article>{WORDS}</article>" * 2, False),
        ("blog/page/2/index.html", f"{HEAD}<p>{WORDS}", False),
        ("search.html", f"{HEAD}<p>{WORDS}", False),
        ("archive/2024/post.html", f"{HEAD}<p>{WORDS}", True),
        ("tag/x.html", f'{HEAD}<meta property="og:type" content="article"><p>{WORDS}', True),
        ("a.html", f'{HEAD}<meta name="robots" content="noindex, follow"><p>{WORDS}', False),
        ("a.html", f'{HEAD}<meta http-equiv="Refresh" content="0; url=/b"><p>{WORDS}', False),
        ("index.html", f"{HEAD}<main>{LIST}</main>", False),
        ("index.html", HEAD + f"<article><p>{WORDS}</article>" * 3, False),
        ("partial.html", f"<p>{WORDS}", False),
    ],
)
def test_pages_that_are_no_posts(tmp_path: Path, path: str, page: str, taken: bool) -> None:
    save(tmp_path / path, page)
    assert bool(posts(tmp_path)) is taken


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


def feed(path: str) -> str:
    return f'<link rel="alternate" type="application/rss+xml" href="{path}index.xml">'


@pytest.mark.parametrize(
    ("path", "page", "taken"),
    [
        ("posts/page/3/index.html", f"{HEAD}{ARTICLE}<main>{WORDS}", False),
        ("tags/a/index.html", f"{HEAD}{feed('/tags/a/')}<main>{ENTRY}", False),
        ("tags/a/index.html", f"{HEAD}{LD}{SITE}{feed('/tags/a/')}<main>{ENTRY}", False),
        ("tags/a/index.html", f"{HEAD}{feed('https://e.org/b/tags/a/')}<main>{ENTRY}", False),
        ("tags/a/index.html", f"{HEAD}{LD}{SITE}<main><p>{WORDS}{LIST}", False),
        ("tags/a/index.html", f"{HEAD}{LD}<main><p>{WORDS}{LIST}", True),
        ("docs/a/index.html", f"{HEAD}{SITE}{feed('/docs/a/')}<main>{WORDS}{WORDS}", True),
        ("docs/a/index.html", f"{HEAD}{SITE}{feed('/docs/a/')}<main>{ENTRIES}", False),
        ("docs/a/index.html", f"{HEAD}{feed('/')}<main>A few words.", True),
        ("archives/index.html", f"{HEAD}{ARTICLE}<main>{ENTRIES}", False),
        ("search/index.html", f"{HEAD}{ARTICLE}<main><h1>Search</h1></main>", False),
        ("de/search/index.html", f"{HEAD}<main>{WORDS}{WORDS}", False),
        ("docs/search/index.html", f"{HEAD}<main>{WORDS}{WORDS}", True),
        ("docs/404/index.html", f"{HEAD}<main>{WORDS[:140]}", True),
        ("themes/a/index.html", f"{HEAD}<main><h1>A</h1>{CARDS}", False),
        ("docs/alt/index.html", f"{HEAD}<body><h1>alt</h1>{MENU}<p>Of a record.", True),
        ("docs/index.html", f"{HEAD}<body><h1>Parts</h1>{MENU}<p>All parts.", False),
        ("tags/x/index.html", f"{HEAD}<main><h1>x</h1>{PLUGINS}", False),
        ("theme-tags/x/index.html", f"{HEAD}<body><h1>x</h1>{CARDS[: CARDS.index('</a>')]}", False),
        ("2.0/404.html", f"{HEAD}<main><h1>404 - Not found</h1>", False),
        ("admin.html", f"{HEAD}</head><body><script src='cms.js'></script></body>", False),
        ("photo.html", f"{HEAD}</head><body><img src='a.png'><script src='a.js'></script>", True),
        ("docs/x/index.html", f"{HEAD}<main><h1>x</h1>{PLUGINS}", True),
        ("tags/x/index.html", f"{HEAD}{SITE}<main>{DATED}", False),
        ("tags/index.html", f"{HEAD}{SITE}<main><h1>Tags</h1><div>2 tags</div>{CLOUD}", False),
        ("index.html", f"{HEAD}{SITE}<main><article>{ENTRY}</article>", False),
        ("docs/genindex.html", f"{HEAD}<main>{WORDS}{WORDS}", False),
        ("blog/2024/05/index.html", f"{HEAD}<main>{WORDS}<a href='a/'>A</a>", False),
        ("blog/2024/05/index.html", f"{HEAD}<main>{WORDS}<a href='/b/'>A</a>", True),
    ],
)
def test_a_list_is_no_post_whatever_it_calls_itself(
    tmp_path: Path, path: str, page: str, taken: bool
) -> None:
    save(tmp_path / path, page)
    assert bool(posts(tmp_path)) is taken


def test_a_list_that_goes_on_and_a_copy_of_a_page_are_no_posts(tmp_path: Path) -> None:
    page = f"{HEAD}{ARTICLE}{{}}<main>{WORDS}"
    moved = '<meta http-equiv="refresh" content="0; url=/">'
    front = '<link rel="canonical" href="https://e.org/">'
    copy = '<link rel="canonical" href="https://e.org/a/">'
    pages = {
        "index.html": front,
        "index2.html": moved,
        "posts/index.html": "",
        "posts/page/1/index.html": moved,
        "a/index.html": copy,
        "A/index.html": copy,
        "b/index.html": front,
        "c/index.html": '<link rel="canonical" href="https://e.org/c/?x=1">',
    }
    for path, head in pages.items():
        save(tmp_path / path, page.format(head))
    assert [post.oid for post in posts(tmp_path)] == ["a", "b", "c"]


def page(title: str, body: str, head: str = "") -> str:
    return f"<html><head><title>{title}</title>{head}</head><body><main>{body}</main></body></html>"


def test_what_many_pages_share_is_not_a_title(tmp_path: Path) -> None:
    """As in a template that gives every page the og:title of the site."""
    og = '<meta property="og:title" content="{}">'
    for number in range(4):
        same = page(f"Post {number} | My site", f"<p>{WORDS}", og.format("My site"))
        save(tmp_path / f"same/{number}.html", same)
        own = page(
            "My site", f"<h1>Day {number}</h1><p>{WORDS}", og.format(f"Own {number} - My site")
        )
        save(tmp_path / f"own/{number}.html", own)
        save(tmp_path / f"head/{number}.html", page("My site", f"<h1>Head {number}</h1><p>{WORDS}"))
    titles = [post.title for post in posts(tmp_path)]
    assert titles == [f"{kind} {number}" for kind in ("Head", "Own", "Post") for number in range(4)]


def test_an_image_that_many_pages_share_is_not_that_of_a_post(tmp_path: Path) -> None:
    image = '<meta property="og:image" content="{}">'
    for number in range(4):
        save(tmp_path / f"logo/{number}.html", page("A", f"<p>{WORDS}", image.format("/logo.png")))
    save(tmp_path / "post/index.html", page("B", f"<p>{WORDS}", image.format("cover.png")))
    images = {post.oid: post.image for post in posts(tmp_path, site="https://a.example")}
    assert images["post"] == "https://a.example/post/cover.png"
    assert images["logo/1"] is None


def test_the_name_of_a_part_of_the_site_is_not_in_the_title(tmp_path: Path) -> None:
    for number in range(12):
        save(tmp_path / f"a/{number}.html", page(f"Part 1 - {number} | Inside", f"<p>{WORDS}"))
        save(tmp_path / f"b/{number}.html", page(f"Notes - {number}", f"<p>{WORDS}"))
        save(tmp_path / f"c/{number}.html", page(f"Other {number}", f"<p>{WORDS}"))
        save(tmp_path / f"d/{number}.html", page("Meetings | Inside", f"<p>{WORDS}"))
    titles = {post.title for post in posts(tmp_path)}
    assert {"Part 1 - 3", "Notes - 3", "Other 3", "Meetings"} <= titles


@pytest.mark.parametrize(
    ("generator", "shown", "tag"),
    [
        ("Hugo 0.168.0", "Go Modules", "go modules"),
        ("Hugo 0.168.0", "JavaScript", "JavaScript"),
        ("Pelican", "Go Modules", "Go Modules"),
    ],
)
def test_tags_that_a_generator_writes_with_capitals(
    tmp_path: Path, generator: str, shown: str, tag: str
) -> None:
    head = f'<meta name="generator" content="{generator}">'
    link = f"<a href='/tags/x/'>{shown}</a><a href='https://e.net/a/releases/tag/1'>1.0</a>"
    save(tmp_path / "a.html", page("A", f"<p>{WORDS}</p>{link}", head))
    assert posts(tmp_path)[0].keywords == [tag]


def test_a_feed_has_the_dates_that_pages_do_not_show(tmp_path: Path) -> None:
    date = "<pubDate>Wed, 31 Jan 2024 09:30:00 GMT</pubDate>"
    item = f"<item><link>https://e.org/a/</link>{date}</item>"
    save(tmp_path / "blog/feed.xml", f"<rss><channel>{item}</channel></rss>")
    for name in ("a", "b"):
        save(tmp_path / name / "index.html", page(f"| {name}", f"<p>{WORDS}"))
    first, second = posts(tmp_path)
    assert (first.title, iso(first.pub_date)) == ("a", "2024-01-31T09:30:00Z")
    assert second.pub_date is None


SITEMAP = "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{}</urlset>"


@pytest.mark.parametrize("is_index", [False, True])
def test_the_sitemap_says_what_is_public_and_where(tmp_path: Path, is_index: bool) -> None:
    names = [f"posts/{number}" for number in range(8)]
    for name in (*names, "posts/hidden"):
        save(tmp_path / f"{name}.html", page(name, f"<p>{WORDS}"))
    base = "https://e.org/blog"
    urls = "".join(f"<url><loc>{base}/{name}</loc></url>" for name in [*names, "posts/missing"])
    file = tmp_path / ("sitemap-0.xml" if is_index else "sitemap.xml")
    save(file, SITEMAP.format(urls))
    if is_index:
        part = f"<sitemap><loc>{base}/sitemap-0.xml</loc></sitemap>"
        save(tmp_path / "sitemap-index.xml", SITEMAP.replace("urlset", "sitemapindex").format(part))
    notes: list[str] = []
    items = read(tmp_path, warn=notes.append)
    assert [item.url for item in items if isinstance(item, RawPost)] == [
        f"{base}/{n}" for n in names
    ]
    assert [item.reason for item in items if isinstance(item, Skipped)] == ["not in the sitemap"]
    # One that lists few of the pages does not say which are public.
    save(file, SITEMAP.format(urls[: urls.index("</url>") + 6]))
    assert len(posts(tmp_path)) == 9


def test_drafts_versions_and_pages_that_a_browser_renders_are_left_out(tmp_path: Path) -> None:
    text = f"<p>{WORDS}"
    for path in ("a.html", "drafts/b.html", "posts/draft_c.html", "docs/d.html", "docs/e.html"):
        save(tmp_path / path, page(path, text))
    for path in ("docs/next/d.html", "docs/next/e.html", "docs/next/new.html", "docs/1.0/d.html"):
        save(tmp_path / path, page(path, text))
    save(tmp_path / "app.html", page("App", "<div id='root'></div>"))
    save(tmp_path / "guide/drafts/index.html", page("Drafts", text))
    items = read(tmp_path)
    assert {item.oid for item in items if isinstance(item, RawPost)} == {
        *("a", "docs/d", "docs/e", "guide/drafts"),
    }
    reasons = sorted(item.reason for item in items if isinstance(item, Skipped))
    assert reasons[:4] == ["copy or another version of a page"] * 4
    assert reasons[4:6] == ["draft", "draft"]
    assert reasons[6].startswith("rendered by a browser")
    assert "drafts/b" in {post.oid for post in posts(tmp_path, drafts=True)}


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
    folders = {str(post.oid).rpartition("/")[0] or str(post.oid) for post in posts(tmp_path)}
    assert folders == {release, "news/1.0", "news/2.0"}


@pytest.mark.parametrize(
    ("link", "taken"), [("https://news.example.net/{}", True), ("/posts/{}/", False)]
)
def test_links_to_other_sites_do_not_make_a_list(tmp_path: Path, link: str, taken: bool) -> None:
    items = "".join(f"<li><a href='{link.format(n)}'>Story {n}</a></li>" for n in range(30))
    sections = "".join(f"<h3><a href='{link.format(n)}'>Tool {n}</a></h3><p>x" for n in range(9))
    save(tmp_path / "news.html", page("News", f"<h1>News</h1><p>The week.</p><ul>{items}</ul>"))
    save(tmp_path / "tools.html", page("Tools", f"<h1>Tools</h1><p>The best.</p>{sections}"))
    assert len(posts(tmp_path)) == 2 * taken


def test_what_is_around_the_text_of_a_short_page_is_left_out(tmp_path: Path) -> None:
    around = (
        "<header><p>Some random thoughts</p><nav>Menu</nav></header>"
        "<a href='#main' class='skip-link'>Skip to main content</a><div class='cookie-note'>We use"
        " cookies</div><div>Copyright of a footer that is longer than the page itself</div>"
    )
    text = (
        "<h1><a href='#short'>🔗</a>Short</h1><time>31 January 2024</time><div>3 min read</div>"
        "<p class='meta'>by Ann on January 31, 2024</p><div>Tags:</div>"
        "<header>My blog<nav>Menu</nav></header><div><a href='https://e.net/edit/a'>Edit</a></div>"
        "<ul id='markdown-toc'><li>One</ul><p>Only this.</p>"
        "<figure class='highlight'><figcaption>a.py</figcaption><pre>code</pre></figure>"
        "<ul class='links-nextprev'><li>Next: Another</ul>"
        "<a rel='next' href='/b/'>Another</a>"
    )
    save(tmp_path / "a.html", f"{HEAD}</head><body>{around}<main>{text}</main></body>")
    (post,) = posts(tmp_path)
    words = readable(post.text)
    assert (post.title, words.prose, words.code) == ("Short", "Only this.", "code")
    assert iso(post.pub_date) == "2024-01-31T00:00:00Z"


def test_an_archive_whose_links_lie_over_its_entries_is_a_list(tmp_path: Path) -> None:
    entry = "<div><h3>A post of that year, {0}</h3><a href='/posts/{0}/' aria-label='x'></a></div>"
    entries = "".join(map(entry.format, range(60)))
    save(tmp_path / "archives/index.html", page("Archive", f"<h1>Archive</h1>{entries}"))
    section = '<meta property="article:section" content="posts">'
    save(tmp_path / "posts/1/index.html", page("One", f"<p>{WORDS}", section))
    (post,) = posts(tmp_path)
    assert (post.oid, post.categories) == ("posts/1", [])


def test_the_content_and_what_is_no_part_of_it_may_be_named(tmp_path: Path) -> None:
    body = f"<div class='promo'>Buy</div><div id='text'><p>{WORDS}</p><p class='ad'>More</p></div>"
    save(tmp_path / "a.html", page("A", body))
    (post,) = posts(tmp_path, content="#text", exclude=(".ad", ".promo"))
    assert readable(post.text).prose == WORDS.strip()
    with pytest.raises(SourceError, match="not a CSS selector"):
        posts(tmp_path, content="[")


@pytest.mark.parametrize(
    ("head", "date"),
    [
        ('<meta name="date" content="nonsense"><meta name="DC.date" content="2024-01-31">', "31"),
        ('<meta itemprop="datePublished" content="2024-01-30">', "30"),
        (
            '<script type="application/ld+json">{"headline": "x",'
            ' "datePublished": "2024-01-29"}</script>',
            "29",
        ),
        (
            '<script type="application/ld+json">{"@graph": [{"@type": "WebSite"}, {"headline": "x",'
            ' "datePublished": "2024-01-28"}]}</script>',
            "28",
        ),
        ('<script type="application/ld+json">{no</script>', None),
        ("</head><main><time datetime='2024-01-27'>", "27"),
        ("</head><main><time datetime='2024-01-26 09:30:00 +0000 UTC'>", "26"),
        ("</head><main><time datetime='0001-01-01 00:00:00 +0000 UTC'>", None),
        ("</head><main><time datetime='x.isoformat()'>Wed 25 January 2024</time>", "25"),
        ("</head><main><time>long ago</time> <time>24 January 2024</time>", "24"),
        ("</head><main><p class=meta>by Ann on Friday, March 20, 2016</p>", "20"),
        ("</head><main><p class=post-meta>21 Sep 2018 in news</p>", "21"),
        ("</head><main><p class=meta>by Ann of 20 March Road</p>", None),
        ("</head><nav><main><time>23 January 2024</time></main></nav>", None),
        ("</head><article><article><time>23 January 2024</time></article>", None),
        ("<link rel=canonical href='/2024/1/22/a/'>", "22"),
        ("<link rel=canonical href='/2024/13/22/a/'>", None),
    ],
)
def test_the_date_of_a_page(tmp_path: Path, head: str, date: str | None) -> None:
    save(tmp_path / "a.html", f"<html><head>{head}<title>x</title><body><article><p>{WORDS}")
    (post,) = posts(tmp_path)
    assert (post.pub_date and post.pub_date.strftime("%d")) == date  # type: ignore[union-attr]


def test_a_page_nested_too_deep_is_a_reject(tmp_path: Path) -> None:
    save(tmp_path / "a.html", HEAD + "<div>" * 50_000)
    (reject,) = read(tmp_path)
    assert isinstance(reject, Reject)
    assert (reject.oid, "inside one another" in reject.reason) == ("a", True)


@pytest.mark.parametrize(
    ("keywords", "categories"),
    [
        ("true", []),
        ("5", ["5"]),
        ('"a, b"', ["a", "b"]),
        ('["a", 5, null]', ["a", "5"]),
        ('{"@type": "DefinedTerm", "name": "a"}', ["a"]),
        ('[{"@type": "DefinedTerm", "name": "a"}, {"@type": "DefinedTerm"}]', ["a"]),
    ],
)
def test_keywords_of_any_type_in_json_ld(
    tmp_path: Path, keywords: str, categories: list[str]
) -> None:
    data = f'<script type="application/ld+json">{{"@type":"BlogPosting","keywords":{keywords}}}'
    save(tmp_path / "a.html", f"{HEAD}{data}</script><main><p>{WORDS}</main>")
    assert posts(tmp_path)[0].keywords == categories


@pytest.mark.parametrize(
    ("files", "function"),
    [
        (dict.fromkeys(("a.html", "b.html"), HEAD + WORDS), "html.page.main_content"),
    ],
)
def test_an_unexpected_error_rejects_one_entry(
    tmp_path: Path, files: dict[str, str], function: str
) -> None:
    for name, content in files.items():
        save(tmp_path / name, content)
    place = tmp_path if len(files) > 1 else tmp_path / "a.xml"
    error = ZeroDivisionError("an odd entry")
    with patch(f"indexer.sources.{function}", side_effect=chain([error], repeat(None))):
        reject, post = read(place)
    assert isinstance(reject, Reject)
    assert isinstance(post, RawPost)
    assert "ZeroDivisionError" in reject.reason
    assert "an odd entry" in reject.reason
    assert str(reject.origin).startswith(f"{tmp_path}/a.")


def test_a_canonical_address_on_a_disk_is_none(tmp_path: Path) -> None:
    link = '<link rel="canonical" href="file:///usr/share/x.html">'
    save(tmp_path / "a.html", f"{HEAD}{link}<p>{WORDS}")
    assert posts(tmp_path)[0].url == "/a.html"


# -- the built site --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "comments",
    [
        '<div id="comments"><article class="comment">{0}</article>{1}</div>',
        '<ol class="comment-list"><li class="comment"><article>{0}</article></li>{1}</ol>',
        '<section class="webmentions"><article class="h-cite">{0}</article>{1}</section>',
    ],
)
def test_a_post_whose_comments_are_articles(tmp_path: Path, comments: str) -> None:
    """A theme that wraps comments in `<article>` made the post look like a list."""
    many = "".join(f"<article>{WORDS} number {number}</article>" for number in range(5))
    post = f"<article><h1>Post</h1><p>{WORDS}</p></article>"
    save(tmp_path / "post.html", f"{HEAD}<body><main>{post}{comments.format(WORDS, many)}</main>")
    (read_post,) = posts(tmp_path)
    assert (read_post.title, readable(read_post.text).prose) == ("Post", WORDS.strip())


def test_a_page_whose_sections_are_articles(tmp_path: Path) -> None:
    sections = "".join(
        f"<section><article><h2>Part {number}</h2><p>{WORDS}</p></article></section>"
        for number in range(2)
    )
    save(tmp_path / "a.html", f"{HEAD}<body><main><h1>All</h1>{sections}</main>")
    (post,) = posts(tmp_path)
    assert [f"Part {number}" in post.text for number in range(2)] == [True, True]


def test_json_ld(tmp_path: Path) -> None:
    data = {
        "@type": "BlogPosting",
        "headline": "From JSON-LD",
        "keywords": ["a", "b"],
        "articleSection": "News",
        "datePublished": "2024-01-31",
        "inLanguage": "de",
    }
    script = f'<script type="application/ld+json">{json.dumps(data)}</script>'
    save(tmp_path / "tag/a.html", f"<html><head>{script}<body><p>{WORDS}{LIST}")
    (post,) = posts(tmp_path)
    assert (post.title, post.keywords, post.categories) == ("From JSON-LD", ["a", "b"], ["News"])


def test_a_page_that_is_left_out_keeps_its_oid_if_that_is_a_guess(tmp_path: Path) -> None:
    save(tmp_path / "list.html", f"{HEAD}<main>{LIST}</main>")
    save(tmp_path / "hidden.html", f'{HEAD}<meta name="robots" content="noindex"><p>{WORDS}')
    oids = {item.reason: item.oid for item in read(tmp_path) if isinstance(item, Skipped)}
    assert oids == {"list page": "list", "noindex": None}


@pytest.mark.parametrize(
    ("above", "title", "expected"),
    [
        ("<h1>A post</h1>", "A post | Part | The site", "A post"),
        ("<h1><a href='/'>The site</a></h1>", "The site | A post", "The site | A post"),
        ("<h1>A</h1>", "A post", "A post"),
    ],
)
def test_a_heading_outside_the_content(
    tmp_path: Path, above: str, title: str, expected: str
) -> None:
    page = f"<html><head><title>{title}</title></head>{above}<main><h2>Part</h2><p>{WORDS}</main>"
    save(tmp_path / "a.html", page)
    assert posts(tmp_path)[0].title == expected


def test_cards_and_links_to_other_hosts_are_not_part_of_a_post(tmp_path: Path) -> None:
    card = "<article><h3>Related</h3><a href='/b/'>Another</a> <a href='/tags/no/'>no</a></article>"
    tags = "<a href='/tags/yes/'>yes</a> <a href='https://github.com/x/tags/v1/'>v1</a>"
    path = "<ol><li><a href='/'>Start</a>/</li><li><a href='/p/'>Posts</a>/</li></ol>"
    crumbs = "<div class='md-breadcrumbs'>Here</div>"
    post = f"<article>{path}<h1>Post</h1><p>{WORDS}</p>{tags}{card}</article>"
    head = f'{HEAD}<link rel="canonical" href="https://e.org/a/">'
    save(tmp_path / "a/index.html", f"{head}<body><main>{crumbs}{post}<div>{card}</div></main>")
    (read_post,) = posts(tmp_path)
    assert readable(read_post.text).prose.split() == [*WORDS.split(), "v1"]
    assert read_post.keywords == ["yes"]


def test_a_short_section_with_a_link_stays(tmp_path: Path) -> None:
    section = f"<article><h2>Part</h2><p>{WORDS[:150]} <a href='/b/'>it</a></p></article>"
    save(tmp_path / "a.html", f"{HEAD}<main><article><p>{WORDS}</p>{section}</article></main>")
    (post,) = posts(tmp_path)
    assert "Part" in readable(post.text).prose


def test_a_folder_of_html_names_files_of_other_formats(tmp_path: Path) -> None:
    for name in (
        "a.html",
        "a.md",
        "b/index.html",
        "b.rst",
        "c.ipynb",
        "d/contents.lr",
        "README.md",
    ):
        save(tmp_path / name, f"{HEAD}<p>{WORDS}")
    skipped = [item for item in read(tmp_path, "html") if isinstance(item, Skipped)]
    assert [str(item.origin) for item in skipped] == [
        str(tmp_path / name) for name in ("c.ipynb", "d/contents.lr")
    ]
    assert {item.reason for item in skipped} == {"format that is not read"}


def test_a_deep_page_is_read_in_linear_time(tmp_path: Path) -> None:
    inner = f"<p>{WORDS}</p>" * 2_000
    save(tmp_path / "a.html", f"{HEAD}<body>" + "<div>" * 1_900 + inner)
    start = time.thread_time()
    (post,) = posts(tmp_path)
    assert readable(post.text).prose.count("A sentence") == 8_000
    assert time.thread_time() - start < 10


def test_a_page_of_a_tag_is_a_list_and_a_short_post_beside_a_long_menu_is_none(
    tmp_path: Path,
) -> None:
    """As Pelican's own theme has them: lists of one post, a menu outside of any landmark."""
    menu = "".join(f'<li><a href="/category/{name}.html">{name}</a></li>' for name in range(20))
    head = f"<html><body><div><h1><a href='/'>Blog</a></h1><ul>{menu}</ul></div>"
    excerpt = "<article><h1><a href='https://e.org/posts/a/'>A post</a></h1><p>Words.</article>"
    post = (
        "<article><h1><a href='https://e.org/posts/a/'>A post</a></h1><footer>"
        '<abbr class="published" title="2024-01-31T00:00:00+01:00">31 January</abbr>'
        '<a href="/category/web.html">Web</a> <a href="/tag/css.html">#css</a></footer>'
        "<p>A short text.</article>"
    )
    pages = {
        "posts/a/index.html": post,
        "tag/css.html": excerpt,
        "category/web.html": excerpt,
        "index2.html": f"<section id=content>{excerpt}</section>",
        "index.html": f"<main>{3 * excerpt}</main>",
    }
    for path, page in pages.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(head + page)
    items = list(open_source(str(tmp_path), "html", SourceOptions()).read())
    posts = [item for item in items if isinstance(item, RawPost)]
    assert [item.oid for item in posts] == ["posts/a"]
    assert (posts[0].categories, posts[0].keywords) == (["Web"], ["css"])
    assert isinstance(posts[0].pub_date, datetime)
    assert iso(posts[0].pub_date) == "2024-01-31T00:00:00+01:00"
    assert all(isinstance(item, Skipped) and item.oid for item in items if item not in posts)


def test_a_short_page_of_docusaurus(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<html><head><title>Deep | Site</title><meta property="og:title" content="Deep | Site">'
        "</head><body><div><a href='#main'>Skip to main content</a></div><p>Ours</p>"
        "<main><h1>Deep</h1><p>Some words of the page.</main></body></html>"
    )
    (post,) = open_source(str(tmp_path), "html", SourceOptions()).read()
    assert isinstance(post, RawPost)
    assert (post.title, readable(post.text).prose) == ("Deep", "Some words of the page.")


# -- headings --------------------------------------------------------------------------------------

CONTENT = "<h2 id='first'>First</h2><p>a</p><h3>Second</h3><p>b</p>"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("posts.jsonl", json.dumps({"oid": 1, "title": "T", "text": CONTENT})),
        (
            "site/post/index.html",
            "<!doctype html><html lang=en><title>T</title><body><nav><h2 id=menu>Menu</h2></nav>"
            "<main><article><h1>T</h1><time datetime=2020-01-01>1</time>"
            f"{CONTENT}</article></main>",
        ),
        ("posts/a.md", "---\ntitle: T\n---\n## First {#first}\n\na\n\n### Second\n\nb\n"),
    ],
)
def test_every_kind_of_source_hands_over_headings_and_their_ids(
    name: str, content: str, tmp_path: Path
) -> None:
    place = save(tmp_path / name, content)
    folder = tmp_path / name.split("/")[0]
    [post] = posts(folder if "/" in name else place)
    headings = readable(str(post.text)).headings
    assert [(heading.text, heading.level, heading.id) for heading in headings] == [
        ("First", 2, "first"),
        ("Second", 3, ""),
    ]
