"""Reads the counts of searches."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

import redis

from app.cache.redis_client import RedisClient
from app.cache.store import Keys
from app.insights.search_log import last_days
from app.insights.sessions import Pair

_TIMEOUT = 5.0  # seconds
_READ = 1000  # entries of a day


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
    without hits. `slow`: queries and the most milliseconds that one took. `pairs`: queries that
    found nothing with the next one that succeeded, and how often. All have the highest first;
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
        (dict(parse_qsl(key.decode("utf-8", "replace"))).get("q", "").casefold(), count)
        for day in requests
        for key, count in day
    )
    slowest: dict[str, float] = {}
    for text, milliseconds in _entries(slow):
        slowest[text] = max(milliseconds, slowest.get(text, 0.0))
    return Report(
        days=[_day(*day) for day in zip(dates, totals, strict=True)],
        top=_added(queries),
        nothing=_added(_entries(nothing)),
        slow=sorted(slowest.items(), key=lambda item: (-item[1], item[0])),
        pairs=list(_pairs(_added(_entries(following)))),
    )


def _pairs(entries: Iterable[tuple[str, int]]) -> Iterator[tuple[Pair, int]]:
    """The pairs; what is no pair was not written by this service."""
    for text, count in entries:
        with suppress(ValueError, TypeError):
            failed, succeeded = json.loads(text)
            yield (str(failed), str(succeeded)), count


def _day(date: str, totals: dict[bytes, bytes]) -> Day:
    numbers = {name.decode("utf-8", "replace"): value for name, value in totals.items()}
    count = {name: int(value) for name, value in numbers.items() if value.isdigit()}
    cached = count.get("HIT", 0) + count.get("STALE", 0)
    return Day(date, count.get("searches", 0), count.get("nothing", 0), cached)


def _entries(days: Iterable[Iterable[tuple[bytes, float]]]) -> list[tuple[str, float]]:
    return [(text.decode("utf-8", "replace"), score) for day in days for text, score in day]


def _added(entries: Iterable[tuple[str, float]]) -> list[tuple[str, int]]:
    """The sum for each text, the highest first."""
    total: Counter[str] = Counter()
    for text, count in entries:
        total[text] += int(count)
    return sorted(total.items(), key=lambda item: (-item[1], item[0]))
