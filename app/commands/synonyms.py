"""The commands for synonym files."""

import click


@click.group()
def synonyms() -> None:
    """Check, preview, load, list and remove synonym files."""
