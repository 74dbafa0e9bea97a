"""The commands about generations: list them, go back to the previous one, delete old ones."""

import json
from typing import Any

import click
from rich.table import Table

from app.commands.options import stoppable
from app.commands.outcome import begin_generation, tell_built, tell_orphan
from app.commands.output import console
from app.commands.tools import Tools, pass_tools
from indexer import generations
from indexer.build.rollback import rollback as go_back
from indexer.generations import Generation, list_generations
from indexer.lock import Lock


@click.command()
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table")
@pass_tools
def indices(tools: Tools, form: str) -> None:
    """List the generations of the index: which is live, what is in each, how big it is.

    \b
    blogsearch indices
    blogsearch indices --format json
    """
    rows = [_row(tools, one) for one in list_generations(tools.elastic, tools.settings.index)]
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
            (row["built"] or "")[:16].replace("T", " "),
            (row["rules"] or "")[:8],
        )
    console().print(table)


def _row(tools: Tools, generation: Generation) -> dict[str, Any]:
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
        orphans = generations.recover(tools.elastic, tools.settings.index)
        gone = generations.prune(tools.elastic, tools.settings.index, keep)
    for orphan in orphans:
        tell_orphan(orphan)
    click.echo(f"Deleted {', '.join(gone)}." if gone else "Nothing to delete.")


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
        built = go_back(tools.elastic, tools.settings.index, discard_writes=as_it_was)
        begin_generation(tools, built.index, built.rules)
    tell_built(tools, built)
