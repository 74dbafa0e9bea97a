"""One computation at a time among the threads of a process: the others wait for its result."""

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

T = TypeVar("T")


class SingleFlight(Generic[T]):
    """Runs one computation of a key at a time. Threads and forked workers may share it."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._running: dict[Hashable, Future[T]] = {}

    def run(self, key: Hashable, compute: Callable[[], T]) -> tuple[T, bool]:
        """What `compute` returns, here or in the thread that runs it already, and whether that was
        here.

        Raises:
            Exception: what the computation raised, in all threads that wait for it.
        """
        with self._mutex:
            future = self._running.get(key)
            here = future is None
            if future is None:
                future = self._running[key] = Future()
        if not here:
            return future.result(), False
        try:
            result = compute()
        except BaseException as error:
            self._leave(key)
            future.set_exception(error)
            raise
        self._leave(key)
        future.set_result(result)
        return result, True

    def _leave(self, key: Hashable) -> None:
        """Called before the result is set: a later caller must not get it."""
        with self._mutex:
            del self._running[key]
