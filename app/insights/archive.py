"""Former days of the counts, kept in the state index: the cache's Redis may forget anything.

A day is stored once it is over, and written back to Redis when it is read and missing there.
"""

from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any

import redis
from elasticsearch import ConflictError, Elasticsearch

from app.cache.redis_client import RedisClient
from app.cache.store import Keys
from app.elastic import translated
from app.errors import BlogsearchError, Unavailable
from app.insights.erasing import erase
from app.insights.report import Report, read_report
from app.insights.search_log import last_days
from indexer.scan import docs_of
from indexer.state import ensure_state, state_index

_KINDS = ("requests", "nothing", "next", "slow", "opened")
"""Sorted sets of a day; its totals are a hash."""

_TIMEOUT = 5.0  # seconds

Json = dict[str, Any]


class Counts:
    """The counts of an alias: those of today in Redis, those of former days in both engines.

    Args:
        days: how long they are kept; 0: nothing is counted.
    """

    def __init__(
        self, elastic: Elasticsearch, alias: str, client: RedisClient, keys: Keys, days: int
    ) -> None:
        self._elastic = elastic
        self._alias = alias
        self._client = client
        self._keys = keys
        self._days = days

    def report(self, days: int) -> Report | None:
        """What people searched for in the last days; None without Redis."""
        with suppress(Unavailable), translated():
            self._restore()
        return read_report(self._client, self._keys, days)

    def erase(self, query: str | None = None) -> int:
        """Delete a query, in any case of letters, or with None everything that was counted.

        Returns:
            How many entries, or with None how many keys in Redis, were deleted.

        Raises:
            Unavailable: Redis or Elasticsearch cannot delete it now.
        """
        with translated():
            if query is not None:
                self._restore()
            erased = erase(self._client, self._keys, query)
            self._forget({"match_all": {}})
            self._store()
        return erased

    def store_former_days(self) -> None:
        """Store the former days that Redis has, and delete old ones; without an engine nothing."""
        with suppress(BlogsearchError), translated():
            self._store()
            self._forget({"range": {"at": {"lt": last_days(self._days)[-1]}}})

    def _store(self) -> None:
        for date in self._missing(last_days(self._days)[1:]):
            counts = self._client.require(_TIMEOUT, _read, self._keys, date)
            if counts["totals"]:
                document = {"what": "insights", "at": date, **counts}
                index = ensure_state(self._elastic, self._alias)
                with suppress(ConflictError):  # another process was first
                    self._elastic.create(index=index, id=_id(date), document=document, refresh=True)

    def _restore(self) -> None:
        """Write former days that Redis has lost back to it."""
        dates = last_days(self._days)[1:]
        names = [self._keys.insights("totals", date) for date in dates]
        present = self._client.require(_TIMEOUT, _exist, names)
        lost = [date for date, is_present in zip(dates, present, strict=True) if not is_present]
        for stored in self._stored(lost):
            counts = stored["_source"]
            self._client.require(_TIMEOUT, _write, self._keys, counts, self._days)

    def _forget(self, which: Json) -> None:
        self._elastic.delete_by_query(
            index=state_index(self._alias),
            query={"bool": {"filter": [{"term": {"what": "insights"}}, which]}},
            conflicts="proceed",
            refresh=True,
            ignore_unavailable=True,
            expand_wildcards="all",
        )

    def _missing(self, dates: Sequence[str]) -> list[str]:
        stored = {document["_id"] for document in self._stored(dates, source=False)}
        return [date for date in dates if _id(date) not in stored]

    def _stored(self, dates: Sequence[str], *, source: bool = True) -> list[Json]:
        index = state_index(self._alias)
        if not dates or not self._elastic.indices.exists(index=index):
            return []
        ids = [_id(date) for date in dates]
        documents = docs_of(self._elastic.mget(index=index, ids=ids, source=source))
        return [document for document in documents if document.get("found")]


def _id(date: str) -> str:
    return f"insights:{date}"


def _exist(client: "redis.Redis", names: Sequence[str]) -> list[Any]:
    with client.pipeline(transaction=False) as pipeline:
        for name in names:
            pipeline.hgetall(name)
        return pipeline.execute()


def _read(client: "redis.Redis", keys: Keys, date: str) -> Json:
    with client.pipeline(transaction=False) as pipeline:
        pipeline.hgetall(keys.insights("totals", date))
        for kind in _KINDS:
            pipeline.zrange(keys.insights(kind, date), 0, -1, withscores=True)
        totals, *counted = pipeline.execute()
    counts: Json = {
        kind: [[text.decode("utf-8", "replace"), score] for text, score in pairs]
        for kind, pairs in zip(_KINDS, counted, strict=True)
    }
    texts = [(name.decode("utf-8", "replace"), count) for name, count in totals.items()]
    counts["totals"] = {name: int(count) for name, count in texts if count.isdigit()}
    return counts


def _write(client: "redis.Redis", keys: Keys, counts: Json, days: int) -> None:
    date, expires = str(counts["at"]), timedelta(days=days)
    with client.pipeline() as pipeline:
        for kind in _KINDS:
            if counts.get(kind):
                pipeline.zadd(keys.insights(kind, date), dict(counts[kind]))
                pipeline.expire(keys.insights(kind, date), expires)
        pipeline.hset(keys.insights("totals", date), mapping=counts["totals"])
        pipeline.expire(keys.insights("totals", date), expires)
        pipeline.execute()
