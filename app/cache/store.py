"""The values stored in Redis: answers, and the generation that makes them current.

A generation stands for one state of the index. A swap or a write begins another one, and answers
of the former generation are no longer fresh. A lookup reads the generation and the answer in one
round trip.
"""

import hashlib
import hmac
import secrets
import struct
import time
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

import orjson
import redis

from app.cache.redis_client import (
    RedisClient,
    RedisFailed,
    RedisRefused,
    RedisUnavailable,
    TimeLimit,
)
from app.cache.serializers import Serializer, render

State = Literal["HIT", "MISS", "STALE", "OFF"]


class Counter(Protocol):
    """A number under `key` that ends `seconds` after it was raised last."""

    @property
    def key(self) -> str: ...

    @property
    def seconds(self) -> int: ...


# -- keys --------------------------------------------------------------------------------------


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
        self.counts = f"{self._prefix}:counts"
        self.answers = f"{self._prefix}:answer:"
        self.rates = f"{self._prefix}:rate:"
        self.probe = f"{self._prefix}:probe"  # only written to see whether Redis takes a value

    def digest(self, request: str) -> bytes:
        """16 bytes for a normalized request, which may be long and contain anything."""
        text = f"{self._variant}\n{request}"
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()

    def lock(self, digest: bytes) -> str:
        return f"{self._prefix}:lock:{digest.hex()}"

    def insights(self, name: str, day: str = "") -> str:
        """Counts of searches, those of a day such as `2026-11-21`."""
        return f"{self._prefix}:insights:{name}:{day}" if day else f"{self._prefix}:insights:{name}"

    def memoized(self, name: str) -> str:
        return f"{self._prefix}:memoized:{name}"


# -- signatures --------------------------------------------------------------------------------

_MAGIC = b"\xb5BS\x06"  # no text starts with 0xb5; the last byte is the version of this layout
_SIGNED_FROM = len(_MAGIC) + 16


def seal(secret: bytes, digest: bytes, value: bytes) -> bytes:
    """The bytes for Redis: a value, signed; with an empty secret the signature is a checksum.

    `digest` is that of the request or call that the value belongs to, and must be the same when it
    is opened. A keyed BLAKE2b takes a third of the time of HMAC-SHA-256.
    """
    signature = hashlib.blake2b(value, key=secret, person=digest, digest_size=16).digest()
    return _MAGIC + signature + value


def unseal(secret: bytes, digest: bytes, data: bytes) -> memoryview | None:
    """The value that was sealed; None for one of another program, version, secret or request, and
    for one that is damaged."""
    value = memoryview(data)[_SIGNED_FROM:]
    signature = hashlib.blake2b(value, key=secret, person=digest, digest_size=16).digest()
    sealed = data.startswith(_MAGIC) and hmac.compare_digest(
        data[len(_MAGIC) : _SIGNED_FROM], signature
    )
    return value if sealed else None


# -- answers -----------------------------------------------------------------------------------

# The ETag, when it was created (seconds since 1970), `ttl`, `took`, the length of the generation,
# and `has_hits`; generation and payload follow.
_HEAD = struct.Struct(">12sdddH?")


@dataclass(frozen=True, slots=True)
class CachedAnswer:
    """An answer, and where it came from.

    `state`: HIT from Redis; MISS computed now; STALE from Redis, older than it should be; OFF
    computed now, without Redis. `payload`: the body of the response, compressed by
    `serializer`. `etag`: without quotes. `age`, `ttl` and `took`: seconds.
    `generation`: b"" without Redis. `has_hits`: whether it has hits.
    """

    state: State
    payload: bytes
    etag: str
    generation: bytes
    age: float
    ttl: float
    took: float
    serializer: Serializer
    has_hits: bool

    def json(self) -> bytes:
        """The body of the response, not compressed."""
        return self.serializer.decompress(self.payload)

    @property
    def body(self) -> dict[str, Any]:
        """The answer as a dict, decoded with each call."""
        body: dict[str, Any] = orjson.loads(self.json())
        return body

    def with_body(self, body: dict[str, Any]) -> "CachedAnswer":
        """Another answer, derived from this one, with an ETag of its own."""
        payload = self.serializer.compress(render(body))
        return replace(self, payload=payload, etag=make_etag(self.generation, b"", payload))


