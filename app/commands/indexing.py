"""The commands that change the index: build it, add to it, keep it in step, go back, clear up."""

import json
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from analyzers.rules import read_rules, rule_files
from app.commands.reporting import Rejects, display, rejects
from app.commands.sources import AllowanceType, Sources, reading_options, stoppable
from app.commands.tools import Tools, pass_tools
from app.settings import Settings
from indexer import lifecycle
from indexer.build import Shape
from indexer.intake import Allowance
from indexer.lock import Lock
from indexer.progress import Built
from indexer.reindex import Options
from indexer.reindex import reindex as run_reindex
from indexer.rollback import rollback as go_back

SOME_REJECTED = 3
"""Exit code: done, but something was rejected."""

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
    sources: Sources,
    specs: tuple[str, ...],
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
        options = Options(
            allowance=max_rejects,
            report=show.report,
            part=sources.part,
            purpose=f"reindex {' '.join(specs)}",
        )
        built = run_reindex(
            tools.elastic,
            tools.settings.index,
            sources.read(),
            shape_of(tools.settings),
            on_reject,
            options,
        )
        tools.cache.new_generation(built.index, built.rules)
    _tell(built)
    _leave(on_reject)


def shape_of(settings: Settings) -> Shape:
    """What the settings say about a new generation.

    Raises:
        RuleErrors: a rule file that cannot be used.
    """
    rules = read_rules(rule_files(settings.synonyms_dir))
    return Shape(rules, shards=settings.shards, replicas=settings.replicas)


@click.command()
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table")
@pass_tools
def indices(tools: Tools, form: str) -> None:
    """List the generations of the index: which is live, what is in each, how big it is.

    \b
    blogsearch indices
    blogsearch indices --format json
    """
    rows = [_row(tools, one) for one in lifecycle.generations(tools.elastic, tools.settings.index)]
    if form == "json":
        click.echo(json.dumps(rows, indent=2))
        return
    if not rows:
        click.echo("No index yet. Build one with `blogsearch reindex POSTS.jsonl`.")
        return
    table = Table(box=None, pad_edge=False)
    for name in ("", "generation", "state", "posts", "comments", "size", "built", "rules"):
        table.add_column(name, justify="right" if name in {"posts", "comments", "size"} else "left")
    for row in rows:
        table.add_row(
            "*" if row["live"] else "",
            row["generation"],
            row["state"],
            f"{row['posts']:,}",
            f"{row['comments']:,}",
            f"{row['bytes'] / 1e6:,.1f} MB",
            row["built"] or "",
            row["rules"] or "",
        )
    Console().print(table)


def _row(tools: Tools, generation: lifecycle.Generation) -> dict[str, Any]:
    name = generation.name
    posts, comments = (
        tools.elastic.count(index=name, query={"term": {"kind": kind}})["count"]
        for kind in ("post", "comment")
    )
    stats = tools.elastic.indices.stats(index=name, metric="store", filter_path="_all.total")
    return {
        "generation": name,
        "live": generation.state == "live",
        "state": generation.state,
        "posts": posts,
        "comments": comments,
        "bytes": stats["_all"]["total"]["store"]["size_in_bytes"],
        "built": generation.built,
        "rules": generation.rules,
        "schema": generation.schema,
    }


@click.command()
@click.option(
    "--keep",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="How many generations to keep besides the live one.",
)
@pass_tools
def prune(tools: Tools, keep: int) -> None:
    """Delete old generations; the live one always stays, and the previous one for `rollback`.

    \b
    blogsearch prune
    blogsearch prune --keep 0      # the previous one, too: no rollback until the next build
    """
    with stoppable(), Lock(tools.elastic, tools.settings.index, "prune"):
        lifecycle.recover(tools.elastic, tools.settings.index)
        gone = lifecycle.prune(tools.elastic, tools.settings.index, keep)
    click.echo(f"Deleted {', '.join(gone)}." if gone else "Nothing to delete.")


def _tell(built: Built) -> None:
    for orphan in built.orphans:
        click.echo(f"Removed {orphan}, left over from a build that was killed.")
    carried = f", {built.carried:,} writes carried over" if built.carried else ""
    was = f"; {built.previous} is kept for `blogsearch rollback`" if built.previous else ""
    click.echo(f"{built.index} is live: {built.counts}{carried}, in {built.seconds:.1f} s{was}.")


def _leave(on_reject: Rejects) -> None:
    if on_reject.count:
        click.echo(f"{on_reject.count:,} were rejected.", err=True)
        click.get_current_context().exit(SOME_REJECTED)


@click.command()
@click.option("--as-it-was", is_flag=True, help="Leave behind what was written since the swap.")
@pass_tools
def rollback(tools: Tools, as_it_was: bool) -> None:
    """Go back to the generation that was live before; a second time goes forth again.

    What was written since (over HTTP, by `add` or `sync`) is carried back, so that no post is lost.

    \b
    blogsearch rollback
    blogsearch rollback --as-it-was
    """
    with stoppable():
        built = go_back(tools.elastic, tools.settings.index, as_it_was=as_it_was)
        tools.cache.new_generation(built.index, built.rules)
    _tell(built)


add = sync = rollback  # for the moment, so that app/cli.py can be imported
