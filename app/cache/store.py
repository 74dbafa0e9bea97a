"""The values stored in Redis: answers, and the generation that makes them current.

A generation stands for one state of the index. A swap or a write begins another one, and answers
of the former generation are no longer fresh. A lookup reads the generation and the answer in one
round trip.
"""

import hashlib
import hmac
import secrets
import statistics
import struct
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import Any, Literal

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
from app.rate_limit import Quota

_TIMEOUT = 10.0  # seconds for what no search waits for
_WRITE_TIMEOUT = 2.0  # seconds that beginning a generation may take
_BATCH = 1000  # keys
_MAX_MEASURED = 100_000  # answers; beyond that the sizes are those of a sample

State = Literal["HIT", "MISS", "STALE", "OFF"]


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
    """The value that was sealed; None if that was by another program, version or secret, or for
    another request, or if it is damaged."""
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
    """What Redis had for the request that `key` and `digest` stand for.

    `generation` is None when there is none yet. `answer` is HIT or STALE, None when nothing is
    kept. `reached` is False without Redis, and `failed` if it failed now. `limit` is what the
    request may still spend on Redis. `counts`: of the quotas for which the request was counted;
    None without Redis.
    """

    key: str
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


@dataclass(frozen=True, slots=True)
class Stats:
    """The cache of one alias.

    `sizes`: number of the kept answers, and bytes of all, of the median and of the largest.
    `memory`: what Redis reports for everything that it holds; `maxmemory` 0 means no limit.
    Everything is empty when Redis is unavailable.
    """

    generation: str
    sizes: dict[str, int]
    memory: dict[str, Any]


