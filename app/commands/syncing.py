"""`blogsearch sync`: once, or again after every change."""

import time
from pathlib import Path

import click

from analyzers.rules import RuleErrors
from app.commands.options import reading_options, rejects_option, shape_of, stoppable
from app.commands.outcome import begin_generation, leave, tell_built, tell_orphan
from app.commands.reporting import Rejects, display, rejects
from app.commands.sources import Reading
from app.commands.tools import Tools, pass_tools
from app.elastic import translated
from app.errors import ServiceError
from indexer.errors import IndexingError, Locked
from indexer.sync.sync import SyncOptions, SyncResult
from indexer.sync.sync import sync as run_sync

_LOCKED = 2.0  # seconds until a watch tries again while somebody else changes the index


@click.command()
@reading_options
@click.option("--force", is_flag=True, help="Remove what is gone at the source, however much.")
@click.option(
    "--watch", "watching", is_flag=True, help="Stay, and sync whenever a file in SOURCE... changes."
)
@rejects_option
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
    if synced.removals_withheld:
        raise click.ClickException(
            f"Nothing was removed: {synced.removals_withheld}. Check the source, or remove them "
            "with --force."
        )
    leave(on_reject)


def _sync(
    tools: Tools, reading: Reading, force: bool, rejects_path: Path | None
) -> tuple[Rejects, SyncResult]:
    with display() as show, rejects(show, rejects_path) as on_reject:
        sources = reading.open(tools.settings)
        options = SyncOptions(
            force=force,
            complete=sources.complete,
            on_progress=show.report,
            fraction_read=sources.part,
            purpose=f"sync {reading}",
        )
        shape = shape_of(tools.settings)
        alias = tools.settings.index
        synced = run_sync(tools.elastic, alias, sources.read(), shape, on_reject, options)
        if synced.changed_anything:
            begin_generation(tools, synced.index, synced.rules)
    for orphan in synced.stale_builds:
        tell_orphan(orphan)
    if synced.built:
        tell_built(tools, synced.built)
    click.echo(
        f"{synced.added:,} documents added, {synced.changed:,} changed, "
        f"{synced.removed:,} removed, {synced.unchanged:,} as they were."
    )
    return on_reject, synced


def _watch(tools: Tools, reading: Reading, force: bool, rejects_path: Path | None) -> None:
    """Sync now, and again after every change, until Ctrl-C."""
    try:
        from watchfiles import watch
    except ImportError:
        raise click.ClickException(
            "--watch needs the Python package watchfiles; run pip install 'blogsearch[watch]'."
        ) from None
    from app.commands.watched import Watched

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
            if synced.removals_withheld:
                click.echo(f"Nothing was removed: {synced.removals_withheld}.", err=True)
            return
