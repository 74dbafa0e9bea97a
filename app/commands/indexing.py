"""`blogsearch reindex`, `rebuild` and `add`."""

from pathlib import Path
from typing import Any

import click

from app.commands.building import (
    after_swap,
    begin_cache_generation,
    index_settings,
    print_built,
    print_cache_not_updated,
    run_on,
    stop_on_sigterm,
    updates_cache_on_failure,
)
from app.commands.reporting import SOME_REJECTED, display, exit_if_rejected
from app.commands.sources import SourceArguments, rejects_option, source_options
from app.commands.tools import Tools, pass_tools
from app.elastic import is_starting
from app.freshness import Freshness
from app.meaning import open_model
from indexer import SCHEMA
from indexer.build.rebuild import is_current, rolled_back_from
from indexer.build.rebuild import rebuild as run_rebuild
from indexer.build.reindex import reindex as run_reindex
from indexer.generations import live as find_live
from indexer.ingest import MaxRejects
from indexer.lock import Lock
from indexer.retry import Retry
from indexer.sync.sync import add as run_add


class MaxRejectsType(click.ParamType[MaxRejects]):
    """A share of the posts, such as `10%`, or a number of posts."""

    name = "max-rejects"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> MaxRejects:
        if isinstance(value, MaxRejects):
            return value
        try:
            return MaxRejects.parse(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


@click.command()
@source_options
@click.option(
    "--max-rejects",
    type=MaxRejectsType(),
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
        begin_cache_generation(tools, built.index, built.rules)
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
        begin_cache_generation(tools, built.index, built.rules)
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
    help="Treat every post as changed now: overwrite newer versions, ignore deletions.",
)
@rejects_option
@pass_tools
def add(tools: Tools, sources: SourceArguments, as_new: bool, rejects_path: Path | None) -> None:
    """Add the posts of SOURCE... to the live index, or replace them there.

    Nothing is removed. The version of a post is its `modified` date, or else its `pub_date`; an
    older version never overwrites a newer one.

    Exit code 0: done; 1: it failed; 3: done, but some lines were rejected, or left out because they
    were deleted after their last change.

    \b
    blogsearch add new-posts.jsonl
    blogsearch add content/posts/today.md
    """
    elastic, alias = tools.elastic, tools.settings.index
    with run_on(tools, "add", sources, rejects_path, newest=as_new) as run:
        model = open_model(tools.settings)
        added = run_add(elastic, alias, run.sources.read(), run.rejects, run.options, model)
        if not Freshness(elastic, tools.cache, alias).now():
            print_cache_not_updated()
    hint = "the index is newer; --as-new replaces them"
    older = f", {added.older:,} left unchanged ({hint})" if added.older else ""
    run.sources.print_skipped()
    click.echo(f"{added.created:,} documents added, {added.updated:,} replaced{older}.")
    if added.deleted:
        click.echo(
            f"{added.deleted:,} were left out: they were deleted after their last change. "
            "--as-new restores them.",
            err=True,
        )
        click.get_current_context().exit(SOME_REJECTED)
    exit_if_rejected(run.rejects)
