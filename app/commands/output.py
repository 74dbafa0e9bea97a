"""What commands print: tables for a person at a terminal, whole ones for a pipe, and addresses."""

from urllib.parse import urlsplit

from rich.console import Console

_WIDE = 500  # columns: in a pipe nothing is cut off or wrapped


def console() -> Console:
    """A console as wide as the terminal; without one, so wide that every row is one line."""
    found = Console(markup=False, highlight=False)
    return found if found.is_terminal else Console(width=_WIDE, markup=False, highlight=False)


def without_password(address: str) -> str:
    """An address as it may be shown: nobody's name and password in it."""
    parts = urlsplit(address.strip())
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