def hit_rate(states: Mapping[str, int]) -> float | None:
    """The share of searches answered from the cache, stale or not; None before the first."""
    total = sum(states.values())
    return (states.get("HIT", 0) + states.get("STALE", 0)) / total if total else None


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
    """The generation after one of another index, or of no index.

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
    """The answers of one alias, written by one serializer. Threads and forked workers may share it.

    No method fails because of Redis: without it they return None, False or nothing.
    """

    def __init__(self, client: RedisClient, keys: Keys, serializer: Serializer) -> None:
        self.client = client
        self.keys = keys
        self._serializer = serializer
        self._digest = lru_cache(maxsize=1024)(keys.digest)  # popular searches come again and again

    @property
    def configured(self) -> bool:
        """Whether there is a Redis to keep answers in, reachable or not."""
        return self.client.redis is not None

    # -- answers -------------------------------------------------------------------------------

    def lookup(
        self, key: str, quotas: Sequence[Quota] = (), limit: TimeLimit | None = None
    ) -> Lookup:
        """The generation, and the answer to the request that `key` stands for, in one round trip
        that also counts the request for each quota."""
        digest, limit = self._digest(key), limit or TimeLimit(self.client.timeout)
        names = (self.keys.generation, self.keys.answers + digest.hex())
        try:
            generation, data, counts = self.client.call(limit, _get_and_count, names, quotas)
        except RedisUnavailable as error:
            failed = isinstance(error, RedisFailed)
            return Lookup(key, digest, limit, reached=False, failed=failed)
        answer = self._read(digest, data, generation) if data else None
        return Lookup(key, digest, limit, True, generation, answer, counts=counts)

    def _read(self, digest: bytes, data: bytes, generation: bytes | None) -> CachedAnswer | None:
        value = unseal(self.keys.secret, digest, data)
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
            self._serializer,
            has_hits,
        )

    def count(self, quotas: Sequence[Quota]) -> Sequence[int] | None:
        """Count a request for each quota; what the counts are now, None without Redis."""
        names, without_redis = (self.keys.generation,), (None, None, None)
        seconds = self.client.timeout
        return self.client.ask(seconds, without_redis, _get_and_count, names, quotas)[2]

    def _put(self, lookup: Lookup, answer: CachedAnswer, keep_seconds: float) -> None:
        """Keep an answer for `keep_seconds`, if Redis takes it."""
        head = _HEAD.pack(
            bytes.fromhex(answer.etag),
            time.time(),
            answer.ttl,
            answer.took,
            len(answer.generation),
            answer.has_hits,
        )
        data = seal(self.keys.secret, lookup.digest, head + answer.generation + answer.payload)
        name, milliseconds = self.keys.answers + lookup.digest.hex(), int(keep_seconds * 1000)
        self.client.ask(lookup.limit, None, redis.Redis.set, name, data, px=milliseconds)

    # -- generations ---------------------------------------------------------------------------

    def generation(self) -> str:
        """The current generation: index, rules and a random part; "" when there is none."""
        current = self.client.ask(_TIMEOUT, None, redis.Redis.get, self.keys.generation)
        return current.decode("utf-8", "replace") if isinstance(current, bytes) else ""

    def new_generation(self, index: str, rules: str) -> bool:
        """After a swap or a write that can be searched: older answers are no longer fresh.

        A full Redis takes no generation, but can delete the present one: kept answers are not fresh
        then.

        Args:
            index: the concrete index that answers now.
            rules: the digest of its synonym rules.

        Returns:
            False when there is a Redis that did not take it: older answers may then be served until
            they expire.
        """
        name, limit = self.keys.generation, TimeLimit(_WRITE_TIMEOUT)
        try:
            try:
                self.client.call(limit, redis.Redis.set, name, make_generation(index, rules))
            except RedisRefused:
                self.client.call(limit, redis.Redis.delete, name)
        except RedisUnavailable:
            return not self.configured
        return True

    def _first_generation(self, limit: TimeLimit) -> bytes | None:
        """The current generation, made now when there is none; None when Redis takes none."""
        first = make_generation("", "")
        generation = self.client.ask(limit, None, _set_default, self.keys.generation, first)
        return generation if isinstance(generation, bytes) else None

    def _replace_generation(self, seen: bytes, index: str, limit: TimeLimit) -> bytes | None:
        """Begin a generation of `index` in place of `seen`; the generation of an answer that was
        computed by `index` under `seen`.

        That is `seen`, so the answer is not fresh, if a write or a swap has begun a generation
        meanwhile. None when Redis takes none.
        """
        values: Any = (seen, _successor(seen, index))  # bytes, which redis-py's types leave out
        script, name = _REPLACE_GENERATION, self.keys.generation
        generation: Any = self.client.ask(limit, None, redis.Redis.eval, script, 1, name, *values)
        return generation if isinstance(generation, bytes) else None

    # -- upkeep --------------------------------------------------------------------------------

    def ping(self) -> str | None:
        """The version of Redis, None when it is unavailable."""
        info = self.client.ask(self.client.timeout, None, redis.Redis.info, "server")
        return None if info is None else str(info.get("redis_version", "unknown"))

    def accepts_writes(self) -> bool:
        """Whether Redis takes a value; not when it is full, or a replica."""
        name, seconds = self.keys.probe, self.client.timeout
        return bool(self.client.ask(seconds, False, redis.Redis.set, name, b"", px=1_000))

    def clear(self) -> int | None:
        """Delete all kept answers and the counts of states; how many answers, None without
        Redis."""

        def command(client: "redis.Redis") -> int:
            deleted = sum(int(client.unlink(*batch)) for batch in self._names(client))
            client.delete(self.keys.counts)
            return deleted

        return self.client.ask(_TIMEOUT, None, command)

    def _measure(self) -> dict[str, int]:
        """Bytes of the kept answers: count, total, median and largest."""

        def command(client: "redis.Redis") -> list[int]:
            measured: list[int] = []
            for batch in self._names(client):
                with client.pipeline(transaction=False) as pipeline:
                    for name in batch:
                        pipeline.strlen(name)
                    # An answer may expire between being listed and being measured.
                    measured += [size for size in pipeline.execute() if size]
                if len(measured) >= _MAX_MEASURED:
                    break
            return measured

        measured = self.client.ask(_TIMEOUT, [], command)
        return {
            "count": len(measured),
            "total": sum(measured),
            "median": int(statistics.median(measured)) if measured else 0,
            "largest": max(measured, default=0),
        }

    def _names(self, client: "redis.Redis") -> Iterator[list[bytes]]:
        """The names of all kept answers, in batches."""
        names = client.scan_iter(match=f"{self.keys.answers}*", count=_BATCH)
        while batch := list(islice(names, _BATCH)):
            yield batch


def _get_and_count(
    client: "redis.Redis", keys: Sequence[str], quotas: Sequence[Quota]
) -> tuple[bytes | None, bytes | None, Sequence[int] | None]:
    """The values of one or two keys, and the counts of the quotas with this request.

    The counts are None if Redis refuses to count, as a full one and a replica do.

    Raises:
        redis.ResponseError: Redis refuses to read.
        ValueError: the reply is not one to MGET.
    """
    with client.pipeline(transaction=False) as pipeline:
        pipeline.mget(keys)
        for quota in quotas:
            pipeline.incr(quota.key)
            pipeline.expire(quota.key, quota.seconds)
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
