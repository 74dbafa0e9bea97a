"""The answer cache: `cache.answer(cache.lookup(key), compute)`.

An answer is kept under the generation of the index that it was computed from, and is served only
while that is the present one, which is kept in Redis, too: a lookup reads both in one round trip.
`app.generation` tells Redis which generation is the present one.
"""

import hashlib
import logging
import math
import random
import statistics
import struct
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import Any, Literal, Unpack

import orjson
import redis

from app.back_off import start_thread
from app.cache.keys import Keys, seal, unseal
from app.cache.memoize import Memoized, MemoizeOptions, P, T
from app.cache.redis_client import RedisClient, RedisRefused, RedisUnavailable, TimeLimit
from app.cache.serializers import render
from app.cache.single_flight import SingleFlight
from app.errors import BlogsearchError, Unavailable
from app.logs import note

_JITTER = 0.1  # of a lifetime, added or removed at random, so that answers do not expire together
_EARLY = 0.02  # of a lifetime: how long before expiry, on average, an answer is refreshed
_REFRESHES = 2  # in the background at a time, so that visitors' searches come first

_TIMEOUT = 10.0  # seconds for what no search waits for
_WRITE_TIMEOUT = 2.0  # seconds for each command about the generation
_SIZES_KEPT = 10.0  # seconds
_BATCH = 1000  # keys
_MAX_MEASURED = 100_000  # answers; beyond that the sizes are those of a sample

# The ETag, a digest of the generation, when it was created (seconds since 1970), `ttl`, `took`,
# `has_hits` and `is_partial`; the payload follows.
_HEAD = struct.Struct(">12s16sddd??")

State = Literal["HIT", "MISS", "STALE", "OFF"]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Computed:
    """A fresh answer: the JSON body, whether it found anything, and whether only a part of what
    was searched for (`is_partial`).

    `keep`: keep it at all. `keep_stale`: keep it beyond its lifetime, for when Elasticsearch is
    unavailable.
    """

    body: Mapping[str, Any]
    has_hits: bool
    is_partial: bool = False
    keep_stale: bool = True
    keep: bool = True


Compute = Callable[[], Computed]


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """Seconds: how long an answer is fresh, how long an answer without hits is, and how much longer
    than that either is kept for when Elasticsearch is unavailable."""

    ttl: float = 600.0
    # What is missing today may be written soon, and searches for it are cheap.
    ttl_empty: float = 60.0
    stale_ttl: float = 86_400.0


@dataclass(frozen=True, slots=True)
class CachedAnswer:
    """An answer, and where it came from.

    `state`: HIT from Redis; MISS computed now; STALE from Redis, past its lifetime; OFF computed
    now, without Redis. `payload`: the body of the response. `etag`: without quotes. `age`, `ttl`
    and `took`: seconds. `has_hits`, `is_partial`: as of `Computed`.
    """

    state: State
    payload: bytes
    etag: str
    age: float
    ttl: float
    took: float
    has_hits: bool
    is_partial: bool

    @property
    def body(self) -> dict[str, Any]:
        """The answer as a dict, decoded with each call."""
        body: dict[str, Any] = orjson.loads(self.payload)
        return body


Counter = tuple[str, int]
"""The key of a number in Redis that a request increases, and the seconds after which it expires."""


@dataclass(frozen=True, slots=True)
class Lookup:
    """What Redis had for the request that `digest` stands for.

    `generation` is None when there is none. `answer` is one of this generation, HIT or STALE, None
    when there is none. `reached` is False without Redis. `limit` is what the request may still
    spend on Redis. `counts`: of the counters that the request has increased; None without Redis.
    """

    digest: bytes
    limit: TimeLimit
    reached: bool
    generation: bytes | None = None
    answer: CachedAnswer | None = None
    counts: Sequence[int] | None = None


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


