"""RawPost → documents: what is taken, how it is stored, and why something is refused."""

import json
import re
import time
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import msgspec
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.posts.html_text import readable
from indexer.posts.normalise import check_post, digest, digest_of, has_comments
from indexer.posts.records import Origin, Post, RawComment, RawPost

CASES = json.loads((Path(__file__).parents[1] / "data/unit/normalise.json").read_text("utf-8"))
"""By test: its cases."""

HERE = Origin("posts.jsonl", 3)
_FIELDS = ("oid", "title", "text", "url", "pub_date", "modified", "categories", "keywords")


def post(**fields: Any) -> RawPost:
    usual: dict[str, Any] = {"origin": HERE, "oid": "a", "title": "A title", "text": "<p>x</p>"}
    return RawPost(**usual | fields)


def stored(made: Post) -> dict[str, Any]:
    source: dict[str, Any] = orjson.loads(msgspec.json.encode(made))
    return source


def taken(**fields: Any) -> dict[str, Any]:
    document, rejects = check_post(post(**fields))
    assert document, rejects
    return stored(document)


def refused(**fields: Any) -> str:
    document, (reject,) = check_post(post(**fields))
    assert document is None
    assert reject.origin == HERE
    assert reject.remedy
    return reject.reason


def test_the_spaces_inside_of_numbers_are_narrow_and_others_usual() -> None:
    text = "<p>10&nbsp;000 Mr.&nbsp;A +49&nbsp;170&nbsp;123 3&thinsp;m 2023&nbsp;100</p>"
    assert taken(text=text)["text"] == "10\u202f000 Mr. A +49 170 123 3 m 2023 100"


def test_what_a_colon_announces() -> None:
    text = "<p>Run:</p><pre>a &lt; b\nc</pre><p>That is</p><pre>d</pre><p>or:</p><p>e</p>"
    assert taken(text=text)["announced"] == ["0\na &lt; b\nc"]


def test_a_whole_post() -> None:
    raw = post(
        oid=7,
        title=" Tom &\n Jerry ",
        text="<p>a &lt; b</p><pre>if a &lt; b:\n    go()</pre>",
        url="/tom/",
        pub_date="2024-01-31",
        modified="2024-02-01T12:00:00+02:00",
        categories="cats, mice,cats",
        keywords=["x", 2024],
        comments=(RawComment(1, "<b>No</b> & yes<pre>y\n  z</pre>", author="A<b>"),),
    )
    document, rejects = check_post(raw)
    assert document
    assert (document.oid, rejects) == ("7", [])
    assert document.digest == digest_of(raw)
    assert {**stored(document), "digest": ""} == {
        "oid": "7",
        "title": "Tom &amp; Jerry",
        "text": "a &lt; b",
        "code": "if a &lt; b:\n    go()",
        "url": "/tom/",
        "address": "/tom",
        "slug": "tom",
        "pub_date": "2024-01-31T00:00:00Z",
        "day": "2024-01-31",
        "modified": "2024-02-01T12:00:00+02:00",
        "categories": ["cats", "mice"],
        "keywords": ["x", "2024"],
        "translation_key": "7",
        "comments": [{"oid": "1", "author": "A&lt;b&gt;", "comment": "No &amp; yes\ny\n  z"}],
        "digest": "",
    }


def test_translations_share_a_key() -> None:
    sea, mar = "https://blog.example.org/sea/", "https://blog.example.org/pt/mar/"

    def key(url: str, given: Any) -> Any:
        return taken(oid=url, url=url, translation_key=given)["translation_key"]

    assert key(sea, [sea, mar]) == key(mar, ["http://www.blog.example.org/sea", mar]) != sea
    assert key(sea, [mar]) == key(sea, [sea, mar])
    assert key(sea, "sea") == key(mar, "sea") != key(mar, "tide")
    # Of two pages that name the home page in place of a translation each has a key of its own.
    assert key(sea, ["https://blog.example.org/pt/"]) != key(mar, ["https://blog.example.org/pt/"])
    assert key(sea, [sea]) == key(sea, []) == key(sea, None) == sea
    assert refused(translation_key=7) == "translation_key is an int: 7"


