"""The compressors that stored values may go through, at the levels that were measured."""

import lzma
import threading
import zlib
from collections.abc import Callable
from dataclasses import dataclass

import brotli  # type: ignore[import-untyped]
import lz4.frame  # type: ignore[import-untyped]
import zstandard


@dataclass(frozen=True, slots=True)
class Compressor:
    """`coding` is its HTTP content coding, where it has one that browsers take."""

    name: str
    compress: Callable[[bytes], bytes]
    decompress: Callable[[bytes], bytes]
    coding: str | None
    why: str


_GZIP = 31  # zlib's window bits for the gzip container instead of its own


def _gzip(data: bytes) -> bytes:
    return zlib.compress(data, 6, wbits=_GZIP)


def _gunzip(data: bytes) -> bytes:
    return zlib.decompress(data, wbits=_GZIP)


class _Zstandard(threading.local):
    """Made once a thread: making one costs more than using it, and threads may not share one."""

    def __init__(self) -> None:
        self.compressor = zstandard.ZstdCompressor(level=3)
        self.decompressor = zstandard.ZstdDecompressor()


_zstandard = _Zstandard()


def _zstd(data: bytes) -> bytes:
    return _zstandard.compressor.compress(data)


def _unzstd(data: bytes) -> bytes:
    return _zstandard.decompressor.decompress(data)


def _lzma(data: bytes) -> bytes:
    return lzma.compress(data, preset=6)


def _brotli(data: bytes) -> bytes:
    return bytes(brotli.compress(data, quality=5))


def _unbrotli(data: bytes) -> bytes:
    return bytes(brotli.decompress(data))


def _lz4(data: bytes) -> bytes:
    return bytes(lz4.frame.compress(data))


def _unlz4(data: bytes) -> bytes:
    return bytes(lz4.frame.decompress(data))


COMPRESSORS: dict[str, Compressor] = {
    compressor.name: compressor
    for compressor in (
        Compressor(
            "zlib",
            _gzip,
            _gunzip,
            "gzip",
            "in the gzip container, so that what is stored can go to the browser as it is",
        ),
        Compressor("lzma", _lzma, lzma.decompress, None, "the smallest, and the slowest by far"),
        Compressor("zstd", _zstd, _unzstd, "zstd", "about as small as zlib, several times faster"),
        Compressor("lz4", _lz4, _unlz4, None, "the fastest to read; no browser takes it"),
        Compressor("brotli", _brotli, _unbrotli, "br", "quality 5; at 11 it takes milliseconds"),
    )
}
