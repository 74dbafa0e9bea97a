"""The counts of searches: a report of them, what was opened, and what is erased.

Former days are kept in the state index too: the cache's Redis may forget anything. A day is stored
there once it is over, and written back to Redis when it is read and missing there. A count names no
visitor: `["python", 1, "goodbye-python24"]` was opened three times on a day.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain
from typing import Any
from urllib.parse import parse_qsl

import redis
from elasticsearch import ConflictError, Elasticsearch

from app.cache.redis_client import RedisClient
from app.cache.store import Keys
from app.elastic import translated
from app.errors import BlogsearchError, Unavailable
from app.insights.entries import opened_of, pair_of, scores_of, text_of, totals_of
from app.insights.search_log import last_days
from app.insights.sessions import Event, Pair
from indexer.scan import docs_of
from indexer.state import ensure_state, state_index

CLICK_LIMIT = "20/minute"
"""How many opened hits of a client one process counts."""
MAX_TEXT = 100
"""Characters of a search, and of the oid of a post, that are counted."""

_KINDS = ("requests", "nothing", "next", "slow", "opened")
"""Sorted sets of a day; its totals are a hash."""

_TIMEOUT = 5.0  # seconds
_ERASE_TIMEOUT = 10.0  # seconds
_READ = 1000  # entries of a day
_OPENED = 1000  # different hits of a day that are kept, those that are opened most
_LEAST_SEARCHES, _LEAST_CLICKS = 3, 2  # for a list; fewer say little
_FAR_DOWN = 3.0  # mean position beyond which a search is listed

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Day:
    """One day: its searches, those that found nothing, and those answered from the cache."""

    date: str
    searches: int
    nothing: int
    cached: int


@dataclass(frozen=True, slots=True)
class Report:
    """The searches of some days.

    `days`: the oldest first. `top` and `nothing`: queries and how often they came, `nothing` those
    without hits. `slow`: queries and the most milliseconds that they took. `pairs`: queries
    without hits with the next query, which had hits, and how often. All have the highest first;
    queries are in lower case.
    """

    days: Sequence[Day]
    top: Sequence[tuple[str, int]]
    nothing: Sequence[tuple[str, int]]
    slow: Sequence[tuple[str, float]]
    pairs: Sequence[tuple[Pair, int]]

    @property
    def searches(self) -> int:
        return sum(day.searches for day in self.days)

    @property
    def without_hits(self) -> int:
        return sum(day.nothing for day in self.days)

    @property
    def cached(self) -> int:
        return sum(day.cached for day in self.days)

    def then(self, query: str) -> list[str]:
        """What was tried next, with success, after a query that found nothing."""
        return [pair[1] for pair, _ in self.pairs if pair[0] == query]


@dataclass(frozen=True, slots=True)
class Opened:
    """The hits that were opened after a search: how often, at which mean position, and the post
    that was opened most."""

    times: int
    position: float
    oid: str


@dataclass(frozen=True, slots=True)
class RarelyOpened:
    """A search whose hits are opened rarely or far down; `opened` is None without any."""

    query: str
    times: int
    opened: Opened | None


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

    # -- reading -------------------------------------------------------------------------------

    def report(self, days: int) -> Report | None:
        """What people searched for in the last days; None without Redis."""
        with suppress(Unavailable), translated():
            self._restore_days()
        return read_report(self._client, self._keys, days)

    def dismissed(self) -> list[str]:
        """The searches that are not listed.

        Raises:
            Unavailable: Redis does not answer.
        """
        name = self._keys.insights("dismissed")
        queries: Any = self._client.require(_TIMEOUT, redis.Redis.zrange, name, 0, -1)
        return list(map(text_of, queries))

    # -- changing ------------------------------------------------------------------------------

    def count_opened(self, q: str, position: int, oid: str) -> None:
        """Count a hit that was opened. Without Redis it is not counted."""
        name = self._keys.insights("opened", last_days(1)[0])
        entry = json.dumps([q.casefold(), position, oid], ensure_ascii=False)

        def command(client: "redis.Redis") -> None:
            with client.pipeline(transaction=False) as pipeline:
                pipeline.zincrby(name, 1, entry)
                pipeline.zremrangebyrank(name, 0, -_OPENED - 1)
                pipeline.expire(name, timedelta(days=self._days))
                pipeline.execute()

        self._client.ask(_TIMEOUT, None, command)

    def dismiss(self, query: str) -> None:
        """List a search no longer, until its counts expire.

        Raises:
            Unavailable: Redis does not answer.
        """
        name = self._keys.insights("dismissed")

        def command(client: "redis.Redis") -> None:
            client.zadd(name, {query.casefold(): 0})
            client.expire(name, timedelta(days=self._days))

        self._client.require(_TIMEOUT, command)

    def restore(self, query: str) -> None:
        """List a dismissed search again.

        Raises:
            Unavailable: Redis does not answer.
        """
        self._client.require(_TIMEOUT, redis.Redis.zrem, self._keys.insights("dismissed"), query)

    def erase(self, query: str | None = None) -> int:
        """Delete a query, in any case of letters, or with None everything that was counted.

        The totals of a day, which name no query, keep it unless everything is deleted.

        Returns:
            How many entries, or with None how many keys in Redis, were deleted.

        Raises:
            Unavailable: Redis or Elasticsearch cannot delete it now.
        """
        with translated():
            if query is not None:
                self._restore_days()
            erased = self._client.require(_ERASE_TIMEOUT, _erase, self._keys, query)
            self._forget({"match_all": {}})
            self._store()
        return erased

    # -- former days ---------------------------------------------------------------------------

    def store_former_days(self) -> None:
        """Store the former days that Redis has, and delete old ones; nothing without an engine."""
        with suppress(BlogsearchError), translated():
            self._store()
            self._forget({"range": {"at": {"lt": last_days(self._days)[-1]}}})

    def _store(self) -> None:
        dates = last_days(self._days)[1:]
        stored = {document["_id"] for document in self._stored(dates, source=False)}
        for date in (date for date in dates if _id(date) not in stored):
            counts = self._client.require(_TIMEOUT, _read, self._keys, date)
            if counts["totals"]:
                document = {"what": "insights", "at": date, **counts}
                index = ensure_state(self._elastic, self._alias)
                with suppress(ConflictError):  # another process was first
                    self._elastic.create(index=index, id=_id(date), document=document, refresh=True)

    def _restore_days(self) -> None:
        """Write former days that Redis has lost back to it."""
        dates = last_days(self._days)[1:]
        names = [self._keys.insights("totals", date) for date in dates]
        present = self._client.require(_TIMEOUT, _exist, names)
        lost = [date for date, exists in zip(dates, present, strict=True) if not exists]
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

    def _stored(self, dates: Sequence[str], *, source: bool = True) -> list[Json]:
        index = state_index(self._alias)
        if not dates or not self._elastic.indices.exists(index=index):
            return []
        ids = [_id(date) for date in dates]
        documents = docs_of(self._elastic.mget(index=index, ids=ids, source=source))
        return [document for document in documents if document.get("found")]


# -- reports ------------------------------------------------------------------------------------


def read_report(client: RedisClient, keys: Keys, days: int) -> Report | None:
    """The searches of the last days; None when Redis is unavailable."""
    dates = last_days(days)[::-1]

    def command(client: "redis.Redis") -> list[Any]:
        with client.pipeline(transaction=False) as pipeline:
            for date in dates:
                pipeline.hgetall(keys.insights("totals", date))
                for kind in ("requests", "nothing", "slow", "next"):
                    pipeline.zrange(keys.insights(kind, date), 0, _READ - 1, True, True)
            return pipeline.execute()

    replies = client.ask(_TIMEOUT, None, command)
    if replies is None:
        return None
    totals, requests, nothing, slow, following = (replies[start::5] for start in range(5))
    queries = (
        (dict(parse_qsl(key)).get("q", "").casefold(), count) for key, count in _entries(requests)
    )
    slowest: dict[str, float] = {}
    for text, milliseconds in _entries(slow):
        slowest[text] = max(milliseconds, slowest.get(text, 0.0))
    return Report(
        days=[_day(*day) for day in zip(dates, totals, strict=True)],
        top=_added(queries),
        nothing=_added(_entries(nothing)),
        slow=sorted(slowest.items(), key=lambda item: (-item[1], item[0])),
        pairs=[
            (pair, count) for text, count in _added(_entries(following)) if (pair := pair_of(text))
        ],
    )


def _day(date: str, totals: dict[bytes, bytes]) -> Day:
    count = totals_of(totals)
    cached = count.get("HIT", 0) + count.get("STALE", 0)
    return Day(date, count.get("searches", 0), count.get("nothing", 0), cached)


def _entries(days: Iterable[Iterable[tuple[bytes, float]]]) -> Iterator[tuple[str, float]]:
    return chain.from_iterable(map(scores_of, days))


def _added(entries: Iterable[tuple[str, float]]) -> list[tuple[str, int]]:
    """The sum for each text, the highest first."""
    total: Counter[str] = Counter()
    for text, count in entries:
        total[text] += int(count)
    return sorted(total.items(), key=lambda item: (-item[1], item[0]))


def read_opened(client: RedisClient, keys: Keys, days: int) -> Mapping[str, Opened]:
    """What was opened in the last days, by search; nothing when Redis is unavailable."""

    def command(client: "redis.Redis") -> list[Any]:
        with client.pipeline(transaction=False) as pipeline:
            for date in last_days(days):
                pipeline.zrange(keys.insights("opened", date), 0, -1, withscores=True)
            return pipeline.execute()

    positions: defaultdict[str, Counter[int]] = defaultdict(Counter)
    posts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for entry, count in _entries(client.ask(_TIMEOUT, [], command)):
        if opened := opened_of(entry):
            q, position, oid = opened
            positions[q][position] += int(count)
            posts[q][oid] += int(count)
    summaries = {}
    for q, counted in positions.items():
        mean = sum(position * count for position, count in counted.items()) / counted.total()
        summaries[q] = Opened(counted.total(), mean, posts[q].most_common(1)[0][0])
    return summaries


def rarely_opened(report: Report, opened: Mapping[str, Opened]) -> Sequence[RarelyOpened]:
    """The frequent searches that find something of which nothing, or something far down, is
    opened. None while no click was counted: the pages may not send them."""
    if not opened:
        return []
    failed = {query for query, _ in report.nothing}
    rows = [RarelyOpened(query, times, opened.get(query)) for query, times in report.top]
    return [
        row
        for row in rows
        if row.query not in failed
        and (
            row.opened.times >= _LEAST_CLICKS and row.opened.position > _FAR_DOWN
            if row.opened
            else row.times >= _LEAST_SEARCHES
        )
    ]


# -- Redis and the state index ------------------------------------------------------------------


def _id(date: str) -> str:
    return f"insights:{date}"


def _exist(client: "redis.Redis", names: Sequence[str]) -> list[Any]:
    with client.pipeline(transaction=False) as pipeline:
        for name in names:
            pipeline.hgetall(name)  # docs/redis.acl has no EXISTS
        return pipeline.execute()


def _read(client: "redis.Redis", keys: Keys, date: str) -> Json:
    with client.pipeline(transaction=False) as pipeline:
        pipeline.hgetall(keys.insights("totals", date))
        for kind in _KINDS:
            pipeline.zrange(keys.insights(kind, date), 0, -1, withscores=True)
        totals, *counted = pipeline.execute()
    counts: Json = {
        kind: [list(entry) for entry in scores_of(pairs)]
        for kind, pairs in zip(_KINDS, counted, strict=True)
    }
    counts["totals"] = totals_of(totals)
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


def _erase(client: "redis.Redis", keys: Keys, query: str | None) -> int:
    names = list(client.scan_iter(match=keys.insights("*"), count=1000))
    if query is None:
        return int(client.unlink(*names)) if names else 0
    return sum(_erase_from(client, name, query.strip().casefold()) for name in names)


def _erase_from(client: "redis.Redis", name: bytes, query: str) -> int:
    kind = name.decode().rpartition(":insights:")[2].partition(":")[0]
    if kind not in {"events", "requests", "nothing", "slow", "next", "opened", "dismissed"}:
        return 0
    members: Any = client.zrange(name, 0, -1)
    matching = [member for member in members if query in _queries(kind, member)]
    return int(client.zrem(name, *matching)) if matching else 0


def _queries(kind: str, member: bytes) -> Sequence[str]:
    """The queries in an entry of a list."""
    text = text_of(member)
    if kind == "events":
        event = Event.load(member)
        return [event.q.casefold()] if event else []
    if kind == "requests":
        return [dict(parse_qsl(text)).get("q", "").casefold()]
    if kind == "next":
        return pair_of(text) or ()
    if kind == "opened":
        return (opened_of(text) or ())[:1]
    return [text]
