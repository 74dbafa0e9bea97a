"""Stops using an engine after a failure until a probe succeeds. Also has time limits.

`Admission` also limits how many searches are computed at a time. Cached answers and health checks
need no admission, so they never wait for Elasticsearch.
"""

import logging
import socket
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import Context

from app.errors import Busy, NoIndex, OutdatedIndex, Unavailable

_INTERVAL = 0.25  # seconds between two probes of an outage
_SLOT_WAIT = 0.2  # seconds that a search waits for a free slot

log = logging.getLogger(__name__)


@contextmanager
def deadline(seconds: float | None) -> Iterator[None]:
    """Limit the whole block to `seconds` in a gevent worker; raise TimeoutError after that.

    The clients of Elasticsearch and Redis limit only each connection attempt and each read, so they
    would wait forever for a server that sends a byte now and then. In other processes, such as
    commands, only these limits apply.
    """
    monkey = sys.modules.get("gevent.monkey")
    if monkey is None or not monkey.is_module_patched("socket"):
        yield
        return
    gevent = sys.modules["gevent"]
    # Not an OSError, or a client would try its next address with no time left.
    timeout = gevent.Timeout.start_new(seconds)
    try:
        yield
    except gevent.Timeout as expired:
        if expired is not timeout:
            raise
        raise TimeoutError("timed out") from None
    finally:
        timeout.close()


def is_silent(connected: socket.socket) -> bool:
    """Whether a connection without TLS is open, and no data (nor its end) has arrived on it."""
    seconds = connected.gettimeout()
    connected.settimeout(0)
    try:
        connected.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        connected.settimeout(seconds)
    return False


class BackOff:
    """Keeps requests from an engine that is away. Threads may share it.

    During an outage (`available` is False) one thread probes the engine four times a second, so
    that no request has to find out whether it is back.

    Args:
        engine: the name of the engine in the log.
        responds: the probe: whether the engine responds; has its own short time limit.
        recovered: the probe during an outage, if it is a different one.
    """

    def __init__(
        self,
        engine: str,
        responds: Callable[[], bool],
        recovered: Callable[[], bool] | None = None,
    ) -> None:
        self.available = True
        self._engine = engine
        self._responds = responds
        self._recovered = recovered or responds
        self._lock = threading.Lock()
        self._probing = False

    def begin(self, reason: str) -> None:
        """Begin an outage after a failure of the engine, unless there is one already."""
        if self.available:
            self.available = False
            log.warning("%s failed: %s", self._engine, reason)
        self.probe()

    def probe(self) -> None:
        """Probe the engine in the background, unless a probe is running.

        An outage begins if two probes fail: on a busy machine a single one may be too slow.
        """
        with self._lock:
            if not self._probing:
                # The thread must not keep an unused application alive.
                reference = weakref.ref(self)
                self._probing = start_thread(lambda: _probe_until_it_responds(reference))

    def _probe_once(self) -> bool:
        try:
            responds = self._try()
        except Exception:
            log.exception("the probe of %s failed", self._engine)
            responds = False
        if responds != self.available:
            says = "responds again" if responds else "does not respond"
            log.warning("%s %s", self._engine, says)
        with self._lock:
            self.available = responds
            self._probing = not responds
        return responds

    def _try(self) -> bool:
        if self.available:
            return self._responds() or self._responds()
        return self._recovered()


def _probe_until_it_responds(reference: "weakref.ref[BackOff]") -> None:
    while (back_off := reference()) and not back_off._probe_once():
        del back_off
        time.sleep(_INTERVAL)


class Admission(BackOff):
    """Allows `limit` computations at a time, and none during an outage of Elasticsearch.

    A failed computation starts a probe instead of an outage, because otherwise one expensive search
    would be an outage for everybody.
    """

    def __init__(
        self,
        responds: Callable[[], bool],
        limit: int,
        recovered: Callable[[], bool] | None = None,
    ) -> None:
        super().__init__("Elasticsearch", responds, recovered)
        self._slots = threading.BoundedSemaphore(limit)

    @contextmanager
    def admit(self) -> Iterator[None]:
        """Run one computation inside the block; it may raise errors of the service.

        Raises:
            Unavailable: Elasticsearch is known to be unavailable.
            Busy: the maximum number of computations is running.
        """
        self.require()
        if not self._slots.acquire(timeout=_SLOT_WAIT):
            self.probe()
            raise Busy("Too many searches are running. Try again in a second.")
        try:
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
            raise Unavailable("Elasticsearch is unavailable. Try again in a few seconds.")


def start_thread(target: Callable[[], None]) -> bool:
    """Start a thread; return False if there are too many or the interpreter is ending.

    The time limit of the request that starts the thread does not apply to it.
    """
    try:
        threading.Thread(
            target=Context().run, args=(target,), name="blogsearch", daemon=True
        ).start()
    except RuntimeError:
        return False
    return True
