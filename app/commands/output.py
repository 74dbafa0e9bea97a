"""Tables for a person at a terminal, and the same ones whole for a pipe."""

from rich.console import Console

_WIDE = 500  # columns: in a pipe nothing is cut off or wrapped


def console() -> Console:
    """A console as wide as the terminal; without one, so wide that every row is one line."""
    found = Console(markup=False, highlight=False)
    return found if found.is_terminal else Console(width=_WIDE, markup=False, highlight=False)
