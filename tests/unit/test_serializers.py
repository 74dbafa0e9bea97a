"""Every serializer brings back an equal value, or says at once that it cannot."""

import copy
import json
import math
from collections import OrderedDict
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import IntEnum
from typing import Any
from zoneinfo import ZoneInfo

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.cache.serializers import (
    MAX_DEPTH,
    SERIALIZERS,
    TAGS,
    NotSerializable,
    Unreadable,
    dumps,
    from_plain,
    loads,
    to_plain,
)
from bench.serializers.registry import FORMATS, serializers

EVERY = sorted(serializers())
ALONE = sorted(FORMATS)

offsets = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(2**62, 2**70)
    | st.integers(-(2**70), -(2**62))
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
    | st.dates()
    | st.datetimes()
    | st.datetimes(timezones=offsets)
)
keys = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(sorted(TAGS))
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=25,
)


def there_and_back(name: str, value: Any) -> Any:
    serializer = serializers()[name]
    data = serializer.dumps(value)
    assert type(data) is bytes
    return serializer.loads(data)


def same(one: Any, other: Any) -> bool:
    """Equal, and of the same types all the way down: 1 == 1.0 == True would hide a change."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float):
        return one == other and math.copysign(1, one) == math.copysign(1, other)
    if isinstance(one, datetime):
        return one == other and one.utcoffset() == other.utcoffset()
    return bool(one == other)


@pytest.mark.parametrize("name", ALONE)
@given(value=values)
@settings(max_examples=150, deadline=None)
def test_equal_value_comes_back(name: str, value: Any) -> None:
    before = copy.deepcopy(value)
    assert same(there_and_back(name, value), value)
    assert same(value, before)


@pytest.mark.parametrize("name", EVERY)
@given(value=values)
@settings(max_examples=8, deadline=None)
def test_equal_value_comes_back_through_a_compressor(name: str, value: Any) -> None:
    assert same(there_and_back(name, value), value)


@pytest.mark.parametrize("name", ALONE)
@pytest.mark.parametrize(
    "value",
    [
        {"when": datetime(2017, 10, 31, 12, 30, 1, 5, tzinfo=timezone(timedelta(hours=5.75)))},
        {"when": datetime.min, "then": datetime.max, "day": date(1, 1, 1)},
        {"title": "naïve ☃ \U0001f600 \x00 \u2028 </script>", "q": ""},
        {"none": None, "yes": True, "no": False, "empty": [], "nothing": {}},
        {"big": [2**63, -(2**63) - 1, 2**63 - 1, -(2**63), 10**400, 2**53 + 1]},
        {"floats": [0.1, -0.0, 1.0, 5e-324, 1.7976931348623157e308, 1e22, 3.0000000000000004]},
        {"$date": "2017-10-31"},
        {"$dict": {"$int": "0x1"}, "b": {"$dict": {"$int": date(2017, 1, 1)}}},
        {"$int": 2**80},
        [[[[[[[["deep"]]]]]]]],
        "just text",
    ],
)
def test_what_answers_may_hold_comes_back(name: str, value: Any) -> None:
    assert same(there_and_back(name, value), value)


class _Odd(IntEnum):
    ONE = 1


class _Text(str):
    __slots__ = ()


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("name", sorted(set(ALONE) - {"pickle"}))
@pytest.mark.parametrize(
    "odd",
    [
        math.nan,
        math.inf,
        -math.inf,
        (1, 2),
        {1, 2},
        b"bytes",
        bytearray(b"bytes"),
        Decimal("1.5"),
        {1: "int key"},
        {None: 1},
        {("a",): 1},
        {_Text("a"): 1},
        OrderedDict(a=1),
        _Odd.ONE,
        _Text("a"),
        timedelta(1),
        datetime(2017, 10, 29, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"), fold=1),
        object(),
        1j,
        "\ud800",
        nested(MAX_DEPTH + 1),
        nested(100_000),
    ],
    ids=lambda odd: type(odd).__name__,
)
def test_what_would_be_changed_is_an_error_at_once(name: str, odd: Any) -> None:
    with pytest.raises(NotSerializable):
        serializers()[name].dumps({"a": ["b", odd]})


def test_the_error_says_where() -> None:
    with pytest.raises(NotSerializable) as caught:
        to_plain({"hits": [{"score": 1.0}, {"score": math.nan}]})
    assert caught.value.path == "value.hits[].score"


def test_a_zone_of_its_own_becomes_its_offset() -> None:
    berlin = datetime(2017, 7, 1, 12, tzinfo=ZoneInfo("Europe/Berlin"))
    assert there_and_back("bytes", [berlin]) == [berlin]


def test_depth_up_to_the_limit_is_carried_by_all() -> None:
    deepest = nested(MAX_DEPTH)
    for name in ALONE:
        assert there_and_back(name, deepest) == deepest


@given(value=values)
@settings(max_examples=100, deadline=None)
def test_the_tree_is_what_json_can_say(value: Any) -> None:
    tree = to_plain(value)
    assert same(from_plain(tree), value)
    assert same(json.loads(json.dumps(tree)), tree)


@pytest.mark.parametrize("name", EVERY)
def test_damage_is_unreadable(name: str) -> None:
    serializer = serializers()[name]
    data = serializer.dumps({"q": "x" * 500, "n": list(range(300))})
    with pytest.raises(Unreadable):
        serializer.loads(data[: len(data) // 2])
    with pytest.raises(Unreadable):
        serializer.loads(b"")


@pytest.mark.parametrize("name", EVERY)
def test_every_serializer_gives_the_same_response(name: str) -> None:
    body = {"q": "naïve", "hits": [{"title": "x" * 500}], "when": None}
    serializer = serializers()[name]
    data = orjson.dumps(body)
    assert serializer.response(serializer.dumps(body)) == data


def test_moments_of_utc() -> None:
    moment = datetime(2017, 10, 31, tzinfo=UTC)
    back = there_and_back("msgpack", {"when": moment})["when"]
    assert back == moment
    assert back.utcoffset() == timedelta(0)


# -- what the service offers -------------------------------------------------------------------


@given(value=values)
@settings(max_examples=150, deadline=None)
def test_a_memoized_value_comes_back(value: Any) -> None:
    assert same(loads(dumps(value)), value)


@pytest.mark.parametrize("odd", [math.nan, (1, 2), {1: "int key"}, b"bytes", "\ud800"])
def test_a_memoized_value_that_would_change_is_an_error(odd: Any) -> None:
    with pytest.raises(NotSerializable):
        dumps({"a": [odd]})


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b'{"$date":7}', b'{"$int":"x"}', b'{"$datetime":null}', b'{"$dict":[]}'],
)
def test_what_dumps_does_not_write_is_unreadable(data: bytes) -> None:
    with pytest.raises(Unreadable):
        loads(data)


@pytest.mark.parametrize("name", SERIALIZERS)
@given(data=st.binary(max_size=300))
@settings(max_examples=30, deadline=None)
def test_what_was_compressed_comes_back(name: str, data: bytes) -> None:
    serializer = SERIALIZERS[name]
    assert serializer.decompress(serializer.compress(data)) == data
