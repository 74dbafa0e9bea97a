"""The query string of a search: what is taken, and every complaint at once."""

from dataclasses import replace
from datetime import date

import pytest
from werkzeug.datastructures import MultiDict

from app.errors import BadRequest
from app.search.request import PARAMETERS, SearchRequest


def parse(*pairs: tuple[str, str]) -> SearchRequest:
    return SearchRequest.parse(MultiDict(pairs))


def complaints(*pairs: tuple[str, str]) -> dict[str, str]:
    with pytest.raises(BadRequest) as caught:
        parse(*pairs)
    assert all(parameter.name in caught.value.message for parameter in PARAMETERS)
    return {detail["parameter"]: detail["message"] for detail in caught.value.details}


def test_everything_that_can_be_asked_for() -> None:
    assert parse(("q", "python")) == SearchRequest(q="python", page=1, size=10, typos=True)
    asked = parse(
        ("q", " date \t format "),
        ("page", "50"),
        ("size", "1"),
        ("debug-search", ""),
        ("typos", "off"),
        ("sort", "newest"),
        ("category", "tools"),
        ("category", "linux"),
        ("category", "tools"),
        ("since", "2016-02-29"),
        ("until", "2016-02-29"),
    )
    assert asked == SearchRequest(
        q="date format",
        page=50,
        size=1,
        debug=True,
        typos=False,
        sort="newest",
        categories=("linux", "tools"),
        since=date(2016, 2, 29),
        until=date(2016, 2, 29),
    )


def test_every_complaint_at_once() -> None:
    listed = complaints(
        ("q", " \t"),
        ("page", "51"),
        ("size", "0"),
        ("typos", "maybe"),
        ("sort", "oldest"),
        ("since", "2016-2-1"),
        ("until", "2015-02-29"),
        ("category", ""),
        ("colour", "red"),
    )
    assert set(listed) == {
        "q", "page", "size", "typos", "sort", "since", "until", "category", "colour"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("pairs", "wrong"),
    [
        *(([("q", "x"), ("page", page)], {"page"}) for page in ("-1", "1.5", "", "²", "٣", " 1")),
        ([("q", "x"), ("page", "1" * 5000)], {"page"}),
        ([], {"q"}),
        ([("q", "x" * 201)], {"q"}),
        ([("q", "x"), ("q", "y"), ("page", "1"), ("page", "2")], {"q", "page"}),
        ([("q", "x"), ("since", "2016-01-02"), ("until", "2016-01-01")], {"since"}),
    ],
)
def test_what_is_refused(pairs: list[tuple[str, str]], wrong: set[str]) -> None:
    assert set(complaints(*pairs)) == wrong


@pytest.mark.parametrize(
    ("typed", "q"),
    [
        (f" {'x' * 200} ", "x" * 200),
        ("a\x00b\ue000c", "a b c"),
        ("cafe\u0301", "café"),
        ("\u202eru\u200bst\u202c \ufeffco\u00adop", "rust coop"),
        ("می\u200cخواهم", "می\u200cخواهم"),
    ],
)
def test_the_query_as_a_person_would_have_typed_it(typed: str, q: str) -> None:
    assert parse(("q", typed)).q == q


def test_few_complaints_are_listed_and_what_was_sent_is_cut() -> None:
    for sent in ([("q", "ab" * 300)] * 700, [(f"{n:0300}", "a" * 300) for n in range(700)]):
        with pytest.raises(BadRequest) as caught:
            parse(*sent)
        assert len(str(caught.value.details)) + len(str(caught.value)) < 10_000


def test_key_is_the_same_for_the_same_answer() -> None:
    first = parse(("q", " a  b"), ("category", "x"), ("category", "y"))
    other = parse(("category", "y"), ("q", "a b"), ("page", "1"), ("category", "x"))
    assert first.key() == other.key()
    for request in (first, replace(first, prefer="de", comments=False)):
        assert SearchRequest.from_key(request.key()) == request


@pytest.mark.parametrize(
    "change",
    [
        *(("page", "2"), ("size", "11"), ("typos", "off"), ("sort", "newest"), ("category", "x")),
        *(("since", "2016-01-01"), ("until", "2016-01-01"), ("debug-search", "")),
        ("q", "a&page=2"),
    ],
)
def test_key_differs_for_another_answer(change: tuple[str, str]) -> None:
    assert parse(*({"q": "a"} | dict([change])).items()).key() != parse(("q", "a")).key()
    assert parse(("q", "a&page=2")).key() != parse(("q", "a"), ("page", "2")).key()
