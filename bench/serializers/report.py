"""Chooses a serializer by a rule, and reports the figures as JSON values and as tables."""

import platform
import statistics
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from bench.results import Table, put_between
from bench.serializers.registry import serializers
from bench.serializers.timing import Cell

Row = dict[str, Any]

JUDGED = "10 hits"
RULE = (
    "Of all serializers but pickle, the one with the shortest median time to read the answer of 10 "
    "hits (from the request to Redis over TCP with hiredis to the bytes of a response that any "
    "client accepts). Those within 25 % of the shortest are measured once more, by themselves and "
    "more often; medians less than a microsecond from the shortest there count as equal, and of "
    "equals the smallest stored wins."
)
"""The rule that `app.cache.answer_cache.SERIALIZER` follows."""
_FAR = 1.25  # times the shortest
_EQUAL = 1.0  # µs

SHOWN = (
    "bytes",
    "bytes+lz4",
    "bytes+zstd",
    "msgspec-msgpack",
    "pickle",
    "orjson",
    "json",
    "bytes+lzma",
)
"""The serializers in the tables; serializers.json has all of them."""
SIZES = ("1 hit", "50 hits", "10 floats", "10000 floats")
"""The workloads of serializers.json that are columns of the table of sizes."""

_LIBRARIES = ("orjson", "ujson", "msgspec", "msgpack", "ormsgpack", "zstandard", "lz4", "brotli")


def contenders(rows: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the serializers to measure again; `rows` have `read` (median, µs)."""
    allowed, shortest = _allowed(rows)
    return [name for name, read in allowed.items() if read <= shortest * _FAR]


def winner(rows: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the winner by the contenders' `read` (median, µs) and `size` (bytes)."""
    allowed, shortest = _allowed(rows)
    equal = [name for name, read in allowed.items() if read < shortest + _EQUAL]
    return min(equal, key=lambda name: (rows[name]["size"], rows[name]["read"]))


def _allowed(rows: Mapping[str, Mapping[str, Any]]) -> tuple[dict[str, float], float]:
    allowed = {
        name: rows[name]["read"]
        for name, serializer in serializers().items()
        if serializer.safe and name in rows
    }
    return allowed, min(allowed.values())


def rows_of(cells: Iterable[Cell], workload: str, store: str) -> dict[str, Row]:
    """Return, by serializer, median, average and stddev to read, median to write (µs), bytes."""
    return {
        cell.serializer.name: {
            "read": round(statistics.median(cell.taken["read"]), 1),
            "average": round(statistics.fmean(cell.taken["read"]), 1),
            "stddev": round(statistics.stdev(cell.taken["read"]), 1),
            "value": round(statistics.median(cell.taken["value"]), 1),
            "write": round(statistics.median(cell.taken["write"]), 1),
            "size": cell.size,
        }
        for cell in cells
        if (cell.workload.name, cell.store_name) == (workload, store)
    }


def surroundings(rounds: int, redis_version: str) -> Row:
    """Return the machine, versions and rounds of a run."""
    return {
        "measured": datetime.now(UTC).date().isoformat(),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "libraries": {name: version(name) for name in (*_LIBRARIES, "redis", "hiredis")},
        "redis": redis_version,
        "rounds": rounds,
        "answers": "searches of the sample posts on Elasticsearch",
    }


def medians(rows: Mapping[str, Row]) -> dict[str, float]:
    """Return the median to read by serializer."""
    return {name: row["read"] for name, row in rows.items()}


def put_into(page: str, result: Mapping[str, Any]) -> str:
    """Return the page with the tables of this run.

    Raises:
        LookupError: a mark is missing in the page.
    """
    for name, table in tables(result).items():
        page = put_between(page, name, table)
    return page


def tables(result: Mapping[str, Any]) -> dict[str, str]:
    """Return the tables of docs/caching.md in Markdown, by the names of their marks."""
    sizes = {**result["hits"], **result["floats"]}
    return {
        "rule": "> " + "\n> ".join(textwrap.wrap(RULE, 97)),
        "run": _run(result),
        "rows": _rows({name: result["rows"][name] for name in SHOWN}),
        "final": _rows(result["final"]),
        "stores": _side_by_side(result["stores"]),
        "sizes": _side_by_side(
            {column: medians(rows) for column, rows in sizes.items() if column in SIZES}
        ),
    }


def _run(result: Mapping[str, Any]) -> str:
    libraries = ", ".join(f"{name} {version}" for name, version in result["libraries"].items())
    return (
        f"Measured {result['measured']}: {result['rounds']} rounds; answers from "
        f"{result['answers']}; {result['machine']}, Python {result['python']}, Redis "
        f"{result['redis']}; {libraries}.\n\n**Winner: `{result['winner']}`.**"
    )


def _rows(rows: Mapping[str, Mapping[str, float]]) -> str:
    columns = ("read", "average", "stddev", "write", "size")
    head = ("serializer", "read: median µs", "average", "stddev", "write: median", "bytes")
    by_read = sorted(rows.items(), key=lambda item: item[1]["read"])
    return _table(head, [[name, *(row[column] for column in columns)] for name, row in by_read])


def _side_by_side(columns: Mapping[str, Mapping[str, float]]) -> str:
    rows = ([name, *(column[name] for column in columns.values())] for name in SHOWN)
    return _table(("serializer", *columns), rows)


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table whose rows begin with the name of a serializer."""
    return Table(head, [[f"`{name}`", *map(str, cells)] for name, *cells in rows]).markdown()
