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

from app.cache.compressors import COMPRESSORS
from app.cache.errors import NotCarried, Unreadable
from app.cache.serializers import FORMATS, offered, serializer_named, serializers
from app.cache.values import DEEPEST, TAGS, plain, restore

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
    data, tagged = serializer.dumps(value)
    assert type(data) is bytes
    return serializer.loads(data, tagged)


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


PICKLED = {"pickle", *(f"pickle+{name}" for name in COMPRESSORS)}


@pytest.mark.parametrize("name", sorted(set(ALONE) - PICKLED))
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
        nested(DEEPEST + 1),
        nested(100_000),
    ],
    ids=lambda odd: type(odd).__name__,
)
def test_what_would_be_changed_is_an_error_at_once(name: str, odd: Any) -> None:
    with pytest.raises(NotCarried):
        serializers()[name].dumps({"a": ["b", odd]})


def test_the_error_says_where() -> None:
    with pytest.raises(NotCarried) as caught:
        plain({"hits": [{"score": 1.0}, {"score": math.nan}]})
    assert caught.value.path == "value.hits[].score"


def test_a_zone_of_its_own_becomes_its_offset() -> None:
    berlin = datetime(2017, 7, 1, 12, tzinfo=ZoneInfo("Europe/Berlin"))
    assert there_and_back("bytes", [berlin]) == [berlin]


def test_depth_up_to_the_limit_is_carried_by_all() -> None:
    deepest = nested(DEEPEST)
    for name in ALONE:
        assert there_and_back(name, deepest) == deepest


@given(value=values)
@settings(max_examples=100, deadline=None)
def test_the_tree_is_what_json_can_say(value: Any) -> None:
    tree, tagged = plain(value)
    assert same(restore(tree) if tagged else tree, value)
    assert same(json.loads(json.dumps(tree)), tree)


def test_finished_bytes_are_the_response() -> None:
    body = {"q": "naïve", "hits": [], "when": None}
    data, tagged = serializers()["bytes"].dumps(body)
    assert not tagged
    assert data == '{"q":"naïve","hits":[],"when":null}'.encode()


@pytest.mark.parametrize("name", EVERY)
def test_damage_is_unreadable(name: str) -> None:
    serializer = serializers()[name]
    data, _ = serializer.dumps({"q": "x" * 500, "n": list(range(300))})
    with pytest.raises(Unreadable):
        serializer.loads(data[: len(data) // 2], False)
    with pytest.raises(Unreadable):
        serializer.loads(b"", False)


@pytest.mark.parametrize("tree", [{"$date": 7}, {"$int": "x"}, {"$datetime": None}, {"$dict": []}])
def test_a_tag_that_says_something_else_is_unreadable(tree: Any) -> None:
    with pytest.raises(Unreadable):
        serializers()["orjson"].loads(orjson.dumps(tree), True)


def test_every_format_alone_and_with_every_compressor() -> None:
    formats = {"json", "orjson", "ujson", "msgspec", "msgspec-msgpack", "msgpack", "ormsgpack"}
    assert set(FORMATS) == formats | {"pickle", "bytes"}
    assert set(COMPRESSORS) == {"zlib", "lzma", "zstd", "lz4", "brotli"}
    assert len(serializers()) == 9 * 6
    assert "msgpack+zstd" in serializers()


def test_pickle_is_refused_with_the_reason() -> None:
    assert not PICKLED & set(offered())
    for name in PICKLED:
        with pytest.raises(ValueError, match="run code"):
            serializer_named(name)


@pytest.mark.parametrize("name", ["", "msgpack+", "+zstd", "zstd", "msgpack+zstd+lz4", "JSON"])
def test_an_unknown_name_lists_the_known_ones(name: str) -> None:
    with pytest.raises(ValueError, match=r"known are .*msgpack\+zstd"):
        serializer_named(name)


def test_moments_of_utc() -> None:
    moment = datetime(2017, 10, 31, tzinfo=UTC)
    back = there_and_back("msgpack", {"when": moment})["when"]
    assert back == moment
    assert back.utcoffset() == timedelta(0)
