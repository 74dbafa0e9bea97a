"""The commands that write to the index, and those for its generations."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from app.commands.runs import (
    RejectLog,
    after_swap,
    display,
    exit_if_rejected,
    print_built,
    print_stale_builds,
    run_on,
    updates_cache_on_failure,
)
from app.commands.sources import SourceArguments, rejects_option, source_options
from app.commands.tools import (
    Tools,
    number_option,
    pass_tools,
    print_json,
    print_table,
    stop_on_sigterm,
    table_or_json,
)
from app.elastic import is_starting, translated
from app.errors import BlogsearchError
from app.meaning import open_model
from app.synonyms.loader import index_settings
from indexer import SCHEMA, generations
from indexer.build.builder import is_current, rolled_back_from
from indexer.build.builder import rebuild as run_rebuild
from indexer.build.builder import reindex as run_reindex
from indexer.build.rollback import rollback as run_rollback
from indexer.errors import Locked
from indexer.fetch import shown
from indexer.generations import Generation, list_generations
from indexer.generations import damage as damage_of
from indexer.generations import live as find_live
from indexer.ingest import MaxRejects
from indexer.lock import Lock
from indexer.retry import Retry
from indexer.scan import count_documents
from indexer.state import allow_writes_on_full_disk
from indexer.sync import SyncResult, preview
from indexer.sync import add as run_add
from indexer.sync import sync as run_sync

_UNTIL_UNLOCKED = Retry(total=math.inf, first_pause=2.0, longest_pause=2.0)
"""For `--watch` while another process holds the lock."""


def _max_rejects(context: click.Context, option: click.Parameter, value: str) -> MaxRejects:
    try:
        return MaxRejects.parse(value)
    except ValueError as error:
        raise click.BadParameter(str(error), context, option) from None


@click.command()
@source_options
@click.option(
    "--max-rejects",
    metavar="MAX-REJECTS",
    callback=_max_rejects,
    default="10%",
    show_default=True,
    help="Swap nothing if more posts are rejected: a share (10%) or a number (3).",
)
@click.option(
    "--force",
    is_flag=True,
    help="Swap even if SOURCE... has far fewer posts or comments than the live index.",
)
@rejects_option
@pass_tools
def reindex(
    tools: Tools,
    sources: SourceArguments,
    max_rejects: MaxRejects,
    force: bool,
    rejects_path: Path | None,
) -> None:
    """Build the index from SOURCE... and make it live.

    The new generation is built beside the live one, verified, and swapped in. Searches go on
    throughout, and writes made over HTTP meanwhile are replayed. What came over HTTP is kept; other
    posts that are in the live index but not in SOURCE... are left out. If that would be more than a
    quarter of the posts or of the comments (and more than five), or posts with comments that came
    over HTTP, nothing is swapped without --force.

    Exit code 0: done; 1: nothing was changed; 3: done, but some lines were rejected.

    \b
    blogsearch reindex posts.jsonl
    blogsearch reindex content/posts --url-template '/{year}/{slug}/'
    zcat posts.jsonl.gz | blogsearch reindex -
    blogsearch reindex posts.jsonl --max-rejects 2% --rejects rejects.jsonl
    """
    with run_on(
        tools, "reindex", sources, rejects_path, max_rejects=max_rejects, force=force
    ) as run:
        built = run_reindex(
            tools.elastic,
            tools.settings.index,
            run.sources.read(),
            index_settings(tools.settings),
            run.rejects,
            run.options,
        )
        tools.publish()
    print_built(built)
    run.sources.print_skipped()
    after_swap(tools)
    exit_if_rejected(run.rejects)


@click.command()
@click.option(
    "--force", is_flag=True, help="Rebuild even if nothing has changed, or after a rollback."
)
@click.option(
    "--wait",
    "seconds",
    type=click.FloatRange(min=0),
    default=0.0,
    help="Wait so many seconds for Elasticsearch, as before a service that starts with it.",
)
@pass_tools
def rebuild(tools: Tools, force: bool, seconds: float) -> None:
    """Build the index again from its own documents, if it needs that.

    It does after an update of blogsearch with another schema, and after a change of the synonym
    rules or of BLOGSEARCH_LANGUAGE. Nothing is lost: what came over HTTP is in the new generation,
    too. Searches go on meanwhile; writes are replayed, or answered with 503 and Retry-After if the
    index was built by another version. --force is for a change of BLOGSEARCH_SHARDS.

    Exit code 0: the index is current; 1: nothing was changed.

    \b
    blogsearch rebuild
    blogsearch rebuild --wait 300
    """
    alias, wanted = tools.settings.index, index_settings(tools.settings)
    starting = Retry(seconds, first_pause=1.0, longest_pause=2.0, is_repeatable=is_starting)
    live = starting.call(lambda: find_live(tools.elastic, alias))
    if live is None:
        click.echo("There is no index yet. Build one with `blogsearch reindex SOURCE`.")
        return
    if not force and is_current(live, wanted):
        click.echo(f"{live.name} has the present rules, language and schema already.")
        return
    later = rolled_back_from(tools.elastic, alias, live, wanted)
    if later and not force:
        click.echo(
            f"{live.name} was not rebuilt, because somebody rolled back to it from {later}, "
            "which is current. `blogsearch rollback` returns to that one; --force builds another."
        )
        return
    with (
        stop_on_sigterm(),
        display() as show,
        Lock(tools.elastic, alias, "rebuild") as lock,
        updates_cache_on_failure(tools),
    ):
        built = run_rebuild(tools.elastic, lock, alias, wanted, show.on_progress)
        tools.publish()
    print_built(built)
    if live.schema != SCHEMA:
        click.echo(
            f"The version that built {live.name} cannot search the new index. To go back, run "
            "`blogsearch rollback` with this version, and then start the former one."
        )
    after_swap(tools)


@click.command()
@source_options
@click.option(
    "--as-new",
    is_flag=True,
    help="Treat every post as changed now: overwrite newer versions.",
)
@rejects_option
@pass_tools
def add(tools: Tools, sources: SourceArguments, as_new: bool, rejects_path: Path | None) -> None:
    """Add the posts of SOURCE... to the live index, or replace them there.

    Nothing is removed. The version of a post is its `modified` date, or else its `pub_date`; an
    older version never overwrites a newer one.

    Exit code 0: done; 1: it failed; 3: done, but some lines were rejected.

    \b
    blogsearch add new-posts.jsonl
    blogsearch add content/posts/today.md
    """
    elastic, alias = tools.elastic, tools.settings.index
    with run_on(tools, "add", sources, rejects_path, newest=as_new) as run:
        model = open_model(tools.settings)
        added = run_add(elastic, alias, run.sources.read(), run.rejects, run.options, model)
        tools.publish()
    hint = "the index is newer; --as-new replaces them"
    older = f", {added.older:,} left unchanged ({hint})" if added.older else ""
    run.sources.print_skipped()
    click.echo(f"{added.created:,} documents added, {added.updated:,} replaced{older}.")
    exit_if_rejected(run.rejects)


# -- sync --------------------------------------------------------------------------------------


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
    for verb, names in result.names.items():
        for name in names:
            click.echo(f"{verb:8}{name}")
    counts = {verb: len(names) for verb, names in result.names.items()}
    click.echo(
        f"{counts['add']:,} documents would be added, {counts['change']:,} changed, "
        f"{counts['remove']:,} removed, {result.unchanged:,} unchanged."
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
        tools.publish()  # also if nothing has changed: a killed run may not have come so far
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

    for spec in sources.specs:
        if not Path(spec).exists():
            raise click.UsageError(f"--watch needs files or folders; {shown(spec)} is neither.")
    paths = [Path(spec).resolve() for spec in sources.specs]
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
    for _ in _UNTIL_UNLOCKED.attempts():
        try:
            with translated():
                _, result = _sync(tools, sources, force, rejects_path)
        except Locked as error:
            click.echo(f"{error.message} Waiting.", err=True)
        except BlogsearchError as error:
            click.echo(f"Error: {error}", err=True)
            return
        else:
            if result.removals_withheld:
                click.echo(f"Nothing was removed: {result.removals_withheld}.", err=True)
            return


# -- generations -------------------------------------------------------------------------------


@click.command()
@table_or_json
@pass_tools
def indices(tools: Tools, form: str) -> None:
    """List the generations of the index, with their state, documents and size.

    \b
    blogsearch indices
    blogsearch indices --format json
    """
    existing = list_generations(tools.elastic, tools.settings.index)
    rows = [_row(tools, generation) for generation in existing]
    if form == "json":
        print_json(rows)
        return
    if not rows:
        click.echo("No index yet. Build one with `blogsearch reindex POSTS.jsonl`.")
        return
    print_table(
        ("", "generation", "state", "posts", "comments", "size", "built", "rules"),
        [
            (
                "*" if row["live"] else "",
                row["generation"],
                row["state"],
                "?" if row["damage"] else f"{row['posts']:,}",
                "?" if row["damage"] else f"{row['comments']:,}",
                "?" if row["damage"] else f"{row['bytes'] / 1e6:,.1f} MB",
                (row["built"] or "")[:16].replace("T", " "),
                (row["rules"] or "")[:8],
            )
            for row in rows
        ],
        right_aligned=("posts", "comments", "size"),
    )
    for row in rows:
        if row["damage"]:
            click.echo(f"{row['damage']}.", err=True)


def _row(tools: Tools, generation: Generation) -> dict[str, Any]:
    name = generation.name
    damage = damage_of(tools.elastic, generation)
    posts = comments = size = None
    if not damage:
        counts = count_documents(tools.elastic, name)
        posts, comments = counts.posts, counts.comments
        stats = tools.elastic.indices.stats(index=name, metric="store", filter_path="_all.total")
        size = stats["_all"]["total"]["store"]["size_in_bytes"]
    return {
        "generation": name,
        "live": generation.state == "live",
        "state": generation.state,
        "damage": damage,
        "posts": posts,
        "comments": comments,
        "bytes": size,
        "built": generation.built,
        "rules": generation.rules,
        "schema": generation.schema,
    }


@click.command()
@number_option("--keep", 1, 0, None, "How many generations to keep besides the live one.")
@pass_tools
def prune(tools: Tools, keep: int) -> None:
    """Delete old generations, but not the live one, nor the previous one unless --keep is 0.

    \b
    blogsearch prune
    blogsearch prune --keep 0      # also the previous one: no rollback until the next build
    """
    client, alias = tools.elastic, tools.settings.index
    allow_writes_on_full_disk(client, alias)
    with stop_on_sigterm(), Lock(client, alias, "prune"):
        stale_builds = generations.recover(client, alias)
        deleted = generations.prune(client, alias, keep)
    print_stale_builds(stale_builds)
    click.echo(f"Deleted {', '.join(deleted)}." if deleted else "Nothing to delete.")


@click.command()
@click.option(
    "--discard-writes", is_flag=True, help="Do not replay the writes made since the swap."
)
@pass_tools
def rollback(tools: Tools, discard_writes: bool) -> None:
    """Make the previous generation live again; a second rollback undoes the first.

    Writes made since the swap (over HTTP, by `add` or `sync`) are replayed, so that none is lost.
    If the alias was removed, so that no generation is live, the last live one gets it again.

    \b
    blogsearch rollback
    blogsearch rollback --discard-writes
    """
    with stop_on_sigterm():
        with updates_cache_on_failure(tools):
            built = run_rollback(tools.elastic, tools.settings.index, discard_writes=discard_writes)
        tools.publish()
    print_built(built)
    after_swap(tools)
