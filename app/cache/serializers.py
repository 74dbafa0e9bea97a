"""Every way to write an answer down, each alone and with each compressor: `msgpack+zstd`.

Which one is the default is decided by `make bench-serializers`; docs/caching.md tells how.
"""

import json
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgpack  # type: ignore[import-untyped]
import msgspec
import orjson
import ormsgpack
import ujson

from app.cache.compressors import COMPRESSORS, Compressor
from app.cache.errors import NotCarried, Unreadable
from app.cache.values import plain, restore


@dataclass(frozen=True, slots=True)
class Format:
    """A way to write a plain tree as bytes.

    `refused` says why a setting may not choose it. `native`: it takes any value as it is, without
    `values.plain`. `finished`: what it writes is the body of the HTTP answer.
    """

    name: str
    dumps: Callable[[Any], bytes]
    loads: Callable[[bytes], Any]
    why: str
    refused: str = ""
    native: bool = False
    finished: bool = False


def render(body: Any) -> bytes:
    """The body of an HTTP answer: UTF-8 JSON."""
    return orjson.dumps(body)


def _json(tree: Any) -> bytes:
    return json.dumps(tree, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _ujson(tree: Any) -> bytes:
    text: str = ujson.dumps(tree, ensure_ascii=False, escape_forward_slashes=False, allow_nan=False)
    return text.encode()


def _msgpack(tree: Any) -> bytes:
    return bytes(msgpack.packb(tree))


def _unpickle(data: bytes) -> Any:
    return pickle.loads(data)  # noqa: S301 -- measured only: no setting leads here


FORMATS: dict[str, Format] = {
    form.name: form
    for form in (
        Format("json", _json, json.loads, "the standard library, to compare with"),
        Format("orjson", orjson.dumps, orjson.loads, "JSON in Rust"),
        Format("ujson", _ujson, ujson.loads, "JSON in C; its authors advise orjson"),
        Format("msgspec", msgspec.json.encode, msgspec.json.decode, "JSON in C"),
        Format(
            "msgspec-msgpack",
            msgspec.msgpack.encode,
            msgspec.msgpack.decode,
            "MessagePack by the library that also does JSON",
        ),
        Format("msgpack", _msgpack, msgpack.unpackb, "MessagePack by its authors"),
        Format("ormsgpack", ormsgpack.packb, ormsgpack.unpackb, "MessagePack in Rust"),
        Format(
            "pickle",
            pickle.dumps,
            _unpickle,
            "what most caches for Python use, to compare with",
            refused="whoever can write to the Redis would run code in every worker: reading a "
            "pickle calls whatever the bytes name, and a Redis is often shared",
            native=True,
        ),
        Format(
            "bytes",
            render,
            orjson.loads,
            "the finished body of the response: a hit is sent as it is stored",
            finished=True,
        ),
    )
}


@dataclass(frozen=True, slots=True)
class Serializer:
    """A format and perhaps a compressor, under the name a setting has for them."""

    name: str
    form: Format
    compressor: Compressor | None = None

    @property
    def coding(self) -> str | None:
        """The content coding of stored bytes that are a finished, compressed response."""
        return self.compressor.coding if self.compressor and self.form.finished else None

    def dumps(self, value: Any) -> tuple[bytes, bool]:
        """The bytes to store, and whether `values.restore` has to go over them when read.

        Raises:
            NotCarried: the value would not come back as it is.
        """
        tree, tagged = (value, False) if self.form.native else plain(value)
        try:
            data = self.form.dumps(tree)
        except (ValueError, TypeError, OverflowError, RecursionError, pickle.PickleError) as error:
            # Each library has its own error for half a surrogate pair and the like.
            raise NotCarried("value", f"{self.form.name}: {error}") from error
        return self.compressor.compress(data) if self.compressor else data, tagged

    def unpack(self, data: bytes) -> bytes:
        """What the format wrote: the stored bytes without the compression.

        Raises:
            Unreadable: damaged.
        """
        if self.compressor is None:
            return data
        try:
            return self.compressor.decompress(data)
        except Exception as error:  # five libraries, five error trees
            raise Unreadable(f"{self.compressor.name}: {error}") from error

    def loads(self, data: bytes, tagged: bool) -> Any:
        """The value again.

        Raises:
            Unreadable: damaged.
        """
        unpacked = self.unpack(data)
        try:
            tree = self.form.loads(unpacked)
            return restore(tree) if tagged else tree
        except Exception as error:  # eight libraries, eight error trees
            raise Unreadable(f"{self.form.name}: {error}") from error


@cache
def serializers() -> dict[str, Serializer]:
    """All of them by name: every format alone, then with every compressor."""
    found = [Serializer(form.name, form) for form in FORMATS.values()]
    found += [
        Serializer(f"{form.name}+{compressor.name}", form, compressor)
        for form in FORMATS.values()
        for compressor in COMPRESSORS.values()
    ]
    return {serializer.name: serializer for serializer in found}


def offered() -> list[str]:
    """The names that `BLOGSEARCH_CACHE_SERIALIZER` may have."""
    return [name for name, serializer in serializers().items() if not serializer.form.refused]


def serializer_named(name: str) -> Serializer:
    """The serializer that a setting asks for.

    Raises:
        ValueError: unknown, with the known ones, or refused, with the reason.
    """
    found = serializers().get(name)
    if found is None:
        raise ValueError(f"no serializer is called {name!r}; known are {', '.join(offered())}")
    if found.form.refused:
        raise ValueError(f"{name!r} is measured but not offered: {found.form.refused}")
    return found
