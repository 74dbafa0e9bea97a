"""The names of what is kept in Redis, and the signatures that keep forged values out."""

import hashlib
import hmac


class Keys:
    """The names of everything that is kept for an alias.

    Args:
        variant: whatever besides the request makes answers differ, such as the strategy.
        secret: signs what is kept, so that write access to Redis is not enough to forge an answer.
    """

    def __init__(self, alias: str, variant: str, secret: bytes = b"") -> None:
        self._variant = variant
        too_long = len(secret) > hashlib.blake2b.MAX_KEY_SIZE
        self.secret = hashlib.blake2b(secret).digest() if too_long else secret
        self._prefix = f"blogsearch:{{{alias}}}"
        self.generation = f"{self._prefix}:generation"
        self.answers = f"{self._prefix}:answer:"
        self.rates = f"{self._prefix}:rate:"
        self.probe = f"{self._prefix}:probe"  # only written to see whether Redis takes a value

    def digest(self, request: str) -> bytes:
        """16 bytes for a normalized request, which may be long and contain anything."""
        text = f"{self._variant}\n{request}"
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()

    def insights(self, name: str, day: str = "") -> str:
        """Counts of searches, those of a day such as `2026-11-21`."""
        return f"{self._prefix}:insights:{name}:{day}" if day else f"{self._prefix}:insights:{name}"

    def memoized(self, name: str) -> str:
        return f"{self._prefix}:memoized:{name}"


_MAGIC = b"\xb5BS\x07"  # no text starts with 0xb5; the last byte is the version of this layout
_SIGNED_FROM = len(_MAGIC) + 16


def seal(secret: bytes, digest: bytes, value: bytes) -> bytes:
    """The bytes for Redis: a value, signed; with an empty secret the signature is a checksum.

    `digest` is that of the request or call that the value belongs to, and must be the same when it
    is opened. A keyed BLAKE2b takes a third of the time of HMAC-SHA-256.
    """
    signature = hashlib.blake2b(value, key=secret, person=digest, digest_size=16).digest()
    return _MAGIC + signature + value


def unseal(secret: bytes, digest: bytes, data: bytes) -> memoryview | None:
    """The value that was sealed; None if that was by another program, version or secret, or for
    another request, or if it is damaged."""
    value = memoryview(data)[_SIGNED_FROM:]
    signature = hashlib.blake2b(value, key=secret, person=digest, digest_size=16).digest()
    sealed = data.startswith(_MAGIC) and hmac.compare_digest(
        data[len(_MAGIC) : _SIGNED_FROM], signature
    )
    return value if sealed else None
