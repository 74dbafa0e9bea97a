"""The answer cache: `get_or_compute` and what belongs to it."""

import logging
import math
import random
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import redis

from app.back_off import start_thread
from app.cache import stats
from app.cache.memoize import Memoized, P, T
from app.cache.redis_client import RedisClient, TimeLimit
from app.cache.serializers import PLAIN, Serializer, render
from app.cache.single_flight import LockTimeout, SingleFlight
from app.cache.store import (
    AnswerStore,
    CachedAnswer,
    Counter,
    Keys,
    Lookup,
    index_of,
    make_etag,
    make_generation,
)
from app.errors import BlogsearchError, StillComputing, Unavailable
from app.logs import note

_JITTER = 0.1  # of a lifetime, added or removed at random, so that answers do not expire together
_EARLY = 0.02  # of a lifetime: how long before expiry, on average, an answer is refreshed

_REFRESHES = 2  # in the background at a time, so that visitors' searches come first
_NEWER_WAIT = 1.0  # seconds after which an older answer is served instead
_COMMAND_TIMEOUT = 2.0  # seconds that a command, unlike a search, may spend on Redis
_SIZES_KEPT = 10.0  # seconds

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Computed:
    """A fresh answer: the JSON body, the concrete index that gave it ("" when unknown), and
    whether it found anything.

    `keep_stale`: keep it beyond its lifetime, for when Elasticsearch is unavailable.
    """

    body: Mapping[str, Any]
    index: str
    has_hits: bool
    keep_stale: bool = True


Compute = Callable[[], Computed]


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """Seconds: how long an answer is fresh, how long one that found nothing is, and how much longer
    than that either is kept for when Elasticsearch is unavailable."""

    ttl: float = 600.0
    # What is missing today may be written soon, and searches for it are cheap.
    ttl_empty: float = 60.0
    stale_ttl: float = 86_400.0


