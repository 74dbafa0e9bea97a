"""The rule by which a serializer is chosen, and the figures: as values for JSON, as tables for the
terminal, and as tables between the markers in docs/caching.md."""

import json
import platform
import subprocess
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.serializers.registry import serializers
from bench.serializers.timing import Cell
from devstack.servers import redis_binary

Row = dict[str, Any]

JUDGED = "10 hits"
RULE = (
    "Of all serializers but pickle, the one with the shortest median time to read the answer of 10 "
    "hits (from the request to Redis over TCP with hiredis to the bytes of a response that any "
    "client accepts). Those within 25 % of the shortest are measured once more, by themselves and "
    "more often; medians less than a microsecond from the shortest there count as equal, and of "
    "equals the smallest stored wins."
)
"""The default in app/settings.py follows it."""
_FAR = 1.25  # times the shortest
_EQUAL = 1.0  # µs

SHOWN = (
    "bytes",
    "bytes+lz4",
    "bytes+zstd",
    "bytes+zlib",
    "bytes+brotli",
    "msgspec-msgpack",
    "pickle",
    "orjson",
    "msgpack",
    "json",
    "msgpack+zstd",
    "bytes+lzma",
)
"""The serializers in the tables; serializers.json has all of them."""

_LIBRARIES = ("orjson", "ujson", "msgspec", "msgpack", "ormsgpack", "zstandard", "lz4", "brotli")


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
            _bar(row["read"] / slowest, 24),
            _bar(row["size"] / largest, 24),
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


def put_into(page: str, result: Mapping[str, Any]) -> str:
    """The page with the tables of this run.

    Raises:
        LookupError: a marker is missing in the page.
    """
    for name, table in _tables(result).items():
        start, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        before, found, rest = page.partition(start)
        _, closed, after = rest.partition(end)
        if not found or not closed:
            raise LookupError(f"the page has no <!-- {name} --> … <!-- /{name} -->")
        page = f"{before}{start}{table}\n{end}{after}"
    return page


def _tables(result: Mapping[str, Any]) -> dict[str, str]:
    return {
        "rule": "> " + "\n> ".join(textwrap.wrap(RULE, 97)),
        "run": _run(result),
        "rows": _rows({name: result["rows"][name] for name in SHOWN}),
        "final": _rows(result["final"]),
        "stores": _side_by_side(result["stores"]),
        "hits": _side_by_side(_reads(result["hits"])),
        "floats": _side_by_side(_reads(result["floats"])),
        "coded": _coded(result["rows"]),
    }


def _run(result: Mapping[str, Any]) -> str:
    libraries = ", ".join(f"{name} {version}" for name, version in result["libraries"].items())
    return (
        f"Measured {result['measured']}: {result['rounds']} rounds; answers from "
        f"{result['answers']}; {result['machine']}, Python {result['python']}, Redis "
        f"{result['redis']}; {libraries}.\n\n**Winner: `{result['winner']}`.**"
    )


def _rows(rows: Mapping[str, Mapping[str, float]]) -> str:
    slowest = max(row["read"] for row in rows.values())
    largest = max(row["size"] for row in rows.values())
    columns = ("read", "average", "stddev", "write", "size")
    lines = (
        [
            f"`{name}`",
            *(row[column] for column in columns),
            _bar(row["read"] / slowest, 16),
            _bar(row["size"] / largest, 16),
        ]
        for name, row in sorted(rows.items(), key=lambda item: item[1]["read"])
    )
    head = ("serializer", "read: median µs", "average", "stddev", "write: median", "bytes")
    return _table((*head, "median", "size"), lines)


def _side_by_side(columns: Mapping[str, Mapping[str, float]]) -> str:
    lines = ([f"`{name}`", *(values[name] for values in columns.values())] for name in SHOWN)
    return _table(("serializer", *columns), lines)


def _reads(rows: Mapping[str, Mapping[str, Mapping[str, float]]]) -> dict[str, dict[str, float]]:
    return {name: {one: row["read"] for one, row in found.items()} for name, found in rows.items()}


def _coded(rows: Mapping[str, Mapping[str, float]]) -> str:
    lines = (
        [f"`{name}`", row["coded"], row["read"], row["size"]]
        for name, row in rows.items()
        if "coded" in row
    )
    return _table(("serializer", "sent as stored", "decompressed first", "bytes sent"), lines)


def _table(head: Iterable[object], lines: Iterable[Iterable[object]]) -> str:
    names = list(head)
    rule = ["---", *("---:" for _ in names[1:])]
    every: list[Iterable[object]] = [names, rule, *lines]
    return "\n".join(f"| {' | '.join(str(cell) for cell in line)} |" for line in every)


def _bar(share: float, width: int) -> str:
    return "█" * max(round(share * width), 1)
