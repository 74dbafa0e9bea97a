"""Which searches may be computed now: none in a known outage, a limited number at a time.

Cached answers and health checks are not admitted here, so that they never wait for Elasticsearch.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from app.back_off import BackOff, start_thread
from app.errors import Busy, NoIndex, OutdatedIndex, Unavailable

_SLOT_WAIT = 0.2  # seconds that a search waits for a free slot
_SUSPICIOUS = 0.5  # seconds that a computation may run before Elasticsearch is probed


class Admission:
    """A limit for the computations of one process, none of which begins in an outage. Threads may
    share it.

    A failed computation does not begin an outage, because one expensive search would then be an
    outage for everybody. It starts a probe.

    Args:
        responds, recovered: whether Elasticsearch responds, as for `BackOff`.
        limit: how many computations run at a time.
    """

    def __init__(
        self,
        responds: Callable[[], bool],
        limit: int,
        recovered: Callable[[], bool] | None = None,
    ) -> None:
        self.back_off = BackOff("Elasticsearch", responds, recovered)
        self._slots = threading.BoundedSemaphore(limit)
        self._lock = threading.Lock()
        self._running: dict[object, float] = {}  # when each running computation began
        self._watching = False

    @property
    def available(self) -> bool:
        """False while Elasticsearch is known to be unavailable."""
        return self.back_off.available

    @contextmanager
    def admit(self) -> Iterator[None]:
        """Runs one computation, which may raise errors of the service.

        Raises:
            Unavailable: Elasticsearch is known to be unavailable.
            Busy: as many computations as are allowed are running.
        """
        if not self.available:
            raise Unavailable("Elasticsearch is unavailable. Try again in some seconds.")
        if not self._slots.acquire(timeout=_SLOT_WAIT):
            self.back_off.probe()
            raise Busy("Too many searches are running. Try again in a second.")
        computation = object()
        self._running[computation] = time.monotonic()
        self._start_watching()
        try:
            yield
        except (NoIndex, OutdatedIndex):
            raise
        except Unavailable:
            self.back_off.probe()
            raise
        finally:
            del self._running[computation]
            self._slots.release()

    def _start_watching(self) -> None:
        with self._lock:
            if not self._watching:
                self._watching = start_thread(self._watch)

    def _watch(self) -> None:
        """Have Elasticsearch probed before a computation times out; ends when none is running."""
        while True:
            time.sleep(_SUSPICIOUS)
            with self._lock:
                started = list(self._running.values())
                if not started:
                    self._watching = False
                    return
            if time.monotonic() - min(started) > _SUSPICIOUS:
                self.back_off.probe()
