"""`blogsearch cache`: figures of the cache, clear it, warm it."""

import dataclasses
import json

import click
from rich.table import Table

from app.cache.stats import Stats, hit_rate
from app.commands.output import console, table_or_json
from app.commands.tools import CommandGroup, Tools, pass_tools
from app.search.request import DEFAULT_SIZE, SearchRequest

_DEFAULTS = {("page", "1"), ("size", str(DEFAULT_SIZE))}


@click.group(cls=CommandGroup)
def cache() -> None:
    """Show, clear and warm the cache of answers in Redis.

    \b
    blogsearch cache stats     hit rate, memory, sizes, most frequent queries
    blogsearch cache warm      compute the answers to the most frequent queries
    blogsearch cache clear     delete all cached answers
    """


@cache.command()
@click.option(
    "--popular",
    default=10,
    show_default=True,
    type=click.IntRange(min=0),
    help="How many queries to list.",
)
@table_or_json
@pass_tools
def stats(tools: Tools, popular: int, form: str) -> None:
    """Show how often the cache had the answer, and how much memory it takes.

    \b
    blogsearch cache stats
    blogsearch cache stats --popular 50 --format json
    """
    tools.require_redis()
    report = tools.cache.stats()
    states = tools.service.search_log.states()
    frequent = tools.service.search_log.popular(popular)
    if form == "json":
        listed = [(request.key(), count) for request, count in frequent]
        counts = {"searches": states, "popular": listed, "hit_rate": hit_rate(states)}
        whole = {**dataclasses.asdict(report), **counts}
        click.echo(json.dumps(whole, indent=2, ensure_ascii=False))
        return
    _print(report, states, frequent)


@cache.command()
@click.confirmation_option(prompt="Delete all cached answers?", help="Do not ask for confirmation.")
@pass_tools
def clear(tools: Tools) -> None:
    """Delete all cached answers; the next searches are answered by Elasticsearch.

    Not needed after a change: a swap, a changed document and new synonym rules make older answers
    stale.

    \b
    blogsearch cache clear --yes
    """
    tools.require_redis()
    deleted = tools.cache.clear()
    if deleted is None:
        raise click.ClickException(
            "Redis failed before all answers were deleted. Run the command again."
        )
    click.echo(f"{deleted} answers deleted.")


@cache.command()
@click.option(
    "--at-most",
    default=100,
    show_default=True,
    type=click.IntRange(min=0),
    help="How many queries to answer.",
)
@pass_tools
def warm(tools: Tools, at_most: int) -> None:
    """Compute and cache the answers to the most frequent queries of the last week.

    `blogsearch reindex` does the same after a swap.

    \b
    blogsearch cache warm
    blogsearch cache warm --at-most 1000
    """
    tools.require_redis()
    warmed = tools.service.warm(at_most=at_most)
    click.echo(f"{warmed.answered} queries answered.")
    if warmed.failed:
        raise click.ClickException(
            f"{warmed.failed} queries could not be answered; `blogsearch doctor` may say why."
        )


def _print(
    figures: Stats, states: dict[str, int], popular: list[tuple[SearchRequest, float]]
) -> None:
    out = console()
    share = hit_rate(states)
    rate = "-" if share is None else f"{share:.1%}"
    shown = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
    sizes = figures.sizes
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_row("generation", figures.generation or "none yet")
    table.add_row("hit rate", f"{rate} ({shown or 'no searches yet'})")
    table.add_row("answers", f"{sizes.get('count', 0)}, {_bytes(sizes.get('total', 0))}")
    table.add_row(
        "sizes",
        f"median {_bytes(sizes.get('median', 0))}, largest {_bytes(sizes.get('largest', 0))}",
    )
    limit = figures.memory.get("maxmemory")
    used = _bytes(figures.memory.get("used_memory", 0))
    table.add_row("Redis in all", f"{used} of {_bytes(limit) if limit else 'no limit'}")
    out.print(table)
    if popular:
        out.print(_popular(popular))


def _popular(popular: list[tuple[SearchRequest, float]]) -> Table:
    table = Table("times", "query", box=None, pad_edge=False)
    for request, count in popular:
        chosen = (f"{name}={value}" for name, value in request.parameters() if name != "q")
        table.add_row(f"{count:.1f}", " ".join([request.q, *chosen]))
    return table


def _bytes(count: float) -> str:
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"
