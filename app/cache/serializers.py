"""How cached values are written to Redis: as JSON, plain or compressed.

Answers are kept as the finished body of the response. Memoized values are JSON too, with tags for
the few types that JSON lacks. `make bench-serializers` compares this with other formats, and
docs/caching.md says what came of it.
"""

import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import orjson

MAX_DEPTH = 64  # levels; orjson gives up at 254, and no answer has more than 6

_DATE, _DATETIME, _INTEGER, _LITERAL = "$date", "$datetime", "$int", "$dict"
TAGS = frozenset({_DATE, _DATETIME, _INTEGER, _LITERAL})

_SMALLEST, _LARGEST = -(2**63), 2**63 - 1


class NotSerializable(ValueError):
    """A value that would be changed or lost; `path` says where it is."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path


class Unreadable(ValueError):
    """Bytes that this service did not write, or not in this version, or that were damaged."""


# -- compression -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Serializer:
    """Finished JSON, perhaps through a compressor.

    `content_encoding` is the HTTP content coding of the compressed bytes.
    """

    name: str
    compress: Callable[[bytes], bytes]
    decompress: Callable[[bytes], bytes]
    content_encoding: str | None = None


_GZIP = 31  # window bits of zlib: a container that browsers take

PLAIN = Serializer("bytes", bytes, bytes)

SERIALIZERS = {
    PLAIN.name: PLAIN,
    "bytes+zlib": Serializer(
        "bytes+zlib",
        lambda data: zlib.compress(data, 6, wbits=_GZIP),
        lambda data: zlib.decompress(data, wbits=_GZIP),
        "gzip",
    ),
}
"""What `BLOGSEARCH_CACHE_SERIALIZER` may be."""


# -- JSON --------------------------------------------------------------------------------------


def render(body: Any) -> bytes:
    """The body of an HTTP response: UTF-8 JSON."""
    return orjson.dumps(body)


def dumps(value: Any) -> bytes:
    """A value as JSON, from which `loads` makes an equal one of the same types.

    Raises:
        NotSerializable: the value would not come back as it is.
    """
    try:
        return orjson.dumps(to_plain(value))
    except TypeError as error:  # half a surrogate pair
        raise NotSerializable("value", str(error)) from error


def loads(data: bytes) -> Any:
    """The value that `dumps` was given.

    Raises:
        Unreadable: the bytes are not what `dumps` writes.
    """
    try:
        return from_plain(orjson.loads(data))
    except (ValueError, TypeError, AttributeError) as error:
        raise Unreadable(str(error)) from error


def to_plain(value: Any) -> Any:
    """A tree of what JSON and MessagePack can say: dicts with str keys, lists, str, int within 64
    bit, finite floats, bool, None.

    Dates and larger integers become a dict with one key out of `TAGS`; a dict that happens to look
    like one is wrapped. Other types are refused, because some library would change them without an
    error: a tuple becomes a list, NaN null, an int key text.

    Raises:
        NotSerializable: the value would not come back as it is.
    """
    return _to_plain(value, "value", MAX_DEPTH)


def _to_plain(value: Any, path: str, levels: int) -> Any:
    kind = type(value)  # exactly: a subclass would come back as its base class
    if kind is str or kind is bool or value is None:
        return value
    if kind is int:
        return value if _SMALLEST <= value <= _LARGEST else {_INTEGER: hex(value)}
    if kind is float:
        if not math.isfinite(value):
            raise NotSerializable(path, f"JSON has no {value}")
        return value
    if kind is datetime or kind is date:
        return _tagged_date(value, path)
    if kind is not dict and kind is not list:
        raise NotSerializable(path, f"the type {kind.__name__} is not supported")
    if not levels:
        raise NotSerializable(path, f"nested deeper than {MAX_DEPTH} levels")
    if kind is list:
        return [_to_plain(item, f"{path}[]", levels - 1) for item in value]
    for key in value:
        if type(key) is not str:
            raise NotSerializable(path, f"the key {key!r} is not a str")
    tree = {key: _to_plain(item, f"{path}.{key}", levels - 1) for key, item in value.items()}
    return {_LITERAL: tree} if len(tree) == 1 and not TAGS.isdisjoint(tree) else tree


def _tagged_date(value: date, path: str) -> dict[str, str]:
    text = value.isoformat()
    # A named zone has moments (the hour that comes twice) that no fixed offset equals.
    if type(value).fromisoformat(text) != value:
        raise NotSerializable(path, f"{value!r} does not equal itself with a fixed offset")
    return {_DATETIME if isinstance(value, datetime) else _DATE: text}


def from_plain(tree: Any) -> Any:
    """The value of which `to_plain` made this tree.

    Raises:
        ValueError, TypeError, AttributeError: the content of a tag is invalid.
    """
    if isinstance(tree, list):
        return [from_plain(item) for item in tree]
    if not isinstance(tree, dict):
        return tree
    if len(tree) == 1:
        [(key, content)] = tree.items()
        if key == _LITERAL:
            return {inner: from_plain(item) for inner, item in content.items()}
        if key == _INTEGER:
            return int(content, 16)
        if key == _DATETIME:
            return datetime.fromisoformat(content)
        if key == _DATE:
            return date.fromisoformat(content)
    return {key: from_plain(item) for key, item in tree.items()}
