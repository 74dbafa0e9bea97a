"""Clears up behind a swap, so that a nightly reindex does not fill the disk."""

import click

from app.commands.tools import Tools
from indexer import generations
from indexer.errors import Locked
from indexer.lock import Lock


def tidy(tools: Tools) -> None:
    """Delete the generations that are older than `keep_generations` allows, and say so.

    When another process is building by now, it will do this.
    """
    alias, keep = tools.settings.index, tools.settings.keep_generations
    try:
        with Lock(tools.elastic, alias, "prune"):
            gone = generations.prune(tools.elastic, alias, keep)
    except Locked:
        return
    if gone:
        click.echo(f"Deleted {', '.join(gone)}, older than the {keep} kept beside the live one.")
