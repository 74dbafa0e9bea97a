"""Counts searches in Redis, a minute after they happened and off the path of a request.

A process collects its requests and sends them to Redis every few seconds, where they wait for less
than a minute under a hash of the client that cannot be reversed: its key is random, is never stored
elsewhere, and is replaced every day. Then one of the processes decides which of them were searches
(`app.insights.sessions`), adds them to the counts of the day and deletes them. A count has no
client. docs/insights.md lists everything that is stored.
"""

import hashlib
import json
import secrets
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any, NamedTuple

import redis

from app.cache.redis_client import RedisClient, RedisUnavailable, TimeLimit
from app.cache.store import Keys
from app.errors import BadRequest
from app.insights.entries import scores_of, totals_of
from app.insights.sessions import Event, Visitor, pairs, searches
from app.rate_limit import network_of
from app.search.request import SearchRequest

WINDOW = 45.0
"""Seconds that a request waits for others of the same client."""
_LONGEST = 55.0  # seconds; for clients that send requests all the time
_IDLE = 5.0  # seconds since a client's last request
_EVENTS_TTL = 60  # seconds
_SALT_TTL = 86_400  # seconds

_INTERVAL = 3.0  # seconds between two batches
_TIMEOUT = 2.0  # seconds for a batch; no search waits for it
_MAX_BUFFERED = 5_000  # requests of a process between two batches
_MAX_EVENTS = 5_000  # requests of all processes that wait
_MAX_KEY, _MAX_TEXT = 400, 100  # characters of a request and of a query that are counted
_SLOWEST = 100  # searches of a day
_STATES_KEPT = 30  # days after the last search; an alias that is gone leaves nothing behind

_DELETE = """
local deleted = {}
for i, text in ipairs(ARGV) do deleted[i] = redis.call('ZREM', KEYS[1], text) end
return deleted
"""
"""Deletes members of a sorted set; for each, 1 if it was there, else 0."""

_POPULAR_DAYS = 7  # how far back a request counts for `popular`; each day back, it counts half


class _Seen(NamedTuple):
    at: float
    visitor: Visitor
    request: SearchRequest
    state: str
    has_hits: bool
    seconds: float