@dataclass(frozen=True, slots=True)
class Lookup:
    """What Redis had for a request.

    `generation` is None when there is none yet. `answer` is HIT or STALE, None when nothing is
    kept. `reached` is False without Redis, and `failed` if it failed now. `limit` is what the
    request may still spend on Redis. `counts`: of the counters that were raised with the lookup;
    None without Redis.
    """

    digest: bytes
    limit: TimeLimit
    reached: bool
    generation: bytes | None = None
    answer: CachedAnswer | None = None
    failed: bool = False
    counts: Sequence[int] | None = None


# Replaces the generation only if it is still the one that was read. One that a write or a swap has
# begun meanwhile is newer than the answer, which belongs to the one that was read.
_REPLACE_GENERATION = """
local current = redis.call("get", KEYS[1])
if current == ARGV[1] then redis.call("set", KEYS[1], ARGV[2]) end
if current == ARGV[1] or current == ARGV[2] then return ARGV[2] end
return ARGV[1]
"""


def make_etag(generation: bytes, digest: bytes, payload: bytes) -> str:
    """24 characters that differ between generations, requests and answers.

    Answers of one generation may differ too, and without Redis there is no generation.
    """
    checksum = zlib.crc32(payload).to_bytes(4, "big")
    return hashlib.blake2b(generation + digest + checksum, digest_size=12).hexdigest()


def make_generation(index: str, rules: str) -> bytes:
    """A generation that is different from all others; `index` and `rules` are for readers."""
    return f"{index or '-'} {rules or '-'} {secrets.token_hex(6)}".encode()


def _successor(generation: bytes, index: str) -> bytes:
    """The generation that follows one that named no index or another one.

    Searches that were computed at the same time name the same successor, so that all of their
    answers stay fresh, whichever of them begins it.
    """
    unique = hashlib.blake2b(generation + index.encode(), digest_size=6).hexdigest()
    return f"{index} - {unique}".encode()


def index_of(generation: bytes) -> str:
    """The index that a generation names, "" when it names none."""
    index = generation.split(b" ", 1)[0].decode("utf-8", "replace")
    return "" if index == "-" else index


