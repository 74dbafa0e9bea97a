"""The figures of a run as tables, put between the markers in docs/caching.md."""

import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

from bench.serializer_rule import RULE

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

_BAR = 16  # characters


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
        "hashes": _hashes(result["hashes"]),
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
            _bar(row["read"] / slowest),
            _bar(row["size"] / largest),
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


def _hashes(ways: Iterable[Mapping[str, Any]]) -> str:
    lines = (
        [way["name"], f"{way['payload']:.0f}", f"{way['bytes_each']:.0f}", f"{way['read']:.1f}"]
        for way in ways
    )
    return _table(("", "bytes of an answer", "memory it takes", "read: median µs"), lines)


def _table(head: Iterable[object], lines: Iterable[Iterable[object]]) -> str:
    names = list(head)
    rule = ["---", *("---:" for _ in names[1:])]
    every: list[Iterable[object]] = [names, rule, *lines]
    return "\n".join(f"| {' | '.join(str(cell) for cell in line)} |" for line in every)


def _bar(share: float) -> str:
    return "█" * max(round(share * _BAR), 1)
