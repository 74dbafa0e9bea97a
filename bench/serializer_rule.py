"""The rule by which a serializer is chosen; the default in app/settings.py follows it."""

from collections.abc import Mapping
from typing import Any

from bench.serializer_registry import serializers

RULE = (
    "Of all serializers but pickle, the one with the shortest median time to read the answer of 10 "
    "hits (from the request to Redis over TCP with hiredis to the bytes of a response that any "
    "client accepts). Those within 25 % of the shortest are measured once more, by themselves and "
    "more often; medians less than a microsecond from the shortest there count as equal, and of "
    "equals the smallest stored wins."
)
_FAR = 1.25  # times the shortest
_EQUAL = 1.0  # µs


def contenders(rows: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The serializers that are measured once more; `rows` have `read` (median, µs)."""
    allowed, shortest = _allowed(rows)
    return [name for name, read in allowed.items() if read <= shortest * _FAR]


def winner(rows: Mapping[str, Mapping[str, Any]]) -> str:
    """The winner among the contenders' rows of `read` (median, µs) and `size` (bytes)."""
    allowed, shortest = _allowed(rows)
    equal = [name for name, read in allowed.items() if read < shortest + _EQUAL]
    return min(equal, key=lambda name: (rows[name]["size"], rows[name]["read"]))


def _allowed(rows: Mapping[str, Mapping[str, Any]]) -> tuple[dict[str, float], float]:
    allowed = {
        name: rows[name]["read"] for name, one in serializers().items() if one.safe and name in rows
    }
    return allowed, min(allowed.values())
