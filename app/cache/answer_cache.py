"""Implements the answer cache: `cache.answer(cache.lookup(key), compute)`.

An answer is kept with the generation of the index that it was computed from, and served only while
that is the present one. Redis also has the present generation, which `app.index.watch` changes; a
lookup reads both in one round trip.
"""

import hashlib
import logging
import struct
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, Unpack

import orjson
import redis

from app.cache.memoize import Memoized, MemoizeOptions, P, SingleFlight, T
from app.cache.redis_client import (
    Counter,
    Keys,
    RedisClient,
    RedisRefused,
    RedisUnavailable,
    Signer,
)
from app.errors import BlogsearchError, Unavailable
from app.http.logs import note

SERIALIZER = "bytes"
"""The format of kept answers: the finished body of the response, chosen with `make
bench-serializers` among other formats and compressions; docs/caching.md says why."""

# The version of this layout, the end of freshness (seconds since 1970), `has_hits`, `is_partial`;
# the payload and its signature follow.
_HEAD = struct.Struct(">4sd??")
_VERSION = b"\xb5BS\x09"

State = Literal["HIT", "MISS", "STALE", "OFF"]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Computed:
    """A fresh answer: the JSON body, and whether it has hits.

    `is_partial`: no hit has all the words. `keep`: keep it at all. `keep_stale`: keep it beyond its
    lifetime, in case Elasticsearch is unavailable.
    """

    body: Mapping[str, Any]
    has_hits: bool
    is_partial: bool = False
    keep_stale: bool = True
    keep: bool = True


Compute = Callable[[], Computed]


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """Seconds for which an answer is fresh (`ttl`), an answer without hits is fresh (`ttl_empty`),
    and either is kept afterwards in case Elasticsearch is unavailable (`stale_ttl`)."""

    ttl: float = 600.0
    # A missing post may be written soon, and searches without hits are cheap.
    ttl_empty: float = 60.0
    stale_ttl: float = 86_400.0


@dataclass(frozen=True, slots=True)
class CachedAnswer:
    """An answer and its origin.

    `state`: HIT, from Redis; MISS, computed now; STALE, from Redis, past its lifetime; OFF,
    computed now, without Redis. `payload`: the body of the response. The rest is as in `Computed`.
    """

    state: State
    payload: bytes
    has_hits: bool
    is_partial: bool

    @property
    def body(self) -> Any:
        """The answer as a dict, decoded at each access."""
        return orjson.loads(self.payload)

    @property
    def etag(self) -> str:
        """The ETag, without quotes."""
        return hashlib.blake2b(self.payload, digest_size=12).hexdigest()


@dataclass(frozen=True, slots=True)
class Lookup:
    """The result of reading `name` from Redis for a request.

    `generation`: the present one, None if there is none. `answer`: the answer of this generation,
    HIT or STALE, None if there is none. `reached`: False without Redis. `counts`: the new values of
    the counters that the request has increased; None without Redis.
    """

    name: str
    reached: bool
    generation: bytes | None = None
    answer: CachedAnswer | None = None
    counts: Sequence[int] | None = None


