"""Asking Redis: bounded in time, and not at all for a while after it failed.

A search may spend `BLOGSEARCH_CACHE_TIMEOUT` on Redis in all, however many commands it needs and
however Redis fails.
"""

import threading
import time
from collections.abc import Callable
from typing import TypeVar

import redis

from app.cache.connections import end_at
from app.cache.errors import CacheAway

T = TypeVar("T")

_FIRST_REST, _LONGEST_REST = 0.5, 10.0  # seconds without asking, doubled after each failure


class Budget:
    """The seconds that one search may still spend on Redis."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.left = seconds

    def renew(self) -> None:
        """As much again as at first."""
        self.left = self._seconds


class Link:
    """Commands go through `call`; after a fault Redis is left alone for a while.

    Threads and forked workers may share it: redis-py's pool makes connections anew after a fork.
    """

    def __init__(self, client: "redis.Redis | None", timeout: float) -> None:
        self._client = client
        self.timeout = timeout
        self._lock = threading.Lock()
        self._rest = 0.0  # how long the current rest is; 0: Redis answers
        self._rest_until = 0.0

    @property
    def configured(self) -> bool:
        """There is a Redis to ask, whether or not it answers."""
        return self._client is not None

    def budget(self, seconds: float | None = None) -> Budget:
        """A search's time on Redis, the setting's unless said otherwise."""
        return Budget(self.timeout if seconds is None else seconds)

    def call(self, command: Callable[["redis.Redis"], T], budget: Budget) -> T:
        """What Redis answers.

        Raises:
            CacheAway: it cannot be asked, was too slow, or answered nonsense.
            redis.ResponseError: it answers, but refuses this command (full, read-only).
        """
        if self._client is None or budget.left <= 0 or not self._may_ask():
            raise CacheAway("Redis is left alone for now")
        began = time.monotonic()
        end_at(began + budget.left)
        try:
            answer = command(self._client)
        except redis.ResponseError:
            self._answered()
            raise
        except (redis.RedisError, OSError, ValueError, TypeError, KeyError, IndexError) as error:
            # redis-py meets an answer of the wrong shape with whatever Python makes of it.
            self._failed()
            raise CacheAway(f"{type(error).__name__}: {error}") from error
        finally:
            budget.left -= time.monotonic() - began
        self._answered()
        return answer

    def _may_ask(self) -> bool:
        """Once the rest is over, one thread tries while the others still do without."""
        if not self._rest:
            return True
        with self._lock:
            now = time.monotonic()
            if self._rest and now < self._rest_until:
                return False
            self._rest_until = now + self._rest
            return True

    def _failed(self) -> None:
        with self._lock:
            self._rest = min(max(self._rest * 2, _FIRST_REST), _LONGEST_REST)
            self._rest_until = time.monotonic() + self._rest

    def _answered(self) -> None:
        if self._rest:
            with self._lock:
                self._rest = 0.0