def test_the_digest_changes_with_any_field_but_the_origin() -> None:
    raw = post(comments=(RawComment("1", "One"),))
    assert digest_of(replace(raw, origin=Origin("elsewhere"))) == digest_of(raw)
    changes: dict[str, Any] = dict.fromkeys((*_FIELDS, "language", "image"), "2024-01-01")
    changes["comments"] = (RawComment("1", "One!"),)
    for name, value in changes.items():
        assert digest_of(replace(raw, **{name: value})) != digest_of(raw), name


@pytest.mark.parametrize("value", ["\ud800", {1: "\ud800"}, object(), 1.5, None, ["a", None]])
def test_any_value_has_a_digest_but_that_of_the_entry_counts(value: Any) -> None:
    raw = post(categories=value)
    assert digest_of(raw) == digest_of(raw)
    assert digest_of(replace(raw, entry=b"{}")) == digest(b"{}")
    assert not has_comments(digest_of(raw))
    assert has_comments(digest_of(replace(raw, comments=(RawComment("1", "One"),))))


@pytest.mark.parametrize(("html", "prose", "code"), CASES["html_becomes_prose_and_code"])
def test_html_becomes_prose_and_code(html: str, prose: str, code: str) -> None:
    readable_text = readable(html)
    assert (readable_text.prose, readable_text.code) == (prose, code)


@pytest.mark.parametrize(
    ("html", "headings"), CASES["headings_have_their_line_and_the_id_that_is_stated"]
)
def test_headings_have_their_line_and_the_id_that_is_stated(
    html: str, headings: list[list[Any]]
) -> None:
    source = taken(text=html)
    stored = source.get("headings", ())
    assert [[heading["line"], heading["level"], heading["id"]] for heading in stored] == headings
    lines = source["text"].split("\n")
    assert [heading["text"] for heading in stored] == [lines[line] for line, _, _ in headings]


@pytest.mark.parametrize(("href", "slug", "address"), CASES["links_to_posts_are_stored"])
def test_links_to_posts_are_stored(href: str, slug: str | None, address: str | None) -> None:
    html = f'<a href="{href}"><b>Build</b>\n it &amp;</a><pre><a href="/code">c</a></pre>'
    source = taken(
        url="https://blog.example.org/posts/this-post/",
        text=f'{html}<a href="/image"><img src="x"></a>',
    )
    stored = [f"{slug}\n{address}\nBuild it &amp;"] if slug else None
    assert source.get("links") == stored


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 400_000,
        "<b>" * 3000 + "</b>" * 3000,
        "<div></i>" * 80_000,
        "<b><div></b>" * 80_000,
        "<div " + "/><div " * 80_000,
        "<svg><g>" * 3_000,
        "<sup>" * 1_900 + "x" * 4_000_000,  # the text of each element is looked at
    ],
)
def test_deeply_nested_html_is_refused_quickly(html: str) -> None:
    start = time.thread_time()
    assert re.search(r"nested elements|unclosed|enclosing element", refused(text=html))
    assert time.thread_time() - start < 1


def test_more_marks_on_a_letter_than_anybody_writes_are_left_out() -> None:
    start = time.thread_time()
    text = taken(text="a" + "\u0315\u0300" * 1_000_000 + "b")["text"]
    assert (text[0], text[-1], len(text)) == ("\u00e0", "b", 31)
    assert time.thread_time() - start < 2


@pytest.mark.parametrize("html", CASES["long_html_is_not_deep"])
def test_long_html_is_not_deep(html: str) -> None:
    assert taken(text=html * 5000)["text"].count("x") == 5000


