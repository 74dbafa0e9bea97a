"""HTML pages: versions, sitemaps, limits; test_sources.py has what is read of them."""

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from analyzers.rules.parse import is_for, parse_file
from indexer.errors import SourceError
from indexer.posts.addresses import is_valid_url
from indexer.posts.records import Origin, RawPost, Reject, Skipped, SourceItem
from indexer.sources import SourceOptions, open_source
from indexer.sources.files import decode
from indexer.sources.generators import _HIDES
from indexer.sources.html.page import read_page
from indexer.sources.markdown.front_matter import why_hidden
from indexer.sources.markdown.text import render
from indexer.sources.wordpress import _Blocks, paragraphs

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


@pytest.mark.parametrize("release", ["latest", "current", "2.10"])
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
    assert len(warned) == 2
    # One that lists few of the pages does not say which are public.
    save(file, urlset.format(urls[: urls.index("</url>") + 6]))
    assert len(oids(tmp_path)) == 9


def test_the_content_and_what_is_no_part_of_it_may_be_named(tmp_path: Path) -> None:
    body = f"<div class='promo'>Buy</div><div id='text'><p>{WORDS}</p><p class='ad'>More</p></div>"
    save(tmp_path / "a.html", page("A", body))
    (post,) = read(tmp_path, content="#text", exclude=(".ad", ".promo"))
    assert isinstance(post, RawPost)
    assert post.text.prose == WORDS.strip()
    assert post.left_out["excluded by blogsearch.toml"] == len("BuyMore")
    with pytest.raises(SourceError, match="not a CSS selector"):
        read(tmp_path, content="[")


@pytest.mark.parametrize(
    ("markup", "reason"),
    [
        ("<div>" * 50_000, "nested elements"),
        ("<p " + " ".join(f"a{n}" for n in range(40_000)) + ">", "attributes in a tag"),
        ("".join(f"<body a{n}>" for n in range(40_000)), "attributes in a tag"),
        ("<select>" + "<option>x" * 300_000, "options to select from"),
        ("<p>" + "".join(f"<b a{n}>" for n in range(900)) + "</p>" + "<p>x" * 9_000, "unclosed"),
        ("<!-->" + "<div>" * 50_000 + "-->", "nested elements"),
        ('<p a">' + "<div>" * 50_000 + '"', "nested elements"),
        ("<svg><style>" + "<g>" * 50_000, "nested elements"),
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


_OF_FILES = (lambda path: is_for(path, "english"), lambda path: list(parse_file(path)))


@pytest.mark.parametrize(
    ("work", "piece"),
    [
        (lambda text: _page(f"<ul><li>{text}"), "word <a href=/c/d>x</a> "),
        (lambda text: _page(f"<div>{text}"), "<h2><a href=/c/d>x</a></h2><p>word</p>"),
        (lambda text: is_valid_url(f"http://a{text}/"), "\u0315\u0300"),
        (lambda text: decode(b"\xff", f"charset={text};"), " "),
        *((_Blocks({}, "").shown, f"<!-- wp:{piece}") for piece in ('a {"ref":1', "a {} -->")),
        *((_Blocks({}, "").shown, piece) for piece in ("[member]", "[vip", "a_", "[a_", "İ[VIP]")),
        (lambda text: why_hidden({"meta": text}), "robots "),
        *((render, piece) for piece in ("{{", "{%", "{#", "    ```a\n", "<A ", "<!-- ")),
        *((render, piece) for piece in ("<code ", "`a", "[[", "[^", ":::a\n", "- {{ a\n")),
        *((render, piece) for piece in ("==a", "[[a|", "> [!a", "{++a", " ++a", "~a", "x^a")),
        *((render, piece) for piece in ("{% raw %}", "[a]{.b", "{--a", " ^a", ":::[a", "*[a")),
        *((render, piece) for piece in ("<pre>", "<h1>", "{% secret %}", "::: encrypt\n")),
        (lambda text: render(f"{{% {text} x"), "encrypt-"),
        (lambda text: re.search(_HIDES.format("x"), f"encrypt:\n{text}", re.M), "  a: b\n"),
        *((render, piece) for piece in ("::a\n---\n", '[a b="c" ', ":a{", "<A \n", "[[a]][")),
        *((paragraphs, piece) for piece in ("a <pre>", "a [code]", "a <pre>[code]")),
        *((paragraphs, piece) for piece in ("[a ", "[[a b=1", "[/b] [b]", " ", "\n", "<p> ")),
        *((paragraphs, piece) for piece in ("\n[a] ", "<code>[/code]", "<pre", "[code]</pre>")),
        (_OF_FILES[0], "\n"),
        (_OF_FILES[1], "-"),
    ],
)
def test_what_a_site_repeats_takes_no_quadratic_time(
    tmp_path: Path, work: Callable[[Any], object], piece: str
) -> None:
    """Eight times as much takes eight times as long, and not 64 times."""

    def seconds(size: int) -> float:
        text = piece * (size // len(piece))
        (file := tmp_path / "a").write_text(text)
        start = time.thread_time()
        work(file if work in _OF_FILES else text)
        return time.thread_time() - start

    assert any(seconds(30_000) < 25 * max(seconds(3_750), 0.001) for _ in range(3))


def _page(inner: str) -> SourceItem:
    return read_page(HEAD + inner, "https://e.org/a/b", Origin("a"), "a/b", SourceOptions())


def test_a_deep_page_is_read_in_linear_time(tmp_path: Path) -> None:
    inner = f"<p>{WORDS}</p>" * 500
    save(tmp_path / "a.html", f"{HEAD}<body>" + "<div>" * 1_900 + inner)
    start = time.thread_time()
    (post,) = read(tmp_path)
    assert isinstance(post, RawPost)
    assert post.text.prose.count("A sentence") == 2_000
    assert time.thread_time() - start < 5


def test_what_is_left_out_by_a_guess_keeps_its_oid(tmp_path: Path) -> None:
    save(tmp_path / "search.html", f"{HEAD}<p>{WORDS}")
    (item,) = read(tmp_path)
    assert isinstance(item, Skipped)
    assert item.oid == "search"  # so that `sync` removes nothing
