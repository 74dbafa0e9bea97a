"""The counts of each day, in the state index, and reports made of them.

A day is one document, `insights:2026-11-25`, which is read and written back on condition that
nobody else has written it. No count names a visitor.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from urllib.parse import parse_qsl

from elasticsearch import ConflictError, Elasticsearch

from app.elastic import translated
from app.errors import BadRequest, BlogsearchError
from app.insights.visits import Event, Opening
from app.search.request import SearchRequest
from indexer.scan import docs_of
from indexer.state import ensure_state, state_index

_KEPT = 1_000  # different searches of a day: the most frequent
_KEPT_POSTS = 10  # that were opened after one of them
_MARKS = 5  # visitors of a search that are told apart
_TRIES = 10
_LEAST_VISITORS, _LEAST_DAYS = 5, 2  # of a search that other visitors are shown
_WARM_DAYS = 7  # how far back a request counts for `popular`; each day back, it counts half

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Day:
    """The searches of a day or of several, those that found nothing or only some of the words, and
    the hits that were opened."""

    date: str
    searches: int
    nothing: int
    partly: int
    opened: int


@dataclass(slots=True)
class Searched:
    """What was counted of one query, in lower case.

    Args:
        times: how often it was searched; `nothing` and `partly` of these times it found nothing,
            or no post with all its words.
        posts: the oids that were opened, and how often; `positions` is the sum of their positions.
        marks: of its visitors, at most five a day. `days`: on which it was searched.
    """

    query: str
    times: int = 0
    nothing: int = 0
    partly: int = 0
    posts: Counter[str] = field(default_factory=Counter)
    positions: int = 0
    marks: set[str] = field(default_factory=set)
    days: set[str] = field(default_factory=set)

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
        known = len(self.marks) >= _LEAST_VISITORS and len(self.days) >= _LEAST_DAYS
        return known and self.nothing < self.times


@dataclass(frozen=True, slots=True)
class Report:
    """The searches of some days, the oldest day first, and the totals of as many days before.

    `searched` has the most frequent query first.
    """

    days: Sequence[Day]
    total: Day
    before: Day
    searched: Sequence[Searched]

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

    def add(self, events: Iterable[Event]) -> None:
        """Add searches, and hits that were opened; nothing without Elasticsearch."""
        by_day: defaultdict[str, list[Event]] = defaultdict(list)
        for event in events:
            date = datetime.fromtimestamp(event.at, UTC).date().isoformat()
            by_day[date].append(event)
        with suppress(BlogsearchError), translated():
            for date, of_day in by_day.items():
                if self._change(date, partial(_added, events=of_day)):
                    self._delete_before(_last_days(self.days)[-1])

    def _change(self, date: str, change: Callable[[Json], Json]) -> bool:
        """Store what `change` makes of the document of a day; whether it is a new one."""
        index = ensure_state(self._elastic, self._alias)
        id_ = f"insights:{date}"
        for _ in range(_TRIES):
            (stored,) = docs_of(self._elastic.mget(index=index, ids=[id_]))
            condition: Json = {"op_type": "create"}
            if stored.get("found"):
                condition = {
                    "if_seq_no": stored["_seq_no"],
                    "if_primary_term": stored["_primary_term"],
                }
            document = {**change(stored.get("_source", {})), "what": "insights", "at": date}
            with suppress(ConflictError):  # another process was first
                self._elastic.index(index=index, id=id_, document=document, **condition)
                return "op_type" in condition
        return False

    def report(self, days: int) -> Report:
        """What people searched for in the last days, today included.

        Raises:
            Unavailable: Elasticsearch does not answer.
        """
        dates = _last_days(2 * days)
        with translated():
            stored = self._stored(dates)
        of_days = {date: stored[date] for date in dates[:days] if date in stored}
        searched: dict[str, Searched] = {}
        for date, document in of_days.items():
            for key, row in document["requests"].items():
                query = _query_of(key)
                one = searched.setdefault(query, Searched(query))
                one.times += row["times"]
                one.nothing += row["nothing"]
                one.partly += row["some"]
                one.marks.update(row["marks"])
                one.days.add(date)
            for query, posts in document.get("posts", {}).items():
                one = searched.setdefault(query, Searched(query))
                for oid, (times, positions) in posts.items():
                    one.posts[oid] += times
                    one.positions += positions
        before = [document for date, document in stored.items() if date not in of_days]
        return Report(
            [_day(date, [stored.get(date, {})]) for date in reversed(dates[:days])],
            _day("", of_days.values()),
            _day("", before),
            sorted(searched.values(), key=lambda row: (-row.times, row.query)),
        )

    def popular(self, number: int) -> list[tuple[SearchRequest, float]]:
        """The most frequent requests of the last week, and how often they came.

        A request counts half with each day back. Empty when Elasticsearch does not answer.
        """
        dates = _last_days(_WARM_DAYS)
        weights: defaultdict[str, float] = defaultdict(float)
        with suppress(BlogsearchError), translated():
            for date, document in self._stored(dates).items():
                for key, row in document["requests"].items():
                    weights[key] += row["times"] / 2 ** dates.index(date)
        requests: list[tuple[SearchRequest, float]] = []
        for key in sorted(weights, key=lambda key: (-weights[key], key))[:number]:
            with suppress(BadRequest):  # counted by a version that had other parameters
                requests.append((SearchRequest.from_key(key), weights[key]))
        return requests

    def erase(self, query: str) -> None:
        """Delete a query, in any case of letters. The totals of a day name no query, and stay.

        Raises:
            Unavailable: Elasticsearch does not answer.
        """
        with translated():
            without = partial(_without, query=query.strip().casefold())
            stored = self._stored(_last_days(self.days))
            for date, document in stored.items():
                if without(document) != document:
                    self._change(date, without)

    def _delete_before(self, date: str) -> None:
        index, older = state_index(self._alias), {"range": {"at": {"lt": date}}}
        self._elastic.indices.refresh(index=index)
        self._elastic.delete_by_query(
            index=index,
            query={"bool": {"filter": [{"term": {"what": "insights"}}, older]}},
            conflicts="proceed",
            expand_wildcards="all",
        )

    def _stored(self, dates: Sequence[str]) -> dict[str, Json]:
        index = state_index(self._alias)
        if not self._elastic.indices.exists(index=index):
            return {}
        ids = [f"insights:{date}" for date in dates]
        documents = docs_of(self._elastic.mget(index=index, ids=ids))
        return {
            date: document["_source"]
            for date, document in zip(dates, documents, strict=True)
            if document.get("found")
        }


def _last_days(number: int) -> list[str]:
    """Today and the days before it, in UTC."""
    today = datetime.now(UTC)
    return [(today - timedelta(days=back)).date().isoformat() for back in range(number)]


# -- the document of a day -----------------------------------------------------------------------


def _added(document: Json, events: Iterable[Event]) -> Json:
    """The document of a day with further searches and opened hits.

    `requests` has the parameters of each search; `posts` has, by query, the posts that were opened:
    how often, and the sum of their positions.
    """
    totals: Counter[str] = Counter(document.get("totals", {}))
    requests: Json = document.get("requests", {})
    posts: dict[str, Json] = document.get("posts", {})
    for event in events:
        if isinstance(event, Opening):
            totals["opened"] += 1
            opened = posts.setdefault(event.q, {})
            times, positions = opened.get(event.oid, (0, 0))
            opened[event.oid] = [times + 1, positions + event.position]
            continue
        row = requests.setdefault(event.key, {"times": 0, "nothing": 0, "some": 0, "marks": []})
        row["times"] += 1
        if event.found != "all":
            row[event.found] += 1
            totals[event.found] += 1
        if event.mark not in row["marks"] and len(row["marks"]) < _MARKS:
            row["marks"].append(event.mark)
        totals["searches"] += 1
    return {
        "totals": dict(totals),
        "requests": _most(requests, _KEPT, lambda row: row["times"]),
        "posts": {
            query: _most(opened, _KEPT_POSTS, lambda counted: counted[0])
            for query, opened in _most(posts, _KEPT, _times_opened).items()
        },
    }


def _most(counted: Json, number: int, times: Callable[[Any], int]) -> Json:
    return dict(sorted(counted.items(), key=lambda item: -times(item[1]))[:number])


def _times_opened(posts: Json) -> int:
    return sum(times for times, _ in posts.values())


def _query_of(key: str) -> str:
    return dict(parse_qsl(key)).get("q", "").casefold()


def _without(document: Json, query: str) -> Json:
    """The document of a day without a query."""
    requests = {key: row for key, row in document["requests"].items() if _query_of(key) != query}
    posts = {q: opened for q, opened in document.get("posts", {}).items() if q != query}
    return {**document, "requests": requests, "posts": posts}


def _day(date: str, documents: Iterable[Json]) -> Day:
    totals: Counter[str] = Counter()
    for document in documents:
        totals.update(document.get("totals", {}))
    return Day(date, *(totals[name] for name in ("searches", "nothing", "some", "opened")))