@pytest.mark.parametrize(
    "html",
    [
        *("<div></i>" * 40_000, f"<a {'x ' * 40_000}>", "<option>" * 300_000, "x" * 200_001),
        *("<sup>" * 90 + "x" * 100_000, "<rt aria-hidden=true>" * 1_900),
    ],
)
def test_the_html_of_a_comment_is_bounded(html: str) -> None:
    document, (reject,) = check_post(post(comments=(RawComment(oid="c", comment=html),)))
    assert document
    assert not document.comments
    assert "comment c: comment: there are more than" in reject.reason


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("2024-01-31", "2024-01-31T00:00:00Z"),
        ("20240131", "2024-01-31T00:00:00Z"),
        ("2024-01-31T09:30", "2024-01-31T09:30:00Z"),
        ("2024-01-31 09:30:05 -08:00", "2024-01-31T09:30:05-08:00"),
        ("2024-01-31T09:30:05.123456789Z", "2024-01-31T09:30:05.123Z"),
        ("2024/1/31", "2024-01-31T00:00:00Z"),
        ("2001-1-4t21:59:43.10 -5", "2001-01-04T21:59:43.100-05:00"),
        ("2024-01-31 09:30 CET", "2024-01-31T09:30:00+01:00"),
        ("Fri Mar 14 2025 00:00:00 GMT-0500 (CDT)", "2025-03-14T00:00:00-05:00"),
        ("Wed, 31 Jan 24 09:30:00 +0100", "2024-01-31T09:30:00+01:00"),
        ("2024-01-31 09:30:00.123456789 +0100 CET", "2024-01-31T09:30:00.123+01:00"),
        ("2024-01-31 09:30:00 +0300 +03", "2024-01-31T09:30:00+03:00"),
        ("Wed, 31 Jan 2024 22:30:00 EST", "2024-01-31T22:30:00-05:00"),
        ("2024-01-31 10:00 UTC+2", "2024-01-31T10:00:00+02:00"),
        (date(2024, 1, 31), "2024-01-31T00:00:00Z"),
        ("January 31, 2024", "2024-01-31T00:00:00Z"),
        (datetime(2024, 1, 31, 9), "2024-01-31T09:00:00Z"),
        (
            datetime(2024, 1, 31, 9, tzinfo=timezone(timedelta(hours=2))),
            "2024-01-31T09:00:00+02:00",
        ),
        # Offsets that Elasticsearch cannot read.
        (datetime(1880, 1, 1, 12, tzinfo=timezone(timedelta(seconds=561))), "1880-01-01T11:50:39Z"),
        ("2024-01-31T09:30:00-23:00", "2024-02-01T08:30:00Z"),
    ],
)
def test_dates_taken(given: Any, stored: str) -> None:
    source = taken(pub_date=given)
    assert source["pub_date"] == stored
    assert source["day"] == stored[:10]  # on which the site itself published it


@pytest.mark.parametrize(
    "given",
    [
        *("yesterday", "2024-02-30", "2024-13-01", "31/01/2024", "2024", "1 2 3", "20240131x"),
        *("01/02/2024", "1.2.2024", "May 2024", "2024-01", "2024-01-31 10:00 XYZ"),
        *("0000-00-00 00:00:00", "0202-01-01", "12345-01-01", "31 Foo 2024", "Foo 31, 2024"),
        *("Sat, 31 Jan 0099 00:00:00 +0000", "0099/1/31 9:30", "Jan 2, 0001"),
        *("9999-12-31T23:59:59-12:00", "2024-01-31T25:00:00Z", 170670000, True, ["2024-01-31"]),
    ],
)
def test_dates_refused(given: Any) -> None:
    reason = refused(pub_date=given)
    assert reason.startswith("pub_date:")
    assert str(given)[:4].strip("[") in reason
    assert refused(modified=given).startswith("modified:")


@pytest.mark.parametrize(
    "given",
    [
        *("Mon, 01 Jan 0001 00:00:00 +0000", "0001-01-01T00:00:00+01:00", "Jan 1, 0001"),
        *("0001-01-01 00:00:00 +0000 UTC", "Monday, January 1, 0001", "1 January 0001"),
        *(date(1, 1, 1), datetime(1, 1, 1, tzinfo=UTC)),
    ],
)
def test_the_zero_time_of_go_is_no_date(given: Any) -> None:
    assert "pub_date" not in taken(pub_date=given)


