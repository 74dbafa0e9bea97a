"""Whether an engine is used: not after it failed, until it responds to a probe again.

`Admission` also limits how many searches are computed at a time. Cached answers and health checks
are not admitted, so that they never wait for Elasticsearch.
"""

import logging
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import Context

from app.errors import Busy, NoIndex, OutdatedIndex, Unavailable

_INTERVAL = 0.5  # seconds between two probes of an outage
_PROBE_LOST = 5.0  # seconds without a probe after which its process has probably ended
_SLOT_WAIT = 0.2  # seconds that a search waits for a free slot
_SUSPICIOUS = 0.5  # seconds that a request may run before Elasticsearch is probed

log = logging.getLogger(__name__)


class BackOff:
    """Keeps requests from an engine that is away. Threads may share it.

    One thread of a process probes the engine every half second while there is an outage, so that no
    request has to try whether it is back.

    Args:
        engine: its name for the log.
        responds: the probe: whether the engine responds; has a short time limit of its own.
        recovered: the probe in an outage, if it is another one.
    """

    def __init__(
        self,
        engine: str,
        responds: Callable[[], bool],
        recovered: Callable[[], bool] | None = None,
    ) -> None:
        self._engine = engine
        self._responds = responds
        self._recovered = recovered or responds
        self._lock = threading.Lock()
        self._probing = False
        # One number: when the last probe failed (`time.monotonic()`), 0 while there is no outage.
        self._failed_at = memoryview(bytearray(8)).cast("d")

    def share(self, memory: memoryview) -> None:
        """Keep in `memory`, 8 bytes that other processes share, whether there is an outage."""
        self._failed_at = memory.cast("d")

    @property
    def available(self) -> bool:
        """False while there is an outage.

        If the process that probed has ended, this one goes on.
        """
        failed_at = self._failed_at[0]
        if failed_at and time.monotonic() - failed_at > _PROBE_LOST:
            self.probe()
        return not failed_at

    def begin(self, reason: str) -> None:
        """The engine failed: an outage begins, unless there is one already."""
        if not self._failed_at[0]:
            self._failed_at[0] = time.monotonic()
            log.warning("%s failed: %s", self._engine, reason)
        self.probe()

    def probe(self) -> None:
        """Find out in the background whether the engine responds, unless that is under way.

        An outage begins if two probes fail: on a busy machine a single one may be too slow.
        """
        with self._lock:
            if not self._probing:
                # The thread does not keep an application alive that nobody uses any more.
                reference = weakref.ref(self)
                self._probing = start_thread(lambda: _probe_until_it_responds(reference))

    def _probe_once(self) -> bool:
        """Whether no further probe is needed."""
        known = bool(self._failed_at[0])
        try:
            responds = self._recovered() if known else self._responds() or self._responds()
        except Exception:
            log.exception("the probe of %s failed", self._engine)
            responds = False
        if not responds:
            if known and not self._failed_at[0]:
                return False  # meanwhile it has responded to another process
            if not known:
                log.error("%s does not respond", self._engine)
            self._failed_at[0] = time.monotonic()
            return False
        if self._failed_at[0]:
            log.warning("%s responds again", self._engine)
        with self._lock:
            self._failed_at[0] = 0.0
            self._probing = False
        return True


class Admission(BackOff):
    """Limits the computations of one process, none of which begins in an outage of Elasticsearch.

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
        super().__init__("Elasticsearch", responds, recovered)
        self._slots = threading.BoundedSemaphore(limit)
        self._running: dict[object, float] = {}  # when each running request began
        self._watching = False

    @contextmanager
    def admit(self) -> Iterator[None]:
        """Runs one computation, which may raise errors of the service.

        Raises:
            Unavailable: Elasticsearch is known to be unavailable.
            Busy: as many computations as are allowed are running.
        """
        self.require()
        if not self._slots.acquire(timeout=_SLOT_WAIT):
            self.probe()
            raise Busy("Too many searches are running. Try again in a second.")
        try:
            with self.watched():
                yield
        except (NoIndex, OutdatedIndex):
            raise
        except Unavailable:
            self.probe()
            raise
        finally:
            self._slots.release()

    def require(self) -> None:
        """Check that there is no outage.

        Raises:
            Unavailable: there is one.
        """
        if not self.available:
            raise Unavailable("Elasticsearch is unavailable. Try again in some seconds.")

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Have Elasticsearch probed if what is done inside the block takes long."""
        request = object()
        self._running[request] = time.monotonic()
        with self._lock:
            if not self._watching:
                self._watching = start_thread(self._watch)
        try:
            yield
        finally:
            del self._running[request]

    def _watch(self) -> None:
        """Have Elasticsearch probed before a request times out; ends when none is running."""
        while True:
            time.sleep(_SUSPICIOUS)
            with self._lock:
                started = list(self._running.values())
                if not started:
                    self._watching = False
                    return
            if time.monotonic() - min(started) > _SUSPICIOUS:
                self.probe()


def _probe_until_it_responds(reference: "weakref.ref[BackOff]") -> None:
    while (back_off := reference()) and not back_off._probe_once():
        del back_off
        time.sleep(_INTERVAL)


def start_thread(target: Callable[[], None]) -> bool:
    """Whether a thread was started; not when there are too many or the interpreter ends.

    The time limit of the request that starts it does not apply to it.
    """
    try:
        threading.Thread(target=Context().run, args=(target,), daemon=True).start()
    except RuntimeError:
        return False
    return True