class AnswerCache:
    """Finished answers in Redis. Opens no connection at first; threads and forked workers share it.

    Without Redis answers are computed (state OFF); only the methods for generations raise errors.

    Args:
        secret: signs everything that is kept.
    """

    def __init__(
        self, client: RedisClient, keys: Keys, lifetimes: Lifetimes, secret: str = ""
    ) -> None:
        self._signer = Signer(secret)
        self.client = client
        self.keys = keys
        self._lifetimes = lifetimes
        self._name = lru_cache(maxsize=1024)(keys.answer)  # popular searches are repeated
        self._flights: SingleFlight[CachedAnswer] = SingleFlight()

    # -- answers -------------------------------------------------------------------------------

    def lookup(self, key: str, counters: Sequence[Counter] = ()) -> Lookup:
        """Read the generation and the answer to the request with this key, in one round trip that
        also increases the counters."""
        name = self._name(key)
        try:
            (generation, data), counts = self.client.read((self.keys.generation, name), counters)
        except RedisUnavailable:
            return Lookup(name, reached=False)
        answer = self._unpack(data, generation, name) if data and generation else None
        return Lookup(name, True, generation, answer, counts)

    def answer(self, lookup: Lookup, compute: Compute, *, available: bool = True) -> CachedAnswer:
        """Return the answer to the request that was looked up.

        If Elasticsearch is not `available`, only kept answers are served, and at once. An answer
        past its lifetime is served if computing a new one fails for any reason.

        Raises:
            Unavailable: Elasticsearch is not available, and no answer is kept.
            Exception: the error of `compute`, if no answer is kept.
        """
        kept = lookup.answer
        if kept and kept.state == "HIT":
            return kept
        try:
            if not available:
                raise Unavailable("Elasticsearch is unavailable. Try again in a few seconds.")
            if lookup.generation is None:
                # Another computation may have begun before a write, so its answer is not shared.
                return self._compute(lookup, compute)
            flight = lookup.name, lookup.generation
            answer, here = self._flights.run(flight, lambda: self._compute(lookup, compute))
            return answer if here else replace(answer, state="HIT")
        except Exception as error:
            if kept is None:
                raise
            if not isinstance(error, BlogsearchError):
                log.error("an older answer is served: %s", error, exc_info=error)
            note(stale_because=getattr(error, "code", "error"))
            return kept

    def _compute(self, lookup: Lookup, compute: Compute) -> CachedAnswer:
        computed = compute()
        state: State = "MISS" if lookup.reached else "OFF"
        payload = orjson.dumps(computed.body)
        answer = CachedAnswer(state, payload, computed.has_hits, computed.is_partial)
        if lookup.generation is not None and computed.keep:
            ttl = self._lifetimes.ttl if computed.has_hits else self._lifetimes.ttl_empty
            seconds = ttl + (self._lifetimes.stale_ttl if computed.keep_stale else 0.0)
            what = answer.has_hits, answer.is_partial
            data = _HEAD.pack(_VERSION, time.time() + ttl, *what) + payload
            data = self._signer.sign(data, _purpose(lookup.generation, lookup.name))
            self.client.write(lookup.name, data, int(seconds * 1000))
        return answer

    def _unpack(self, data: bytes, generation: bytes, name: str) -> CachedAnswer | None:
        """Read a kept answer; None if it belongs to another version, generation or request, or was
        not written by a process with this secret."""
        signed = self._signer.verify(data, _purpose(generation, name))
        if signed is None or len(signed) < _HEAD.size:
            return None
        version, fresh_until, has_hits, is_partial = _HEAD.unpack_from(signed)
        if version != _VERSION:
            return None
        state: State = "HIT" if time.time() < fresh_until else "STALE"
        return CachedAnswer(state, signed[_HEAD.size :], has_hits, is_partial)

    def count(self, counters: Sequence[Counter]) -> Sequence[int] | None:
        """Increase the counters, and return their new values; None without Redis."""
        with suppress(RedisUnavailable):
            return self.client.read((self.keys.generation,), counters)[1]
        return None

    # -- generations ---------------------------------------------------------------------------

    def read_generation(self) -> bytes | None:
        """Return the generation whose answers are served now, None if there is none.

        Raises:
            RedisUnavailable: Redis does not answer.
        """
        [[generation], _] = self.client.read((self.keys.generation,))
        return generation

    def replace_generation(self, seen: bytes | None, generation: bytes) -> bool:
        """Serve answers of `generation` from now on; return False if the present one is not `seen`.

        A full Redis accepts no value, but can delete the present one; then no kept answer is
        served.

        Raises:
            RedisUnavailable: Redis does not answer, or refuses both.
        """
        name = self.keys.generation
        values: Any = (seen or b"", generation)  # bytes, which redis-py's types leave out
        try:
            return bool(self.client.call(redis.Redis.eval, _REPLACE, 1, name, *values))
        except RedisRefused:
            self.client.call(redis.Redis.delete, name)
            return True

    # -- other values, upkeep ------------------------------------------------------------------

    def memoize(
        self, **options: Unpack[MemoizeOptions]
    ) -> Callable[[Callable[P, T]], Memoized[P, T]]:
        """Return a decorator that keeps a function's value for `seconds`, for all processes.

        `args_rewrite` converts the arguments to plain values for the key. `on_hit` and `on_miss`
        are called with the arguments. With `store=False` the value is not kept: the function runs
        once per period, and calls in between return None.
        """
        return lambda function: Memoized(function, self.client, self.keys, self._signer, options)

    def ping(self) -> str | None:
        """Return the version of Redis, None if it is unavailable."""
        info = self.client.ask(None, redis.Redis.info, "server")
        return None if info is None else str(info.get("redis_version", "unknown"))

    def accepts_writes(self) -> bool:
        """Whether Redis accepts a value; a full one or a replica does not."""
        return bool(self.client.ask(False, redis.Redis.set, self.keys.probe, b"", px=1_000))


def _purpose(generation: bytes, name: str) -> bytes:
    return b"%b\n%b" % (generation, name.encode())


_REPLACE = """
local present = redis.call("get", KEYS[1]) or ""
if present ~= ARGV[1] then return 0 end
redis.call("set", KEYS[1], ARGV[2])
return 1
"""
