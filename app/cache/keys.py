"""The names under which the cache keeps things in Redis.

All of an alias' keys carry the same hash tag, `{blog}`: a Redis Cluster then holds them on one
node, so that one MGET can read the generation and an answer together.
"""

import hashlib
from dataclasses import dataclass

DIGEST_SIZE = 16  # bytes; a digest read back that differs from the one asked for is a miss


@dataclass(frozen=True, slots=True)
class Keys:
    """`variant` is whatever besides the request makes answers differ: version, strategy."""

    alias: str
    variant: str

    def digest(self, request: str) -> bytes:
        """What stands for a normalised request, which itself may be long and hold anything."""
        text = f"{self.variant}\n{request}"
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()

    def _named(self, rest: str) -> str:
        return f"blogsearch:{{{self.alias}}}:{rest}"

    @property
    def generation(self) -> str:
        return self._named("generation")

    @property
    def counts(self) -> str:
        return self._named("counts")

    @property
    def every_answer(self) -> str:
        """A pattern for SCAN; an alias has no character that means something in one."""
        return self._named("answer:*")

    def answer(self, digest: bytes) -> str:
        return self._named(f"answer:{digest.hex()}")

    def lock(self, digest: bytes) -> str:
        return self._named(f"lock:{digest.hex()}")

    def searches(self, day: str) -> str:
        """The counted searches of a day, `2026-11-21`."""
        return self._named(f"searches:{day}")

    def memo(self, name: str) -> str:
        return self._named(f"memo:{name}")
