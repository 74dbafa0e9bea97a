"""Two responses to the same search, compared."""

from typing import Any

import pytest

from app.synonyms.preview import Move, compare


def _response(oids: str, count: int | None = None) -> dict[str, Any]:
    hits = [{"kind": "post", "oid": oid, "title": oid.upper()} for oid in oids]
    return {"count": len(hits) if count is None else count, "hits": hits}


def _moves(moves: tuple[Move, ...]) -> list[tuple[str, int | None, int | None]]:
    return [(move.oid, move.before, move.after) for move in moves]


@pytest.mark.parametrize(
    ("before", "after", "gained", "lost", "moved"),
    [
        ("abc", "abc", [], [], []),
        ("", "a", [("a", None, 1)], [], []),
        ("a", "", [], [("a", 1, None)], []),
        # hits that only make room have not moved
        ("abc", "xabc", [("x", None, 1)], [], []),
        ("abc", "bc", [], [("a", 1, None)], []),
        ("abcd", "dabc", [], [], [("d", 4, 1)]),
        ("abcd", "bcda", [], [], [("a", 1, 4)]),
        # moves behind the first page are not reported
        ("abcdefghijklm", "abcdefghijkml", [], [], []),
        ("abcdefghijklm", "abcdefghimjkl", [], [], [("m", 13, 10)]),
    ],
)
def test_compares_responses(
    before: str,
    after: str,
    gained: list[tuple[str, int | None, int | None]],
    lost: list[tuple[str, int | None, int | None]],
    moved: list[tuple[str, int | None, int | None]],
) -> None:
    change = compare("q", _response(before), _response(after))
    assert _moves(change.gained) == gained
    assert _moves(change.lost) == lost
    assert _moves(change.moved) == moved
    assert bool(change) == bool(gained or lost or moved)


def test_a_change_beyond_the_compared_hits_counts() -> None:
    assert compare("q", _response("a", 60), _response("a", 70))
    assert not compare("q", _response("a", 60), _response("a", 60))


def test_a_comment_is_not_its_post() -> None:
    post = {"kind": "post", "oid": "a", "title": "A"}
    comment = {"kind": "comment", "oid": "a", "title": "A"}
    change = compare("q", {"count": 1, "hits": [post]}, {"count": 1, "hits": [comment]})
    assert change.gained
    assert change.lost


def test_two_comments_on_a_post_are_two_hits() -> None:
    first, second = (
        {"kind": "comment", "oid": "a", "title": "A", "comment": {"oid": oid}} for oid in "xy"
    )
    change = compare("q", {"count": 1, "hits": [first]}, {"count": 2, "hits": [second, first]})
    assert _moves(change.gained) == [("a", None, 1)]
    assert _moves(change.lost) == []