class SearchLog:
    """The counts of one alias. Threads and forked workers may share it; no method fails because of
    Redis.

    Args:
        days: how long counts are kept; 0: only states of the cache are counted.
        size: how many different searches of a day are kept, the most frequent ones.
        on_new_day: called in the background when the first search of a process, or of a day, was
            counted.
    """

    def __init__(
        self,
        client: RedisClient,
        keys: Keys,
        *,
        days: int,
        size: int = 1000,
        on_new_day: Callable[[], None] | None = None,
    ) -> None:
        self._client = client
        self._keys = keys
        self._days = days
        self._size = size
        self._lock = threading.Lock()
        self._seen: list[_Seen] = []
        self._states: Counter[str] = Counter()
        self._timer: threading.Timer | None = None
        self._waiting_until = 0.0
        self._on_new_day = on_new_day
        self._day = ""

    # -- recording -----------------------------------------------------------------------------

    def record(
        self,
        state: str,
        request: SearchRequest | None = None,
        *,
        has_hits: bool = True,
        seconds: float = 0.0,
        visitor: Visitor | None = None,
    ) -> None:
        """Count how the cache answered and, with a visitor, the request.

        Takes no time to speak of: everything else happens in another thread. Without Redis nothing
        is counted.
        """
        if self._client.redis is None:
            return
        with self._lock:
            self._states[state] += 1
            if visitor and request and self._days and len(self._seen) < _MAX_BUFFERED:
                self._seen.append(_Seen(time.time(), visitor, request, state, has_hits, seconds))
            # A timer that was started before a fork is not alive in the worker.
            if self._timer is None or not self._timer.is_alive():
                self._start_timer()

    def _start_timer(self) -> None:
        self._timer = threading.Timer(_INTERVAL, self._tick)
        self._timer.daemon = True
        with suppress(RuntimeError):  # no more threads; the next search tries again
            self._timer.start()

    def _tick(self) -> None:
        self.flush()
        self.count_due()
        if self._on_new_day and self._days and self._day != (day := day_of(time.time())):
            self._day = day
            self._on_new_day()
        with self._lock:
            self._timer = None
            if self._seen or self._states or time.time() < self._waiting_until:
                self._start_timer()

    def flush(self) -> None:
        """Send what was collected to Redis; while it is unavailable, keep it for a minute."""
        with self._lock:
            seen, self._seen = self._seen, []
            states, self._states = self._states, Counter()
        if not seen and not states:
            return
        try:
            self._client.call(TimeLimit(_TIMEOUT), self._send, seen, states)
        except RedisUnavailable:
            oldest = time.time() - _EVENTS_TTL
            with self._lock:
                self._states += states
                young = [request for request in seen if request.at > oldest]
                self._seen = [*young, *self._seen][:_MAX_BUFFERED]
        else:
            if seen:
                self._waiting_until = time.time() + _LONGEST + 2 * _INTERVAL

    def _send(self, client: "redis.Redis", seen: Sequence[_Seen], states: Counter[str]) -> None:
        events = self._keys.insights("events")
        salt = self._salt(client) if seen else b""
        with client.pipeline(transaction=False) as pipeline:
            for state, count in states.items():
                pipeline.hincrby(self._keys.counts, state, count)
            pipeline.expire(self._keys.counts, timedelta(days=_STATES_KEPT))
            waiting = {_event(request, salt).dump(): request.at for request in seen}
            if waiting:
                pipeline.zadd(events, waiting)
                pipeline.zremrangebyrank(events, 0, -_MAX_EVENTS - 1)
                pipeline.expire(events, _EVENTS_TTL)
            pipeline.execute()

    def _salt(self, client: "redis.Redis") -> bytes:
        name = self._keys.insights("salt")
        with client.pipeline(transaction=False) as pipeline:
            pipeline.set(name, secrets.token_bytes(16), nx=True, ex=_SALT_TTL)
            pipeline.get(name)
            salt = pipeline.execute()[1]
        return salt if isinstance(salt, bytes) else secrets.token_bytes(16)

    # -- counting ------------------------------------------------------------------------------

    def count_due(self, now: float | None = None) -> None:
        """Count the searches of all clients whose requests have waited long enough.

        Args:
            now: seconds since 1970, by default the current time.
        """
        name = self._keys.insights("events")
        waiting: Any = self._client.ask(_TIMEOUT, [], redis.Redis.zrange, name, 0, -1)
        if due := _due_groups(waiting, now or time.time()):
            self._client.ask(_TIMEOUT, None, self._count_groups, due)

    def _count_groups(self, client: "redis.Redis", groups: Sequence["_Group"]) -> None:
        # A process counts what it deleted: another one may have read a part of the same group.
        texts = [text for group in groups for _, text in group]
        replies: Any = client.eval(_DELETE, 1, self._keys.insights("events"), *texts)
        deleted = iter(replies)
        ours = [[event for event, _ in group if next(deleted)] for group in groups]
        self._count(client, [searches(events) for events in ours if events])

    def _count(self, client: "redis.Redis", clients: Sequence[Sequence[Event]]) -> None:
        """Add the searches of clients to the counts of their days."""
        keys, days = self._keys, set()
        with client.pipeline(transaction=False) as pipeline:
            for event in chain.from_iterable(clients):
                day = day_of(event.at)
                days.add(day)
                text = event.q.casefold()
                totals = keys.insights("totals", day)
                pipeline.hincrby(totals, "searches")
                pipeline.hincrby(totals, event.state)
                if len(event.key) <= _MAX_KEY:
                    pipeline.zincrby(keys.insights("requests", day), 1, event.key)
                if not event.has_hits:
                    pipeline.hincrby(totals, "nothing")
                if len(text) <= _MAX_TEXT:
                    if not event.has_hits:
                        pipeline.zincrby(keys.insights("nothing", day), 1, text)
                    slow = {text: round(event.seconds * 1000, 1)}
                    pipeline.zadd(keys.insights("slow", day), slow, gt=True)
            for events in clients:
                for pair in pairs(events):
                    if max(map(len, pair)) <= _MAX_TEXT:
                        name = keys.insights("next", day_of(events[-1].at))
                        pipeline.zincrby(name, 1, json.dumps(pair, ensure_ascii=False))
            for day in days:
                for kind in ("requests", "nothing", "next"):
                    pipeline.zremrangebyrank(keys.insights(kind, day), 0, -self._size - 1)
                pipeline.zremrangebyrank(keys.insights("slow", day), 0, -_SLOWEST - 1)
                for kind in ("totals", "requests", "nothing", "next", "slow"):
                    pipeline.expire(keys.insights(kind, day), timedelta(days=self._days))
            pipeline.execute()

    # -- for the cache -------------------------------------------------------------------------

    def popular(self, n: int) -> list[tuple[SearchRequest, float]]:
        """The `n` most frequent requests of the last week, and how often they came.

        A request counts half with each day back. Empty when Redis is unavailable.
        """

        def command(client: "redis.Redis") -> list[Any]:
            with client.pipeline(transaction=False) as pipeline:
                for day in last_days(_POPULAR_DAYS):
                    name = self._keys.insights("requests", day)
                    pipeline.zrange(name, 0, max(n * 4, 100) - 1, True, True)
                return pipeline.execute()

        total: defaultdict[str, float] = defaultdict(float)
        for back, of_day in enumerate(self._client.ask(_TIMEOUT, [], command)):
            for key, count in scores_of(of_day):
                total[key] += count / 2**back
        requests: list[tuple[SearchRequest, float]] = []
        for key, count in sorted(total.items(), key=lambda item: (-item[1], item[0])):
            if len(requests) == n:
                break
            with suppress(BadRequest):  # counted by a version that had other parameters
                requests.append((SearchRequest.from_key(key), count))
        return requests

    def states(self) -> dict[str, int]:
        """How many searches of all processes ended in which state, since the counts were cleared.

        Those of programs count, too. Empty when Redis is unavailable.
        """
        self.flush()
        counts: Any = self._client.ask(_TIMEOUT, {}, redis.Redis.hgetall, self._keys.counts)
        return totals_of(counts)


