"""The commands that change what is in the index: `reindex` and `add`; `sync` stands beside them."""

from contextlib import suppress
from pathlib import Path

import click
from elasticsearch import ApiError, TransportError

from app.commands.generations import indices, prune, rollback
from app.commands.options import AllowanceType, reading_options, rejects_option, shape_of, stoppable
from app.commands.outcome import begin_generation, leave, tell_built, tell_unnoted
from app.commands.reporting import display, rejects
from app.commands.sources import Reading
from app.commands.syncing import sync
from app.commands.tools import Tools, pass_tools
from app.freshness import Freshness
from indexer.build.reindex import ReindexOptions
from indexer.build.reindex import reindex as run_reindex
from indexer.errors import IndexingError
from indexer.ingest import MaxRejects
from indexer.sync.add import AddOptions
from indexer.sync.add import add as run_add

__all__ = ["add", "indices", "prune", "reindex", "rollback", "sync"]


@click.command()
@reading_options
@click.option(
    "--max-rejects",
    type=AllowanceType(),
    default="0.5%",
    show_default=True,
    help="When more lines are rejected, nothing is swapped: a share (0.5%) or a number (3).",
)
@rejects_option
@pass_tools
def reindex(
    tools: Tools,
    reading: Reading,
    max_rejects: MaxRejects,
    rejects_path: Path | None,
) -> None:
    """Build the index anew from SOURCE... and make it live.

    The new generation is built beside the live one, checked, and swapped in; searches go on
    throughout, and what is written over HTTP meanwhile is in it. Posts that are in the live index
    but not in SOURCE... are not; `sync` keeps comments that came over HTTP.

    Exit code 0: done; 1: nothing was changed; 3: done, but some lines were rejected.

    \b
    blogsearch reindex posts.jsonl
    blogsearch reindex content/posts --url-template '/{year}/{slug}/'
    zcat posts.jsonl.gz | blogsearch reindex -
    blogsearch reindex posts.jsonl --max-rejects 2% --rejects rejects.jsonl
    """
    with stoppable(), display() as show, rejects(show, rejects_path) as on_reject:
        sources = reading.open(tools.settings)
        options = ReindexOptions(
            max_rejects=max_rejects,
            on_progress=show.report,
            fraction_read=sources.part,
            purpose=f"reindex {reading}",
        )
        built = run_reindex(
            tools.elastic,
            tools.settings.index,
            sources.read(),
            shape_of(tools.settings),
            on_reject,
            options,
        )
        begin_generation(tools, built.index, built.rules)
    tell_built(tools, built)
    leave(on_reject)


@click.command()
@reading_options
@click.option(
    "--as-new",
    is_flag=True,
    help="Take every post as changed just now, also over a newer version and over a deletion.",
)
@rejects_option
@pass_tools
def add(tools: Tools, reading: Reading, as_new: bool, rejects_path: Path | None) -> None:
    """Add the posts of SOURCE... to the live index, and replace those that are there.

    Nothing is removed. A post is as old as its `modified`, or else its `pub_date`; an older one
    never overwrites a newer one.

    Exit code 0: done; 1: it failed; 3: done, but some lines were rejected.

    \b
    blogsearch add new-posts.jsonl
    blogsearch add content/posts/today.md
    """
    with stoppable(), display() as show, rejects(show, rejects_path) as on_reject:
        sources = reading.open(tools.settings)
        options = AddOptions(newest=as_new, on_progress=show.report, fraction_read=sources.part)
        elastic, alias = tools.elastic, tools.settings.index
        freshness = Freshness(elastic, tools.cache, alias)
        try:
            added = run_add(elastic, alias, sources.read(), on_reject, options)
        except BaseException:
            # What was sent before is in the index.
            with suppress(ApiError, TransportError, IndexingError):
                freshness.now()
            raise
        if not freshness.now():
            tell_unnoted()
    older = f", {added.older:,} left alone (the index is newer)" if added.older else ""
    click.echo(f"{added.created:,} documents added, {added.updated:,} replaced{older}.")
    leave(on_reject)
