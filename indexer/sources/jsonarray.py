"""The items of a JSON array, one after the other, however long the array is."""

import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from indexer.errors import SourceError

_CHUNK = 1 << 16
_MAX_ITEM = 16 * 1024 * 1024
_BETWEEN = re.compile(r"\s*")
_REMEDY = "Write JSON Lines, one post a line, to have the good ones taken."


def array_items(stream: BinaryIO, name: str) -> Iterator[tuple[int, Any]]:
    """Each item with the line it starts on.

    Raises:
        SourceError: where the array is no JSON; what comes after cannot be told apart any more.
    """
    reader = _Reader(stream, name)
    reader.expect("[")
    if reader.next() == "]":
        reader.expect("]")
    else:
        while True:
            reader.next()
            yield reader.line, reader.item()
            if reader.next() == "]":
                reader.expect("]")
                break
            reader.expect(",")
    if reader.next():
        raise SourceError(f"{name}:{reader.line}: more after the array.", _REMEDY)


class _Reader:
    """A window on the stream that holds one item and a little more."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self._stream = stream
        self._name = name
        self._decoder = json.JSONDecoder()
        self._bytes = b""
        self._text = ""
        self._at = 0
        self.line = 1

    def next(self) -> str:
        """The next character that is no white space, not taken yet; empty at the end."""
        while True:
            self._take(_BETWEEN.match(self._text, self._at).end())  # type: ignore[union-attr]
            if self._at < len(self._text) or not self._more(_CHUNK):
                return self._text[self._at : self._at + 1]

    def expect(self, character: str) -> None:
        if self.next() != character:
            raise self._wrong(f"no {character!r} where one must be")
        self._take(self._at + 1)

    def item(self) -> Any:
        """The value that starts here; reads on, twice as far each time, until it is whole."""
        self.next()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self._at)
            except (json.JSONDecodeError, RecursionError) as error:
                held = len(self._text) - self._at
                if held > _MAX_ITEM or not self._more(max(_CHUNK, held)):
                    raise self._wrong(getattr(error, "msg", "nested too deep")) from None
                continue
            # A number at the window's edge may go on behind it.
            if end == len(self._text) and self._more(_CHUNK):
                continue
            self._take(end)
            return value

    def _take(self, end: int) -> None:
        self.line += self._text.count("\n", self._at, end)
        self._at = end

    def _more(self, size: int) -> bool:
        chunk = self._stream.read(size)
        self._bytes += chunk
        try:
            text = self._bytes.decode()
            self._bytes = b""
        except UnicodeDecodeError as error:
            if not chunk or len(self._bytes) - error.start > 3:
                raise self._wrong("not UTF-8") from None
            text = self._bytes[: error.start].decode()
            self._bytes = self._bytes[error.start :]
        self._text = self._text[self._at :] + text.removeprefix("\ufeff")
        self._at = 0
        return bool(chunk)

    def _wrong(self, reason: str) -> SourceError:
        return SourceError(f"{self._name}:{self.line}: no JSON array: {reason}.", _REMEDY)
