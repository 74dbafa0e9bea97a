"""Which queries are frequent, and how often the cache had the answer.

Counting costs a search no round trip: the counts go to Redis every few seconds, in one batch. What
a process counted in its last seconds is lost when the process is killed.
"""

import threading
from collections import Counter, defaultdict
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import redis

from app.cache.redis_client import RedisClient, RedisUnavailable, TimeLimit
from app.cache.store import Keys

_INTERVAL = 3.0  # seconds between two batches
_COUNTS_KEPT = 30  # days after the last search; an alias that is gone leaves nothing behind
_DAYS = 7  # how far back a query counts; each day back, it counts half
_MAX_BUFFERED = 10_000  # different queries between two batches, should Redis be unavailable
_TIMEOUT = 2.0  # seconds for a batch; no search waits for it
_MAX_LENGTH = 200  # characters of a query string


class QueryLog:
    """Counts of one alias. The `size` most frequent queries of a day are kept; 0: none."""

    def __init__(self, client: RedisClient, keys: Keys, size: int) -> None:
        self._client = client
        self._keys = keys
        self._size = size
        self._lock = threading.Lock()
        self._queries: Counter[str] = Counter()
        self._states: Counter[str] = Counter()
        self._timer: threading.Timer | None = None

    def record(self, state: str, query: str = "") -> None:
        """Count a search that ended in `state`, and its query string if there is one."""
        with self._lock:
            self._states[state] += 1
            if (
                query
                and self._size
                and len(query) <= _MAX_LENGTH
                and (query in self._queries or len(self._queries) < _MAX_BUFFERED)
            ):
                self._queries[query] += 1
            # A timer that was started before a fork is not alive in the worker.
            if self._timer is None or not self._timer.is_alive():
                self._timer = threading.Timer(_INTERVAL, self.flush)
                self._timer.daemon = True
                with suppress(RuntimeError):  # no more threads; the next search tries again
                    self._timer.start()

    def flush(self) -> None:
        """Send the counts to Redis; when it is unavailable, they are kept for the next time."""
        with self._lock:
            queries, self._queries = self._queries, Counter()
            states, self._states = self._states, Counter()
        if not queries and not states:
            return
        try:
            self._client.call(TimeLimit(_TIMEOUT), self._send, queries, states)
        except (RedisUnavailable, redis.ResponseError):
            self._put_back(queries, states)

    def _put_back(self, queries: Counter[str], states: Counter[str]) -> None:
        with self._lock:
            self._states += states
            for query, count in queries.most_common():
                if query in self._queries or len(self._queries) < _MAX_BUFFERED:
                    self._queries[query] += count

    def _send(self, client: "redis.Redis", queries: Counter[str], states: Counter[str]) -> None:
        key = self._keys.queries(_day(0))
        with client.pipeline(transaction=False) as pipeline:
            for query, count in queries.items():
                pipeline.zincrby(key, count, query)
            if queries:
                pipeline.zremrangebyrank(key, 0, -self._size - 1)
                pipeline.expire(key, timedelta(days=_DAYS + 1))
            for state, count in states.items():
                pipeline.hincrby(self._keys.counts, state, count)
            pipeline.expire(self._keys.counts, timedelta(days=_COUNTS_KEPT))
            pipeline.execute()

    def popular(self, n: int) -> list[tuple[str, float]]:
        """The `n` most frequent query strings of the last week and how often they came.

        A query counts half with each day back. Empty when Redis is unavailable.
        """
        self.flush()

        def command(client: "redis.Redis") -> list[Any]:
            with client.pipeline(transaction=False) as pipeline:
                for back in range(_DAYS):
                    pipeline.zrange(
                        self._keys.queries(_day(back)), 0, max(n * 4, 100) - 1, True, True
                    )
                return pipeline.execute()

        try:
            days = self._client.call(TimeLimit(_TIMEOUT), command)
        except (RedisUnavailable, redis.ResponseError):
            return []
        total: defaultdict[str, float] = defaultdict(float)
        for back, day in enumerate(days):
            for query, count in day:
                total[_text(query)] += count / 2**back
        return sorted(total.items(), key=lambda item: (-item[1], item[0]))[:n]

    def states(self) -> dict[str, int]:
        """How many searches of all processes ended in which state, since the counts were cleared.

        Empty when Redis is unavailable.
        """
        self.flush()
        try:
            found: Any = self._client.call(
                TimeLimit(_TIMEOUT), lambda client: client.hgetall(self._keys.counts)
            )
        except (RedisUnavailable, redis.ResponseError):
            return {}
        return {_text(state): int(count) for state, count in found.items()}


def _text(value: bytes | str) -> str:
    return value if isinstance(value, str) else value.decode("utf-8", "replace")


def _day(back: int) -> str:
    return (datetime.now(UTC) - timedelta(days=back)).date().isoformat()
