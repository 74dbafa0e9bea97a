"""Random queries, rule files, pin files and sources: only documented errors, in bounded time.

No engine is needed. `make fuzz` tries more of them.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from werkzeug.datastructures import MultiDict

from analyzers.languages import LANGUAGES
from analyzers.rules.compile import RuleErrors, check
from analyzers.rules.formats import NotConvertible, converted
from app.errors import BadRequest
from app.search.pins import parse
from app.search.query_parser import parse_query
from app.search.request import SearchRequest
from indexer.errors import SourceError
from indexer.normalise import document_of
from indexer.records import RawPost, Reject, Skipped
from indexer.sources import SourceOptions, open_source

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES") or 100)
MOST_SECONDS = 2.0  # of CPU time, for an input of some hundred bytes

fuzz = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def pieces(*parts: str, most: int = 30) -> st.SearchStrategy[bytes]:
    """Bytes made of parts that mean something in a format, and of random ones."""
    part = st.one_of(
        st.sampled_from([fragment.encode() for fragment in parts]),
        st.sampled_from([fragment.encode() for fragment in parts]),
        st.text(max_size=8).map(lambda text: text.encode("utf-8", "surrogatepass")),
        st.binary(max_size=4),
    )
    return st.lists(part, max_size=most).map(b"".join)


@contextmanager
def bounded() -> Iterator[None]:
    started = time.thread_time()
    yield
    assert time.thread_time() - started < MOST_SECONDS


QUERY = pieces(
    '"', "-", " ", "'", "python", "Straße", "C++", ".NET", "don't", "(", "*", "日本語", "a.b.c",
    "1,5", "É", "\u0301", "\u200d", "👩‍👩‍👧", "x" * 60, "- -", '""', "AND",
)  # fmt: skip


@fuzz
@given(raw=QUERY, language=st.sampled_from(sorted(LANGUAGES)))
def test_queries(raw: bytes, language: str) -> None:
    text = raw.decode("utf-8", "replace")
    with bounded():
        try:
            request = SearchRequest.parse(MultiDict({"q": text}))
        except BadRequest:
            return
        query = parse_query(request.q, LANGUAGES[language])
        for term in query.terms:
            assert request.q[term.start : term.end]


RULES = pieces(
    "=>", ",", "\\", "#", "\n", "\r\n", " ", "a", "b", "c d", "go", "golang", "日本", "é",
    "# language: english", "\\,", "\ufeff", "{", "}", "[", "]", ":", '"synonyms"', '"managedMap"',
    "s(1,1,'a',n,1,0).", "'", "-", "x" * 90,
    "a, b => c\n", "c => a\n", most=40,
)  # fmt: skip


@fuzz
@given(content=RULES, other=RULES)
def test_synonym_files(tmp_path: Path, content: bytes, other: bytes) -> None:
    path, second = tmp_path / "one.synonyms", tmp_path / "two.synonyms"
    path.write_bytes(content)
    second.write_bytes(other)
    with bounded():
        rules, findings = check([path, second])
        assert all(finding.message for finding in findings)
        with suppress(RuleErrors):
            assert rules.compiled.lines is not None
        with suppress(NotConvertible):
            assert converted(content.decode("utf-8", "ignore"))


PINS = pieces(
    "=>", "->", ":", ",", "!", "-", "#", "\n", " ", '"', "*", "+", "until 2026-01-31", "until",
    "first", "never", "python", "date format", "post-1", "post/2", "[", "]", "\x00",
    "2026-02-30", most=40,
)  # fmt: skip


@fuzz
@given(content=PINS, language=st.sampled_from(["english", "german", "turkish"]))
def test_pin_files(content: bytes, language: str) -> None:
    with bounded():
        text = content.decode("utf-8", "replace")
        _, findings = parse({"one.pins": text}, LANGUAGES[language])
        assert all(finding.message for finding in findings)


MARKDOWN = pieces(
    "---\n", "+++\n", "title: One\n", "title: [a, {b: c}]\n", "date: 2024-13-45\n",
    "date: 2024-01-31\n", "a: &a [x, x]\n", "b: &b [*a, *a]\n", "c: *b\n", "<<: *a\n",
    "? - x\n", "!!python/object:os.system ls\n", "tags: 7\n", "draft: true\n", "= 1\n",
    "[x]\n", "title = 'One'\n", "\n", "# Title\n", "```\n", "~~~ruby\n", "<div>", "</p>",
    "<script>", "{{< x >}}", "{% raw %}", "{{", "}}", "[^1]: x\n", "[^1]", "| a | b |\n",
    "|-|-|\n", "> ", "* ", "1. ", "![x](y)", "[a](b)", "<!--more-->", "&amp;", ":::", "\t",
    "$$", "\x00", most=40,
)  # fmt: skip
HTML = pieces(
    "<html>", "<head>", "<title>One</title>", "<body>", "<article>", "</article>", "<p>",
    "</p>", "<pre><code>", "</code></pre>", "<script type='application/ld+json'>",
    "{\"@type\": \"BlogPosting\"}", "[[", "</script>",
    "<meta property='og:title' content='x'>", "<time datetime='2024-13-99'>", "</time>",
    "<link rel=canonical href='http://[::1'>", "<h1>", "&#xD800;", "&#0;", "<svg>",
    "<table><tr><td>", "<div " + "x " * 30 + ">", "<div><div><div>", "<template>", "<!--",
    "-->", "<![CDATA[", "<meta charset=utf-16>", "\x00", most=40,
)  # fmt: skip
XML = pieces(
    "<?xml version='1.0'?>", "<?xml version='1.0' encoding='utf-7'?>", "<rss version='2.0'>",
    "<?xml version='1.0' encoding='x-none'?>",
    "<channel>", "</channel></rss>", "<item>", "</item>", "<title>One</title>",
    "<guid>1</guid>", "<link>/one/</link>",
    "<pubDate>Wed, 31 Feb 2024 99:00:00 +9900</pubDate>", "<content:encoded>",
    "</content:encoded>", "<![CDATA[<p>x]]>", "<feed xmlns='http://www.w3.org/2005/Atom'>",
    "</feed>", "<entry>", "</entry>", "<id>urn:x</id>", "<!DOCTYPE x [<!ENTITY a 'b'>]>",
    "&a;", "<urlset>", "</urlset>", "<url><loc>http://127.0.0.1:9/x</loc></url>",
    "<lastmod>x</lastmod>", "<sitemapindex>", "<wp:post_type>post</wp:post_type>",
    "<wp:status>publish</wp:status>", "<wp:post_id>1</wp:post_id>", "<wp:comment>",
    "</wp:comment>", "<wp:comment_id>1</wp:comment_id>", "<excerpt:encoded/>",
    "xmlns:wp='http://wordpress.org/export/1.2/'", "<wp:wxr_version>1.2</wp:wxr_version>",
    most=40,
)  # fmt: skip
JSON = pieces(
    "{", "}", "[", "]", ",", ":", '"oid"', '"title"', '"a"', "1", "1e999", "-0", "null",
    "true", '"comments"', '"text"', '"pub_date"', '"2024-01-31"', '"\\ud800"', "\n", "NaN",
    '{"oid":1,"title":"x"}\n',
    '{"oid":"b","title":"y","comments":[{"oid":1,"comment":"c"}]}\n', "[[[[[[[[", most=40,
)  # fmt: skip

SOURCES = {
    "markdown": ("post.md", MARKDOWN),
    "html": ("post.html", HTML),
    "feed": ("feed.xml", XML),
    "sitemap": ("sitemap.xml", XML),
    "wordpress": ("blog.xml", XML),
    "jsonlines": ("posts.jsonl", JSON),
}


def _read(folder: Path, kind: str, content: bytes) -> None:
    """Read a source with this content, in bounded time, with no other error than SourceError."""
    path = folder / SOURCES[kind][0]
    path.write_bytes(content)
    place = folder if kind in ("markdown", "html") else path
    with bounded(), suppress(SourceError):
        for item in open_source(str(place), kind, SourceOptions()).read():
            assert isinstance(item, RawPost | Reject | Skipped)
            if isinstance(item, RawPost):
                document, rejects = document_of(item)
                assert document or rejects


@pytest.mark.parametrize("kind", SOURCES)
def test_sources(tmp_path: Path, kind: str) -> None:
    @fuzz
    @given(content=SOURCES[kind][1])
    def read(content: bytes) -> None:
        _read(tmp_path, kind, content)

    read()


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("feed", b""),
        ("html", b"<title>One</title><link rel=canonical href='http://[::1'><p>Text"),
        ("wordpress", b"<?xml version='1.0' encoding='utf-7'?><rss/>"),
        ("sitemap", b"<?xml version='1.0' encoding='x-none'?><urlset/>"),
        ("sitemap", b"<urlset><url><loc>http://[::1</loc></url></urlset>"),
    ],
)
def test_sources_that_were_unexpected_errors(tmp_path: Path, kind: str, content: bytes) -> None:
    _read(tmp_path, kind, content)
