"""Every way to serialize a value that is compared: nine formats, each with five compressors."""

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
class Format:
    """A way to write a plain tree as bytes. `finished`: that is the body of the HTTP response."""

    name: str
    dumps: Callable[[Any], bytes]
    loads: Callable[[bytes], Any]
    finished: bool = False


@dataclass(frozen=True, slots=True)
class Compressor:
    """Makes values smaller, and brings them back."""

    name: str
    compress: Callable[[bytes], bytes]
    decompress: Callable[[bytes], bytes]


def _json(tree: Any) -> bytes:
    return json.dumps(tree, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _ujson(tree: Any) -> bytes:
    text: str = ujson.dumps(tree, ensure_ascii=False, escape_forward_slashes=False, allow_nan=False)
    return text.encode()


def _msgpack(tree: Any) -> bytes:
    return bytes(msgpack.packb(tree))


def _lzma(data: bytes) -> bytes:
    return lzma.compress(data, preset=6)


FORMATS: dict[str, Format] = {
    form.name: form
    for form in (
        Format("json", _json, json.loads),
        Format("orjson", orjson.dumps, orjson.loads),
        Format("ujson", _ujson, ujson.loads),
        Format("msgspec", msgspec.json.encode, msgspec.json.decode),
        Format("msgspec-msgpack", msgspec.msgpack.encode, msgspec.msgpack.decode),
        Format("msgpack", _msgpack, msgpack.unpackb),
        Format("ormsgpack", ormsgpack.packb, ormsgpack.unpackb),
        Format("pickle", pickle.dumps, pickle.loads),
        Format("bytes", orjson.dumps, orjson.loads, finished=True),
    )
}


_GZIP = 31  # window bits of zlib: a container that browsers take
_zstd_writer, _zstd_reader = zstandard.ZstdCompressor(level=3), zstandard.ZstdDecompressor()

COMPRESSORS: dict[str, Compressor] = {
    compressor.name: compressor
    for compressor in (
        Compressor("lzma", _lzma, lzma.decompress),
        Compressor(
            "zlib",
            lambda data: zlib.compress(data, 6, wbits=_GZIP),
            lambda data: zlib.decompress(data, wbits=_GZIP),
        ),
        Compressor("zstd", _zstd_writer.compress, _zstd_reader.decompress),
        Compressor("lz4", lz4.frame.compress, lz4.frame.decompress),
        Compressor("brotli", lambda data: brotli.compress(data, quality=5), brotli.decompress),
    )
}


@dataclass(frozen=True, slots=True)
class Serializer:
    """A format and perhaps a compressor."""

    name: str
    form: Format
    compressor: Compressor | None = None

    @property
    def safe(self) -> bool:
        """Reading it cannot run code that somebody has put into Redis."""
        return self.form.name != "pickle"

    def dumps(self, value: Any) -> bytes:
        """The bytes to store."""
        data = self.form.dumps(value)
        return self.compressor.compress(data) if self.compressor else data

    def loads(self, data: bytes) -> Any:
        """The value again."""
        return self.form.loads(self.unpack(data))

    def unpack(self, data: bytes) -> bytes:
        """What the format wrote: the stored bytes without the compression."""
        return self.compressor.decompress(data) if self.compressor else data

    def response(self, data: bytes) -> bytes:
        """The body of a response to a client that accepts no compression."""
        if self.form.finished:
            return self.unpack(data)
        return orjson.dumps(self.loads(data))


@cache
def serializers() -> dict[str, Serializer]:
    """All of them by name: every format alone, then with every compressor."""
    listed = [Serializer(form.name, form) for form in FORMATS.values()]
    listed += [
        Serializer(f"{form.name}+{compressor.name}", form, compressor)
        for form in FORMATS.values()
        for compressor in COMPRESSORS.values()
    ]
    return {serializer.name: serializer for serializer in listed}
