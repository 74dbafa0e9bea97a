"""The commands that write to the index, and those for its generations."""

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from app.commands.runs import (
    Output,
    after_swap,
    built_values,
    display,
    output_options,
    pinged,
    print_built,
    print_stale_builds,
    published_on_failure,
    run_on,
)
from app.commands.sources import SourceArguments, rejects_option, source_options
from app.commands.tools import (
    Tools,
    json_option,
    number_option,
    pass_tools,
    print_json,
    print_table,
    quiet_option,
    stop_on_sigterm,
)
from app.elastic import is_starting, translated
from app.errors import BlogsearchError
from app.meaning import open_model
from app.synonyms.loader import index_settings
from indexer import SCHEMA, generations
from indexer.build.builder import is_current, rolled_back_from
from indexer.build.builder import rebuild as run_rebuild
from indexer.build.builder import reindex as run_reindex
from indexer.build.builder import rollback as run_rollback
from indexer.errors import Locked
from indexer.export import export as exported_lines
from indexer.fetch import shown
from indexer.generations import Generation, list_generations, require_live
from indexer.generations import damage as damage_of
from indexer.ingest import MaxRejects
from indexer.lock import Lock
from indexer.records import quantity
from indexer.retry import Retry
from indexer.scan import count_documents
from indexer.state import allow_writes_on_full_disk
from indexer.sync import SyncResult, preview
from indexer.sync import add as run_add
from indexer.sync import sync as run_sync

_UNTIL_UNLOCKED = Retry(total=math.inf, first_pause=2.0, longest_pause=2.0)
"""For `--watch` while another process holds the lock."""


def _max_rejects(context: click.Context, option: click.Parameter, value: str | None) -> MaxRejects:
    try:
        return MaxRejects.parse(value) if value else MaxRejects()
    except ValueError as error:
        raise click.BadParameter(str(error), context, option) from None


max_rejects_option = click.option(
    "--max-rejects",
    metavar="MAX-REJECTS",
    callback=_max_rejects,
    help="Build nothing if more posts are rejected: a share (10%) or a number (3). By default a "
    "tenth, and three of a small source; but nothing of which most was rejected.",
)


