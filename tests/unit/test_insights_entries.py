"""Entries in Redis that this service cannot have written are left out."""

import pytest

from app.insights.entries import opened_of, pair_of, scores_of, totals_of
from app.insights.sessions import Event

DEEP = "[" * 100_000


def test_totals_are_counts() -> None:
    reply = {b"HIT": b"12", b"\xff": b"3", b"a": b"many", b"b": b"-1", b"c": b"9" * 5000}
    assert totals_of(reply) == {"HIT": 12, "�": 3}


def test_scores_are_finite_and_positive() -> None:
    reply = [(b"a", 1.5), (b"b", 0.0), (b"c", -1.0), (b"d", float("inf")), (b"e", 1e300)]
    assert scores_of(reply) == [("a", 1.5)]


def test_what_was_opened() -> None:
    assert opened_of('["a", 3, "post"]') == ("a", 3, "post")
    assert opened_of('["a", 2500, "post"]')  # the last one that a page can have


@pytest.mark.parametrize(
    "text",
    [
        *("", "null", "{}", "[1]", '["a", 1, null]'),
        *(
            '["a", 0, "x"]',
            '["a", 1.5, "x"]',
            '["a", 2501, "x"]',
            '["a", 1e999, "x"]',
            f'["a", {"9" * 400}, "x"]',
        ),
        DEEP,
    ],
)
def test_other_texts_are_neither_opened_hits_nor_pairs(text: str) -> None:
    assert (opened_of(text), pair_of(text)) == (None, None)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\xff{",
        DEEP.encode(),
        b'[1,"a","b","c","d",true,1]',
        b'["1","a","b","c","d",true,1.0]',
        b'[1e300,"a","b","c","d",true,1.0]',
        b'[-5.0,"a","b","c","d",true,1.0]',
        b'[1.0,"a","b","c","d"]',
    ],
)
def test_other_texts_are_no_events(text: bytes) -> None:
    assert Event.load(text) is None