def _event(seen: _Seen, salt: bytes) -> Event:
    client = f"{network_of(seen.visitor.address)}\n{seen.visitor.user_agent}".encode()
    digest = hashlib.blake2b(client, key=salt, digest_size=8).hexdigest()
    key, q = seen.request.key(), seen.request.q
    return Event(seen.at, digest, key, q, seen.state, seen.has_hits, seen.seconds)


_Group = Sequence[tuple[Event, bytes]]
"""The requests of one client, with the text of each."""


def _due_groups(waiting: Iterable[bytes], now: float) -> list[_Group]:
    """The clients to whose requests no further one can belong, or that have waited long enough."""
    by_client: defaultdict[str, list[tuple[Event, bytes]]] = defaultdict(list)
    for text in waiting:
        if event := Event.load(text):  # others expire
            by_client[event.client].append((event, text))
    return [group for group in by_client.values() if _due([event.at for event, _ in group], now)]


def _due(times: Sequence[float], now: float) -> bool:
    oldest, newest = now - min(times), now - max(times)
    return oldest >= WINDOW and (newest >= _IDLE or oldest >= _LONGEST)


def day_of(at: float) -> str:
    """The day, in UTC, of a time in seconds since 1970."""
    return datetime.fromtimestamp(at, UTC).date().isoformat()


def last_days(number: int) -> list[str]:
    """Today and the days before it, in UTC."""
    today = datetime.now(UTC)
    return [(today - timedelta(days=back)).date().isoformat() for back in range(number)]
