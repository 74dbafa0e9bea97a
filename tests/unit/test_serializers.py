"""Serializers bring back an equal answer, and `dumps` refuses what JSON would change."""

import math
from datetime import date
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.cache.serializers import NotSerializable, dumps
from bench.serializers.registry import FORMATS, serializers

EVERY = sorted(serializers())
ALONE = sorted(FORMATS)

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
    return value == other and repr(value) == repr(other)


@pytest.mark.parametrize("name", ALONE)
@given(value=values)
@settings(max_examples=100, deadline=None)
def test_equal_value_comes_back(name: str, value: Any) -> None:
    serializer = serializers()[name]
    assert same(serializer.loads(serializer.dumps(value)), value)


@pytest.mark.parametrize("name", EVERY)
def test_every_serializer_gives_the_same_response(name: str) -> None:
    body = {"q": "naïve", "hits": [{"title": "x" * 500, "score": 5e-324}], "when": None}
    serializer = serializers()[name]
    data = serializer.dumps(body)
    assert same(serializer.loads(data), body)
    assert serializer.response(data) == orjson.dumps(body)


# -- what the service offers -------------------------------------------------------------------


@given(value=values)
@settings(max_examples=150, deadline=None)
def test_a_memoized_value_comes_back(value: Any) -> None:
    assert same(orjson.loads(dumps(value)), value)


@pytest.mark.parametrize(
    "odd",
    [math.nan, math.inf, (1, 2), {1, 2}, {1: "int key"}, b"b", "\ud800", 2**64, date(2017, 1, 1)],
    ids=repr,
)
def test_a_memoized_value_that_would_change_is_an_error(odd: Any) -> None:
    with pytest.raises(NotSerializable):
        dumps({"a": [odd]})
