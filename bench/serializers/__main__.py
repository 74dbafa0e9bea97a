"""Implements `make bench-serializers`: finds the serializer whose cached answers read fastest.

Measures every serializer and compressor on real answers and on lists of floats, in Redis over TCP
and a unix socket, with hiredis and without, in memcached and in a dictionary. docs/caching.md has
the results. Starts its own servers; the answers need ELASTICSEARCH_URL.
"""

import json
import random
from typing import Any

import click
import requests

from bench.relevance import SAMPLE
from bench.serializers.registry import serializers
from bench.serializers.report import (
    JUDGED,
    RULE,
    contenders,
    medians,
    put_into,
    rows_of,
    surroundings,
    tables,
    winner,
)
from bench.serializers.timing import TCP, WARM_UP, Cell, Store, Workload, measure, stores
from bench.service import get_search, indexed, serving
from devstack.servers import REPOSITORY

_DOCS = REPOSITORY / "docs"
_AGAIN = 20  # visits per round in the final
_HITS = (1, 10, 50)
_FLOATS = (10, 100, 1_000, 10_000)
# Tried in this order until one has enough hits: from a usual search to a word in most posts.
_QUERIES = ("pythn", "date format", "people", "what", "which", "have")


def floats() -> list[Workload]:
    """Return lists of random floats as in a benchmark of 2017, the same ones each time."""
    source = random.Random(2017)
    return [
        Workload(f"{count} floats", [source.random() for _ in range(count)], False)
        for count in _FLOATS
    ]


def answers() -> list[Workload]:
    """Return answers with 1, 10 and 50 hits, from searches of the sample posts."""
    workloads = []
    with (
        indexed(SAMPLE[0]) as alias,
        serving(alias) as served,
        requests.Session() as session,
    ):
        for hits in _HITS:
            bodies = (get_search(session, served.url, q, hits) for q in _QUERIES)
            body = next(body for body in bodies if len(body["hits"]) == hits)
            workloads.append(Workload("1 hit" if hits == 1 else f"{hits} hits", body, True))
    return workloads


@click.command()
@click.option("--quick", is_flag=True, help="9 rounds, to see that it runs; no figures to quote.")
@click.option("--publish", is_flag=True, help="Write the figures and the tables in docs/.")
def main(quick: bool, publish: bool) -> None:
    """Measure the serializers; about five minutes."""
    rounds = 9 if quick else 80
    hits, lists = answers(), floats()
    click.echo(f"{rounds} rounds, and {WARM_UP} to warm up.")
    with stores() as (every, redis_version):
        if "memcached tcp" not in every:
            click.echo("memcached: not found, left out.")
        cells = _cells(hits, lists, every)
        measure(cells, rounds)
        rows = rows_of(cells, JUDGED, TCP)
        final = _final(cells, contenders(rows))
        measure(final, rounds)
    result: dict[str, Any] = {
        **surroundings(rounds, redis_version),
        "rule": RULE,
        "rows": rows,
        "stores": {name: medians(rows_of(cells, JUDGED, name)) for name in every},
        "hits": {
            workload.name: rows_of(cells, workload.name, TCP)
            for workload in hits
            if workload.name != JUDGED
        },
        "floats": {workload.name: rows_of(cells, workload.name, TCP) for workload in lists},
        "final": rows_of(final, JUDGED, TCP),
    }
    result["winner"] = winner(result["final"])
    folder = _DOCS if publish else REPOSITORY / "build"
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(result, indent=1, ensure_ascii=False)
    (folder / "serializers.json").write_text(f"{text}\n", "utf-8")
    if publish:
        page = _DOCS / "caching.md"
        page.write_text(put_into(page.read_text("utf-8"), result), "utf-8")
    for name, table in tables(result).items():
        click.echo(f"\n{name}\n\n{table}")
    click.echo(f"\nWritten: {folder / 'serializers.json'}")


def _cells(hits: list[Workload], lists: list[Workload], every: dict[str, Store]) -> list[Cell]:
    """Return cells for answers in every store, and for floats only over TCP, as in 2017."""
    places = [(workload, name) for workload in hits for name in every]
    places += [(workload, TCP) for workload in lists]
    return [
        Cell(serializer, workload, name, every[name])
        for serializer in serializers().values()
        for workload, name in places
    ]


def _final(cells: list[Cell], chosen: list[str]) -> list[Cell]:
    """Return cells to measure the fastest again, without the noise of 3,000 other operations."""
    return [
        Cell(cell.serializer, cell.workload, cell.store_name, cell.store, visits=_AGAIN)
        for cell in cells
        if (cell.workload.name, cell.store_name) == (JUDGED, TCP) and cell.serializer.name in chosen
    ]


if __name__ == "__main__":
    main()
