"""The answer cache: `get_or_compute` and what belongs to it."""

import logging
import math
import random
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import AbstractContextManager
from contextvars import copy_context
from dataclasses import dataclass, replace
from typing import Any, Unpack

import redis

from app.back_off import start_thread
from app.cache.memoize import Memoized, MemoizeOptions, P, T
from app.cache.redis_client import RedisClient, TimeLimit
from app.cache.serializers import PLAIN, Serializer, render
from app.cache.single_flight import Entry, LockTimeout, SingleFlight
from app.cache.store import (
    AnswerStore,
    CachedAnswer,
    Keys,
    Lookup,
    Stats,
    index_of,
    make_etag,
)
from app.errors import BlogsearchError, StillComputing, Unavailable
from app.logs import note

_JITTER = 0.1  # of a lifetime, added or removed at random, so that answers do not expire together
_EARLY = 0.02  # of a lifetime: how long before expiry, on average, an answer is refreshed

_REFRESHES = 2  # in the background at a time, so that visitors' searches come first
_NEWER_WAIT = 1.0  # seconds after which an older answer is served instead
_SIZES_KEPT = 10.0  # seconds
_INFO_TIMEOUT = 10.0  # seconds

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
    """Seconds: how long an answer is fresh, how long an answer without hits is, and how much longer
    than that either is kept for when Elasticsearch is unavailable."""

    ttl: float = 600.0
    # What is missing today may be written soon, and searches for it are cheap.
    ttl_empty: float = 60.0
    stale_ttl: float = 86_400.0


class AnswerCache(AnswerStore):
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
        super().__init__(client, keys, serializer)
        self._lifetimes = lifetimes
        self._lock_wait = lock_wait
        self._single_flight: SingleFlight[CachedAnswer] = SingleFlight(client)
        self._refreshes = threading.BoundedSemaphore(_REFRESHES)
        self._sizes = self.memoize(seconds=_SIZES_KEPT, args_rewrite=lambda *_: ())(self._measure)

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
                self._refresh_in_background(lookup, compute)
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
        try:
            with self._enter(lookup, wait) as entry:
                if entry.result:
                    return replace(entry.result, state="HIT" if lookup.reached else "OFF")
                again = self.lookup(lookup.key, limit=lookup.limit)
                if again.answer and again.answer.state == "HIT":
                    entry.result = again.answer
                else:
                    entry.result = self._compute_and_keep(again, compute)
                return entry.result
        except LockTimeout:
            raise StillComputing(
                "The same search is being answered for somebody else. Try again in a second."
            ) from None

    def _enter(self, lookup: Lookup, wait: float) -> AbstractContextManager[Entry[CachedAnswer]]:
        flight = (lookup.digest, lookup.generation)
        return self._single_flight.enter(flight, self.keys.lock(lookup.digest), wait, lookup.limit)

    def _older(self, lookup: Lookup, error: Exception) -> CachedAnswer | None:
        """The cached answer, which is better than an error; None if there is none.

        If the lookup failed it is repeated, as Redis may only have been slow.
        """
        if lookup.failed:
            limit = TimeLimit(self.client.timeout, in_outage=True)
            lookup = self.lookup(lookup.key, limit=limit)
        older = lookup.answer
        if older and not isinstance(error, BlogsearchError | TimeoutError):
            log.error("an older answer is served: %s", error, exc_info=error)
        if older and older.state == "STALE":
            note(stale_because=getattr(error, "code", "slow"))
        return older

    def _refresh_in_background(self, lookup: Lookup, compute: Compute) -> None:
        """Compute and keep the answer in another thread, unless some thread or process already
        does, or too many refreshes are running."""
        lookup = replace(lookup, limit=TimeLimit(self.client.timeout))

        def refresh() -> None:
            try:
                with self._enter(lookup, wait=0.0) as entry:
                    if not entry.result:
                        entry.result = self._compute_and_keep(lookup, compute)
            except (LockTimeout, Unavailable):
                pass  # another does it, or Elasticsearch is unavailable
            except Exception:
                log.exception("a background refresh failed")
            finally:
                self._refreshes.release()

        # Not an executor: its threads are lost in a forked worker and delay its exit.
        if self._refreshes.acquire(blocking=False) and not start_thread(refresh):
            self._refreshes.release()

    def _compute_and_keep(self, lookup: Lookup, compute: Compute) -> CachedAnswer:
        """Compute the answer and keep it under the generation that was current before.

        Raises:
            Unavailable: `compute` did.
        """
        generation, limit = lookup.generation, lookup.limit
        if generation is None and lookup.reached:
            generation = self._first_generation(limit)
        started = time.monotonic()
        computed = compute()
        took = time.monotonic() - started
        if generation and computed.index and index_of(generation) != computed.index:
            # Redis missed a swap, or a write did not say which index is live. No answer of another
            # index may count as fresh any more.
            generation = self._replace_generation(generation, computed.index, limit)
        serializer = self._serializer if generation else PLAIN
        payload = serializer.compress(render(computed.body))
        ttl = self._lifetimes.ttl if computed.has_hits else self._lifetimes.ttl_empty
        answer = CachedAnswer(
            "MISS" if lookup.reached else "OFF",
            payload,
            make_etag(generation or b"", lookup.digest, payload),
            generation or b"",
            0.0,
            ttl * random.uniform(1 - _JITTER, 1 + _JITTER),  # noqa: S311 -- no secret
            took,
            serializer,
            computed.has_hits,
        )
        if generation:
            stale_ttl = self._lifetimes.stale_ttl if computed.keep_stale else 0.0
            self._put(lookup, answer, answer.ttl + stale_ttl)
        return answer

    # -- other values --------------------------------------------------------------------------

    def memoize(
        self, **options: Unpack[MemoizeOptions]
    ) -> Callable[[Callable[P, T]], Memoized[P, T]]:
        """A decorator that keeps a function's value for `seconds`, for all processes.

        `args_rewrite` turns the arguments into plain values for the key. `on_hit` and `on_miss` are
        called with the arguments. With `store=False` the value is not kept: the function runs once
        per period, and calls in between return None.
        """

        def decorate(function: Callable[P, T]) -> Memoized[P, T]:
            return Memoized(function, self.client, self.keys, self._lock_wait, options)

        return decorate

    # -- upkeep --------------------------------------------------------------------------------

    def stats(self) -> Stats:
        """Figures of the cache; sizes may be some seconds old, as they take a scan of all keys."""
        memory: dict[str, Any] = self.client.ask(_INFO_TIMEOUT, {}, redis.Redis.info, "memory")
        wanted = ("used_memory", "used_memory_peak", "maxmemory", "maxmemory_policy")
        reported = {name: memory[name] for name in wanted if name in memory}
        return Stats(self.generation(), self._sizes(), reported)

    def clear(self) -> int | None:
        deleted = super().clear()
        self._sizes.invalidate()
        return deleted


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
