"""The counts of each day, in the state index, and reports made of them.

A day is one document, `insights:2026-11-25`, which is read and written back on condition that
nobody else has written it. No count names a visitor.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl

from elasticsearch import ConflictError, Elasticsearch

from app.elastic import translated
from app.errors import BadRequest, BlogsearchError
from app.insights.visits import Opening, Search, next_found
from app.search.request import SearchRequest
from indexer.scan import docs_of
from indexer.state import ensure_state, state_index

_KEPT = 1_000  # different searches, pairs and opened hits of a day: the most frequent
_MARKS = 5  # visitors of a search that are told apart
_TRIES = 10
_LEAST_VISITORS, _LEAST_DAYS = 5, 2  # of a search that other visitors are shown
_WARM_DAYS = 7  # how far back a request counts for `popular`; each day back, it counts half

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Day:
    """One day: its searches, those that found nothing or only some of the words, those answered
    from the cache, and the hits that were opened."""

    date: str
    searches: int = 0
    nothing: int = 0
    partly: int = 0
    cached: int = 0
    opened: int = 0


@dataclass(slots=True)
class Searched:
    """What was counted of one query, in lower case.

    Args:
        times: how often it was searched; `nothing` and `partly` of these times it found nothing,
            or no post with all its words.
        then: what the same visitors searched next with success, and how often.
        posts: the oids that were opened, and how often; `positions` is the sum of their positions.
        marks: of its visitors, at most five a day. `days`: on which it was searched.
    """

    query: str
    times: int = 0
    nothing: int = 0
    partly: int = 0
    then: Counter[str] = field(default_factory=Counter)
    posts: Counter[str] = field(default_factory=Counter)
    positions: int = 0
    marks: set[str] = field(default_factory=set)
    days: int = 0

    @property
    def opened(self) -> int:
        """How often one of its hits was opened."""
        return self.posts.total()

    @property
    def position(self) -> float | None:
        """The mean position of the hits that were opened."""
        return self.positions / self.opened if self.opened else None

    @property
    def is_public(self) -> bool:
        """Whether other visitors may be shown it: so many have searched for it that it tells
        nothing about one of them."""
        known = len(self.marks) >= _LEAST_VISITORS and self.days >= _LEAST_DAYS
        return known and self.nothing < self.times


@dataclass(frozen=True, slots=True)
class Report:
    """The searches of some days, the oldest day first, and the totals of as many days before.

    `searched` has the most frequent query first.
    """

    days: Sequence[Day]
    before: Day
    searched: Sequence[Searched]

    @property
    def total(self) -> Day:
        """All days together."""
        return _total(self.days)

    def found_nothing(self) -> list[Searched]:
        """The searches that found nothing, the most frequent first."""
        return sorted((row for row in self.searched if row.nothing), key=lambda row: -row.nothing)

    def found_partly(self) -> list[Searched]:
        """The searches of which no post has all words, the most frequent first."""
        return sorted((row for row in self.searched if row.partly), key=lambda row: -row.partly)


class Counts:
    """The counts of an alias.

    Args:
        days: how long they are kept; 0: nothing is counted.
    """

    def __init__(self, elastic: Elasticsearch, alias: str, days: int) -> None:
        self._elastic = elastic
        self._alias = alias
        self.days = days

    def add(self, visits: Iterable[Sequence[Search]], opened: Iterable[Opening]) -> None:
        """Add the searches of some visitors, and hits that were opened; nothing without
        Elasticsearch."""
        by_day: defaultdict[str, tuple[list[Sequence[Search]], list[Opening]]]
        by_day = defaultdict(lambda: ([], []))
        for searches in visits:
            if searches:
                by_day[day_of(searches[-1].at)][0].append(searches)
        for opening in opened:
            by_day[day_of(opening.at)][1].append(opening)
        with suppress(BlogsearchError), translated():
            for date, (of_day, openings) in by_day.items():
                self._change(date, of_day, openings)

    def _change(
        self, date: str, visits: Sequence[Sequence[Search]], opened: Sequence[Opening]
    ) -> None:
        index = ensure_state(self._elastic, self._alias)
        for _ in range(_TRIES):
            (stored,) = docs_of(self._elastic.mget(index=index, ids=[_id(date)]))
            condition: Json = {"op_type": "create"}
            if stored.get("found"):
                condition = {
                    "if_seq_no": stored["_seq_no"],
                    "if_primary_term": stored["_primary_term"],
                }
            document = _added(stored.get("_source", {}), visits, opened)
            document |= {"what": "insights", "at": date}
            with suppress(ConflictError):  # another process was first
                self._elastic.index(index=index, id=_id(date), document=document, **condition)
                break
        else:
            return
        if "op_type" in condition:
            oldest = last_days(self.days)[-1]
            self._delete({"range": {"at": {"lt": oldest}}})

    def report(self, days: int) -> Report:
        """What people searched for in the last days, today included.

        Raises:
            Unavailable: Elasticsearch does not answer.
        """
        dates = last_days(2 * days)
        with translated():
            stored = self._stored(dates)
        searched: dict[str, Searched] = {}
        for date in dates[:days]:
            for query, of_day in _searched(stored.get(date, {})).items():
                _merge(searched.setdefault(query, Searched(query)), of_day)
        return Report(
            [_day(date, stored.get(date, {})) for date in reversed(dates[:days])],
            _total([_day(date, stored.get(date, {})) for date in dates[days:]]),
            sorted(searched.values(), key=lambda row: (-row.times, row.query)),
        )

    def popular(self, number: int) -> list[tuple[SearchRequest, float]]:
        """The most frequent requests of the last week, and how often they came.

        A request counts half with each day back. Empty when Elasticsearch does not answer.
        """
        dates = last_days(_WARM_DAYS)
        total: Counter[str] = Counter()
        weights: defaultdict[str, float] = defaultdict(float)
        with suppress(BlogsearchError), translated():
            for date, document in self._stored(dates).items():
                for key, row in document.get("requests", {}).items():
                    total[key] += row["times"]
                    weights[key] += row["times"] / 2 ** dates.index(date)
        requests: list[tuple[SearchRequest, float]] = []
        for key in sorted(weights, key=lambda key: (-weights[key], key)):
            if len(requests) == number:
                break
            with suppress(BadRequest):  # counted by a version that had other parameters
                requests.append((SearchRequest.from_key(key), weights[key]))
        return requests

    def erase(self, query: str | None = None) -> int:
        """Delete a query, in any case of letters, or with None everything that was counted.

        The totals of a day, which name no query, stay unless everything is deleted.

        Returns:
            From how many days it was deleted.

        Raises:
            Conflict, Unavailable: it cannot be deleted now.
        """
        with translated():
            if query is None:
                return self._delete({"match_all": {}})
            erased = 0
            for date in last_days(self.days):
                erased += self._erase(date, query.strip().casefold())
            return erased

    def _erase(self, date: str, query: str) -> bool:
        index = ensure_state(self._elastic, self._alias)
        (stored,) = docs_of(self._elastic.mget(index=index, ids=[_id(date)]))
        document: Json = stored.get("_source", {})
        left = _without(document, query)
        if left == document:
            return False
        self._elastic.index(
            index=index,
            id=_id(date),
            document=left,
            if_seq_no=stored["_seq_no"],
            if_primary_term=stored["_primary_term"],
        )
        return True

    def _delete(self, which: Json) -> int:
        self._elastic.indices.refresh(index=state_index(self._alias), ignore_unavailable=True)
        response = self._elastic.delete_by_query(
            index=state_index(self._alias),
            query={"bool": {"filter": [{"term": {"what": "insights"}}, which]}},
            conflicts="proceed",
            ignore_unavailable=True,
            expand_wildcards="all",
        )
        return int(response["deleted"])

    def _stored(self, dates: Sequence[str]) -> dict[str, Json]:
        index = state_index(self._alias)
        if not self._elastic.indices.exists(index=index):
            return {}
        documents = docs_of(self._elastic.mget(index=index, ids=[_id(date) for date in dates]))
        return {
            date: document["_source"]
            for date, document in zip(dates, documents, strict=True)
            if document.get("found")
        }


def day_of(at: float) -> str:
    """The day, in UTC, of a time in seconds since 1970."""
    return datetime.fromtimestamp(at, UTC).date().isoformat()


def last_days(number: int) -> list[str]:
    """Today and the days before it, in UTC."""
    today = datetime.now(UTC)
    return [(today - timedelta(days=back)).date().isoformat() for back in range(number)]


# -- the document of a day -----------------------------------------------------------------------


def _id(date: str) -> str:
    return f"insights:{date}"


def _added(document: Json, visits: Iterable[Sequence[Search]], opened: Iterable[Opening]) -> Json:
    """The document of a day with further searches and opened hits.

    `requests` has the parameters of each search, `then` and `opened` have its query.
    """
    totals: Counter[str] = Counter(document.get("totals", {}))
    requests: dict[str, Json] = {
        key: dict(row) for key, row in document.get("requests", {}).items()
    }
    then = {query: Counter(pairs) for query, pairs in document.get("then", {}).items()}
    openings = {query: Counter(posts) for query, posts in document.get("opened", {}).items()}
    for searches in visits:
        for search in searches:
            row = requests.setdefault(
                search.key, {"times": 0, "nothing": 0, "some": 0, "marks": []}
            )
            row["times"] += 1
            if search.found != "all":
                row[search.found] += 1
                totals[search.found] += 1
            if search.mark not in row["marks"] and len(row["marks"]) < _MARKS:
                row["marks"] = [*row["marks"], search.mark]
            totals["searches"] += 1
            totals["cached"] += search.cached
        for query, succeeded in next_found(searches):
            then.setdefault(query, Counter())[succeeded] += 1
    for opening in opened:
        totals["opened"] += 1
        openings.setdefault(opening.q, Counter())[f"{opening.position} {opening.oid}"] += 1
    kept = sorted(requests, key=lambda key: -requests[key]["times"])[:_KEPT]
    return {
        "totals": dict(totals),
        "requests": {key: requests[key] for key in kept},
        "then": _most(then),
        "opened": _most(openings),
    }


def _most(counters: Mapping[str, Counter[str]]) -> dict[str, dict[str, int]]:
    kept = sorted(counters, key=lambda query: -counters[query].total())[:_KEPT]
    return {query: dict(counters[query].most_common(10)) for query in kept}


def _query_of(key: str) -> str:
    return dict(parse_qsl(key)).get("q", "").casefold()


def _without(document: Json, query: str) -> Json:
    """The document of a day without a query."""
    left = dict(document)
    left["requests"] = {
        key: row for key, row in document.get("requests", {}).items() if _query_of(key) != query
    }
    left["opened"] = {q: posts for q, posts in document.get("opened", {}).items() if q != query}
    left["then"] = {
        q: {other: times for other, times in pairs.items() if other != query}
        for q, pairs in document.get("then", {}).items()
        if q != query
    }
    return left if document else document


def _searched(document: Json) -> dict[str, Searched]:
    """What the document of a day has of each query."""
    searched: dict[str, Searched] = {}
    for key, row in document.get("requests", {}).items():
        query = _query_of(key)
        one = searched.setdefault(query, Searched(query, days=1))
        one.times += row["times"]
        one.nothing += row["nothing"]
        one.partly += row["some"]
        one.marks.update(row["marks"])
    for query, pairs in document.get("then", {}).items():
        if query in searched:
            searched[query].then.update(pairs)
    for query, posts in document.get("opened", {}).items():
        one = searched.setdefault(query, Searched(query, days=1))
        for position, oid, times in _openings(posts):
            one.posts[oid] += times
            one.positions += position * times
    return searched


def _openings(posts: Mapping[str, int]) -> Iterator[tuple[int, str, int]]:
    for place, times in posts.items():
        position, _, oid = place.partition(" ")
        yield int(position), oid, times


def _merge(into: Searched, other: Searched) -> None:
    into.times += other.times
    into.nothing += other.nothing
    into.partly += other.partly
    into.then.update(other.then)
    into.posts.update(other.posts)
    into.positions += other.positions
    into.marks |= other.marks
    into.days += 1


def _day(date: str, document: Json) -> Day:
    totals = document.get("totals", {})
    names = ("searches", "nothing", "some", "cached", "opened")
    return Day(date, *(int(totals.get(name, 0)) for name in names))


def _total(days: Sequence[Day]) -> Day:
    return Day(
        "",
        sum(day.searches for day in days),
        sum(day.nothing for day in days),
        sum(day.partly for day in days),
        sum(day.cached for day in days),
        sum(day.opened for day in days),
    )
