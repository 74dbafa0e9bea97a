"""Which searches may be computed now: none in a known outage, a limited number at a time.

Kept answers and health checks are not admitted here, so that they never wait for Elasticsearch.
"""

import logging
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from app.errors import Busy, NoIndex, OutdatedIndex, Unavailable

_SLOT_WAIT = 0.2  # seconds that a search waits for a free slot
_SUSPICIOUS = 0.5  # seconds that a computation may run before Elasticsearch is probed
_PROBE_INTERVAL = 0.5  # seconds between two probes of an outage
_PROBE_LOST = 5.0  # seconds without a probe after which its process has probably ended

log = logging.getLogger(__name__)


class Admission:
    """A circuit breaker and a limit for the computations of one process. Threads may share it.

    A failed computation does not open the breaker by itself, because one expensive search would
    then be an outage for everybody. It starts a probe in a thread of its own. While probes fail the
    breaker is open, and the first successful one closes it.

    Args:
        responds: the probe: whether Elasticsearch responds; has a short time limit of its own.
        limit: how many computations run at a time.

    Worker processes know of the outages that one of them has detected: see `share`.
    """

    def __init__(self, responds: Callable[[], bool], limit: int) -> None:
        self._responds = responds
        self._slots = threading.BoundedSemaphore(limit)
        self._lock = threading.Lock()
        self._running: dict[object, float] = {}  # when each running computation began
        self._probing = False
        self._watching = False
        # One number: when the last probe failed (`time.monotonic()`), 0 while there is no outage.
        self._failed_at = memoryview(bytearray(8)).cast("d")

    def share(self, memory: memoryview) -> None:
        """Keep in `memory`, 8 bytes that other processes share, whether there is an outage."""
        self._failed_at = memory.cast("d")

    @property
    def available(self) -> bool:
        """False while Elasticsearch is known to be unavailable.

        If the process that probed it has ended, this one goes on.
        """
        failed_at = self._failed_at[0]
        if failed_at and time.monotonic() - failed_at > _PROBE_LOST:
            self.probe()
        return not failed_at

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
            self.probe()
            raise Busy("Too many searches are running. Try again in a second.")
        computation = object()
        self._running[computation] = time.monotonic()
        self._start_watching()
        try:
            yield
        except (NoIndex, OutdatedIndex):
            raise
        except Unavailable:
            self.probe()
            raise
        finally:
            del self._running[computation]
            self._slots.release()

    def _start_watching(self) -> None:
        with self._lock:
            if self._watching:
                return
            self._watching = _start(self._watch)

    def _watch(self) -> None:
        """Have Elasticsearch probed before a computation times out; ends when none is running."""
        while True:
            time.sleep(_SUSPICIOUS)
            with self._lock:
                began = list(self._running.values())
                if not began:
                    self._watching = False
                    return
            if time.monotonic() - min(began) > _SUSPICIOUS:
                self.probe()

    def probe(self) -> None:
        """Find out in the background whether Elasticsearch responds, unless that is under way."""
        with self._lock:
            if not self._probing:
                # The thread does not keep an application alive that nobody uses any more.
                reference = weakref.ref(self)
                self._probing = _start(lambda: _probe_until_it_responds(reference))

    def _probe_once(self) -> bool:
        """Whether Elasticsearch responds; says so when that has changed."""
        before = self._failed_at[0]
        # A busy machine misses a single probe: it is repeated before an outage is declared.
        if not self._responds() and (before or not self._responds()):
            if before and not self._failed_at[0]:
                return False  # meanwhile it has responded to another process
            if not before:
                log.error("Elasticsearch does not respond; searches get cached answers or 503")
            self._failed_at[0] = time.monotonic()
            return False
        if self._failed_at[0]:
            log.warning("Elasticsearch responds again")
        with self._lock:
            self._failed_at[0] = 0.0
            self._probing = False
        return True


def _probe_until_it_responds(reference: "weakref.ref[Admission]") -> None:
    while (admission := reference()) and not admission._probe_once():
        del admission
        time.sleep(_PROBE_INTERVAL)


def _start(target: Callable[[], None]) -> bool:
    """Whether a thread was started; not when there are too many or the interpreter ends."""
    try:
        threading.Thread(target=target, daemon=True).start()
    except RuntimeError:
        return False
    return True
