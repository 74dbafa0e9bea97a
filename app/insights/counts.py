"""Store the counts of each day in the state index, and make reports of them.

A day is one document, such as `insights:2026-11-25`. It is read and written back on condition that
no other process has written it. No count identifies a visitor.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from operator import itemgetter
from typing import Any, Literal
from urllib.parse import parse_qsl

import msgspec
from elasticsearch import ConflictError, Elasticsearch

from app.engines.elastic import translate_errors
from app.engines.stored_texts import StoredDocument, change_document
from app.errors import BadRequest, BlogsearchError
from app.search.request import SearchRequest
from indexer.store.state import read_state, state_index

_KEPT = 1_000  # the most frequent searches of a day
_KEPT_POSTS = 10  # posts opened after a search, and assistants that asked it, per day
_MARKS = 5  # visitors of a search that are distinguished, per day
_TRIES = 10
_LEAST_VISITORS, _LEAST_DAYS = 5, 2  # of a search that may be shown to other visitors
_WARM_DAYS = 3  # how far back a request counts for `popular`

Day = dict[str, Any]
"""The document of a day, as `_add` writes it."""


Extent = Literal["all", "some", "nothing"]
"""Whether a post has all words of the search, posts have only some, or nothing was found."""


class Search(msgspec.Struct, frozen=True, array_like=True, tag="s"):
    """One request: its time (seconds since 1970), visitor, query and outcome.

    `visitor` is a hash of the address, `mark` one of the address and the query. Marks allow
    counting the visitors of a query, but do not reveal which queries belong to one visitor. The
    part before a mark's dot identifies the key of the hash; only marks with the same key can be
    compared. `key` has the parameters of the request, `q` its query in lower case. `client` is the
    name that an assistant states; nothing else is known about it.
    """

    at: float
    visitor: str
    mark: str
    key: str
    q: str
    found: Extent
    client: str = ""


class Opening(msgspec.Struct, frozen=True, array_like=True, tag="o"):
    """An opened hit: its time, query and post, and the visitor's mark: a hash of address and post,
    a dot, and a hash of address, post and query."""

    at: float
    q: str
    oid: str
    mark: str = ""


Event = Search | Opening


Totals = Counter[str]
"""The totals of one or more days: `searches`, searches that found `nothing` or only `some` of the
words, and `opened` hits."""


@dataclass(slots=True)
class Searched:
    """The counts of one query, in lower case.

    Args:
        times: the number of searches; `nothing` and `partly` are those among them that found
            nothing, or no post with all words.
        posts: the oids that were opened, and how often.
        marks: the marks of its visitors, at most five a day.
        found: how often all words were found, by day.
        clients: the assistants that searched for it, and how often.
    """

    query: str
    times: int = 0
    nothing: int = 0
    partly: int = 0
    posts: Counter[str] = field(default_factory=Counter)
    marks: set[str] = field(default_factory=set)
    found: Counter[str] = field(default_factory=Counter)
    clients: Counter[str] = field(default_factory=Counter)

    @property
    def opened(self) -> int:
        """The number of times that a hit was opened."""
        return self.posts.total()

    @property
    def is_public(self) -> bool:
        """Whether other visitors may see the query: enough visitors have searched for it that it
        reveals nothing about one of them, and posts had all its words on its last day."""
        visitors = Counter(mark.rpartition(".")[0] for mark in self.marks)
        known = max(visitors.values(), default=0) >= _LEAST_VISITORS
        return known and len(self.found) >= _LEAST_DAYS and self.found[max(self.found)] > 0


@dataclass(frozen=True, slots=True)
class Report:
    """The totals of some days by date, oldest first, their sum, and the sum of as many days before.
    `searched` has visitors' queries, and `asked` those of assistants, the most frequent first."""

    days: Mapping[str, Totals]
    total: Totals
    before: Totals
    searched: Sequence[Searched]
    asked: Sequence[Searched] = ()


