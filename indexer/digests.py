"""The digest of what a post was read from, by which `sync` finds what has changed."""

import hashlib
from typing import Any

import orjson

from indexer import SCHEMA

READING = 1
"""Increased when the same input becomes another document: `sync` writes every post again then."""

_COMMENTS = "+"


def digest(read: bytes | tuple[Any, ...], *, comments: bool = False) -> str:
    """A hash of all that a post is made of, as it stands in a source or as values: 32 hex digits,
    and a mark if the source has comments on it.

    If it is the same, so is the document. Parsing HTML takes ten times as long.
    """
    if not isinstance(read, bytes):
        try:
            read = orjson.dumps(read, default=repr)
        except TypeError:  # a lone surrogate, or a key that is not a string
            read = repr(read).encode("utf-8", "surrogatepass")
    version = f"{SCHEMA} {READING} ".encode()
    return hashlib.sha256(version + read).hexdigest()[:32] + (_COMMENTS if comments else "")


def without_mark(digest: str) -> str:
    """The digest as it is without comments."""
    return digest.removesuffix(_COMMENTS)


def has_comments(digest: str) -> bool:
    """Whether the source has comments on the post."""
    return digest.endswith(_COMMENTS)