class AnswerCache:
    """Finished answers in Redis. Made without a connection; threads and forked workers share it.

    Only the methods about the generation fail because of Redis: without it answers are computed
    (state OFF) and the others return None, False or nothing.
    """

    def __init__(self, client: RedisClient, keys: Keys, lifetimes: Lifetimes) -> None:
        self.client = client
        self.keys = keys
        self._lifetimes = lifetimes
        self._digest = lru_cache(maxsize=1024)(keys.digest)  # popular searches come again and again
        self._flights: SingleFlight[CachedAnswer] = SingleFlight()
        self._refreshes = threading.BoundedSemaphore(_REFRESHES)
        self._sizes = self.memoize(seconds=_SIZES_KEPT, args_rewrite=lambda *_: ())(self._measure)

    @property
    def configured(self) -> bool:
        """Whether there is a Redis to keep answers in, reachable or not."""
        return self.client.redis is not None

    # -- answers -------------------------------------------------------------------------------

    def lookup(
        self, key: str, counters: Sequence[Counter] = (), limit: TimeLimit | None = None
    ) -> Lookup:
        """The generation, and the answer to the request that `key` stands for, in one round trip
        that also increases these counters."""
        digest, limit = self._digest(key), limit or TimeLimit(self.client.timeout)
        names = (self.keys.generation, self.keys.answers + digest.hex())
        try:
            generation, data, counts = self.client.call(limit, _get_and_count, names, counters)
        except RedisUnavailable:
            return Lookup(digest, limit, reached=False)
        answer = self._read(digest, data, generation) if data and generation else None
        return Lookup(digest, limit, True, generation, answer, counts)

    def answer(self, lookup: Lookup, compute: Compute, *, available: bool = True) -> CachedAnswer:
        """The answer to the request that was looked up.

        `compute` may be called in another thread, after this call has returned. When Elasticsearch
        is not `available`, only kept answers are served, and at once. One past its lifetime is
        served if the new one fails, whatever the reason.

        Raises:
            Unavailable: Elasticsearch is not available, and no answer is kept.
            Exception: what `compute` raised, if no answer is kept.
        """
        kept = lookup.answer
        if kept and kept.state == "HIT":
            if available and refresh_due(kept.age, kept.ttl, kept.took):
                self._refresh_in_background(lookup, compute)
            return kept
        try:
            if not available:
                raise Unavailable("Elasticsearch is unavailable. Try again in some seconds.")
            return self._compute(lookup, compute)
        except Exception as error:
            if kept is None:
                raise
            if not isinstance(error, BlogsearchError):
                log.error("an older answer is served: %s", error, exc_info=error)
            note(stale_because=getattr(error, "code", "error"))
            return kept

    def _compute(self, lookup: Lookup, compute: Compute) -> CachedAnswer:
        """The answer, computed by one thread at a time while the generation stays the same.

        Without Redis nothing tells whether a write came after another one had begun.
        """
        if lookup.generation is None:
            return self._compute_and_keep(lookup, compute)
        flight = lookup.digest, lookup.generation
        answer, here = self._flights.run(flight, lambda: self._compute_and_keep(lookup, compute))
        return answer if here else replace(answer, state="HIT")

    def _compute_and_keep(self, lookup: Lookup, compute: Compute) -> CachedAnswer:
        started = time.monotonic()
        computed = compute()
        took = time.monotonic() - started
        payload = render(computed.body)
        ttl = self._lifetimes.ttl if computed.has_hits else self._lifetimes.ttl_empty
        answer = CachedAnswer(
            "MISS" if lookup.reached else "OFF",
            payload,
            make_etag(lookup.generation or b"", lookup.digest, payload),
            0.0,
            ttl * random.uniform(1 - _JITTER, 1 + _JITTER),  # noqa: S311 -- no secret
            took,
            computed.has_hits,
            computed.is_partial,
        )
        if lookup.generation is not None and computed.keep:
            stale_ttl = self._lifetimes.stale_ttl if computed.keep_stale else 0.0
            self._put(lookup, lookup.generation, answer, answer.ttl + stale_ttl)
        return answer

    def _refresh_in_background(self, lookup: Lookup, compute: Compute) -> None:
        """Compute and keep the answer in another thread, unless too many refreshes are running."""
        lookup = replace(lookup, limit=TimeLimit(self.client.timeout))

        def refresh() -> None:
            try:
                self._compute(lookup, compute)
            except Unavailable:
                pass
            except Exception:
                log.exception("a background refresh failed")
            finally:
                self._refreshes.release()

        # Not an executor: its threads are lost in a forked worker and delay its exit.
        if self._refreshes.acquire(blocking=False) and not start_thread(refresh):
            self._refreshes.release()

    def _read(self, digest: bytes, data: bytes, generation: bytes) -> CachedAnswer | None:
        """The kept answer; None if it is of another generation, or not one."""
        value = unseal(self.keys.secret, digest, data)
        if value is None:
            return None
        etag, written_under, created, ttl, took, *what = _HEAD.unpack_from(value)
        if written_under != _short(generation):
            return None
        # One of the future was created before the clock was set back: it would be fresh for years.
        age = time.time() - created
        state: State = "HIT" if abs(age) < ttl else "STALE"
        payload = bytes(value[_HEAD.size :])
        return CachedAnswer(state, payload, etag.hex(), max(age, 0.0), ttl, took, *what)

    def _put(
        self, lookup: Lookup, generation: bytes, answer: CachedAnswer, keep_seconds: float
    ) -> None:
        """Keep an answer for `keep_seconds`, if Redis takes it."""
        head = _HEAD.pack(
            bytes.fromhex(answer.etag),
            _short(generation),
            time.time(),
            answer.ttl,
            answer.took,
            answer.has_hits,
            answer.is_partial,
        )
        data = seal(self.keys.secret, lookup.digest, head + answer.payload)
        name, milliseconds = self.keys.answers + lookup.digest.hex(), int(keep_seconds * 1000)
        self.client.ask(lookup.limit, None, redis.Redis.set, name, data, px=milliseconds)

    def count(self, counters: Sequence[Counter]) -> Sequence[int] | None:
        """Increase the counters; what they are now, None without Redis."""
        names, without_redis = (self.keys.generation,), (None, None, None)
        seconds = self.client.timeout
        return self.client.ask(seconds, without_redis, _get_and_count, names, counters)[2]

    # -- generations ---------------------------------------------------------------------------

    def generation(self) -> str:
        """The generation whose answers are served now, as text; "" when none is known."""
        try:
            return (self.read_generation() or b"").decode("utf-8", "replace")
        except RedisUnavailable:
            return ""

    def read_generation(self) -> bytes | None:
        """The generation whose answers are served now, None when there is none.

        Raises:
            RedisUnavailable: Redis does not answer.
        """
        limit = TimeLimit(_WRITE_TIMEOUT)
        (generation,) = self.client.call(limit, redis.Redis.mget, [self.keys.generation])
        return generation if isinstance(generation, bytes) else None

    def replace_generation(self, seen: bytes | None, generation: bytes) -> bool:
        """From now on serve answers of `generation`; False if the present one is not `seen`.

        A full Redis takes no value, but can delete the present one: no kept answer is served then.

        Raises:
            RedisUnavailable: Redis does not answer, or takes neither.
        """
        name, limit = self.keys.generation, TimeLimit(_WRITE_TIMEOUT)
        values: Any = (seen or b"", generation)  # bytes, which redis-py's types leave out
        try:
            return bool(self.client.call(limit, redis.Redis.eval, _REPLACE, 1, name, *values))
        except RedisRefused:
            self.client.call(limit, redis.Redis.delete, name)
            return True

    # -- other values --------------------------------------------------------------------------

    def memoize(
        self, **options: Unpack[MemoizeOptions]
    ) -> Callable[[Callable[P, T]], Memoized[P, T]]:
        """A decorator that keeps a function's value for `seconds`, for all processes.

        `args_rewrite` turns the arguments into plain values for the key. `on_hit` and `on_miss` are
        called with the arguments. With `store=False` the value is not kept: the function runs once
        per period, and calls in between return None.
        """
        return lambda function: Memoized(function, self.client, self.keys, options)

    # -- upkeep --------------------------------------------------------------------------------

    def ping(self) -> str | None:
        """The version of Redis, None when it is unavailable."""
        info = self.client.ask(self.client.timeout, None, redis.Redis.info, "server")
        return None if info is None else str(info.get("redis_version", "unknown"))

    def accepts_writes(self) -> bool:
        """Whether Redis takes a value; not when it is full, or a replica."""
        name, seconds = self.keys.probe, self.client.timeout
        return bool(self.client.ask(seconds, False, redis.Redis.set, name, b"", px=1_000))

    def stats(self) -> Stats:
        """Figures of the cache; sizes may be some seconds old, as they take a scan of all keys."""
        memory: dict[str, Any] = self.client.ask(_TIMEOUT, {}, redis.Redis.info, "memory")
        wanted = ("used_memory", "used_memory_peak", "maxmemory", "maxmemory_policy")
        reported = {name: memory[name] for name in wanted if name in memory}
        return Stats(self.generation(), self._sizes(), reported)

    def clear(self) -> int | None:
        """Delete all kept answers; how many, None without Redis."""

        def command(client: "redis.Redis") -> int:
            return sum(int(client.unlink(*batch)) for batch in self._names(client))

        deleted = self.client.ask(_TIMEOUT, None, command)
        self._sizes.invalidate()
        return deleted

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


