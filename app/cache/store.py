"""The values stored in Redis: answers in envelopes, and the generation that makes them current.

A generation stands for one state of the index. A swap or a write begins another one, and answers
of the former generation are no longer fresh. A lookup reads the generation and the answer in one
`MGET`.
"""

import hashlib
import hmac
import secrets
import struct
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

import orjson
import redis

from app.cache.redis_client import RedisClient, RedisFailed, RedisUnavailable, TimeLimit
from app.cache.serializers import Serializer, Unreadable, render

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
        self.secret = secret
        self._prefix = f"blogsearch:{{{alias}}}"
        self.generation = f"{self._prefix}:generation"
        self.counts = f"{self._prefix}:counts"
        self.all_answers = f"{self._prefix}:answer:*"  # for SCAN
        self._answer = f"{self._prefix}:answer:"

    def digest(self, request: str) -> bytes:
        """16 bytes for a normalized request, which may be long and contain anything."""
        text = f"{self._variant}\n{request}"
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()

    def rate(self, name: str) -> str:
        """A counter of the requests of a client."""
        return f"{self._prefix}:rate:{name}"

    def answer(self, digest: bytes) -> str:
        return self._answer + digest.hex()

    def lock(self, digest: bytes) -> str:
        return f"{self._prefix}:lock:{digest.hex()}"

    def insights(self, name: str, day: str = "") -> str:
        """Counts of searches, those of a day such as `2026-11-21`."""
        return f"{self._prefix}:insights:{name}:{day}" if day else f"{self._prefix}:insights:{name}"

    @property
    def probe(self) -> str:
        """The key of a value that is only written to see whether Redis takes it."""
        return f"{self._prefix}:probe"

    def memoized(self, name: str) -> str:
        return f"{self._prefix}:memoized:{name}"


# -- envelopes ---------------------------------------------------------------------------------

_MAGIC = b"\xb5BS\x05"  # no text starts with 0xb5; the last byte is the version of this layout
_SIGNATURE = 16  # bytes of a keyed BLAKE2b, a third of the time of HMAC-SHA-256
_HEAD = struct.Struct(f">4s{_SIGNATURE}s16s12sddfBH?")
_SIGNED_FROM = len(_MAGIC) + _SIGNATURE  # the signature covers what follows it


@dataclass(frozen=True, slots=True)
class Envelope:
    """A kept value with what is needed to decide whether it may be served.

    `digest`: of the request or call that it belongs to. `etag`: 12 bytes. `created`: seconds since
    1970. `ttl`: how many seconds it counts as fresh. `took`: how many its computation took.
    `found`: whether an answer has hits.
    """

    digest: bytes
    serializer: str
    generation: bytes
    etag: bytes
    created: float
    ttl: float
    took: float
    payload: bytes
    found: bool = True

    def pack(self, secret: bytes) -> bytes:
        """The bytes for Redis, signed; with an empty secret the signature is a checksum."""
        name = self.serializer.encode("ascii")
        head = _HEAD.pack(
            _MAGIC,
            b"",
            self.digest,
            self.etag,
            self.created,
            self.ttl,
            self.took,
            len(name),
            len(self.generation),
            self.found,
        )
        signed = b"".join((head[_SIGNED_FROM:], name, self.generation, self.payload))
        return _MAGIC + _sign(secret, signed) + signed


def _sign(secret: bytes, data: bytes | memoryview) -> bytes:
    key = secret if len(secret) <= hashlib.blake2b.MAX_KEY_SIZE else _short_key(secret)
    return hashlib.blake2b(data, key=key, digest_size=_SIGNATURE).digest()


def _short_key(secret: bytes) -> bytes:
    return hashlib.blake2b(secret).digest()


def unpack(data: bytes, secret: bytes) -> Envelope:
    """The envelope that these bytes are.

    Raises:
        Unreadable: another program's value, another version's, a damaged or a forged one.
    """
    if len(data) < _HEAD.size or not data.startswith(_MAGIC):
        raise Unreadable("not a value of this cache")
    head = _HEAD.unpack_from(data)
    _, signature, digest, etag, created, ttl, took, name, generation, found = head
    if not hmac.compare_digest(_sign(secret, memoryview(data)[_SIGNED_FROM:]), signature):
        raise Unreadable("the signature differs")
    generation_start = _HEAD.size + name
    payload_start = generation_start + generation
    return Envelope(
        digest,
        data[_HEAD.size : generation_start].decode("ascii"),
        data[generation_start:payload_start],
        etag,
        created,
        ttl,
        took,
        data[payload_start:],
        found,
    )


# -- answers -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CachedAnswer:
    """An answer, and where it came from.

    `state`: HIT from Redis; MISS computed now; STALE from Redis, older than it should be; OFF
    computed now, without Redis. `payload`: the body of the response, compressed by
    `serializer`. `etag`: without quotes. `age`, `ttl` and `took`: seconds.
    `generation`: b"" without Redis. `found`: whether it has hits.
    """

    state: State
    payload: bytes
    etag: str
    generation: bytes
    age: float
    ttl: float
    took: float
    serializer: Serializer
    found: bool

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
        etag = make_etag(self.generation, b"", payload).hex()
        return replace(self, payload=payload, etag=etag)


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


