"""The console that commands print to, and URLs as they may be printed."""

from urllib.parse import urlsplit

from rich.console import Console

_PIPE_WIDTH = 500  # columns; nothing is cut off or wrapped in a pipe


def console() -> Console:
    """A console as wide as the terminal; in a pipe, wide enough for one line a row."""
    found = Console(markup=False, highlight=False)
    return found if found.is_terminal else Console(width=_PIPE_WIDTH, markup=False, highlight=False)


def without_password(url: str) -> str:
    """A URL without user name and password."""
    parts = urlsplit(url.strip())
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
