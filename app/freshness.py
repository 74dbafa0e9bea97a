"""Makes writes visible: first to searches, and only then to the cache.

In the other order, a search in between would cache an answer without the new post as a fresh one.
"""

import threading
from collections.abc import Callable

from elasticsearch import ApiError, Elasticsearch, TransportError

from app.cache import AnswerCache
from indexer.errors import IndexingError
from indexer.generations import require_live

_DELAY = 0.3  # seconds during which writes that do not wait share one refresh
_RETRY_DELAY = 1.0  # seconds between tries while Redis or Elasticsearch is unavailable


class Freshness:
    """Refreshes the index behind an alias and begins a generation of the cache."""

    def __init__(self, elastic: Elasticsearch, cache: AnswerCache, alias: str) -> None:
        self._elastic = elastic
        self._cache = cache
        self._alias = alias
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def now(self) -> bool:
        """Make everything that was written before this call visible to searches.

        False when Redis did not take the new generation: it may serve older answers once it is
        back.
        """
        self._elastic.indices.refresh(index=self._alias)
        live = require_live(self._elastic, self._alias)
        return self._cache.new_generation(live.name, live.rules or "") or not self._cache.configured

    def soon(self) -> None:
        """The same in the background within a second; many calls share one refresh.

        It is repeated until Redis and Elasticsearch have taken it.
        """
        self._schedule(_DELAY, self._first_try)

    def _schedule(self, seconds: float, step: Callable[[], None]) -> None:
        with self._lock:
            if self._timer is None:
                self._timer = threading.Timer(seconds, step)
                self._timer.daemon = True
                self._timer.start()

    def _first_try(self) -> None:
        if not self._try_now():
            # Elasticsearch refreshes by itself once it is back. Until then the answers in the
            # cache must not count as fresh.
            self._cache.new_generation(self._alias, "")
            self._schedule(_RETRY_DELAY, self._retry)

    def _retry(self) -> None:
        # Without a new generation each time, which would make every answer STALE again.
        if not self._try_now():
            self._schedule(_RETRY_DELAY, self._retry)

    def _try_now(self) -> bool:
        """Whether both have taken it, or there is no index."""
        with self._lock:
            self._timer = None
        try:
            return self.now()
        except (ApiError, TransportError):
            return False
        except IndexingError:
            return True
