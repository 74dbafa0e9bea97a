"""What an indexing command says at its end, and its exit code."""

import click

from app.cache.through import AFTER_A_SWAP, warm
from app.commands.reporting import Rejects
from app.commands.tidying import tidy
from app.commands.tools import Tools
from indexer.build.builder import Built

SOME_REJECTED = 3
"""Exit code: done, but something was rejected."""


def begin_generation(tools: Tools, index: str, rules: str) -> None:
    """Make every answer from before unreachable, or say that it could not be done."""
    if not tools.cache.new_generation(index, rules) and tools.cache.keeps:
        tell_unnoted()


def tell_unnoted() -> None:
    """Redis knows nothing of what was written."""
    click.echo(
        "Redis did not take note: answers from before may be seen until they expire "
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
    """Ask the most frequent searches, so that visitors find them kept; delete what is too old."""
    warmed = warm(tools.cache, tools.elastic, tools.settings, seconds=AFTER_A_SWAP)
    if warmed.asked:
        click.echo(f"The {warmed.asked:,} most frequent searches are kept anew.")
    tidy(tools)


def tell_orphan(name: str) -> None:
    """A generation that was half built is gone."""
    click.echo(f"Removed {name}, left over from a build that was killed.")


def leave(on_reject: Rejects) -> None:
    """End with `SOME_REJECTED` if that is so."""
    if on_reject.count:
        click.echo(f"{on_reject.count:,} were rejected.", err=True)
        click.get_current_context().exit(SOME_REJECTED)
