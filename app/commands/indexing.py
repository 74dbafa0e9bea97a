"""The commands that write to the index, and those that list, export or swap its generations."""

import sys
from contextlib import suppress
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import click

from app.commands.runs import (
    MAX_PRINTED,
    after_build,
    ping_around,
    publish_after,
    rebuild_live,
    run_on,
    with_language,
)
from app.commands.sources import SourceArguments, source_options
from app.commands.tools import ONLY_SOME, UNCHANGED, Tools, command, pass_tools, unusable
from app.index.golden import check as check_golden
from app.index.golden import require_golden
from app.index.synonyms import index_settings
from indexer.errors import Damaged
from indexer.posts.records import examples, quantity
from indexer.runs.build import reindex as run_reindex
from indexer.runs.build import rollback as run_rollback
from indexer.runs.export import export as exported_lines
from indexer.runs.sync import sync as run_sync
from indexer.store import generations
from indexer.store.generations import list_generations, require_live
from indexer.store.scan import checkpoint, count

_REJECTED = {ONLY_SOME: "done, but some posts were rejected, or no longer look like posts"}


@command(exit_codes={**_REJECTED, **UNCHANGED})
@source_options
@click.option(
    "--force",
    is_flag=True,
    help="Make it live even if it has far fewer posts, or breaks a golden search.",
)
@pass_tools
def reindex(tools: Tools, sources: SourceArguments, force: bool) -> None:
    """Build the index from SOURCE... and make it live.

    The new generation is built and verified beside the live one, then swapped in; searches and
    writes go on meanwhile. Posts and comments that came over HTTP are kept; other posts that are
    not in SOURCE... are dropped. Without --force, nothing is swapped if that drops more than a
    quarter of the posts or of the comments (and more than five), or posts with comments that came
    over HTTP, or if more than a tenth of SOURCE... (and more than three posts) is rejected.

    \b
    blogsearch reindex posts.jsonl
    blogsearch reindex content/posts --url-template '/{year}/{slug}/'
    """
    with run_on(tools, "reindex", sources, force=force) as run:
        settings, items = with_language(tools, run.sources.read())
        built = run_reindex(
            tools.elastic,
            settings.index,
            items,
            require_golden(index_settings(settings), tools.elastic, settings, force=force),
            run.on_reject,
            run.options,
        )
    after_build(tools, built)
    tools.output.result({**asdict(built), "rejected": run.rejected})
    run.end(tools.output)


@command(exit_codes=UNCHANGED)
@click.option(
    "--force",
    is_flag=True,
    help="Rebuild even if nothing has changed, or if it breaks a golden search.",
)
@pass_tools
def rebuild(tools: Tools, force: bool) -> None:
    """Build the index again from its own documents, if necessary.

    It is necessary after an update of blogsearch with another schema, and after a change of the
    synonym rules or of BLOGSEARCH_LANGUAGE; after a change of BLOGSEARCH_SHARDS, use --force.
    Nothing is lost. Searches go on meanwhile; writes are replayed, or answered with 503 and
    Retry-After if another version built the index.

    \b
    blogsearch rebuild
    blogsearch rebuild --force
    """
    alias, settings = tools.settings.index, tools.index_settings
    wanted = require_golden(index_settings(settings), tools.elastic, settings, force=force)
    live = generations.live(tools.elastic, alias)
    built = rebuild_live(tools, wanted, "rebuild", force=force) if live else None
    if live is None or built is None:
        why = "There is no index yet. Build one with `blogsearch reindex SOURCE`."
        if live:
            why = f"{live.name} has the present rules, language, analysis and schema already."
        tools.output.say(why)
        tools.output.result({"index": live.name if live else None, "rebuilt": False, "reason": why})
        return
    after_build(tools, built)
    tools.output.result({**asdict(built), "rebuilt": True})


@command(exit_codes={**_REJECTED, 1: "it failed, or removals were withheld"})
@source_options
@click.option(
    "--force",
    is_flag=True,
    help="Make every change, however many posts it removes or alters.",
)
@pass_tools
def sync(tools: Tools, sources: SourceArguments, force: bool) -> None:
    """Make the live index equal to SOURCE...: add, change and remove posts that differ.

    Suitable for cron: only one sync runs at a time. A source with far fewer posts than the index
    removes nothing; neither does a feed, which has only the latest posts. If many posts would get
    the same text, or none, nothing is written without --force. Comments that came over HTTP stay as
    long as their post. BLOGSEARCH_PING_URL is pinged at the start and at the end.

    \b
    blogsearch sync content/posts
    blogsearch sync https://blog.example.org/sitemap.xml --quiet
    """
    with ping_around(tools.settings):
        _compare(tools, "sync", sources, force=force)


