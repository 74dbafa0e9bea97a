"""`blogsearch indices`, `prune` and `rollback`: the generations of the index."""

import json
from typing import Any

import click
from rich.table import Table

from app.commands.building import (
    after_swap,
    begin_cache_generation,
    print_built,
    print_stale_builds,
    stop_on_sigterm,
    updates_cache_on_failure,
)
from app.commands.output import console, table_or_json
from app.commands.tools import Tools, pass_tools
from indexer import generations
from indexer.build.rollback import rollback as run_rollback
from indexer.generations import Generation, list_generations
from indexer.generations import damage as damage_of
from indexer.lock import Lock
from indexer.state import allow_writes_on_full_disk


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
            "?" if row["damage"] else f"{row['posts']:,}",
            "?" if row["damage"] else f"{row['comments']:,}",
            "?" if row["damage"] else f"{row['bytes'] / 1e6:,.1f} MB",
            (row["built"] or "")[:16].replace("T", " "),
            (row["rules"] or "")[:8],
        )
    console().print(table)
    for row in rows:
        if row["damage"]:
            click.echo(f"{row['damage']}.", err=True)


def _row(tools: Tools, generation: Generation) -> dict[str, Any]:
    name = generation.name
    damage = damage_of(tools.elastic, generation)
    posts = comments = size = None
    if not damage:
        posts, comments = (
            tools.elastic.count(index=name, query={"term": {"kind": kind}})["count"]
            for kind in ("post", "comment")
        )
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
@click.option(
    "--keep",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="How many generations to keep besides the live one.",
)
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
        begin_cache_generation(tools, built.index, built.rules)
    print_built(built)
    after_swap(tools)
