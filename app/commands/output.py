"""How commands print: the option `--format`, and the console."""

import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.console import Console

table_or_json = click.option(
    "--format", "form", type=click.Choice(["table", "json"]), default="table"
)
text_or_json = click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")

_PIPE_WIDTH = 100_000  # columns; nothing is cut off or wrapped in a pipe


def console() -> "Console":
    """A console as wide as the terminal; in a pipe, wide enough for one line a row."""
    # Imported here: `search` needs no console, and the import takes a tenth of its time.
    from rich.console import Console

    width = None if sys.stdout.isatty() else _PIPE_WIDTH
    return Console(width=width, markup=False, highlight=False)
