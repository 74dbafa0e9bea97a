"""Responses to JSON: whatever a post contains, the page is safe."""

import html
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.search.found import post_hit
from app.search.render import MARK, UNMARK, Marker, safe


def marked(text: str) -> str:
    return f"{MARK}{text}{UNMARK}"


@pytest.mark.parametrize(
    ("fragment", "expected"),
    [
        (f"a {marked('b')} c", "a <mark>b</mark> c"),
        (marked("<img src=x>"), "<mark>&lt;img src=x&gt;</mark>"),
        (marked("a & b"), "<mark>a &amp; b</mark>"),
        ("<mark>not ours</mark>", "&lt;mark&gt;not ours&lt;/mark&gt;"),
        (f"stray {UNMARK} and {MARK}{MARK}b", "stray  and b"),
        (f"{UNMARK}a{MARK}", "a"),
        (f"f() -{MARK}{UNMARK}> u32", "f() <mark>-&gt;</mark> u32"),
        (f"a ={marked('=')}= b", "a <mark>===</mark> b"),
        (f"a &{MARK}{UNMARK}& b", "a <mark>&amp;&amp;</mark> b"),
        (f"an empty {MARK}{UNMARK} one", "an empty  one"),
        ("amp; and &lt", "amp; and &amp;lt"),
    ],
)
def test_safe(fragment: str, expected: str) -> None:
    assert safe(fragment) == expected


@given(st.text(alphabet=f"<>&;\"'/amplt-= {MARK}{UNMARK}", max_size=60))
def test_nothing_but_our_marks_gets_through(fragment: str) -> None:
    rest = re.sub(r"</?mark>", "", safe(fragment))
    assert "<" not in rest
    assert ">" not in rest
    assert MARK not in rest
    assert safe(fragment).count("<mark>") == safe(fragment).count("</mark>")


def hit(**changes: Any) -> Any:
    source = {
        "oid": "a",
        "title": html.escape("<b> & c", quote=False),
        "url": "/a",
        "pub_date": "2016-01-01",
        "language": "pt-br",
    }
    return {"_index": "blog-000001", "_score": 1.5, "_source": source, **changes}


def test_a_post_without_marks_has_its_title_escaped() -> None:
    assert post_hit(hit(), Marker()) == {
        "oid": "a",
        "title": "<b> & c",
        "url": "/a",
        "pub_date": "2016-01-01",
        "categories": [],
        "language": "pt-br",
        "score": 1.5,
        "highlight": {"title": "&lt;b&gt; &amp; c", "text": []},
    }


@pytest.mark.parametrize("stored", ["t; let b", "p; q b", "gt; b", "amp; b", "x &amp;lt; b"])
def test_highlighting_loses_no_text(stored: str) -> None:
    text = stored.replace("b", marked("b"))
    highlight = post_hit(hit(highlight={"title": [text], "text": [text]}), Marker())["highlight"]
    expected = stored.replace("b", "<mark>b</mark>")
    assert highlight == {"title": expected, "text": [expected]}
