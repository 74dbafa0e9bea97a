"""Which searches are frequent, and how often the cache had the answer.

A search costs a dictionary entry: what was counted goes to Redis every few seconds, in one trip,
beside the searches. What a process counted in its last seconds is lost when it is killed.
"""

import threading
from collections import Counter, defaultdict
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import redis

from app.cache.errors import CacheAway
from app.cache.keys import Keys
from app.cache.link import Link

_EVERY = 3.0  # seconds between trips
_FORGOTTEN = 30  # days after the last search: an alias that is gone leaves nothing behind
_DAYS = 7  # how far back a search counts; each day back, it counts half
_HELD = 10_000  # different searches counted between two trips, should Redis be away
_PATIENT = 2.0  # seconds that such a trip may take: nobody waits for it
_LONGEST = 200  # characters; what is longer is no search


class Searches:
    """Counts of one alias. `at_most` different searches a day are kept, the most frequent ones."""

    def __init__(self, link: Link, keys: Keys, at_most: int) -> None:
        self._link = link
        self._keys = keys
        self._at_most = at_most
        self._lock = threading.Lock()
        self._searches: Counter[str] = Counter()
        self._states: Counter[str] = Counter()
        self._timer: threading.Timer | None = None

    def searched(self, query: str) -> None:
        """Someone searched for this."""
        if not self._at_most or not query or len(query) > _LONGEST:
            return
        with self._lock:
            if query in self._searches or len(self._searches) < _HELD:
                self._searches[query] += 1
            self._soon()

    def answered(self, state: str) -> None:
        """The cache said HIT, MISS, STALE or OFF."""
        with self._lock:
            self._states[state] += 1
            self._soon()

    def _soon(self) -> None:
        # A timer that was started before a fork is not alive in the worker.
        if self._timer is None or not self._timer.is_alive():
            self._timer = threading.Timer(_EVERY, self.flush)
            self._timer.daemon = True
            with suppress(RuntimeError):  # no more threads: with the next search
                self._timer.start()

    def flush(self) -> None:
        """Bring what was counted to Redis; when it is away, it is kept for the next time."""
        with self._lock:
            searches, self._searches = self._searches, Counter()
            states, self._states = self._states, Counter()
        if not searches and not states:
            return
        try:
            self._link.call(
                lambda client: self._send(client, searches, states), self._link.budget(_PATIENT)
            )
        except (CacheAway, redis.ResponseError):
            self._take_back(searches, states)

    def _take_back(self, searches: Counter[str], states: Counter[str]) -> None:
        with self._lock:
            self._states += states
            for query, count in searches.most_common():
                if query in self._searches or len(self._searches) < _HELD:
                    self._searches[query] += count

    def _send(self, client: "redis.Redis", searches: Counter[str], states: Counter[str]) -> None:
        key = self._keys.searches(_day(0))
        with client.pipeline(transaction=False) as pipeline:
            for query, count in searches.items():
                pipeline.zincrby(key, count, query)
            if searches:
                pipeline.zremrangebyrank(key, 0, -self._at_most - 1)
                pipeline.expire(key, timedelta(days=_DAYS + 1))
            for state, count in states.items():
                pipeline.hincrby(self._keys.counts, state, count)
            pipeline.expire(self._keys.counts, timedelta(days=_FORGOTTEN))
            pipeline.execute()

    def popular(self, n: int) -> list[tuple[str, float]]:
        """The `n` most frequent searches of the last week and how often, yesterday's at half and so
        on; empty when Redis cannot be asked."""
        self.flush()

        def command(client: "redis.Redis") -> list[list[tuple[bytes, float]]]:
            with client.pipeline(transaction=False) as pipeline:
                for back in range(_DAYS):
                    pipeline.zrange(
                        self._keys.searches(_day(back)), 0, max(n * 4, 100) - 1, True, True
                    )
                found: list[list[tuple[bytes, float]]] = pipeline.execute()
                return found

        try:
            days = self._link.call(command, self._link.budget(_PATIENT))
        except (CacheAway, redis.ResponseError):
            return []
        total: defaultdict[str, float] = defaultdict(float)
        for back, day in enumerate(days):
            for query, count in day:
                total[_text(query)] += count / 2**back
        return sorted(total.items(), key=lambda item: (-item[1], item[0]))[:n]

    def states(self) -> dict[str, int]:
        """How many searches ended in which state, of all processes, since the counts were cleared.

        Empty when Redis cannot be asked.
        """
        self.flush()
        try:
            found = self._link.call(
                lambda client: client.hgetall(self._keys.counts), self._link.budget(_PATIENT)
            )
        except (CacheAway, redis.ResponseError):
            return {}
        return {_text(state): int(count) for state, count in found.items()}


def _text(value: bytes | str) -> str:
    return value if isinstance(value, str) else value.decode("utf-8", "replace")


def _day(back: int) -> str:
    return (datetime.now(UTC) - timedelta(days=back)).date().isoformat()
