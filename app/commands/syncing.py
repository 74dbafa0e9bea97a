"""`blogsearch sync`: once, or again after every change."""

import time
from collections.abc import Sequence
from pathlib import Path

import click

from app.commands.building import (
    after_swap,
    begin_cache_generation,
    index_settings,
    print_built,
    print_stale_builds,
    run_on,
    stop_on_sigterm,
)
from app.commands.reporting import RejectLog, exit_if_rejected
from app.commands.sources import SourceArguments, rejects_option, source_options
from app.commands.tools import Tools, pass_tools
from app.elastic import translated
from app.errors import BlogsearchError
from indexer.errors import Locked
from indexer.sync.sync import SyncResult, preview
from indexer.sync.sync import sync as run_sync

_MANY = 1_000  # posts, of which parsing takes about a second
_RETRY_LOCK = 2.0  # seconds until --watch tries again while another process holds the lock


@click.command()
@source_options
@click.option("--force", is_flag=True, help="Remove what SOURCE... lacks, however much it is.")
@click.option(
    "--watch", "watching", is_flag=True, help="Keep running, and sync after every change of a file."
)
@click.option("--dry-run", is_flag=True, help="Print what would be done, and write nothing.")
@rejects_option
@pass_tools
def sync(
    tools: Tools,
    sources: SourceArguments,
    force: bool,
    watching: bool,
    dry_run: bool,
    rejects_path: Path | None,
) -> None:
    """Make the live index equal to SOURCE...: add, change and remove what differs.

    Suitable for cron: only one runs at a time, and a source without posts, or with far fewer than
    the index, removes nothing. If the synonym rules or the mapping have changed, a new generation
    is built first. Comments that came over HTTP stay as long as their post.

    Exit code 0: done; 1: it failed, or removals were withheld; 3: done, but some lines were
    rejected.

    \b
    blogsearch sync content/posts
    blogsearch sync content/posts --watch
    blogsearch sync content/posts --dry-run
    blogsearch sync posts.jsonl --force
    """
    if dry_run:
        if watching:
            raise click.UsageError("--dry-run and --watch exclude each other.")
        _preview(tools, sources, force, rejects_path)
        return
    if watching:
        with stop_on_sigterm():
            _watch(tools, sources, force, rejects_path)
        return
    rejects, result = _sync(tools, sources, force, rejects_path)
    if result.removals_withheld:
        raise click.ClickException(
            f"Nothing was removed: {result.removals_withheld}. Check the source, or use --force "
            "to remove them."
        )
    exit_if_rejected(rejects)


def _preview(
    tools: Tools, sources: SourceArguments, force: bool, rejects_path: Path | None
) -> None:
    """Print what a sync would do: a line for each document, then the numbers."""
    with run_on(tools, "sync", sources, rejects_path, writes=False, force=force) as run:
        result = preview(
            tools.elastic,
            tools.settings.index,
            run.sources.read,
            index_settings(tools.settings),
            run.rejects,
            run.options,
        )
    run.sources.print_skipped()
    if result.builds:
        click.echo(
            "A new generation would be built first: the synonym rules, the language or the "
            "version has changed.",
            err=True,
        )
    names = {"add": result.added, "change": result.changed, "remove": result.removed}
    for verb in names:
        for name in names[verb]:
            click.echo(f"{verb:8}{name}")
    click.echo(
        f"{len(result.added):,} documents would be added, {len(result.changed):,} changed, "
        f"{len(result.removed):,} removed, {result.unchanged:,} unchanged."
    )
    if result.removals_withheld:
        raise click.ClickException(
            f"Nothing would be removed: {result.removals_withheld}. --force removes them."
        )
    exit_if_rejected(run.rejects)


def _sync(
    tools: Tools, sources: SourceArguments, force: bool, rejects_path: Path | None
) -> tuple[RejectLog, SyncResult]:
    with run_on(tools, "sync", sources, rejects_path, force=force) as run:
        result = run_sync(
            tools.elastic,
            tools.settings.index,
            run.sources.read,
            index_settings(tools.settings),
            run.rejects,
            run.options,
        )
        run.succeeded = not result.removals_withheld
        if result.changed_anything:
            begin_cache_generation(tools, result.index, result.rules)
    run.sources.print_skipped()
    print_stale_builds(result.stale_builds)
    if result.built:
        print_built(result.built)
        after_swap(tools)
    if result.rolled_back_from:
        click.echo(
            f"{result.index} was not rebuilt with the current synonym rules, because they are "
            f"those of {result.rolled_back_from}, from which it was rolled back. "
            "`blogsearch rollback` or `blogsearch synonyms load` applies them.",
            err=True,
        )
    click.echo(
        f"{result.added:,} documents added, {result.changed:,} changed, "
        f"{result.removed:,} removed, {result.unchanged:,} unchanged."
    )
    if result.parsed >= _MANY:
        click.echo(
            f"{result.parsed:,} unchanged posts had to be parsed: another version indexed them, or "
            "only their form has changed. `blogsearch reindex` makes the next sync faster.",
            err=True,
        )
    return run.rejects, result


def _watch(tools: Tools, sources: SourceArguments, force: bool, rejects_path: Path | None) -> None:
    """Sync now and after every change, until Ctrl-C."""
    try:
        from watchfiles import Change, DefaultFilter, watch
    except ImportError:
        raise click.ClickException(
            "--watch needs the package watchfiles. Run `pip install '.[watch]'` in the folder of "
            "the repository."
        ) from None

    paths = sources.paths()
    without_temporary_files = DefaultFilter()

    def is_watched(change: Change, changed: str) -> bool:
        return concerns(paths, Path(changed)) and without_temporary_files(change, changed)

    click.echo(f"Watching {sources}; press Ctrl-C to stop.", err=True)
    # The first sync starts after the watch, so that a change during it is not missed.
    first = True
    for changes in watch(
        *watched_folders(paths),
        watch_filter=is_watched,
        debounce=300,
        rust_timeout=500,
        yield_on_timeout=True,
        raise_interrupt=False,
    ):
        if changes or first:
            first = False
            _sync_until_unlocked(tools, sources, force, rejects_path)


def watched_folders(paths: Sequence[Path]) -> list[Path]:
    """The folders to watch for changes of some files and folders.

    A file is watched through its folder: many editors write a new file and rename it, and a watch
    on the file itself would follow the old one.
    """
    return sorted({path if path.is_dir() else path.parent for path in paths})


def concerns(paths: Sequence[Path], changed: Path) -> bool:
    """Whether a changed file is one of the paths, or inside one of them."""
    return any(changed == path or path in changed.parents for path in paths)


def _sync_until_unlocked(
    tools: Tools, sources: SourceArguments, force: bool, rejects_path: Path | None
) -> None:
    """One sync; an error is printed, and the watch goes on."""
    while True:
        try:
            with translated():
                _, result = _sync(tools, sources, force, rejects_path)
        except Locked as error:
            click.echo(f"{error.message} Waiting.", err=True)
            time.sleep(_RETRY_LOCK)
        except BlogsearchError as error:
            click.echo(f"Error: {error}", err=True)
            return
        else:
            if result.removals_withheld:
                click.echo(f"Nothing was removed: {result.removals_withheld}.", err=True)
            return
