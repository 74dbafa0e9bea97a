"""Hashes of what was read and of what is stored, by which `sync` finds the differences."""

import hashlib
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import orjson

from indexer import SCHEMA

_COUNTED = 0xFFF
"""The bits of an entry's hash in which its documents are counted."""
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


def id_digest(id_: str) -> str:
    """A hash of the `_id` of a document: 16 hex digits."""
    return hashlib.sha256(id_.encode()).hexdigest()[:16]


def raw_digest(id_: str, values: tuple[Any, ...]) -> str:
    """A hash of the id, and one of what was read and of the code that makes documents of it.

    If the second is the same, so is the document. Parsing HTML takes ten times as long.

    Returns:
        32 hex digits, of which the first 16 are `id_digest`.
    """
    try:
        content = orjson.dumps(values, default=repr)
    except TypeError:  # a lone surrogate, or a key that is not a string
        content = repr(values).encode("utf-8", "surrogatepass")
    return id_digest(id_) + _hashed_with(_DOCUMENT_CODE, _DOCUMENT_PACKAGES, content).hex()[:16]


def entry_hash(entry: bytes) -> int:
    """A hash of an entry as it stands in a source, of which a post and its comments are made.

    Returns:
        64 bits, of which the last 12 are 0: `with_count` puts a number there.
    """
    return int.from_bytes(_hashed_with(_ENTRY_CODE, _ENTRY_PACKAGES, entry)[:8]) & ~_COUNTED


def with_count(hashed: int, documents: int) -> int:
    """The hash of an entry with the number of its documents; 0 if they are too many to count."""
    return hashed | documents if documents <= _COUNTED else 0


def count_of(entry: int, hashed: int) -> int:
    """The number of documents in a hash with a count; 0 if that is not `hashed`."""
    return entry & _COUNTED if entry & ~_COUNTED == hashed else 0


def _hashed_with(code: tuple[str, ...], packages: tuple[str, ...], content: bytes) -> bytes:
    return hashlib.sha256(_code_digest(code, packages) + content).digest()


@cache
def _code_digest(code: tuple[str, ...], packages: tuple[str, ...]) -> bytes:
    """Changes with the schema, these modules of the indexer and the versions of these packages."""
    hashed = hashlib.sha256("".join([str(SCHEMA), *map(version, packages)]).encode())
    for name in code:
        hashed.update((Path(__file__).parent / name).read_bytes())
    return hashed.digest()
