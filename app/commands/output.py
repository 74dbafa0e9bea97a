"""How commands print: the option `--format`, and the console."""

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

    found = Console(markup=False, highlight=False)
    return found if found.is_terminal else Console(width=_PIPE_WIDTH, markup=False, highlight=False)