def make_etag(generation: bytes, digest: bytes, payload: bytes) -> bytes:
    """12 bytes that differ between generations, requests and answers.

    Answers of one generation may differ too, and without Redis there is no generation.
    """
    checksum = zlib.crc32(payload).to_bytes(4, "big")
    return hashlib.blake2b(generation + digest + checksum, digest_size=12).digest()


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
        keys = (self._keys.generation, self._keys.answer(digest))
        try:
            generation, data, counts = self._client.call(limit, _get_both, keys, counters)
        except (RedisUnavailable, redis.ResponseError) as error:
            failed = isinstance(error, RedisFailed)
            return Lookup(digest, limit, reached=False, failed=failed)
        answer = self._read(digest, data, generation) if data else None
        return Lookup(digest, limit, True, generation, answer, counts=counts)

    def _read(self, digest: bytes, data: bytes, generation: bytes | None) -> CachedAnswer | None:
        try:
            kept = unpack(data, self._keys.secret)
        except Unreadable:
            return None
        if kept.digest != digest or kept.serializer != self.serializer.name:
            return None
        age = max(time.time() - kept.created, 0.0)
        return CachedAnswer(
            "HIT" if kept.generation == generation and age < kept.ttl else "STALE",
            kept.payload,
            kept.etag.hex(),
            kept.generation,
            age,
            kept.ttl,
            kept.took,
            self.serializer,
            kept.found,
        )

    def count(self, counters: Sequence[Counter], limit: TimeLimit) -> Sequence[int] | None:
        """Raise counters by one; what they are now, None without Redis."""
        try:
            return self._client.call(limit, _count, counters)
        except (RedisUnavailable, redis.ResponseError):
            return None

    def put(
        self, digest: bytes, answer: CachedAnswer, keep_seconds: float, limit: TimeLimit
    ) -> None:
        """Keep an answer for `keep_seconds`, if Redis takes it."""
        envelope = Envelope(
            digest,
            self.serializer.name,
            answer.generation,
            bytes.fromhex(answer.etag),
            time.time(),
            answer.ttl,
            answer.took,
            answer.payload,
            answer.found,
        )
        key, milliseconds = self._keys.answer(digest), int(keep_seconds * 1000)
        try:
            self._client.call(
                limit, redis.Redis.set, key, envelope.pack(self._keys.secret), px=milliseconds
            )
        except (RedisUnavailable, redis.ResponseError):
            return

    def begin_generation(self, generation: bytes, limit: TimeLimit) -> bool:
        """Make this generation the current one; False when Redis did not take it.

        A full Redis takes none, but can delete the present one: kept answers are not fresh then.
        """
        key = self._keys.generation
        try:
            try:
                self._client.call(limit, redis.Redis.set, key, generation)
            except redis.ResponseError:
                self._client.call(limit, redis.Redis.delete, key)
        except (RedisUnavailable, redis.ResponseError):
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
            found = self._client.call(limit, command, self._keys.generation, value)
        except (RedisUnavailable, redis.ResponseError):
            return None
        return found if isinstance(found, bytes) else None


def _get_both(
    client: "redis.Redis", keys: Sequence[str], counters: Sequence[Counter]
) -> tuple[bytes | None, bytes | None, Sequence[int] | None]:
    replies: Sequence[Any] = ()
    if counters:
        with client.pipeline(transaction=False) as pipeline:
            pipeline.mget(keys)
            _add(pipeline, counters)
            values, *replies = pipeline.execute(raise_on_error=False)
    else:
        values = client.mget(keys)
    if isinstance(values, redis.RedisError):
        raise values
    generation, answer = values
    if not (isinstance(generation, bytes | None) and isinstance(answer, bytes | None)):
        raise ValueError("the reply to MGET is invalid")
    return generation, answer, _counts(replies)


def _count(client: "redis.Redis", counters: Sequence[Counter]) -> Sequence[int] | None:
    with client.pipeline(transaction=False) as pipeline:
        _add(pipeline, counters)
        return _counts(pipeline.execute(raise_on_error=False))


def _add(pipeline: Any, counters: Sequence[Counter]) -> None:
    for counter in counters:
        pipeline.incr(counter.key)
        pipeline.expire(counter.key, counter.seconds)


def _counts(replies: Sequence[Any]) -> Sequence[int] | None:
    """None if Redis refuses to count, as a full one and a replica do."""
    counts = replies[::2]
    return counts if all(isinstance(count, int) for count in counts) else None


def _set_default(client: "redis.Redis", key: str, value: bytes) -> Any:
    with client.pipeline(transaction=False) as pipeline:
        pipeline.set(key, value, nx=True)
        pipeline.get(key)
        return pipeline.execute()[1]


def _replace(client: "redis.Redis", key: str, values: tuple[bytes, bytes]) -> Any:
    return client.eval(_REPLACE_GENERATION, 1, key, *values)
