"""`make bench-serializers`: which serializer makes a cached answer quickest to read?

Measures every serializer and compressor on real answers and on lists of floats, in Redis over TCP
and a unix socket, with hiredis and without, in memcached and in a dictionary. docs/caching.md has
the results. It starts servers of its own; the answers need ELASTICSEARCH_URL.
"""

import json
from pathlib import Path
from typing import Any

import click

from bench.serializers.answers import Workload, answers, floats
from bench.serializers.registry import serializers
from bench.serializers.report import (
    JUDGED,
    RULE,
    contenders,
    medians_of,
    put_into,
    rows_of,
    surroundings,
    tables,
    winner,
)
from bench.serializers.timing import TCP, WARM_UP, Cell, Store, measure, stores

_REPOSITORY = Path(__file__).resolve().parents[2]
_DOCS = _REPOSITORY / "docs"
_AGAIN = 20  # times a round


@click.command()
@click.option("--rounds", default=80, show_default=True, help="Times each operation is measured.")
@click.option("--quick", is_flag=True, help="9 rounds, to see that it runs; no figures to quote.")
@click.option("--publish", is_flag=True, help="Write the figures and the tables in docs/.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=_REPOSITORY / "build",
    help="Where serializers.json goes otherwise.",
)
def main(rounds: int, quick: bool, publish: bool, out: Path) -> None:
    """Measure the serializers; about five minutes."""
    rounds = 9 if quick else rounds
    workloads = answers()
    click.echo(f"{rounds} rounds, and {WARM_UP} to warm up.")
    with stores() as every:
        if "memcached tcp" not in every:
            click.echo("memcached: not found, left out.")
        cells = _cells(workloads, floats(), every)
        measure(cells, rounds, lambda nth: _tell(nth, rounds + WARM_UP))
        final = _final(cells)
        measure(final, rounds, lambda nth: None)
    result = _result(cells, workloads, list(every), rounds)
    result["final"] = rows_of(final, JUDGED, TCP)
    result["winner"] = winner(result["final"])
    folder = _DOCS if publish else out
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(result, indent=1, ensure_ascii=False)
    (folder / "serializers.json").write_text(f"{text}\n", "utf-8")
    if publish:
        page = _DOCS / "caching.md"
        page.write_text(put_into(page.read_text("utf-8"), result), "utf-8")
    for name, table in tables(result).items():
        click.echo(f"\n{name}\n\n{table}")
    click.echo(f"\nWritten: {folder / 'serializers.json'}")


def _cells(workloads: list[Workload], lists: list[Workload], every: dict[str, Store]) -> list[Cell]:
    """Answers in every store; floats over TCP only, as in the benchmark of 2017."""
    kinds = serializers().values()
    cells = [
        Cell(serializer, workload, name, store)
        for serializer in kinds
        for workload in workloads
        for name, store in every.items()
    ]
    return cells + [
        Cell(serializer, workload, TCP, every[TCP]) for serializer in kinds for workload in lists
    ]


def _final(cells: list[Cell]) -> list[Cell]:
    """The quickest once more, without the noise of 3,000 other operations."""
    chosen = contenders(rows_of(cells, JUDGED, TCP))
    return [
        Cell(cell.serializer, cell.workload, cell.store_name, cell.store, visits=_AGAIN)
        for cell in cells
        if (cell.workload.name, cell.store_name) == (JUDGED, TCP) and cell.serializer.name in chosen
    ]


def _tell(nth: int, rounds: int) -> None:
    if (nth + 1) % 10 == 0:
        click.echo(f"round {nth + 1} of {rounds}")


def _result(
    cells: list[Cell], workloads: list[Workload], names: list[str], rounds: int
) -> dict[str, Any]:
    return {
        **surroundings(rounds),
        "rule": RULE,
        "rows": rows_of(cells, JUDGED, TCP),
        "stores": {name: medians_of(cells, JUDGED, name) for name in names},
        "hits": {
            workload.name: rows_of(cells, workload.name, TCP)
            for workload in workloads
            if workload.name != JUDGED
        },
        "floats": {workload.name: rows_of(cells, workload.name, TCP) for workload in floats()},
    }


if __name__ == "__main__":
    main()
