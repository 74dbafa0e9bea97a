"""The hash of what a post was read from, by which `sync` finds what has changed."""

import hashlib
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import orjson

from indexer import SCHEMA

DIGITS = 16
"""The digits of the hash of a post as it was read; behind them are those of its entry."""
ENTRY_DIGITS = 16
# What decides how a document is made of a RawPost, and a RawPost of an entry.
_DOCUMENT_CODE = ("dates.py", "digests.py", "html_text.py", "normalise.py")
_DOCUMENT_PACKAGES = ("selectolax", "python-dateutil")
_ENTRY_CODE = (*_DOCUMENT_CODE, "sources/base.py", "sources/json_lines.py")
_ENTRY_PACKAGES = (*_DOCUMENT_PACKAGES, "orjson")


def digest(values: tuple[Any, ...]) -> str:
    """A hash of what was read for a post, and of the code that makes the document: hex digits.

    If it is the same, so is the document. Parsing HTML takes ten times as long.
    """
    try:
        content = orjson.dumps(values, default=repr)
    except TypeError:  # a lone surrogate, or a key that is not a string
        content = repr(values).encode("utf-8", "surrogatepass")
    return _hashed_with(_DOCUMENT_CODE, _DOCUMENT_PACKAGES, content)[:DIGITS]


def entry_digest(entry: bytes) -> str:
    """A hash of an entry as it stands in a source, and of the code that reads it: hex digits."""
    return _hashed_with(_ENTRY_CODE, _ENTRY_PACKAGES, entry)[:ENTRY_DIGITS]


def _hashed_with(code: tuple[str, ...], packages: tuple[str, ...], content: bytes) -> str:
    return hashlib.sha256(_code_digest(code, packages) + content).hexdigest()


@cache
def _code_digest(code: tuple[str, ...], packages: tuple[str, ...]) -> bytes:
    """Changes with the schema, these modules of the indexer and the versions of these packages."""
    hashed = hashlib.sha256("".join([str(SCHEMA), *map(version, packages)]).encode())
    for name in code:
        hashed.update((Path(__file__).parent / name).read_bytes())
    return hashed.digest()
