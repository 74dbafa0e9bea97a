"""Defines the serializers that are compared: nine formats, each alone and with five compressors."""

import json
import lzma
import pickle
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import brotli  # type: ignore[import-untyped]
import lz4.frame  # type: ignore[import-untyped]
import msgpack  # type: ignore[import-untyped]
import msgspec
import orjson
import ormsgpack
import ujson
import zstandard


@dataclass(frozen=True, slots=True)
class Pair:
    """A format, which encodes a plain tree as bytes, or a compressor, which compresses them."""

    name: str
    write: Callable[[Any], bytes]
    read: Callable[[bytes], Any]


def _json(tree: Any) -> bytes:
    return json.dumps(tree, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _ujson(tree: Any) -> bytes:
    text: str = ujson.dumps(tree, ensure_ascii=False, escape_forward_slashes=False, allow_nan=False)
    return text.encode()


_FINISHED = "bytes"
"""The format that is the finished body of the HTTP response."""
FORMATS = (
    Pair("json", _json, json.loads),
    Pair("orjson", orjson.dumps, orjson.loads),
    Pair("ujson", _ujson, ujson.loads),
    Pair("msgspec", msgspec.json.encode, msgspec.json.decode),
    Pair("msgspec-msgpack", msgspec.msgpack.encode, msgspec.msgpack.decode),
    Pair("msgpack", lambda tree: bytes(msgpack.packb(tree)), msgpack.unpackb),
    Pair("ormsgpack", ormsgpack.packb, ormsgpack.unpackb),
    Pair("pickle", pickle.dumps, pickle.loads),
    Pair(_FINISHED, orjson.dumps, orjson.loads),
)

_GZIP = 31  # window bits of zlib: a container that browsers accept
COMPRESSORS = (
    Pair("lzma", lambda data: lzma.compress(data, preset=6), lzma.decompress),
    Pair(
        "zlib",
        lambda data: zlib.compress(data, 6, wbits=_GZIP),
        lambda data: zlib.decompress(data, wbits=_GZIP),
    ),
    Pair(
        "zstd",
        zstandard.ZstdCompressor(level=3).compress,
        zstandard.ZstdDecompressor().decompress,
    ),
    Pair("lz4", lz4.frame.compress, lz4.frame.decompress),
    Pair("brotli", lambda data: brotli.compress(data, quality=5), brotli.decompress),
)


@dataclass(frozen=True, slots=True)
class Serializer:
    """A format with an optional compressor."""

    form: Pair
    compressor: Pair | None = None

    @property
    def name(self) -> str:
        return f"{self.form.name}+{self.compressor.name}" if self.compressor else self.form.name

    @property
    def safe(self) -> bool:
        """Whether reading a value cannot run code that somebody has put into Redis."""
        return self.form.name != "pickle"

    def dumps(self, value: Any) -> bytes:
        """Return the bytes to store for a value."""
        data = self.form.write(value)
        return self.compressor.write(data) if self.compressor else data

    def loads(self, data: bytes) -> Any:
        """Return the value of stored bytes."""
        return self.form.read(self._unpacked(data))

    def response(self, data: bytes) -> bytes:
        """Return the body of a response to a client that accepts no compression."""
        is_finished = self.form.name == _FINISHED
        return self._unpacked(data) if is_finished else orjson.dumps(self.loads(data))

    def _unpacked(self, data: bytes) -> bytes:
        return self.compressor.read(data) if self.compressor else data


@cache
def serializers() -> dict[str, Serializer]:
    """Return all serializers by name: every format alone, then with every compressor."""
    listed = [
        Serializer(form, compressor) for compressor in (None, *COMPRESSORS) for form in FORMATS
    ]
    return {serializer.name: serializer for serializer in listed}
