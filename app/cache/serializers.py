"""How cached values are written to Redis: as JSON, plain or compressed.

Answers are kept as the finished body of the response; memoized values are JSON, too.
`make bench-serializers` compares this with other formats, and docs/caching.md says what came of it.
"""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson


class NotSerializable(ValueError):
    """A value that JSON would change."""


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


def render(body: Any) -> bytes:
    """The body of an HTTP response: UTF-8 JSON."""
    return orjson.dumps(body)


def dumps(value: Any) -> bytes:
    """A value as JSON, from which `orjson.loads` makes an equal one.

    Raises:
        NotSerializable: JSON would change the value, as it does a tuple, a date or NaN.
    """
    try:
        data = orjson.dumps(value)
    except TypeError as error:
        raise NotSerializable(str(error)) from error
    if orjson.loads(data) != value:
        raise NotSerializable("JSON would change the value")
    return data
