"""Opening local files: unzipped where they are zipped, and with the part read so far."""

import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias, cast

from indexer.errors import SourceError

Stream: TypeAlias = "io.BufferedReader[Any]"

_GZIP = b"\x1f\x8b"


class File:
    """One file, or standard input (`-`), that is read from its beginning to its end."""

    def __init__(self, spec: str) -> None:
        self.name = "standard input" if spec == "-" else spec
        self._spec = spec
        self._file: io.FileIO | None = None
        self._size = 0
        if spec != "-" and not Path(spec).exists():
            raise SourceError(f"There is no file {spec}.", "Name one, or - for standard input.")
        if spec != "-" and Path(spec).is_dir():
            raise SourceError(f"{spec} is a folder, not a file.", "Name a file in it.")

    @property
    def progress(self) -> float | None:
        """The part read, by bytes as they lie on the disk, so that it holds for .gz too."""
        if self._file is None or not self._size:
            return None
        return 1.0 if self._file.closed else min(1.0, self._file.tell() / self._size)

    @contextmanager
    def opened(self) -> Iterator[Stream]:
        """The unzipped content.

        Raises:
            SourceError: also for a fault while it is read, such as a .gz that ends early.
        """
        try:
            with self._raw() as stream:
                yield unzipped(stream)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise SourceError(f"{self.name} is damaged: {error}.", "Make it anew.") from error
        except OSError as error:
            raise SourceError(f"{self.name}: {error.strerror or error}.") from error

    @contextmanager
    def _raw(self) -> Iterator[Stream]:
        if self._spec == "-":
            stream: Stream = io.BufferedReader(cast("io.RawIOBase", sys.stdin.buffer))
            try:
                yield stream
            finally:
                stream.detach()  # it would close the process's own standard input
            return
        with io.FileIO(self._spec) as file, io.BufferedReader(file) as stream:
            self._file, self._size = file, os.fstat(file.fileno()).st_size
            yield stream


def unzipped(stream: Stream) -> Stream:
    """What the first bytes say, not the name: `.gz` is often forgotten or left over."""
    if stream.peek(2)[:2] == _GZIP:
        return io.BufferedReader(gzip.GzipFile(fileobj=stream))
    return stream


def unzipped_bytes(body: bytes, name: str, most: int) -> bytes:
    """The same for something fetched, of which no more than `most` bytes are unpacked."""
    if not body.startswith(_GZIP):
        return body
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(body)) as stream:
            found = stream.read(most + 1)
    except (EOFError, zlib.error, OSError) as error:
        raise SourceError(f"{name} is damaged: {error}.") from error
    if len(found) > most:
        raise SourceError(f"{name} has more than {most:,} bytes when unpacked.")
    return found
