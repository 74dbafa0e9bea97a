"""Makes writes visible: first to searches, and only then to the cache.

In the other order, a search in between would cache an answer without the new post as a fresh one.

Every new generation of the cache makes all kept answers old. So while writes stream in, those that
can wait share one, at most one a second; in between, kept answers count as fresh.
"""

import atexit
import math
import threading
import time
import weakref
from collections import deque

from elasticsearch import ApiError, ConnectionTimeout, Elasticsearch, NotFoundError, TransportError

from app.back_off import start_thread
from app.cache import AnswerCache
from indexer.errors import IndexingError
from indexer.generations import require_live
from indexer.retry import Retry, remaining, time_limit

_TIMEOUT = 120.0  # seconds; a refresh after many writes takes longer than a search
_DELAY = 0.3  # seconds during which writes that do not wait share one refresh
_BACKGROUND_TIMEOUT = 30.0  # seconds, as for a write over HTTP, which may wait for this refresh
_UNTIL_TAKEN = Retry(total=math.inf, first_pause=1.0, longest_pause=1.0)
_BURST, _PER = 10, 10.0  # shared refreshes without a pause within some seconds
_EXIT_TIMEOUT = 5.0  # seconds


class Freshness:
    """Refreshes the index behind an alias and begins a generation of the cache.

    What `soon` has promised is done at the exit of the process, if not before.
    """

    def __init__(self, elastic: Elasticsearch, cache: AnswerCache, alias: str) -> None:
        self._elastic = elastic.options(request_timeout=_TIMEOUT)
        self._cache = cache
        self._alias = alias
        self._lock = threading.Lock()
        self._waiting = False  # a thread will publish what is written now
        self._running = False  # a thread publishes what was written before
        self._sharing = threading.Lock()
        self._begun = 0
        self._succeeded = 0
        self._times: deque[float] = deque(maxlen=_BURST)
        atexit.register(_flush, weakref.ref(self))

    def now(self) -> bool:
        """Make everything that was written before this call visible to searches.

        False when Redis did not take the new generation: it may serve older answers once it is
        back.
        """
        self._elastic.indices.refresh(index=self._alias)
        live = require_live(self._elastic, self._alias)
        return self._cache.new_generation(live.name, live.rules or "")

    def shared(self) -> bool:
        """Like `now`, but callers within about a second share one refresh; in a stream of calls it
        waits for the next full second.

        Raises:
            ConnectionTimeout: the time limit ended while it waited for the refresh of another call.
        """
        seen = self._begun
        if not self._sharing.acquire(timeout=min(max(remaining(), 0.0), threading.TIMEOUT_MAX)):
            raise ConnectionTimeout("Another refresh takes longer")
        try:
            if self._succeeded > seen:  # it began after this call
                return True
            self._pause_in_a_stream()
            self._begun += 1
            taken = self.now()
            if taken:
                self._succeeded = self._begun
            return taken
        finally:
            self._sharing.release()

    def soon(self) -> None:
        """Like `now`, in the background; many calls share one refresh.

        It is repeated until Redis and Elasticsearch have taken it.
        """
        with self._lock:
            # Without a free thread the next write tries again.
            self._waiting = self._waiting or start_thread(self._publish_until_taken)

    def at_end(self) -> None:
        """Like `now`, for a process that ends: for some seconds at most; never raises."""
        try:
            with time_limit(_EXIT_TIMEOUT):
                self.now()
        except (ApiError, TransportError):
            self._cache.new_generation(self._alias, "")
        except IndexingError:
            return

    def _pause_in_a_stream(self) -> None:
        """Wait for the next full second, the same one in all processes, after a burst."""
        now = time.monotonic()
        if len(self._times) == _BURST and now - self._times[0] < _PER:
            time.sleep(1 - time.time() % 1)
        self._times.append(time.monotonic())

    def _publish_until_taken(self) -> None:
        time.sleep(_DELAY)
        for number, _ in enumerate(_UNTIL_TAKEN.attempts()):
            with self._lock:
                self._waiting, self._running = False, True
            taken = self._try()
            with self._lock:
                self._running = False
                if taken or self._waiting:  # another thread has begun to wait
                    return
                self._waiting = True
            if number == 0:
                # Elasticsearch refreshes by itself once it is back. Until then the answers in the
                # cache must not count as fresh. Only once: it makes every answer STALE.
                self._cache.new_generation(self._alias, "")

    def _try(self) -> bool:
        """Whether both have taken it, or there is no index."""
        try:
            with time_limit(_BACKGROUND_TIMEOUT):
                return self.shared()
        except (IndexingError, NotFoundError):
            return True
        except (ApiError, TransportError):
            return False


def _flush(reference: "weakref.ref[Freshness]") -> None:
    """Do now what `soon` has promised."""
    if (freshness := reference()) and (freshness._waiting or freshness._running):
        freshness.at_end()