class AnswerCache:
    """Finished answers in Redis. Made without a connection; threads and forked workers share it.

    No method fails because of Redis: without it answers are computed (state OFF) and the other
    methods return None, False or nothing.

    Args:
        lock_wait: seconds that a search waits for another that computes the same answer.
    """

    def __init__(
        self,
        client: RedisClient,
        keys: Keys,
        serializer: Serializer,
        lifetimes: Lifetimes,
        *,
        lock_wait: float = 3.0,
    ) -> None:
        self.client = client
        self.keys = keys
        self._digest = lru_cache(maxsize=1024)(keys.digest)  # popular searches come again and again
        self._store = AnswerStore(client, keys, serializer)
        self._lifetimes = lifetimes
        self._lock_wait = lock_wait
        self._single_flight: SingleFlight[CachedAnswer] = SingleFlight(client)
        self._refreshes = threading.BoundedSemaphore(_REFRESHES)
        self._sizes = self.memoize(seconds=_SIZES_KEPT, args_rewrite=lambda *_: ())(stats.sizes)

    @property
    def configured(self) -> bool:
        """Whether there is a Redis to keep answers in, reachable or not."""
        return self.client.configured

    # -- answers -------------------------------------------------------------------------------

    def lookup(self, key: str, counters: Sequence[Counter] = ()) -> Lookup:
        """What Redis has for the request that `key` stands for; raises counters by one."""
        limit = TimeLimit(self.client.timeout)
        return self._store.lookup(self._digest(key), limit, counters)

    def count(self, counters: Sequence[Counter]) -> Sequence[int] | None:
        """Raise counters by one; what they are now, None without Redis."""
        return self._store.count(counters, TimeLimit(self.client.timeout))

    def get_or_compute(self, key: str, compute: Compute, *, available: bool = True) -> CachedAnswer:
        """The answer to the request that `key` stands for; see `answer`."""
        return self.answer(self.lookup(key), compute, available=available)

    def answer(self, lookup: Lookup, compute: Compute, *, available: bool = True) -> CachedAnswer:
        """The answer to the request that was looked up.

        `compute` may be called in another thread, after this call has returned. When Elasticsearch
        is not `available`, only cached answers are served, and at once. An older answer is served
        if the new one fails, whatever the reason, or takes more than a second.

        Raises:
            Unavailable: Elasticsearch is not available, and no older answer is cached.
            StillComputing: another search computes this answer and was not done in `lock_wait`
                seconds, and no older answer is cached.
            Exception: what `compute` raised, if no older answer is cached.
        """
        cached = lookup.answer
        if cached and cached.state == "HIT":
            if available and refresh_due(cached.age, cached.ttl, cached.took):
                self._refresh_in_background(lookup.digest, compute, lookup)
            return cached
        try:
            if not available:
                raise Unavailable("Elasticsearch is unavailable. Try again in some seconds.")
            if cached is None:
                return self._compute_alone(lookup, compute, self._lock_wait)
            # If nothing was written since, the expired answer is good enough for all but one.
            wait = 0.0 if cached.generation == lookup.generation else self._lock_wait
            return _within(_NEWER_WAIT, lambda: self._compute_alone(lookup, compute, wait))
        except Exception as error:
            older = self._older(lookup, error)
            if older is None:
                raise
            return older

    def _compute_alone(self, lookup: Lookup, compute: Compute, wait: float) -> CachedAnswer:
        """The answer, computed by one search at a time.

        Raises:
            StillComputing: another search was not done in `wait` seconds.
            Exception: what `compute` raised.
        """
        digest, limit = lookup.digest, lookup.limit
        try:
            with self._single_flight.enter(
                (digest, lookup.generation), self.keys.lock(digest), wait, limit
            ) as entry:
                if entry.result:
                    return replace(entry.result, state="HIT" if lookup.reached else "OFF")
                again = self._store.lookup(digest, limit)
                if again.answer and again.answer.state == "HIT":
                    entry.result = again.answer
                else:
                    entry.result = self._compute_and_keep(digest, compute, again, limit)
                return entry.result
        except LockTimeout:
            raise StillComputing(
                "The same search is being answered for somebody else. Try again in a second."
            ) from None

    def _older(self, lookup: Lookup, error: Exception) -> CachedAnswer | None:
        """The cached answer, which is better than an error; None if there is none.

        If the lookup failed it is repeated, as Redis may only have been slow.
        """
        if lookup.failed:
            limit = TimeLimit(self.client.timeout, in_outage=True)
            lookup = self._store.lookup(lookup.digest, limit)
        older = lookup.answer
        if older and not isinstance(error, BlogsearchError | TimeoutError):
            log.error("an older answer is served: %s", error, exc_info=error)
        if older and older.state == "STALE":
            note(stale_because=getattr(error, "code", "slow"))
        return older

    def _refresh_in_background(self, digest: bytes, compute: Compute, lookup: Lookup) -> None:
        """Compute and keep the answer in another thread, unless some thread or process already
        does, or too many refreshes are running."""

        def refresh() -> None:
            limit = TimeLimit(self.client.timeout)
            try:
                with self._single_flight.enter(
                    (digest, lookup.generation), self.keys.lock(digest), 0.0, limit
                ) as entry:
                    if not entry.result:
                        entry.result = self._compute_and_keep(digest, compute, lookup, limit)
            except (LockTimeout, Unavailable):
                pass  # another does it, or Elasticsearch is unavailable
            except Exception:
                log.exception("a background refresh failed")
            finally:
                self._refreshes.release()

        if self._refreshes.acquire(blocking=False):
            try:
                # Not an executor: its threads are lost in a forked worker and delay its exit.
                threading.Thread(target=refresh, daemon=True).start()
            except RuntimeError:  # no more threads, or the interpreter is shutting down
                self._refreshes.release()

    def _compute_and_keep(
        self, digest: bytes, compute: Compute, lookup: Lookup, limit: TimeLimit
    ) -> CachedAnswer:
        """Compute the answer and keep it under the generation that was current before.

        Raises:
            Unavailable: `compute` did.
        """
        generation = lookup.generation
        if generation is None and lookup.reached:
            generation = self._store.first_generation(limit)
        started = time.monotonic()
        computed = compute()
        took = time.monotonic() - started
        if generation and computed.index and index_of(generation) != computed.index:
            # Redis missed a swap, or a write did not say which index is live. No answer of another
            # index may count as fresh any more.
            generation = self._store.replace_generation(generation, computed.index, limit)
        serializer = self._store.serializer if generation else PLAIN
        payload = serializer.compress(render(computed.body))
        ttl = self._lifetimes.ttl if computed.has_hits else self._lifetimes.ttl_empty
        answer = CachedAnswer(
            "MISS" if lookup.reached else "OFF",
            payload,
            make_etag(generation or b"", digest, payload),
            generation or b"",
            0.0,
            ttl * random.uniform(1 - _JITTER, 1 + _JITTER),  # noqa: S311 -- no secret
            took,
            serializer,
            computed.has_hits,
        )
        if generation:
            stale_ttl = self._lifetimes.stale_ttl if computed.keep_stale else 0.0
            self._store.put(digest, answer, answer.ttl + stale_ttl, limit)
        return answer

    # -- generations ---------------------------------------------------------------------------

    def new_generation(self, index: str, rules: str) -> bool:
        """After a swap or a write that can be searched: older answers are no longer fresh.

        `index` is the concrete index that answers now, `rules` the digest of its synonym rules.
        False when there is a Redis that did not take it: older answers may then be served until
        they expire.
        """
        generation = make_generation(index, rules)
        taken = self._store.begin_generation(generation, TimeLimit(_COMMAND_TIMEOUT))
        return taken or not self.configured

    def generation(self) -> str:
        """The current generation: index, rules and a random part; "" when there is none."""
        return stats.generation(self.client, self.keys)

    # -- other values --------------------------------------------------------------------------

    def memoize(
        self,
        *,
        seconds: float,
        args_rewrite: Callable[..., Iterable[Any]] | None = None,
        on_hit: Callable[..., object] | None = None,
        on_miss: Callable[..., object] | None = None,
        store: bool = True,
    ) -> Callable[[Callable[P, T]], Memoized[P, T]]:
        """A decorator that keeps a function's value for `seconds`, for all processes.

        `args_rewrite` turns the arguments into plain values for the key. `on_hit` and `on_miss` are
        called with the arguments. With `store=False` the value is not kept: the function runs once
        per period, and calls in between return None.
        """

        def decorate(function: Callable[P, T]) -> Memoized[P, T]:
            return Memoized(
                function,
                self.client,
                self.keys,
                seconds=seconds,
                lock_wait=self._lock_wait,
                args_rewrite=args_rewrite,
                on_hit=on_hit,
                on_miss=on_miss,
                store=store,
            )

        return decorate

    # -- upkeep --------------------------------------------------------------------------------

    def stats(self) -> stats.Stats:
        """Figures of the cache; sizes may be some seconds old, as they take a scan of all keys."""
        return stats.Stats(
            generation=self.generation(),
            sizes=self._sizes(self.client, self.keys),
            memory=stats.memory(self.client),
        )

    def clear(self) -> int | None:
        """Delete all kept answers; how many there were, None when Redis is unavailable."""
        deleted = stats.clear(self.client, self.keys)
        self._sizes.invalidate(self.client, self.keys)
        return deleted

    def ping(self) -> str | None:
        """The version of Redis, None when it is unavailable."""
        info = self.client.ask(self.client.timeout, None, redis.Redis.info, "server")
        return None if info is None else str(info.get("redis_version", "unknown"))

    def accepts_writes(self) -> bool:
        """Whether Redis takes a value; not when it is full, or a replica."""
        key, seconds = self.keys.probe, self.client.timeout
        return bool(self.client.ask(seconds, False, redis.Redis.set, key, b"", px=1_000))


def _within(seconds: float, work: Callable[[], CachedAnswer]) -> CachedAnswer:
    """What `work` returns; it goes on in another thread if it takes longer.

    Raises:
        TimeoutError: it takes longer.
        Exception: what it raised.
    """
    future: Future[CachedAnswer] = Future()
    context = copy_context()  # for the request's log line

    def run() -> None:
        try:
            future.set_result(context.run(work))
        except Exception as error:  # noqa: BLE001 -- raised where the result is awaited
            future.set_exception(error)

    return future.result(seconds) if start_thread(run) else work()


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
