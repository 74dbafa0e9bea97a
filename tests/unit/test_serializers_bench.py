"""The bench's own arithmetic, on a dictionary instead of servers."""

from typing import Any

import pytest

from bench.serializers.registry import serializers
from bench.serializers.report import medians_of, rows_of
from bench.serializers.timing import TCP, WARM_UP, Cell, Timing, Workload, measure

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


def test_a_value_that_does_not_come_back_is_not_measured() -> None:
    with pytest.raises(AssertionError, match="does not come back"):
        measure(cells("orjson", store=Dictionary(loses=True)), 1, lambda nth: None)


def test_only_what_browsers_take_is_sent_as_stored() -> None:
    operations_of = {cell.serializer.name: cell.operations() for cell in cells(*serializers())}
    coded = {name for name, operations in operations_of.items() if "coded" in operations}
    assert coded == {"bytes+zlib", "bytes+zstd", "bytes+brotli"}


@pytest.fixture
def measured() -> list[Cell]:
    measurements = cells("bytes", "json", "pickle+lzma")
    measure(measurements, 2, lambda nth: None)
    return measurements


def test_rows(measured: list[Cell]) -> None:
    rows = rows_of(measured, "10 hits", TCP)
    assert set(rows) == {"bytes", "json", "pickle+lzma"}
    assert rows["bytes"]["size"] == 318
    assert medians_of(measured, "10 hits", TCP)["json"] == rows["json"]["read"]
    assert rows_of(measured, "10 hits", "elsewhere") == {}
