"""Random queries, rule files, pin files and sources: only documented errors, in bounded time.

No engine is needed. `make fuzz` tries more of them.
"""

import json
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
from app.errors import BadRequest
from app.search.pins import parse
from app.search.query_parser import parse_query
from app.search.request import SearchRequest
from indexer.errors import SourceError
from indexer.posts.normalise import check_post
from indexer.posts.records import RawPost, Reject, Skipped
from indexer.sources import SourceOptions, open_source

PARTS = json.loads((Path(__file__).parents[1] / "data/unit/fuzz_inputs.json").read_text("utf-8"))
EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES") or 30)
MOST_SECONDS = 2.0  # of CPU time, for an input of some hundred bytes

fuzz = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def pieces(name: str) -> st.SearchStrategy[bytes]:
    """Bytes made of parts that mean something in a format, and of random ones."""
    parts = PARTS[name]
    part = st.one_of(
        st.sampled_from([fragment.encode() for fragment in parts]),
        st.sampled_from([fragment.encode() for fragment in parts]),
        st.text(max_size=8).map(lambda text: text.encode("utf-8", "surrogatepass")),
        st.binary(max_size=4),
    )
    return st.lists(part, max_size=40).map(b"".join)


@contextmanager
def bounded() -> Iterator[None]:
    started = time.thread_time()
    yield
    assert time.thread_time() - started < MOST_SECONDS


@fuzz
@given(raw=pieces("query"), language=st.sampled_from(sorted(LANGUAGES)))
def test_queries(raw: bytes, language: str) -> None:
    text = raw.decode("utf-8", "replace")
    with bounded():
        try:
            request = SearchRequest.parse(MultiDict({"q": text}))
        except BadRequest:
            return
        query = parse_query(request.q, LANGUAGES[language])
        for term in query.terms:
            assert term.pieces
            assert request.q[term.start : term.end]
        assert len({term.key for term in query.terms}) == len(query.terms)


@fuzz
@given(content=pieces("rules"), other=pieces("rules"))
def test_synonym_files(tmp_path: Path, content: bytes, other: bytes) -> None:
    path, second = tmp_path / "one.synonyms", tmp_path / "two.synonyms"
    path.write_bytes(content)
    second.write_bytes(other)
    with bounded():
        rules, findings = check([path, second])
        assert all(finding.message for finding in findings)
        with suppress(RuleErrors):
            assert rules.compiled.lines is not None


@fuzz
@given(content=pieces("pins"), language=st.sampled_from(["english", "german", "turkish"]))
def test_pin_files(content: bytes, language: str) -> None:
    with bounded():
        text = content.decode("utf-8", "replace")
        _, findings = parse({"one.pins": text}, LANGUAGES[language])
        assert all(finding.message for finding in findings)


SOURCES = {
    "markdown": ("post.md", "markdown"),
    "html": ("post.html", "html"),
    "feed": ("feed.xml", "xml"),
    "sitemap": ("sitemap.xml", "xml"),
    "wordpress": ("blog.xml", "xml"),
    "jsonlines": ("posts.jsonl", "json"),
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
                post, rejects = check_post(item)
                assert post or rejects


@pytest.mark.parametrize("kind", SOURCES)
def test_sources(tmp_path: Path, kind: str) -> None:
    @fuzz
    @given(content=pieces(SOURCES[kind][1]))
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
