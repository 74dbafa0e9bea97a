"""Makes writes visible: first to searches, then, and only then, to the cache.

The other way round a search in between would put an answer without the new post back into the
cache, as a fresh one.
"""

import threading

from elasticsearch import ApiError, Elasticsearch, TransportError

from app.cache import AnswerCache
from indexer.errors import IndexingError
from indexer.generations import require_live

_DELAY = 0.3  # seconds in which writes that wait for nothing are gathered


class Freshness:
    """Refreshes the index behind an alias and begins a generation of the cache."""

    def __init__(self, elastic: Elasticsearch, cache: AnswerCache, alias: str) -> None:
        self._elastic = elastic
        self._cache = cache
        self._alias = alias
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def now(self) -> None:
        """Whatever was written before this call is found after it."""
        self._elastic.indices.refresh(index=self._alias)
        found = require_live(self._elastic, self._alias)
        self._cache.new_generation(found.name, found.rules or "")

    def soon(self) -> None:
        """The same within a second, without being waited for; many calls make one refresh."""
        with self._lock:
            if self._timer is None:
                self._timer = threading.Timer(_DELAY, self._late)
                self._timer.daemon = True
                self._timer.start()

    def _late(self) -> None:
        with self._lock:
            self._timer = None
        try:
            self.now()
        except (ApiError, TransportError, IndexingError):
            # Elasticsearch refreshes by itself once it is back; the cache must not keep what it
            # has for any longer than that.
            self._cache.new_generation(self._alias, "")
