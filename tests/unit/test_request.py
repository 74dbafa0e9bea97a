"""The query string of a search: what is taken, and every complaint at once."""

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


def test_defaults() -> None:
    assert parse(("q", "python")) == SearchRequest(q="python", page=1, size=10, typos=True)


def test_everything_that_can_be_asked_for() -> None:
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


@pytest.mark.parametrize("value", ["", "1", "off", "anything"])
def test_debug_search_counts_with_any_value(value: str) -> None:
    assert parse(("q", "x"), ("debug-search", value)).debug


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


@pytest.mark.parametrize("page", ["0", "51", "-1", "1.5", "", "one", "²", "٣", "1" * 5000, " 1"])
def test_pages_that_are_none(page: str) -> None:
    assert set(complaints(("q", "x"), ("page", page))) == {"page"}


def test_q_is_missing() -> None:
    assert complaints() == {"q": "is missing; it is the text to search for"}


def test_q_has_at_most_200_characters_after_trimming() -> None:
    assert len(parse(("q", " " + "x" * 200 + " ")).q) == 200
    assert set(complaints(("q", "x" * 201))) == {"q"}


def test_a_single_parameter_must_not_be_repeated() -> None:
    assert complaints(("q", "x"), ("q", "y"), ("page", "1"), ("page", "2")) == {
        "q": "must be given only once",
        "page": "must be given only once",
    }


def test_since_must_not_be_later_than_until() -> None:
    listed = complaints(("q", "x"), ("since", "2016-01-02"), ("until", "2016-01-01"))
    assert listed == {"since": "must not be later than until"}


def test_control_characters_and_private_ones_are_white_space() -> None:
    assert parse(("q", "a\x00b\ue000c")).q == "a b c"


def test_a_decomposed_accent_is_composed() -> None:
    assert parse(("q", "cafe\u0301")).q == "café"


def test_key_is_the_same_for_the_same_answer() -> None:
    first = parse(("q", " a  b"), ("category", "x"), ("category", "y"))
    other = parse(("category", "y"), ("q", "a b"), ("page", "1"), ("category", "x"))
    assert first.key() == other.key()


@pytest.mark.parametrize(
    "change",
    [
        ("page", "2"),
        ("size", "11"),
        ("typos", "off"),
        ("sort", "newest"),
        ("category", "x"),
        ("since", "2016-01-01"),
        ("until", "2016-01-01"),
    ],
)
def test_key_differs_for_another_answer(change: tuple[str, str]) -> None:
    assert parse(("q", "a"), change).key() != parse(("q", "a")).key()


def test_keys_cannot_be_forged() -> None:
    assert parse(("q", "a&page=2")).key() != parse(("q", "a"), ("page", "2")).key()


def test_what_is_not_seen_is_left_out_but_for_joiners() -> None:
    assert parse(("q", "\u202eru\u200bst\u202c \ufeffco\u00adop")).q == "rust coop"
    assert parse(("q", "می\u200cخواهم")).q == "می\u200cخواهم"
