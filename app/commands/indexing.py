"""The commands that change what is in the index: build it, add to it, keep it in step."""

import time
from contextlib import suppress
from pathlib import Path

import click
from elasticsearch import ApiError, TransportError
from watchfiles import watch

from analyzers.rules import RuleErrors, read_rules
from app.commands.generations import indices, prune, rollback
from app.commands.outcome import begin_generation, leave, tell_built, tell_orphan
from app.commands.reporting import Rejects, display, rejects
from app.commands.sources import AllowanceType, Reading, reading_options, stoppable
from app.commands.tools import Tools, pass_tools
from app.commands.watched import Watched
from app.elastic import translated
from app.errors import ServiceError
from app.freshness import Freshness
from app.settings import Settings
from app.synonym_folder import SynonymFolder
from indexer.adding import AddOptions
from indexer.adding import add as run_add
from indexer.build import Shape
from indexer.errors import IndexingError, Locked
from indexer.intake import Allowance
from indexer.reindex import Options
from indexer.reindex import reindex as run_reindex
from indexer.sync import Synced, SyncOptions
from indexer.sync import sync as run_sync

__all__ = ["add", "indices", "prune", "reindex", "rollback", "shape_of", "sync"]

_LOCKED = 2.0  # seconds until a watch tries again while somebody else changes the index

_rejects_file = click.option(
    "--rejects",
    "rejects_path",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write every reject there as JSON Lines: source, line, oid, reason, remedy.",
)


@click.command()
@reading_options
@click.option(
    "--max-rejects",
    type=AllowanceType(),
    default="0.5%",
    show_default=True,
    help="When more lines are rejected, nothing is swapped: a share (0.5%) or a number (3).",
)
@_rejects_file
@pass_tools
def reindex(
    tools: Tools,
    reading: Reading,
    max_rejects: Allowance,
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
        options = Options(
            allowance=max_rejects,
            report=show.report,
            part=sources.part,
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
    tell_built(built)
    leave(on_reject)


@click.command()
@reading_options
@click.option(
    "--as-new",
    is_flag=True,
    help="Take every post as changed just now, also over a newer version and over a deletion.",
)
@_rejects_file
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
        options = AddOptions(newest=as_new, report=show.report, part=sources.part)
        elastic, alias = tools.elastic, tools.settings.index
        freshness = Freshness(elastic, tools.cache, alias)
        try:
            added = run_add(elastic, alias, sources.read(), on_reject, options)
        except BaseException:
            # What was sent before is in the index.
            with suppress(ApiError, TransportError, IndexingError):
                freshness.now()
            raise
        freshness.now()
    older = f", {added.older:,} left alone (the index is newer)" if added.older else ""
    click.echo(f"{added.created:,} documents added, {added.updated:,} replaced{older}.")
    leave(on_reject)


@click.command()
@reading_options
@click.option("--force", is_flag=True, help="Remove what is gone at the source, however much.")
@click.option(
    "--watch", "watching", is_flag=True, help="Stay, and sync whenever a file in SOURCE... changes."
)
@_rejects_file
@pass_tools
def sync(
    tools: Tools, reading: Reading, force: bool, watching: bool, rejects_path: Path | None
) -> None:
    """Make the index like SOURCE...: add, change and remove just what differs.

    Fit for cron: two at once lock each other out, and a source that suddenly has no or far fewer
    posts removes nothing. After a change of the synonym rules or of the mapping a new generation is
    built first. Comments that came over HTTP stay, unless the source has comments, too.

    Exit code 0: done; 1: it failed, or removals were held back; 3: done, but some lines were
    rejected.

    \b
    blogsearch sync content/posts
    blogsearch sync content/posts --watch
    blogsearch sync posts.jsonl --force
    """
    with stoppable():
        if watching:
            _watch(tools, reading, force, rejects_path)
            return
        on_reject, synced = _sync(tools, reading, force, rejects_path)
    if synced.held_back:
        raise click.ClickException(
            f"Nothing was removed: {synced.held_back}. Check the source; --force removes them."
        )
    leave(on_reject)


def _sync(
    tools: Tools, reading: Reading, force: bool, rejects_path: Path | None
) -> tuple[Rejects, Synced]:
    with display() as show, rejects(show, rejects_path) as on_reject:
        sources = reading.open(tools.settings)
        options = SyncOptions(
            force=force,
            complete=sources.complete,
            report=show.report,
            part=sources.part,
            purpose=f"sync {reading}",
        )
        shape = shape_of(tools.settings)
        alias = tools.settings.index
        synced = run_sync(tools.elastic, alias, sources.read(), shape, on_reject, options)
        if synced.anything:
            begin_generation(tools, synced.index, synced.rules)
    for orphan in synced.orphans:
        tell_orphan(orphan)
    if synced.built:
        tell_built(synced.built)
    click.echo(
        f"{synced.added:,} documents added, {synced.changed:,} changed, "
        f"{synced.removed:,} removed, {synced.unchanged:,} as they were."
    )
    return on_reject, synced


def _watch(tools: Tools, reading: Reading, force: bool, rejects_path: Path | None) -> None:
    """Sync now, and again after every change, until Ctrl-C."""
    watched = Watched(reading.paths())
    click.echo(f"Watching {reading}; Ctrl-C ends it.", err=True)
    # The first round comes after the watch has begun: a change during it must not be missed.
    due = True
    changes = watch(
        *watched.folders,
        watch_filter=watched,
        debounce=300,
        rust_timeout=500,
        yield_on_timeout=True,
        raise_interrupt=False,
    )
    for found in changes:
        if found or due:
            due = False
            _attempt(tools, reading, force, rejects_path)


def _attempt(tools: Tools, reading: Reading, force: bool, rejects_path: Path | None) -> None:
    """One round; what fails is told, and the watch goes on."""
    while True:
        try:
            with translated():
                _, synced = _sync(tools, reading, force, rejects_path)
        except Locked as error:
            click.echo(f"{error.message} Waiting.", err=True)
            time.sleep(_LOCKED)
        except (ServiceError, IndexingError, RuleErrors) as error:
            click.echo(f"Error: {error}", err=True)
            return
        else:
            if synced.held_back:
                click.echo(f"Nothing was removed: {synced.held_back}.", err=True)
            return


def shape_of(settings: Settings) -> Shape:
    """What the settings say about a new generation.

    Raises:
        RuleErrors: a rule file that cannot be used.
    """
    rules = read_rules(SynonymFolder.of(settings).used())
    return Shape(rules, shards=settings.shards, replicas=settings.replicas)
