"""The bench's own arithmetic, on a dictionary instead of servers."""

from typing import Any

import pytest

from bench.serializers.answers import Workload
from bench.serializers.registry import serializers
from bench.serializers.report import medians_of, put_into, rows_of
from bench.serializers.timing import TCP, WARM_UP, Cell, Timing, measure

ANSWER = Workload("10 hits", {"q": "x" * 300, "hits": []}, is_answer=True)


class Dictionary:
    """A store that counts; `loses` makes it answer with another value."""

    def __init__(self, loses: bool = False) -> None:
        self.kept: dict[str, bytes] = {}
        self.gets = 0
        self.loses = loses

    def set(self, key: str, data: bytes) -> None:
        self.kept[key] = data

    def get(self, key: str) -> bytes:
        self.gets += 1
        return b'{"q":"another"}' if self.loses else self.kept[key]


def cells(*names: str, store: Any = None) -> list[Cell]:
    return [Cell(serializers()[name], ANSWER, TCP, store or Dictionary()) for name in names]


def test_timing_of_microseconds() -> None:
    timing = Timing.of([1000, 2000, 9000])
    assert (timing.median, timing.average) == (2.0, 4.0)
    assert timing.stddev == pytest.approx(4.359, abs=0.001)


def test_each_operation_once_a_round_and_the_warm_up_dropped() -> None:
    store = Dictionary()
    [cell] = cells("bytes+zstd", store=store)
    told: list[int] = []
    measure([cell], 4, told.append)
    assert {name: len(taken) for name, taken in cell.taken.items()} == dict.fromkeys(
        ("write", "value", "read", "coded"), 4
    )
    assert len(told) == 4 + WARM_UP
    assert store.gets == 1 + 3 * (4 + WARM_UP)  # one to see that it comes back


def test_more_visits_are_more_times() -> None:
    [cell] = cells("json")
    cell.visits = 3
    measure([cell], 2, lambda nth: None)
    assert len(cell.taken["read"]) == 6


def test_a_value_that_does_not_come_back_is_not_measured() -> None:
    with pytest.raises(AssertionError, match="does not come back"):
        measure(cells("orjson", store=Dictionary(loses=True)), 1, lambda nth: None)


def test_only_what_browsers_take_is_sent_as_stored() -> None:
    found = {cell.serializer.name: cell.operations() for cell in cells(*serializers())}
    coded = {name for name, operations in found.items() if "coded" in operations}
    assert coded == {"bytes+zlib", "bytes+zstd", "bytes+brotli"}


@pytest.fixture
def measured() -> list[Cell]:
    found = cells("bytes", "json", "pickle+lzma")
    measure(found, 2, lambda nth: None)
    return found


def test_rows(measured: list[Cell]) -> None:
    rows = rows_of(measured, "10 hits", TCP)
    assert set(rows) == {"bytes", "json", "pickle+lzma"}
    assert rows["bytes"]["size"] == 318
    assert medians_of(measured, "10 hits", TCP)["json"] == rows["json"]["read"]
    assert rows_of(measured, "10 hits", "elsewhere") == {}


def test_a_page_without_its_marks_is_an_error() -> None:
    row = {"read": 1.0, "average": 1.0, "stddev": 1.0, "write": 1.0, "size": 1, "coded": 1.0}
    rows = dict.fromkeys(serializers(), row)
    result = {
        **dict.fromkeys(("measured", "machine", "python", "redis", "rounds", "answers"), "x"),
        "libraries": {},
        "winner": "bytes",
        "rows": rows,
        "final": rows,
        "stores": {"a": dict.fromkeys(serializers(), 1.0)},
        "hits": {"1 hit": rows},
        "floats": {"10 floats": rows},
    }
    names = ("rule", "run", "rows", "final", "stores", "hits", "floats", "coded")
    page = "\n".join(f"before\n<!-- {name} -->\nold\n<!-- /{name} -->\nafter" for name in names)
    filled = put_into(page, result)
    assert "old" not in filled
    assert filled.count("before\n") == filled.count("after") == len(names)
    assert put_into(filled, result) == filled
    with pytest.raises(LookupError, match="<!-- floats -->"):
        put_into(page.replace("<!-- floats -->", ""), result)
