"""Which languages the posts are in, so that posts in the visitor's language can come first."""

import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from elasticsearch import ApiError, Elasticsearch, TransportError

from analyzers.languages import Language
from app.back_off import start_thread

if TYPE_CHECKING:
    from werkzeug.datastructures import LanguageAccept

_REFRESHED_AFTER = 60.0  # seconds
_MOST = 100  # languages that are told apart


class IndexedLanguages:
    """The languages of the posts behind an alias, counted again every minute in the background.

    Only the first search of a process waits for them. A post that names no language is in that of
    the index.
    """

    def __init__(self, elastic: Elasticsearch, alias: str, language: Language) -> None:
        self._elastic = elastic
        self._alias = alias
        self._default = language.code
        self._tags: frozenset[str] = frozenset()
        self._refreshed = float("-inf")
        self._lock = threading.Lock()

    def several(self) -> bool:
        """Whether posts are in more than one language."""
        with self._lock:
            former, now = self._refreshed, time.monotonic()
            due = now - former > _REFRESHED_AFTER
            if due:
                self._refreshed = now
            if former == float("-inf"):
                self._refresh_quietly()
            elif due:
                start_thread(self._refresh_quietly)
        return len({tag.partition("-")[0] for tag in self._tags}) > 1

    def preferred(self, accepted: "LanguageAccept") -> str:
        """The best language of an Accept-Language header that posts are in; "" if there is none.

        Nothing but languages of posts is returned: as a part of cache keys the header itself would
        give nearly every visitor answers of their own.
        """
        primary = {tag.partition("-")[0] for tag in self._tags}
        for name, quality in accepted:  # the best first
            tag = name.lower()
            if quality and tag in self._tags:
                return tag
            if quality and (language := tag.partition("-")[0]) in primary:
                return language
        return ""

    def refresh(self) -> None:
        """Count the languages now.

        Raises:
            ApiError, TransportError: Elasticsearch cannot answer; what was known stays.
        """
        counts = self._elastic.search(
            index=self._alias,
            size=0,
            aggs={
                "named": {"terms": {"field": "language", "size": _MOST}},
                "unnamed": {"missing": {"field": "language"}},
            },
            allow_partial_search_results=False,
        )["aggregations"]
        tags = {bucket["key"] for bucket in counts["named"]["buckets"]}
        if counts["unnamed"]["doc_count"]:
            tags.add(self._default)
        self._tags = frozenset(tags)

    def _refresh_quietly(self) -> None:
        with suppress(ApiError, TransportError):  # the next try is in a minute
            self.refresh()
