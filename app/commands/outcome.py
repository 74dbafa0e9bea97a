"""What an indexing command says at its end, and its exit code."""

import click

from app.commands.reporting import Rejects
from app.commands.tidying import tidy
from app.commands.tools import Tools
from app.service import WARM_AFTER_SWAP
from indexer.build.builder import Built

SOME_REJECTED = 3
"""Exit code: done, but something was rejected."""


def begin_generation(tools: Tools, index: str, rules: str) -> None:
    """Make older answers stale, or say that Redis did not take it."""
    if not tools.cache.new_generation(index, rules) and tools.cache.configured:
        tell_unnoted()


def tell_unnoted() -> None:
    """Say that Redis did not take a new generation."""
    click.echo(
        "Redis could not be updated: older answers may be served until they expire "
        "(BLOGSEARCH_CACHE_TTL).",
        err=True,
    )


def tell_built(tools: Tools, built: Built) -> None:
    """Which generation is live now, and what it took; then what follows a swap."""
    for orphan in built.stale_builds:
        tell_orphan(orphan)
    carried = f", {built.replayed:,} writes carried over" if built.replayed else ""
    was = f"; {built.previous} is kept for `blogsearch rollback`" if built.previous else ""
    click.echo(f"{built.index} is live: {built.counts}{carried}, in {built.seconds:.1f} s{was}.")
    after_swap(tools)


def after_swap(tools: Tools) -> None:
    """Warm the cache with the most frequent queries, and delete old generations."""
    warmed = tools.service.warm(seconds=WARM_AFTER_SWAP)
    if warmed.answered:
        click.echo(f"The answers to the {warmed.answered:,} most frequent queries are cached.")
    tidy(tools)


def tell_orphan(name: str) -> None:
    """A generation that was half built is gone."""
    click.echo(f"Removed {name}, left over from a build that was killed.")


def leave(on_reject: Rejects) -> None:
    """End with `SOME_REJECTED` if that is so."""
    if on_reject.count:
        click.echo(f"{on_reject.count:,} were rejected.", err=True)
        click.get_current_context().exit(SOME_REJECTED)
