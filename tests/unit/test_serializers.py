"""The serializers that are compared, how they are measured, and the one that the service uses."""

import json
import math
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.cache.answer_cache import SERIALIZER
from app.cache.memoize import NotSerializable, dumps
from bench.serializers.registry import FORMATS, serializers
from bench.serializers.report import RULE, contenders, put_into, winner

DOCS = Path(__file__).resolve().parents[2] / "docs"

text = st.text(st.characters(exclude_categories=["Cs"]))
leaves = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | text
)
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
    max_leaves=25,
)


def same(value: Any, other: Any) -> bool:
    """Equal, and of the same types all the way down: 1 == 1.0 == True would hide a change."""
    return bool(value == other) and repr(value) == repr(other)


@given(value=values)
@settings(max_examples=60, deadline=None)
def test_an_equal_value_comes_back(value: Any) -> None:
    for form in FORMATS:
        serializer = serializers()[form.name]
        assert same(serializer.loads(serializer.dumps(value)), value), form.name
    assert same(orjson.loads(dumps(value)), value)


@pytest.mark.parametrize("name", sorted(serializers()))
def test_every_serializer_gives_the_same_response(name: str) -> None:
    body = {"q": "naïve", "hits": [{"title": "x" * 500, "score": 5e-324}], "when": None}
    serializer = serializers()[name]
    data = serializer.dumps(body)
    assert same(serializer.loads(data), body)
    assert serializer.response(data) == orjson.dumps(body)


@pytest.mark.parametrize(
    "odd",
    [math.nan, math.inf, (1, 2), {1, 2}, {1: "int key"}, b"b", "\ud800", 2**64, date(2017, 1, 1)],
    ids=repr,
)
def test_a_memoized_value_that_would_change_is_an_error(odd: Any) -> None:
    with pytest.raises(NotSerializable):
        dumps({"a": [odd]})


# -- the choice --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def published() -> dict[str, Any]:
    figures: dict[str, Any] = json.loads((DOCS / "serializers.json").read_text("utf-8"))
    return figures


def test_the_service_uses_the_published_winner(published: dict[str, Any]) -> None:
    assert published["winner"] == SERIALIZER == winner(published["final"])
    assert published["rule"] == RULE
    assert set(contenders(published["rows"])) == set(published["final"])
    assert set(published["rows"]) == set(serializers())


def test_the_tables_of_the_page_show_the_published_figures(published: dict[str, Any]) -> None:
    page = (DOCS / "caching.md").read_text("utf-8")
    assert put_into(page, published) == page


Given = Mapping[str, tuple[float, int]]


def rows(given: Given) -> dict[str, dict[str, float]]:
    slow = {name: {"read": 1000.0, "size": 10_000} for name in serializers()}
    return slow | {name: {"read": read, "size": size} for name, (read, size) in given.items()}


@pytest.mark.parametrize(
    ("given", "wins"),
    [
        ({"json": (100, 9000), "orjson": (120, 10)}, "json"),
        ({"json": (100, 9000), "orjson": (100.9, 8000)}, "orjson"),
        ({"json": (100, 9000), "orjson": (101.1, 8000)}, "json"),
        ({"json": (100, 9000), "orjson": (100.8, 8000), "ujson": (100.7, 8000)}, "ujson"),
        ({"json": (100, 9000), "orjson+zstd": (100.5, 2000), "bytes": (99.9, 8000)}, "orjson+zstd"),
        ({"pickle": (10, 10), "pickle+lz4": (9, 9), "json": (100, 9000)}, "json"),
    ],
)
def test_the_rule(given: Given, wins: str) -> None:
    assert winner(rows(given)) == wins