@command(exit_codes=_REJECTED)
@source_options
@pass_tools
def add(tools: Tools, sources: SourceArguments) -> None:
    """Add the posts of SOURCE... to the live index, or replace them; remove nothing.

    A post is not written if the index has its address under another oid.

    \b
    blogsearch add new-posts.jsonl
    blogsearch add https://blog.example.org/feed.xml --quiet
    """
    _compare(tools, "add", sources)


def _compare(tools: Tools, command: str, sources: SourceArguments, *, force: bool = False) -> None:
    """Sync the sources with the live index; for `add`, treat them as incomplete."""
    with run_on(tools, command, sources, force=force) as run:
        settings, first = tools.settings, None
        if live := generations.live(tools.elastic, settings.index):
            settings = replace(settings, language=settings.language or live.language)
        else:  # it is the first build
            settings, first = with_language(tools, run.sources.read())
        result = run_sync(
            tools.elastic,
            settings.index,
            lambda is_unchanged: first or run.sources.read(is_unchanged),
            index_settings(settings),
            run.on_reject,
            run.options,
        )
        if result.removals_withheld:
            run.failed = (
                f"Nothing was removed: {result.removals_withheld}. Check the source, or use "
                "--force to remove them."
            )
    if result.built:
        after_build(tools, result.built)
    for oid, why in list(result.doubted.items())[: None if sources.verbose else MAX_PRINTED]:
        click.echo(f"kept for now: {why} ({oid})", err=True)
    if result.outdated:
        tools.output.note(
            f"{result.index} was built with other synonym rules, another language or model, or by "
            "another version. Run `blogsearch rebuild` to apply the present ones."
        )
    if result.shortened:
        click.echo(
            f"warning: {len(result.shortened):,} posts have less than half of their former text "
            f"({examples(result.shortened)}): the source may contain only summaries, as many feeds "
            "do. To undo this, sync with the former source.",
            err=True,
        )
    tools.output.say(
        f"{quantity(len(result.added), 'post')} added, {len(result.changed):,} changed, "
        f"{len(result.removed):,} removed, {result.unchanged:,} unchanged."
    )
    tools.output.result({**asdict(result), "rejected": run.rejected, "error": run.failed})
    run.end(tools.output)
    if result.doubted:
        click.get_current_context().exit(ONLY_SOME)


# -- generations -------------------------------------------------------------------------------


@command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path), default="-")
@pass_tools
def export(tools: Tools, file: Path) -> None:
    """Write the live posts as JSON Lines to FILE or to standard output.

    All posts with their comments are written as stored, including those from HTTP. `blogsearch
    reindex FILE` builds the same index, without the sources. FILE appears when it is complete.

    \b
    blogsearch export | gzip > blog-$(date +%F).jsonl.gz
    blogsearch reindex blog.jsonl
    """
    live = require_live(tools.elastic, tools.settings.index)
    lines = exported_lines(tools.elastic, live.name)
    if str(file) == "-":
        sys.stdout.buffer.writelines(lines)
        sys.stdout.buffer.flush()  # here, so that a full disk is an error of this command
        return
    part = file.with_name(f".{file.name}.part")
    try:
        with part.open("wb") as written:
            written.writelines(lines)
        part.replace(file)
    except OSError as error:
        raise unusable(error, file) from None
    finally:
        with suppress(OSError):  # it was renamed, or is on a read-only disk
            part.unlink()
    tools.output.say(f"{live.name} is written to {file}.")
    tools.output.result({"index": live.name, "file": str(file)})


@command()
@pass_tools
def indices(tools: Tools) -> None:
    """List the generations of the index with their state, number of posts and date.

    \b
    blogsearch indices --json
    """
    rows = []
    for generation in list_generations(tools.elastic, tools.settings.index):
        posts: int | str = "?"  # for a closed or red index: `blogsearch doctor` says more
        with suppress(Damaged):
            checkpoint(tools.elastic, generation.name)
            posts, _ = count(tools.elastic, generation.name)
        rows.append((generation.name, generation.state, str(posts), generation.built))
    columns = ("generation", "state", "posts", "built")
    tools.output.result([dict(zip(columns, row, strict=True)) for row in rows])
    tools.output.table(columns, rows)


@command(exit_codes=UNCHANGED)
@click.option("--force", is_flag=True, help="Do it even if it breaks a golden search.")
@pass_tools
def rollback(tools: Tools, force: bool) -> None:
    """Make the previous generation live again; a second rollback undoes the first.

    Writes since the swap, over HTTP or by `sync`, are replayed, so that none is lost.

    \b
    blogsearch rollback
    """
    check = None if force else partial(check_golden, tools.elastic, tools.settings)
    with publish_after(tools, builds=True):
        built = run_rollback(tools.elastic, tools.settings.index, check)
    after_build(tools, built)
    tools.output.result(asdict(built))
