"""Which content codings a client takes."""

from functools import lru_cache

from werkzeug.datastructures import Accept
from werkzeug.http import parse_accept_header


@lru_cache(maxsize=256)  # browsers send a handful of different ones
def _parsed(header: str) -> Accept:
    return parse_accept_header(header)


def accepts(header: str, coding: str) -> bool:
    """Whether an Accept-Encoding header takes a content coding (RFC 9110, 12.5.3)."""
    return bool(_parsed(header).quality(coding) > 0)
