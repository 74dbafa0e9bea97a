"""Hashes of what was read and of what is stored, by which `sync` finds the differences."""

import hashlib
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import orjson

from indexer import SCHEMA

RAW_DIGITS = 16
"""The digits of `raw_digest`; behind them a document may have those of `entry_digest`."""
ENTRY_DIGITS = 13
"""The digits of `entry_hash`; behind them are three with a number of documents."""
# What decides how a document is made of a RawPost, and a RawPost of an entry.
_DOCUMENT_CODE = ("dates.py", "digests.py", "html_text.py", "normalise.py")
_DOCUMENT_PACKAGES = ("selectolax", "python-dateutil")
_ENTRY_CODE = (*_DOCUMENT_CODE, "sources/base.py", "sources/json_lines.py")
_ENTRY_PACKAGES = (*_DOCUMENT_PACKAGES, "orjson")


def digest(source: dict[str, Any]) -> str:
    """A hash of all stored fields and of the schema: 32 hex digits.

    With the schema, `sync` writes every document again that an older version made.
    """
    content = orjson.dumps([SCHEMA, source], option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(content).hexdigest()[:32]


def raw_digest(values: tuple[Any, ...]) -> str:
    """A hash of what was read for a document, and of the code that makes the document: hex digits.

    If it is the same, so is the document. Parsing HTML takes ten times as long.
    """
    try:
        content = orjson.dumps(values, default=repr)
    except TypeError:  # a lone surrogate, or a key that is not a string
        content = repr(values).encode("utf-8", "surrogatepass")
    return _hashed_with(_DOCUMENT_CODE, _DOCUMENT_PACKAGES, content)[:RAW_DIGITS]


def entry_hash(entry: bytes) -> str:
    """A hash of an entry as it stands in a source, and of the code that reads it: hex digits."""
    return _hashed_with(_ENTRY_CODE, _ENTRY_PACKAGES, entry)[:ENTRY_DIGITS]


def entry_digest(entry: bytes, documents: int) -> str:
    """The hash of an entry, then the number of documents that were made of it: hex digits.

    "" for no entry, or if they are too many to count.
    """
    return f"{entry_hash(entry)}{documents:03x}" if entry and documents <= 0xFFF else ""


def _hashed_with(code: tuple[str, ...], packages: tuple[str, ...], content: bytes) -> str:
    return hashlib.sha256(_code_digest(code, packages) + content).hexdigest()


@cache
def _code_digest(code: tuple[str, ...], packages: tuple[str, ...]) -> bytes:
    """Changes with the schema, these modules of the indexer and the versions of these packages."""
    hashed = hashlib.sha256("".join([str(SCHEMA), *map(version, packages)]).encode())
    for name in code:
        hashed.update((Path(__file__).parent / name).read_bytes())
    return hashed.digest()
