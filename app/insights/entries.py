"""What Redis keeps of counts, read. Whatever this service cannot have written is left out. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from app.search.request import MAX_PAGE, MAX_SIZE

_MOST = 2**53  # a count beyond it is none: Redis adds up floats
_DIGITS = 15


def text_of(member: bytes) -> str:
    """A member of a set, or a field of a hash, as text."""
    return member.decode("utf-8", "replace")


def totals_of(reply: Mapping[bytes, bytes]) -> dict[str, int]:
    """The counts in a hash."""
    return {
        text_of(name): int(value)
        for name, value in reply.items()
        if value.isdigit() and len(value) <= _DIGITS
    }


def scores_of(reply: Iterable[tuple[bytes, float]]) -> list[tuple[str, float]]:
    """The members of a sorted set and their scores, which are counts or milliseconds."""
    return [(text_of(member), score) for member, score in reply if 0 < score < _MOST]


def pair_of(member: str) -> tuple[str, str] | None:
    """A query and the one that followed it."""
    match _json(member):
        case [str(first), str(second)]:
            return first, second
    return None


def opened_of(member: str) -> tuple[str, int, str] | None:
    """A query, and the position and oid of a hit that was opened."""
    match _json(member):
        case [str(q), int(position), str(oid)] if 0 < position <= MAX_PAGE * MAX_SIZE:
            return q, position, oid
    return None


def _json(text: str) -> Any:
    try:
        return orjson.loads(text)
    except ValueError:
        return None
