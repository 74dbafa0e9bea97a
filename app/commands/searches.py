"""`blogsearch searches`: what people search for, what they do not find, and what takes long."""

import json
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click
from rich.table import Table

from app.commands.building import stop_on_sigterm
from app.commands.output import console, table_or_json
from app.commands.tools import CommandGroup, Tools, pass_tools
from app.insights.proposals import proposals
from app.insights.report import Report
from app.synonyms.folder import SynonymFolder
from app.synonyms.loader import Loader

F = TypeVar("F", bound=Callable[..., Any])

_days = click.option(
    "--days",
    default=7,
    show_default=True,
    type=click.IntRange(1, 400),
    help="How many days, today included.",
)
_limit = click.option(
    "--limit",
    default=20,
    show_default=True,
    type=click.IntRange(1, 1000),
    help="How many searches to list.",
)


def _options(command: F) -> F:
    return _days(_limit(table_or_json(command)))


@click.group(cls=CommandGroup)
def searches() -> None:
    """Show what people search for.

    \b
    blogsearch searches top       the most frequent searches
    blogsearch searches nothing   those that found nothing, and what was tried next
    blogsearch searches slow      those that took longest
    blogsearch searches erase Q   delete a search from the counts

    A search is counted a minute after it happened; programs, and visitors who send `DNT: 1` or
    `Sec-GPC: 1`, are not. docs/insights.md says what is stored.

    Exit code 0: done; 1: the counts cannot be read; 2: invalid command line.
    """


@searches.command()
@_options
@pass_tools
def top(tools: Tools, days: int, limit: int, form: str) -> None:
    """List the most frequent searches.

    \b
    blogsearch searches top
    blogsearch searches top --days 30 --limit 100 --format json
    """
    report = _report(tools, days)
    rows = [{"times": times, "query": query} for query, times in report.top[:limit]]
    _print(report, rows, form)


@searches.command()
@_options
@click.option("--propose", is_flag=True, help="Propose synonym rules that pass `synonyms check`.")
@pass_tools
def nothing(tools: Tools, days: int, limit: int, form: str, propose: bool) -> None:
    """List the searches that found nothing, and what the same visitor tried next with success.

    With --propose only rules are printed, one a line, for a file that `synonyms load` takes.

    \b
    blogsearch searches nothing
    blogsearch searches nothing --propose > mine.synonyms
    """
    report = _report(tools, days)
    if not propose:
        rows = [
            {"times": times, "query": query, "then": report.then(query)}
            for query, times in report.nothing[:limit]
        ]
        _print(report, rows, form)
        return
    with stop_on_sigterm():
        loader = Loader(tools.settings, tools.elastic, tools.cache)
        proposed = proposals(report, loader, SynonymFolder.of(tools.settings))[:limit]
    if form == "json":
        body = [
            {"rule": rule.rule, "query": rule.failed, "then": rule.succeeded, "times": rule.times}
            for rule in proposed
        ]
        _echo_json(body)
        return
    for rule in proposed:
        click.echo(rule.rule)
    if not proposed:
        click.echo("There is nothing to propose.", err=True)


@searches.command()
@_options
@pass_tools
def slow(tools: Tools, days: int, limit: int, form: str) -> None:
    """List the searches that took longest, with the most milliseconds that one took.

    \b
    blogsearch searches slow --days 1
    """
    report = _report(tools, days)
    rows = [{"ms": milliseconds, "query": query} for query, milliseconds in report.slow[:limit]]
    _print(report, rows, form)


@searches.command("erase")
@click.argument("query", required=False)
@click.option("--all", "everything", is_flag=True, help="Delete everything that was counted.")
@click.confirmation_option("--yes", prompt="This cannot be undone. Go on?", help="Do not ask.")
@pass_tools
def erase_searches(tools: Tools, query: str | None, everything: bool) -> None:
    """Delete a search, in any case of letters, from the counts of all days.

    \b
    blogsearch searches erase "my name"
    blogsearch searches erase --all
    """
    if bool(query) == everything:
        raise click.UsageError("Give either a query or --all.")
    tools.require_redis()
    deleted = tools.service.counts.erase(query)
    click.echo("Everything is deleted." if everything else f"{deleted} entries are deleted.")


def _report(tools: Tools, days: int) -> Report:
    """The counted searches.

    Raises:
        click.ClickException: nothing is counted, or Redis does not answer.
    """
    if not tools.settings.insights_days:
        raise click.ClickException(
            "Searches are not counted, because BLOGSEARCH_INSIGHTS_DAYS is 0."
        )
    tools.require_redis()
    report = tools.service.counts.report(days)
    if report is None:
        raise click.ClickException("Redis failed while it was read. Run the command again.")
    return report


def _print(report: Report, rows: list[dict[str, Any]], form: str) -> None:
    if form == "json":
        totals = {
            "searches": report.searches,
            "nothing": report.without_hits,
            "cached": report.cached,
        }
        _echo_json({**totals, "queries": rows})
        return
    if not rows:
        click.echo("No searches were counted in this time.")
        return
    table = Table(*rows[0], box=None, pad_edge=False)
    for row in rows:
        table.add_row(*map(_cell, row.values()))
    console().print(table)


def _cell(value: str | float | Iterable[str]) -> str:
    if isinstance(value, int | float):
        return f"{value:,}"
    return value if isinstance(value, str) else ", ".join(value)


def _echo_json(body: Any) -> None:
    click.echo(json.dumps(body, indent=2, ensure_ascii=False))
