"""The figures as tables for the terminal and as plain values for JSON."""

import json
import platform
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.serializer_timing import Cell
from bench.servers import redis_binary

Row = dict[str, Any]

JUDGED = "10 hits"
_LIBRARIES = ("orjson", "ujson", "msgspec", "msgpack", "ormsgpack", "zstandard", "lz4", "brotli")
_BAR = 24  # characters


def rows_of(cells: Iterable[Cell], workload: str, store: str) -> dict[str, Row]:
    """By serializer: median, average and stddev to read, median to write (µs), bytes stored."""
    found: dict[str, Row] = {}
    for cell in cells:
        if cell.workload.name != workload or cell.store_name != store:
            continue
        timings = cell.timings()
        read = timings["read"]
        found[cell.serializer.name] = {
            "read": round(read.median, 1),
            "average": round(read.average, 1),
            "stddev": round(read.stddev, 1),
            "value": round(timings["value"].median, 1),
            "write": round(timings["write"].median, 1),
            "size": cell.size,
        }
        if "coded" in timings:
            found[cell.serializer.name]["coded"] = round(timings["coded"].median, 1)
    return found


def surroundings(rounds: int, origin: str) -> Row:
    """Machine, versions and rounds of a run."""
    return {
        "measured": datetime.now(UTC).date().isoformat(),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "libraries": {name: version(name) for name in (*_LIBRARIES, "redis", "hiredis")},
        "redis": _redis(),
        "rounds": rounds,
        "answers": origin,
    }


def _redis() -> str:
    told = subprocess.run([redis_binary(), "--version"], capture_output=True, text=True, check=True)
    return told.stdout.partition("v=")[2].partition(" ")[0]


def medians_of(cells: Iterable[Cell], workload: str, store: str) -> dict[str, float]:
    """By serializer: the median to read."""
    return {name: row["read"] for name, row in rows_of(cells, workload, store).items()}


def as_json(result: Row) -> str:
    """One line a row, so that two runs can be compared."""
    return "{\n" + ",\n".join(_lines(result, 1)) + "\n}\n"


def _lines(values: Mapping[str, Any], depth: int) -> Iterator[str]:
    for name, value in values.items():
        start = f"{' ' * depth}{json.dumps(name)}: "
        if isinstance(value, dict) and any(isinstance(inner, dict) for inner in value.values()):
            inner = ",\n".join(_lines(value, depth + 1))
            yield f"{start}{{\n{inner}\n{' ' * depth}}}"
        else:
            yield start + json.dumps(value, ensure_ascii=False)


def print_rows(console: Console, rows: Mapping[str, Row], title: str) -> None:
    """The table of the 2017 write-ups: times, average, median, stddev, size, and two bars."""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for name in (
        "serializer",
        "median µs",
        "average",
        "stddev",
        "write",
        "bytes",
        "median",
        "size",
    ):
        table.add_column(
            name, justify="right" if name not in ("serializer", "median", "size") else "left"
        )
    slowest = max(row["read"] for row in rows.values())
    largest = max(row["size"] for row in rows.values())
    for name, row in sorted(rows.items(), key=lambda item: item[1]["read"]):
        table.add_row(
            name,
            *(f"{row[column]:.1f}" for column in ("read", "average", "stddev", "write")),
            f"{row['size']}",
            _bar(row["read"] / slowest),
            _bar(row["size"] / largest),
        )
    console.print(table)


def print_columns(
    console: Console, columns: Mapping[str, Mapping[str, float]], title: str, names: Iterable[str]
) -> None:
    """One number a column for some serializers: stores or workloads side by side."""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    table.add_column("serializer")
    for column in columns:
        table.add_column(column, justify="right")
    for name in names:
        table.add_row(name, *(f"{values[name]:.1f}" for values in columns.values()))
    console.print(table)


def _bar(share: float) -> str:
    return "█" * max(round(share * _BAR), 1)