@click.command()
@source_options
@max_rejects_option
@click.option(
    "--force",
    is_flag=True,
    help="Swap even if SOURCE... has far fewer posts or comments than the live index.",
)
@rejects_option
@output_options
@pass_tools
def reindex(
    tools: Tools,
    sources: SourceArguments,
    max_rejects: MaxRejects,
    force: bool,
    rejects_path: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Build the index from SOURCE... and make it live.

    The new generation is built beside the live one, verified, and swapped in. Searches go on
    throughout, and writes made over HTTP meanwhile are replayed. What came over HTTP is kept; other
    posts that are in the live index but not in SOURCE... are left out. If that would be more than a
    quarter of the posts or of the comments (and more than five), or posts with comments that came
    over HTTP, nothing is swapped without --force.

    Exit code 0: done; 1: nothing was changed; 3: done, but some posts were rejected.

    \b
    blogsearch reindex posts.jsonl
    blogsearch reindex content/posts --url-template '/{year}/{slug}/'
    zcat posts.jsonl.gz | blogsearch reindex -
    blogsearch reindex posts.jsonl --max-rejects 2% --rejects rejects.jsonl
    """
    output = Output(as_json, quiet)
    chosen: dict[str, Any] = {"max_rejects": max_rejects, "force": force}
    with run_on(tools, "reindex", sources, rejects_path, output, **chosen) as run:
        built = run_reindex(
            tools.elastic,
            tools.settings.index,
            run.sources.read(),
            index_settings(tools.settings),
            run.rejects,
            run.options,
        )
        tools.publish()
    print_built(built, output)
    after_swap(tools, output)
    output.result({**built_values(built), "rejected": run.rejects.count})
    run.end()


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
@output_options
@pass_tools
def rebuild(tools: Tools, force: bool, seconds: float, as_json: bool, quiet: bool) -> None:
    """Build the index again from its own documents, if it needs that.

    It does after an update of blogsearch with another schema, and after a change of the synonym
    rules or of BLOGSEARCH_LANGUAGE. Nothing is lost: what came over HTTP is in the new generation,
    too. Searches go on meanwhile; writes are replayed, or answered with 503 and Retry-After if the
    index was built by another version. --force is for a change of BLOGSEARCH_SHARDS.

    Exit code 0: the index is current; 1: nothing was changed.

    \b
    blogsearch rebuild
    blogsearch rebuild --wait 300
    blogsearch rebuild --force --quiet
    """
    output = Output(as_json, quiet)
    alias, wanted = tools.settings.index, index_settings(tools.settings)
    starting = Retry(seconds, first_pause=1.0, longest_pause=2.0, is_repeatable=is_starting)
    existing = starting.call(lambda: list_generations(tools.elastic, alias))
    live = generations.live_of(existing)
    later = rolled_back_from(existing, live, wanted) if live else ""
    why = ""
    if live is None:
        why = "There is no index yet. Build one with `blogsearch reindex SOURCE`."
    elif is_current(live, wanted) and not force:
        why = f"{live.name} has the present rules, language and schema already."
    elif later and not force:
        why = (
            f"{live.name} was not rebuilt, because somebody rolled back to it from {later}, which "
            "is current. `blogsearch rollback` returns to that one; --force builds another."
        )
    if live is None or why:
        output.say(why)
        output.result({"index": live.name if live else None, "rebuilt": False, "reason": why})
        return
    with (
        stop_on_sigterm(),
        display(output) as show,
        Lock(tools.elastic, alias, "rebuild") as lock,
        published_on_failure(tools),
    ):
        built = run_rebuild(tools.elastic, lock, alias, wanted, show.on_progress)
        tools.publish()
    print_built(built, output)
    if live.schema != SCHEMA:
        output.say(
            f"The version that built {live.name} cannot search the new index. To go back, run "
            "`blogsearch rollback` with this version, and then start the former one."
        )
    after_swap(tools, output)
    output.result({**built_values(built), "rebuilt": True})


@click.command()
@source_options
@rejects_option
@output_options
@pass_tools
def add(
    tools: Tools, sources: SourceArguments, rejects_path: Path | None, as_json: bool, quiet: bool
) -> None:
    """Add the posts of SOURCE... to the live index, or replace them there.

    Nothing is removed. A post with an older date (`modified`, or else `pub_date`) than in the index
    is left out; `sync` writes it.

    Exit code 0: done; 1: it failed; 3: done, but some posts were rejected.

    \b
    blogsearch add new-posts.jsonl
    blogsearch add content/posts/today.md
    blogsearch add https://blog.example.org/feed.xml --quiet
    """
    output = Output(as_json, quiet)
    with run_on(tools, "add", sources, rejects_path, output) as run:
        added = run_add(
            tools.elastic,
            tools.settings.index,
            run.sources.read(),
            run.rejects,
            run.options,
            open_model(tools.settings),
        )
        tools.publish()
    left = f", {added.left:,} left as they are: the index has newer versions" if added.left else ""
    output.say(f"{len(added.added):,} posts added, {len(added.changed):,} replaced{left}.")
    output.result(
        {
            "added": len(added.added),
            "replaced": len(added.changed),
            "older": added.left,
            "rejected": run.rejects.count,
        }
    )
    run.end()


# -- sync --------------------------------------------------------------------------------------


@click.command()
@source_options
@max_rejects_option
@click.option("--force", is_flag=True, help="Remove what SOURCE... lacks, however much it is.")
@click.option(
    "--watch", "watching", is_flag=True, help="Keep running, and sync after every change of a file."
)
@click.option("--dry-run", is_flag=True, help="Print what would be done, and write nothing.")
@rejects_option
@output_options
@pass_tools
def sync(
    tools: Tools,
    sources: SourceArguments,
    max_rejects: MaxRejects,
    force: bool,
    watching: bool,
    dry_run: bool,
    rejects_path: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Make the live index equal to SOURCE...: add, change and remove what differs.

    Suitable for cron: only one runs at a time, and a source without posts, or with far fewer than
    the index, removes nothing. If the synonym rules or the mapping have changed, a new generation
    is built first. Comments that came over HTTP stay as long as their post. BLOGSEARCH_PING_URL is
    told of the beginning and the end.

    Exit code 0: done; 1: it failed, or removals were withheld; 3: done, but some posts were
    rejected.

    \b
    blogsearch sync content/posts
    blogsearch sync content/posts --watch
    blogsearch sync content/posts --dry-run
    blogsearch sync posts.jsonl --force
    blogsearch sync https://blog.example.org/sitemap.xml --quiet
    """
    if dry_run and watching:
        raise click.UsageError("--dry-run and --watch exclude each other.")
    output = Output(as_json, quiet)
    options: dict[str, Any] = {"force": force, "max_rejects": max_rejects}

    def run() -> None:
        _sync(tools, sources, rejects_path, output, dry_run=dry_run, **options)

    if dry_run:
        run()
    elif watching:
        with stop_on_sigterm():
            _watch(run, sources, output)
    else:
        with pinged(tools.settings):
            run()


def _sync(
    tools: Tools,
    sources: SourceArguments,
    rejects_path: Path | None,
    output: Output,
    *,
    dry_run: bool,
    **options: Any,
) -> None:
    """Sync, or only compare; print what was or would be done, and end the command if need be."""
    arguments = (tools, "sync", sources, rejects_path, output)
    with run_on(*arguments, writes=not dry_run, **options) as run:
        result = (preview if dry_run else run_sync)(
            tools.elastic,
            tools.settings.index,
            run.sources.read,
            index_settings(tools.settings),
            run.rejects,
            run.options,
        )
        if result.removals_withheld:
            verb = "would be" if dry_run else "was"
            run.failed = (
                f"Nothing {verb} removed: {result.removals_withheld}. Check the source, or use "
                "--force to remove them."
            )
        if not dry_run:
            tools.publish()  # also if nothing has changed: a killed run may not have
    print_stale_builds(result.stale_builds, output)
    if result.built:
        print_built(result.built, output)
        after_swap(tools, output)
    for note in _notes(result):
        output.note(note)
    if dry_run:
        _print_names(result, output)
    output.say(
        f"{len(result.added):,} posts {'would be ' if dry_run else ''}added, "
        f"{len(result.changed):,} changed, {len(result.removed):,} removed, "
        f"{result.unchanged:,} unchanged."
    )
    output.result({**_values(result), "rejected": run.rejects.count, "error": run.failed})
    run.end()


def _notes(result: SyncResult) -> Iterator[str]:
    """What should be said beside the numbers."""
    if result.builds:
        yield (
            "A new generation would be built first: the synonym rules, the language or the "
            "version has changed."
        )
    if result.rolled_back_from:
        yield (
            f"{result.index} was not rebuilt with the current synonym rules, because they are "
            f"those of {result.rolled_back_from}, from which it was rolled back. "
            "`blogsearch rollback` or `blogsearch synonyms load` applies them."
        )
    if result.left:
        yield (
            f"{quantity(result.left, 'post')} stayed: written over HTTP meanwhile. The next sync "
            "compares again."
        )


def _print_names(result: SyncResult, output: Output) -> None:
    """A line for each post that would be added, changed or removed."""
    names = {"add": result.added, "change": result.changed, "remove": result.removed}
    for verb, of_verb in names.items():
        for name in of_verb:
            output.say(f"{verb:8}{name}")


def _values(result: SyncResult) -> dict[str, Any]:
    """The result of a sync as JSON."""
    return {
        "index": result.index,
        "added": list(result.added),
        "changed": list(result.changed),
        "removed": list(result.removed),
        "unchanged": result.unchanged,
        "left": result.left,
        "removals_withheld": result.removals_withheld,
        "builds": result.builds,
        "built": built_values(result.built) if result.built else None,
    }


def _watch(run: Callable[[], None], sources: SourceArguments, output: Output) -> None:
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

    output.note(f"Watching {sources}; press Ctrl-C to stop.")
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
            _run_until_unlocked(run, output)


def _run_until_unlocked(run: Callable[[], None], output: Output) -> None:
    """One sync; an error is printed, and the watch goes on."""
    for _ in _UNTIL_UNLOCKED.attempts():
        try:
            with translated():
                run()
        except Locked as error:
            output.note(f"{error.message} Waiting.")
            continue
        except click.exceptions.Exit:
            pass
        except (BlogsearchError, click.ClickException) as error:
            output.warn(f"Error: {error}")
        return


def watched_folders(paths: Sequence[Path]) -> list[Path]:
    """The folders to watch for changes of some files and folders.

    A file is watched through its folder: many editors write a new file and rename it, and a watch
    on the file itself would follow the old one.
    """
    return sorted({path if path.is_dir() else path.parent for path in paths})


def concerns(paths: Sequence[Path], changed: Path) -> bool:
    """Whether a changed file is one of the paths, or inside one of them."""
    return any(changed == path or path in changed.parents for path in paths)


# -- generations -------------------------------------------------------------------------------


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path), default="-")
@quiet_option
@pass_tools
def export(tools: Tools, file: Path, quiet: bool) -> None:
    """Write what is live to FILE as JSON Lines, or to standard output.

    Posts with their comments, as they are stored, also what came over HTTP. `blogsearch reindex
    FILE` makes the same index of it, without the sources. A FILE appears when it is complete.

    Exit code 0: done; 1: it failed.

    \b
    blogsearch export blog.jsonl
    blogsearch export | gzip > blog-$(date +%F).jsonl.gz
    blogsearch reindex blog.jsonl
    """
    live = require_live(tools.elastic, tools.settings.index)
    lines = exported_lines(tools.elastic, live.name)
    count = 0
    if str(file) == "-":
        for line in lines:
            sys.stdout.buffer.write(line)
        return
    part = file.with_name(f".{file.name}.part")
    try:
        with part.open("wb") as written:
            for line in lines:
                written.write(line)
                count += 1
        part.replace(file)
    except OSError as error:
        raise click.ClickException(f"{file} cannot be written: {error.strerror}.") from None
    finally:
        part.unlink(missing_ok=True)
    if not quiet:
        click.echo(f"{quantity(count, 'post')} of {live.name} written to {file}.", err=True)