_REPLACE = """
local present = redis.call("get", KEYS[1]) or ""
if present ~= ARGV[1] then return 0 end
redis.call("set", KEYS[1], ARGV[2])
return 1
"""


def _get_and_count(
    client: "redis.Redis", keys: Sequence[str], counters: Sequence[Counter]
) -> tuple[bytes | None, bytes | None, Sequence[int] | None]:
    """The values of one or two keys, and the counts of the counters with this request.

    The counts are None if Redis refuses to count, as a full one and a replica do.

    Raises:
        redis.ResponseError: Redis refuses to read.
        ValueError: the reply is not one to MGET.
    """
    with client.pipeline(transaction=False) as pipeline:
        pipeline.mget(keys)
        for key, seconds in counters:
            pipeline.incr(key)
            pipeline.expire(key, seconds)
        values, *replies = pipeline.execute(raise_on_error=False)
    if isinstance(values, redis.RedisError):
        raise values
    generation, answer = values if len(keys) == 2 else (*values, None)
    if not (isinstance(generation, bytes | None) and isinstance(answer, bytes | None)):
        raise ValueError("the reply to MGET is invalid")
    counts = replies[::2]
    return generation, answer, counts if set(map(type, counts)) <= {int} else None


@lru_cache(maxsize=16)
def _short(generation: bytes) -> bytes:
    return hashlib.blake2b(generation, digest_size=16).digest()


def make_etag(generation: bytes, digest: bytes, payload: bytes) -> str:
    """24 characters that differ between generations, requests and answers.

    Answers of one generation may differ too, and without Redis there is no generation.
    """
    checksum = zlib.crc32(payload).to_bytes(4, "big")
    return hashlib.blake2b(generation + digest + checksum, digest_size=12).hexdigest()


def refresh_due(age: float, ttl: float, took: float) -> bool:
    """Whether this search should have a fresh answer refreshed before it expires.

    Probabilistic early expiration (Vattani, Chierichetti, Lowenstein: Optimal Probabilistic Cache
    Stampede Prevention, VLDB 2015): the lead before expiry is drawn from an exponential
    distribution, so that of many searches one is early and of few searches none is. They scale it
    by the time a computation takes. Ours take milliseconds, and an answer that is requested once a
    second would mostly expire before any search was early, so 2 % of the lifetime is the least.
    """
    lead = -math.log(1.0 - random.random()) * max(took, ttl * _EARLY)  # noqa: S311
    return age + lead >= ttl
