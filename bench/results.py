"""Formats measurements: percentiles, tables, missed goals, and the report of `make bench`."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass

import click


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells under a header; the first column is text, the others are numbers."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    def markdown(self) -> str:
        lines = [self.header, ["---", *["---:"] * (len(self.header) - 1)], *self.rows]
        return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that a `share` (0 to 1) of the values do not exceed."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def p95(values: Sequence[float]) -> float:
    """Return the 95th percentile."""
    return percentile(values, 0.95)


def echo_row(cells: Sequence[str]) -> None:
    """Print a row of a table."""
    click.echo(f"| {' | '.join(cells)} |")


def echo_header(columns: Sequence[str]) -> None:
    """Print the header of a table."""
    click.echo(Table(columns, []).markdown())


def exit_with(missed: Sequence[str]) -> None:
    """Print the goals that were missed, and exit, with 1 if there are any."""
    click.echo("\nGoals missed: " + ("" if missed else "none"))
    for goal in missed:
        click.echo(f"- {goal}")
    sys.exit(bool(missed))


def put_between(page: str, name: str, text: str) -> str:
    """Return a page with this text between `<!-- name -->` and `<!-- /name -->`.

    Raises:
        LookupError: the page does not have both marks.
    """
    start, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    before, start_found, rest = page.partition(start)
    _, end_found, after = rest.partition(end)
    if not start_found or not end_found:
        raise LookupError(f"the page has no <!-- {name} --> … <!-- /{name} -->")
    return f"{before}{start}{text}\n{end}{after}"