def test_a_long_text_is_refused_as_a_date_quickly() -> None:
    start = time.thread_time()
    assert "is not a date" in refused(pub_date="2024" + " " * 20_000 + "x")
    assert time.thread_time() - start < 1


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"oid": None}, "oid is missing"),
        ({"oid": True}, "oid is a bool"),
        ({"oid": "a\nb"}, "control character"),
        ({"oid": "a\ud800"}, "control character"),
        ({"oid": "é" * 101}, "202 bytes"),
        ({"title": None}, "title is missing"),
        ({"title": "\u200b \n"}, "title is missing"),
        ({"title": "x" * 1001}, "1,001 characters"),
        ({"text": "x" * 1_000_001}, "1,000,001 characters"),
        ({"text": "&lt;" * 250_001}, "1,000,004 characters"),
        ({"text": " " * 5_000_001}, "5,000,001 characters of HTML"),
        ({"categories": [None]}, "categories has a NoneType"),
        ({"keywords": ["x" * 201]}, "201 characters"),
        ({"keywords": [str(number) for number in range(101)]}, "101 entries"),
        ({"url": "/" + "x" * 2000}, "2,001 characters"),
        (
            {"title": ["T"], "url": "ftp://x", "pub_date": "31.1.24"},
            "title is a list: ['T']; url 'f",
        ),
        *(
            ({"url": url}, "url ")
            for url in (
                *("javascript:alert(1)", " JavaScript:alert(1)", "data:text/html,x", "posts/a"),
                *("java\nscript:alert(1)", "//example.org/", "/\\example.org", "https://", "#top"),
                *("https:///x", "ftp://a/b", "https://a/\x00", "mailto:a@example.org"),
                *(
                    "https://me@a.example/x",
                    "https://a.example%2F@b.example/",
                    "https://@a.example",
                ),
                *("https://a.example:99999/", "https://a.example:0/", "https://a.example:x/"),
                *("https://a b.example/", "https://a%20b.example/", "https://[::1", "https://:80/"),
            )
        ),
    ],
)
def test_fields_refused(fields: dict[str, Any], reason: str) -> None:
    assert reason in refused(**fields)


def test_no_password_is_shown() -> None:
    for url in (
        "https://me:secret@a.example/x",
        "ftp://me:secret@a.example",
        "https://me:se/cret@b",
    ):
        assert "secret" not in refused(url=url)
        assert "cret@" not in refused(url=url)


def test_the_longest_values() -> None:
    whole = {"oid": "é" * 100, "title": "x" * 1000, "url": "/" + "x" * 1999}
    assert whole.items() <= taken(**whole, keywords=["x" * 200]).items()


@pytest.mark.parametrize(
    ("url", "stored"),
    [
        ("https://example.org/a?b=c#d", "https://example.org/a?b=c#d"),
        (" HTTP://example.org ", "HTTP://example.org"),
        ('/a b/"<é>', "/a%20b/%22%3Cé%3E"),
        ("https://例え.example:8080/@me/a b", "https://例え.example:8080/@me/a%20b"),
        ("http://[2001:db8::1]/a", "http://[2001:db8::1]/a"),
        ("", None),
    ],
)
def test_urls_taken(url: str, stored: str | None) -> None:
    assert taken(url=url).get("url") == stored


@pytest.mark.parametrize("oid", ["abc ", 7, "p/cafe\u0301", "soft\u00adhyphen", "a\ufeff", "a:b"])
def test_a_reject_has_the_oid_of_the_stored_document(oid: str | int) -> None:
    """By this oid `sync` keeps what is in the index."""
    _, (rejected,) = check_post(post(oid=oid, pub_date="31.1.2024"))
    assert rejected.oid == taken(oid=oid)["oid"]


@pytest.mark.parametrize("oid", [None, " ", True, ["a"]])
def test_a_reject_of_an_oid_that_is_none_has_none(oid: Any) -> None:
    _, (reject,) = check_post(post(oid=oid))
    assert reject.oid is None


def test_an_invalid_comment_is_left_out_and_an_invalid_post_takes_its_comments_along() -> None:
    comments = (RawComment(1, "One"), RawComment("1", "Again"), RawComment(None, "x"))
    document, rejects = check_post(post(comments=comments))
    assert document
    assert [comment.comment for comment in document.comments] == ["One"]
    assert [(reject.oid, reject.reason[:10]) for reject in rejects] == [
        ("a", "comment 1:"),
        ("a", "comment ?:"),
    ]
    assert "3 comments" in refused(title="", comments=comments)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
_ANYTHING = st.text(st.characters(codec=None), max_size=60) | _JSON


@settings(max_examples=100, deadline=None)
@given(values=st.fixed_dictionaries(dict.fromkeys(_FIELDS, _ANYTHING)))
def test_whatever_comes_is_a_document_or_a_reject(values: dict[str, Any]) -> None:
    comment = RawComment(values["oid"], values["text"], values["title"], values["pub_date"])
    document, rejects = check_post(post(**values, comments=(comment,)))
    assert document or rejects
    if document:
        assert msgspec.json.decode(msgspec.json.encode(document), type=Post) == document
        assert len(document.oid.encode()) <= 512
    for reject in rejects:
        assert reject.reason
        assert reject.remedy
        f"{reject.reason} {reject.oid}".encode()