@click.command()
@json_option
@pass_tools
def indices(tools: Tools, as_json: bool) -> None:
    """List the generations of the index, with their state, documents and size.

    Exit code 0: done; 1: Elasticsearch does not answer.

    \b
    blogsearch indices
    blogsearch indices --json
    """
    existing = list_generations(tools.elastic, tools.settings.index)
    rows = [_row(tools, generation) for generation in existing]
    if as_json:
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
@output_options
@pass_tools
def prune(tools: Tools, keep: int, as_json: bool, quiet: bool) -> None:
    """Delete old generations, but not the live one, nor the previous one unless --keep is 0.

    Exit code 0: done; 1: it failed.

    \b
    blogsearch prune
    blogsearch prune --keep 0      # also the previous one: no rollback until the next build
    """
    output = Output(as_json, quiet)
    client, alias = tools.elastic, tools.settings.index
    allow_writes_on_full_disk(client, alias)
    with stop_on_sigterm(), Lock(client, alias, "prune"):
        _, stale_builds = generations.recover(client, alias)
        deleted = generations.prune(client, alias, keep)
    print_stale_builds(stale_builds, output)
    output.say(f"Deleted {', '.join(deleted)}." if deleted else "Nothing to delete.")
    output.result({"deleted": [*stale_builds, *deleted]})


@click.command()
@click.option(
    "--discard-writes", is_flag=True, help="Do not replay the writes made since the swap."
)
@output_options
@pass_tools
def rollback(tools: Tools, discard_writes: bool, as_json: bool, quiet: bool) -> None:
    """Make the previous generation live again; a second rollback undoes the first.

    Writes made since the swap (over HTTP, by `add` or `sync`) are replayed, so that none is lost.
    If the alias was removed, so that no generation is live, the last live one gets it again.

    Exit code 0: done; 1: nothing was changed.

    \b
    blogsearch rollback
    blogsearch rollback --discard-writes
    """
    output = Output(as_json, quiet)
    with stop_on_sigterm(), published_on_failure(tools):
        built = run_rollback(tools.elastic, tools.settings.index, discard_writes=discard_writes)
        tools.publish()
    print_built(built, output)
    after_swap(tools, output)
    output.result(built_values(built))
