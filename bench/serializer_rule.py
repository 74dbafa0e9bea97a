"""The rule by which a serializer wins; the default in app/settings.py follows it."""

from collections.abc import Mapping
from typing import Any

from app.cache.serializers import offered

RULE = (
    "Of the serializers that a setting may choose, the one with the shortest median time to read "
    "the answer of 10 hits (from asking Redis over TCP with hiredis to the bytes of a response "
    "that any client takes). Medians within 5 % of the shortest count as equal; then the smallest "
    "stored wins."
)
NEAR = 0.05


def winner(rows: Mapping[str, Mapping[str, Any]]) -> str:
    """The winner among rows of `read` (median, µs) and `size` (bytes), by serializer."""
    allowed = {name: rows[name] for name in offered()}
    shortest = min(row["read"] for row in allowed.values())
    equal = {name: row for name, row in allowed.items() if row["read"] <= shortest * (1 + NEAR)}
    return min(equal, key=lambda name: (equal[name]["size"], equal[name]["read"]))
