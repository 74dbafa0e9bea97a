"""One computation at a time: among the threads of a process, and among processes through Redis.

Threads that want what another thread of the process is computing wait for its result. One thread of
each process takes the lock in Redis, which is redis-py's `Lock`.
"""

import threading
import time
from collections.abc import Generator, Hashable
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Generic, TypeVar

from redis.lock import Lock

from app.cache.redis_client import RedisClient, RedisUnavailable, TimeLimit
from indexer.retry import Retry

T = TypeVar("T")

# Seconds between two tries to take the lock in Redis: most computations end within the first ones.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.01, 0.05

# Seconds that a lock lives in Redis, and between two renewals. It is renewed for as long as the
# computation runs, and expires soon after its process was killed or lost Redis.
_LOCK_LIFETIME, _RENEWAL = 2.0, 0.5


class LockTimeout(Exception):
    """The computation that another thread or process runs did not end within the wait."""


@dataclass(slots=True)
class Entry(Generic[T]):
    """What `SingleFlight.enter` yields.

    `result` is set when another thread has computed it. Otherwise the caller computes, and sets
    `result` for the threads that wait.
    """

    result: T | None = None


class SingleFlight(Generic[T]):
    """Admits one computation of a key at a time. Threads and forked workers may share it."""

    def __init__(self, client: RedisClient) -> None:
        self._client = client
        self._mutex = threading.Lock()
        self._running: dict[Hashable, Future[T]] = {}
        self._held: set[Lock] = set()
        self._renewer: threading.Thread | None = None

    @contextmanager
    def enter(
        self, key: Hashable, lock_name: str, wait: float, limit: TimeLimit
    ) -> Generator[Entry[T], None, None]:
        """Wait up to `wait` seconds for the result of another thread, or for the compute lock.

        When Redis is unavailable, only the threads of this process are kept apart.

        Raises:
            LockTimeout: the wait is over.
            Exception: whatever the computation of the other thread raised.
        """
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
            yield Entry(result)
            return
        try:
            with self._locked(lock_name, wait, limit):
                entry: Entry[T] = Entry()
                yield entry
        except BaseException as error:
            self._leave(key)
            future.set_exception(error)
            raise
        self._leave(key)
        if entry.result is None:
            future.set_exception(LockTimeout())
        else:
            future.set_result(entry.result)

    def _leave(self, key: Hashable) -> None:
        """Called before the result is set: a later caller must not get it."""
        with self._mutex:
            del self._running[key]

    @contextmanager
    def _locked(self, name: str, wait: float, limit: TimeLimit) -> Generator[None, None, None]:
        """Hold the lock in Redis, or none when Redis is unavailable or refuses it."""
        if self._client.redis is None:
            yield
            return
        lock = Lock(self._client.redis, name, timeout=_LOCK_LIFETIME, thread_local=False)
        if not self._acquire(lock, wait, limit):
            yield
            return
        self._keep_renewed(lock)
        try:
            yield
        finally:
            with self._mutex:
                self._held.discard(lock)
            with suppress(RedisUnavailable):
                self._client.call(limit, lambda _: lock.release())

    def _acquire(self, lock: Lock, wait: float, limit: TimeLimit) -> bool:
        """Whether the lock is held; each try has its own deadline, unlike in `Lock.acquire`."""
        try:
            for _ in Retry(wait, _FIRST_PAUSE, _LONGEST_PAUSE).attempts():
                if self._client.call(limit, lambda _: lock.acquire(blocking=False)):
                    return True
                limit = TimeLimit(self._client.timeout)
        except RedisUnavailable:
            return False
        raise LockTimeout

    def _keep_renewed(self, lock: Lock) -> None:
        with self._mutex:
            self._held.add(lock)
            # A thread that was started before a fork is not alive in the worker.
            if self._renewer is None or not self._renewer.is_alive():
                self._renewer = threading.Thread(target=self._renew, daemon=True)
                with suppress(RuntimeError):  # no more threads: the lock may expire
                    self._renewer.start()

    def _renew(self) -> None:
        """Renew the held locks until there are none."""
        while True:
            time.sleep(_RENEWAL)
            with self._mutex:
                held = list(self._held)
                if not held:
                    self._renewer = None
                    return
            for lock in held:
                with suppress(RedisUnavailable):
                    limit = TimeLimit(self._client.timeout)
                    self._client.call(limit, lambda _, held: held.reacquire(), lock)
