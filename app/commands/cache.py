"""`blogsearch cache`: how it is doing, empty it, fill it."""

import dataclasses
import json
from urllib.parse import parse_qsl

import click
from rich.table import Table

from app.cache.stats import Stats
from app.cache.through import warm as warm_up
from app.commands.output import console, without_password
from app.commands.tools import CommandGroup, Tools, pass_tools
from app.search.request import DEFAULT_SIZE

_DEFAULTS = {("page", "1"), ("size", str(DEFAULT_SIZE))}


@click.group(cls=CommandGroup)
def cache() -> None:
    """The kept answers in Redis.

    \b
    blogsearch cache stats     hit rate, memory, sizes, most frequent searches
    blogsearch cache warm      ask the most frequent searches again
    blogsearch cache clear     drop all kept answers
    """


@cache.command()
@click.option(
    "--popular",
    default=10,
    show_default=True,
    type=click.IntRange(min=0),
    help="How many searches to list.",
)
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table")
@pass_tools
def stats(tools: Tools, popular: int, form: str) -> None:
    """How often the cache had the answer, and what it takes up.

    \b
    blogsearch cache stats
    blogsearch cache stats --popular 50 --format json
    """
    _reachable(tools)
    found = tools.cache.stats(popular=popular)
    if form == "json":
        whole = {**dataclasses.asdict(found), "hit_rate": found.hit_rate}
        click.echo(json.dumps(whole, indent=2, ensure_ascii=False))
        return
    _print(found)


@cache.command()
@click.confirmation_option(prompt="Drop all kept answers?", help="Do not ask.")
@pass_tools
def clear(tools: Tools) -> None:
    """Drop all kept answers; visitors then wait for Elasticsearch again.

    Never needed after a change: a swap, a changed document and new synonym rules put older answers
    out of reach by themselves.

    \b
    blogsearch cache clear --yes
    """
    _reachable(tools)
    gone = tools.cache.clear()
    if gone is None:
        raise click.ClickException("Redis went away in the middle; some answers may be left.")
    click.echo(f"{gone} answers dropped.")


@cache.command()
@click.option(
    "--at-most",
    default=100,
    show_default=True,
    type=click.IntRange(min=0),
    help="How many searches to ask.",
)
@pass_tools
def warm(tools: Tools, at_most: int) -> None:
    """Ask the most frequent searches of the last week, so that their answers are kept.

    Runs by itself after `blogsearch reindex` has swapped.

    \b
    blogsearch cache warm
    blogsearch cache warm --at-most 1000
    """
    _reachable(tools)
    done = warm_up(tools.cache, tools.elastic, tools.settings, at_most=at_most)
    click.echo(f"{done.asked} searches asked.")
    if done.failed:
        raise click.ClickException(
            f"{done.failed} could not be answered; `blogsearch doctor` says what is missing."
        )


def _reachable(tools: Tools) -> None:
    if not tools.settings.redis_url:
        raise click.ClickException("There is no cache: REDIS_URL is empty.")
    if tools.cache.ping() is None:
        raise click.ClickException(
            f"Redis does not answer at {without_password(tools.settings.redis_url)}. "
            "Start it, or check REDIS_URL."
        )


def _print(found: Stats) -> None:
    out = console()
    rate = "-" if found.hit_rate is None else f"{found.hit_rate:.1%}"
    states = ", ".join(f"{count} {state}" for state, count in sorted(found.searches.items()))
    sizes = found.sizes
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_row("generation", found.generation or "none yet")
    table.add_row("hit rate", f"{rate} ({states or 'no searches yet'})")
    table.add_row("answers", f"{sizes.get('count', 0)}, {_bytes(sizes.get('total', 0))}")
    table.add_row(
        "sizes",
        f"median {_bytes(sizes.get('median', 0))}, largest {_bytes(sizes.get('largest', 0))}",
    )
    limit = found.memory.get("maxmemory")
    used = _bytes(found.memory.get("used_memory", 0))
    table.add_row("Redis in all", f"{used} of {_bytes(limit) if limit else 'no limit'}")
    out.print(table)
    if found.popular:
        out.print(_popular(found.popular))


def _popular(popular: list[tuple[str, float]]) -> Table:
    table = Table("times", "search", box=None, pad_edge=False)
    for query, count in popular:
        shown = " ".join(
            value if name == "q" else f"{name}={value}"
            for name, value in parse_qsl(query)
            if (name, value) not in _DEFAULTS
        )
        table.add_row(f"{count:.1f}", shown or query)
    return table


def _bytes(count: float) -> str:
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"
