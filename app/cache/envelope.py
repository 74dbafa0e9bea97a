"""How a kept answer lies in Redis: a head that says what it is, then the serialized body.

The head makes a changed setting, another program's value or a damaged one a miss: it names the
serializer, the key it was stored under and the generation, and carries a checksum over the rest.
"""

import struct
import zlib
from dataclasses import dataclass

from app.cache.errors import Unreadable

_MAGIC = b"\xb5BS\x01"  # no text starts with 0xb5; the last byte is the version of this layout
_HEAD = struct.Struct(">4sI16sddfBBH")
_CHECKED_FROM = 8  # the checksum covers what follows it
_TAGGED, _FOUND = 1, 2


@dataclass(frozen=True, slots=True)
class Envelope:
    """One kept answer.

    `digest` is of the request it answers; `created` is seconds since 1970; `ttl` how many seconds
    it counts as fresh; `took` how many its computation took. `generation` is what Redis had when
    the computation began.
    """

    digest: bytes
    serializer: str
    generation: bytes
    created: float
    ttl: float
    took: float
    tagged: bool
    found: bool
    payload: bytes

    def seal(self) -> bytes:
        """The bytes for Redis."""
        name = self.serializer.encode("ascii")
        flags = (_TAGGED if self.tagged else 0) | (_FOUND if self.found else 0)
        head = _HEAD.pack(
            _MAGIC,
            0,
            self.digest,
            self.created,
            self.ttl,
            self.took,
            flags,
            len(name),
            len(self.generation),
        )
        rest = b"".join((head[_CHECKED_FROM:], name, self.generation, self.payload))
        return _MAGIC + zlib.crc32(rest).to_bytes(4, "big") + rest


def opened(data: bytes) -> Envelope:
    """What lies in Redis, checked.

    Raises:
        Unreadable: foreign, of another version, or damaged.
    """
    if len(data) < _HEAD.size or not data.startswith(_MAGIC):
        raise Unreadable("not a value of this cache")
    _, checksum, digest, created, ttl, took, flags, name, generation = _HEAD.unpack_from(data)
    if zlib.crc32(memoryview(data)[_CHECKED_FROM:]) != checksum:
        raise Unreadable("damaged: the checksum differs")
    start = _HEAD.size + name
    end = start + generation
    return Envelope(
        digest=digest,
        serializer=data[_HEAD.size : start].decode("ascii"),
        generation=data[start:end],
        created=created,
        ttl=ttl,
        took=took,
        tagged=bool(flags & _TAGGED),
        found=bool(flags & _FOUND),
        payload=data[end:],
    )