class Counts:
    """The counts of an alias.

    Args:
        days: how long counts are kept; 0: nothing is counted.
    """

    def __init__(self, elastic: Elasticsearch, alias: str, days: int) -> None:
        self._elastic = elastic
        self._alias = alias
        self.days = days

    def add(self, events: Iterable[Event]) -> None:
        """Add searches and opened hits; without Elasticsearch, they are lost."""
        by_day: defaultdict[str, list[Event]] = defaultdict(list)
        for event in events:
            date = datetime.fromtimestamp(event.at, UTC).date().isoformat()
            by_day[date].append(event)
        with suppress(BlogsearchError), translate_errors():
            for date, of_day in by_day.items():
                if self._change(date, partial(_add, events=of_day)):
                    self._delete_before(_last_days(self.days)[-1])

    def _change(self, date: str, change: Callable[[Day], Day]) -> bool:
        """Apply `change` to the document of a day; return whether the document is new."""

        def changed(stored: StoredDocument) -> Day:
            return {**change(stored.get("_source", {})), "what": "insights", "at": date}

        for _ in range(_TRIES):
            with suppress(ConflictError):  # another process was first
                return change_document(self._elastic, self._alias, f"insights:{date}", changed)
        return False

    def report(self, days: int) -> Report:
        """Report what people searched for in the last days, including today.

        Raises:
            Unavailable: Elasticsearch does not answer.
        """
        dates = _last_days(2 * days)
        with translate_errors():
            stored = self._stored(dates)
        of_days = {date: stored[date] for date in dates[:days] if date in stored}
        searched: dict[str, Searched] = {}
        asked: dict[str, Searched] = {}
        for date, document in of_days.items():
            rows = [(searched, _query_of(key), row) for key, row in document["requests"].items()]
            rows += [(asked, query, row) for query, row in document.get("asked", {}).items()]
            for counted, query, row in rows:
                one = counted.setdefault(query, Searched(query))
                one.times += row["times"]
                one.nothing += row["nothing"]
                one.partly += row["some"]
                one.marks.update(row["marks"])
                one.found[date] += row["times"] - row["nothing"] - row["some"]
                one.clients.update(row.get("clients", {}))
            for query, posts in document.get("posts", {}).items():
                searched.setdefault(query, Searched(query)).posts.update(posts)
        before = [document for date, document in stored.items() if date not in of_days]
        return Report(
            {date: _totals([stored.get(date, {})]) for date in reversed(dates[:days])},
            _totals(of_days.values()),
            _totals(before),
            *(
                sorted(counted.values(), key=lambda row: (-row.times, row.query))
                for counted in (searched, asked)
            ),
        )

    def popular(self, number: int) -> list[SearchRequest]:
        """Return the most frequent requests of the last days; none without Elasticsearch."""
        times: Counter[str] = Counter()
        with suppress(BlogsearchError), translate_errors():
            for document in self._stored(_last_days(_WARM_DAYS)).values():
                times.update({key: row["times"] for key, row in document["requests"].items()})
        requests = []
        for key, _ in times.most_common(number):
            with suppress(BadRequest):  # counted by a version that had other parameters
                requests.append(SearchRequest.from_key(key))
        return requests

    def _delete_before(self, date: str) -> None:
        older = {"range": {"at": {"lt": date}}}
        self._elastic.delete_by_query(
            index=state_index(self._alias),
            query={"bool": {"filter": [{"term": {"what": "insights"}}, older]}},
            conflicts="proceed",
            expand_wildcards="all",
        )

    def _stored(self, dates: Sequence[str]) -> dict[str, Day]:
        ids = [f"insights:{date}" for date in dates]
        days = read_state(self._elastic, self._alias, ids)
        return {date: day for date, day in zip(dates, days, strict=True) if day}


def _last_days(number: int) -> list[str]:
    """Return the dates of today and the days before it, in UTC."""
    today = datetime.now(UTC)
    return [(today - timedelta(days=back)).date().isoformat() for back in range(number)]


# -- the document of a day -----------------------------------------------------------------------


def _add(document: Day, events: Iterable[Event]) -> Day:
    """Add searches and opened hits to the document of a day.

    `requests` and `asked` have the counts of searches, by parameters or, for assistants, by query.
    `posts` has the number of times that each post was opened, by query.
    """
    totals: Counter[str] = Counter(document.get("totals", {}))
    requests: dict[str, Any] = document.get("requests", {})
    posts: dict[str, dict[str, int]] = document.get("posts", {})
    asked: dict[str, Any] = document.get("asked", {})
    for event in events:
        if isinstance(event, Opening):
            totals["opened"] += 1
            opened = posts.setdefault(event.q, {})
            opened[event.oid] = opened.get(event.oid, 0) + 1
            continue
        counted, key = (asked, event.q) if event.client else (requests, event.key)
        row = counted.setdefault(key, {"times": 0, "nothing": 0, "some": 0, "marks": []})
        row["times"] += 1
        if event.found != "all":
            row[event.found] += 1
        if event.client:
            clients = Counter(row.get("clients", {})) + Counter([event.client])
            row["clients"] = _most(clients, _KEPT_POSTS, int)
            continue
        if event.found != "all":
            totals[event.found] += 1
        if event.mark not in row["marks"] and len(row["marks"]) < _MARKS:
            row["marks"].append(event.mark)
        totals["searches"] += 1
    return {
        "totals": dict(totals),
        "requests": _most(requests, _KEPT, itemgetter("times")),
        "posts": {
            query: _most(opened, _KEPT_POSTS, int)
            for query, opened in _most(posts, _KEPT, lambda opened: sum(opened.values())).items()
        },
        "asked": _most(asked, _KEPT, itemgetter("times")),
    }


def _most(counted: Mapping[str, Any], number: int, times: Callable[[Any], int]) -> dict[str, Any]:
    return dict(sorted(counted.items(), key=lambda item: -times(item[1]))[:number])


def _query_of(key: str) -> str:
    return dict(parse_qsl(key)).get("q", "").casefold()


def _totals(documents: Iterable[Day]) -> Totals:
    totals: Totals = Counter()
    for document in documents:
        totals.update(document.get("totals", {}))
    return totals