class AnswerStore:
    """The answers of one alias, written by one serializer."""

    def __init__(self, client: RedisClient, keys: Keys, serializer: Serializer) -> None:
        self._client = client
        self._keys = keys
        self.serializer = serializer

    def lookup(self, digest: bytes, limit: TimeLimit, counters: Sequence[Counter] = ()) -> Lookup:
        """The generation and the answer to a request, in one round trip that raises counters."""
        keys = (self._keys.generation, self._keys.answers + digest.hex())
        try:
            reply = self._client.call(limit, _get_and_count, keys, counters)
        except RedisUnavailable as error:
            return Lookup(digest, limit, reached=False, failed=isinstance(error, RedisFailed))
        generation, data, counts = reply
        answer = self._read(digest, data, generation) if data else None
        return Lookup(digest, limit, True, generation, answer, counts=counts)

    def _read(self, digest: bytes, data: bytes, generation: bytes | None) -> CachedAnswer | None:
        value = unseal(self._keys.secret, digest, data)
        if value is None:
            return None
        etag, created, ttl, took, length, has_hits = _HEAD.unpack_from(value)
        payload_from = _HEAD.size + length
        written_under = bytes(value[_HEAD.size : payload_from])
        # One of the future was created before the clock was set back: it would be fresh for years.
        age = time.time() - created
        fresh = written_under == generation and abs(age) < ttl
        return CachedAnswer(
            "HIT" if fresh else "STALE",
            bytes(value[payload_from:]),
            etag.hex(),
            written_under,
            max(age, 0.0),
            ttl,
            took,
            self.serializer,
            has_hits,
        )

    def count(self, counters: Sequence[Counter], limit: TimeLimit) -> Sequence[int] | None:
        """Raise counters by one; what they are now, None without Redis."""
        try:
            return self._client.call(limit, _get_and_count, (self._keys.generation,), counters)[2]
        except RedisUnavailable:
            return None

    def put(
        self, digest: bytes, answer: CachedAnswer, keep_seconds: float, limit: TimeLimit
    ) -> None:
        """Keep an answer for `keep_seconds`, if Redis takes it."""
        head = _HEAD.pack(
            bytes.fromhex(answer.etag),
            time.time(),
            answer.ttl,
            answer.took,
            len(answer.generation),
            answer.has_hits,
        )
        data = seal(self._keys.secret, digest, head + answer.generation + answer.payload)
        key, milliseconds = self._keys.answers + digest.hex(), int(keep_seconds * 1000)
        with suppress(RedisUnavailable):
            self._client.call(limit, redis.Redis.set, key, data, px=milliseconds)

    def begin_generation(self, generation: bytes, limit: TimeLimit) -> bool:
        """Make this generation the current one; False when Redis did not take it.

        A full Redis takes none, but can delete the present one: kept answers are not fresh then.
        """
        key = self._keys.generation
        try:
            try:
                self._client.call(limit, redis.Redis.set, key, generation)
            except RedisRefused:
                self._client.call(limit, redis.Redis.delete, key)
        except RedisUnavailable:
            return False
        return True

    def first_generation(self, limit: TimeLimit) -> bytes | None:
        """The current generation, made now when there is none; None when Redis takes none."""
        return self._generation(_set_default, make_generation("", ""), limit)

    def replace_generation(self, seen: bytes, index: str, limit: TimeLimit) -> bytes | None:
        """Begin a generation of `index` in place of `seen`; the generation of an answer that was
        computed by `index` under `seen`.

        That is `seen`, so the answer is not fresh, if a write or a swap has begun a generation
        meanwhile. None when Redis takes none.
        """
        return self._generation(_replace, (seen, _successor(seen, index)), limit)

    def _generation(self, command: Any, value: Any, limit: TimeLimit) -> bytes | None:
        try:
            generation = self._client.call(limit, command, self._keys.generation, value)
        except RedisUnavailable:
            return None
        return generation if isinstance(generation, bytes) else None


def _get_and_count(
    client: "redis.Redis", keys: Sequence[str], counters: Sequence[Counter]
) -> tuple[bytes | None, bytes | None, Sequence[int] | None]:
    """The values of one or two keys, and what the counters are now that they were raised.

    The counts are None if Redis refuses to count, as a full one and a replica do.

    Raises:
        redis.ResponseError: Redis refuses to read.
        ValueError: the reply is not one to MGET.
    """
    with client.pipeline(transaction=False) as pipeline:
        pipeline.mget(keys)
        for counter in counters:
            pipeline.incr(counter.key)
            pipeline.expire(counter.key, counter.seconds)
        values, *replies = pipeline.execute(raise_on_error=False)
    if isinstance(values, redis.RedisError):
        raise values
    generation, answer = values if len(keys) == 2 else (*values, None)
    if not (isinstance(generation, bytes | None) and isinstance(answer, bytes | None)):
        raise ValueError("the reply to MGET is invalid")
    counts = replies[::2]
    return generation, answer, counts if set(map(type, counts)) <= {int} else None


def _set_default(client: "redis.Redis", key: str, value: bytes) -> Any:
    with client.pipeline(transaction=False) as pipeline:
        pipeline.set(key, value, nx=True)
        pipeline.get(key)
        return pipeline.execute()[1]


def _replace(client: "redis.Redis", key: str, values: tuple[bytes, bytes]) -> Any:
    return client.eval(_REPLACE_GENERATION, 1, key, *values)
