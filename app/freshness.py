"""Makes writes visible: first to searches, then, and only then, to the cache.

The other way round a search in between would put an answer without the new post back into the
cache, as a fresh one.
"""

import threading
from collections.abc import Callable

from elasticsearch import ApiError, Elasticsearch, TransportError

from app.cache import AnswerCache
from indexer.errors import IndexingError
from indexer.generations import require_live

_DELAY = 0.3  # seconds in which writes that wait for nothing are gathered
_AGAIN = 1.0  # seconds between tries to tell a cache or an engine that is away


class Freshness:
    """Refreshes the index behind an alias and begins a generation of the cache."""

    def __init__(self, elastic: Elasticsearch, cache: AnswerCache, alias: str) -> None:
        self._elastic = elastic
        self._cache = cache
        self._alias = alias
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def now(self) -> bool:
        """Whatever was written before this call is found after it.

        False when Redis could not be told: answers kept before are seen again once it is back.
        """
        self._elastic.indices.refresh(index=self._alias)
        found = require_live(self._elastic, self._alias)
        return self._cache.new_generation(found.name, found.rules or "") or not self._cache.keeps

    def soon(self) -> None:
        """The same within a second, without being waited for; many calls make one refresh.

        While Redis or Elasticsearch is away it is tried again until they are told.
        """
        self._in(_DELAY, self._late)

    def _in(self, seconds: float, step: Callable[[], None]) -> None:
        with self._lock:
            if self._timer is None:
                self._timer = threading.Timer(seconds, step)
                self._timer.daemon = True
                self._timer.start()

    def _late(self) -> None:
        if not self._tried():
            # Elasticsearch refreshes by itself once it is back; the cache must not keep what it
            # has for any longer than that.
            self._cache.new_generation(self._alias, "")
            self._in(_AGAIN, self._again)

    def _again(self) -> None:
        # Without a generation each time: all that is kept would be STALE for as long.
        if not self._tried():
            self._in(_AGAIN, self._again)

    def _tried(self) -> bool:
        """Whether both know, or there is no index that they could know of."""
        with self._lock:
            self._timer = None
        try:
            return self.now()
        except (ApiError, TransportError):
            return False
        except IndexingError:
            return True
