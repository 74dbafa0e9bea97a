"""One computation at a time: among the threads of a process, and among processes through Redis.

Threads that want what another thread of the process is computing wait for its result. Of each
process one thread takes the lock in Redis, which is redis-py's `Lock`.
"""

import threading
import time
from collections.abc import Generator, Hashable
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Generic, TypeVar

import redis
from redis.exceptions import LockError
from redis.lock import Lock

from app.cache.redis_client import RedisClient, RedisUnavailable, TimeLimit

T = TypeVar("T")

# Seconds between two tries to take the lock in Redis: most computations end within the first ones.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.01, 0.05


class LockTimeout(Exception):
    """The computation that another thread or process runs did not end within the wait."""


@dataclass(slots=True)
class Turn(Generic[T]):
    """What `SingleFlight.enter` yields.

    `result` is set when another thread has computed it. Otherwise the caller computes, and sets
    `result` for the threads that wait.
    """

    result: T | None = None


class SingleFlight(Generic[T]):
    """Admits one computation of a key at a time.

    Args:
        lock_lifetime: seconds after which Redis drops a lock that was not released. It must be
            longer than any computation takes, or a second one would be started.
    """

    def __init__(self, client: RedisClient, lock_lifetime: float) -> None:
        self._client = client
        self._lock_lifetime = lock_lifetime
        self._mutex = threading.Lock()
        self._running: dict[Hashable, Future[T]] = {}

    @contextmanager
    def enter(
        self, key: Hashable, lock_name: str, wait: float, limit: TimeLimit
    ) -> Generator[Turn[T], None, None]:
        """Wait up to `wait` seconds for the result of another thread, or for the turn to compute.

        When Redis is unavailable, only the threads of this process are kept apart.

        Raises:
            LockTimeout: the wait is over.
            Exception: whatever the computation of the other thread raised.
        """
        deadline = time.monotonic() + wait
        with self._mutex:
            future = self._running.get(key)
            first = future is None
            if future is None:
                future = self._running[key] = Future()
        if not first:
            try:
                result = future.result(wait)
            except TimeoutError:
                raise LockTimeout from None
            yield Turn(result)
            return
        try:
            with self._locked(lock_name, deadline, limit):
                turn: Turn[T] = Turn()
                yield turn
        except BaseException as error:
            self._leave(key)
            future.set_exception(error)
            raise
        self._leave(key)
        if turn.result is None:
            future.set_exception(LockTimeout())
        else:
            future.set_result(turn.result)

    def _leave(self, key: Hashable) -> None:
        """Before the result is set: who comes later must not be given it."""
        with self._mutex:
            del self._running[key]

    @contextmanager
    def _locked(self, name: str, deadline: float, limit: TimeLimit) -> Generator[None, None, None]:
        """Hold the lock in Redis, or none when Redis is unavailable or refuses it."""
        if self._client.redis is None:
            yield
            return
        lock = Lock(self._client.redis, name, timeout=self._lock_lifetime, thread_local=False)
        locked = self._acquire(lock, deadline, limit)
        try:
            yield
        finally:
            if locked:
                with suppress(RedisUnavailable, redis.ResponseError, LockError):
                    self._client.call(limit, lambda _: lock.release())

    def _acquire(self, lock: Lock, deadline: float, limit: TimeLimit) -> bool:
        """Whether the lock is held; each try has its own deadline, unlike in `Lock.acquire`."""
        pause = _FIRST_PAUSE
        try:
            while not self._client.call(limit, lambda _: lock.acquire(blocking=False)):
                if time.monotonic() + pause > deadline:
                    raise LockTimeout
                time.sleep(pause)
                pause = min(pause * 1.5, _LONGEST_PAUSE)
                limit = TimeLimit(self._client.timeout)
        except (RedisUnavailable, redis.ResponseError):
            return False
        return True
