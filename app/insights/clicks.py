"""Which hits are opened, counted by search, position and post.

A count names no visitor: `["python", 1, "goodbye-python24"]` was opened three times on a day.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain
from typing import Any

import redis

from app.cache.redis_client import RedisClient
from app.cache.store import Keys
from app.insights.report import Report
from app.insights.search_log import last_days

LIMIT = "20/minute"
"""How many opened hits of a client one process counts."""
MAX_TEXT = 100
"""Characters of a search, and of the oid of a post, that are counted."""

_SIZE = 1000  # different hits of a day that are kept, those that are opened most
_TIMEOUT = 2.0  # seconds
_LEAST_SEARCHES, _LEAST_CLICKS = 3, 2  # for a list; fewer say little
_FAR_DOWN = 3.0  # mean position beyond which a search is listed


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


def record(client: RedisClient, keys: Keys, days: int, hit: tuple[str, int, str]) -> None:
    """Count a hit that was opened: search, position, oid. Without Redis it is not counted."""
    name = keys.insights("opened", last_days(1)[0])
    q, position, oid = hit
    entry = json.dumps([q.casefold(), position, oid], ensure_ascii=False)

    def command(client: "redis.Redis") -> None:
        with client.pipeline(transaction=False) as pipeline:
            pipeline.zincrby(name, 1, entry)
            pipeline.zremrangebyrank(name, 0, -_SIZE - 1)
            pipeline.expire(name, timedelta(days=days))
            pipeline.execute()

    client.ask(_TIMEOUT, None, command)


def read_opened(client: RedisClient, keys: Keys, days: int) -> Mapping[str, Opened]:
    """What was opened in the last days, by search; nothing when Redis is unavailable."""

    def command(client: "redis.Redis") -> list[Any]:
        with client.pipeline(transaction=False) as pipeline:
            for date in last_days(days):
                pipeline.zrange(keys.insights("opened", date), 0, -1, withscores=True)
            return pipeline.execute()

    positions: defaultdict[str, Counter[int]] = defaultdict(Counter)
    posts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for entry, count in chain.from_iterable(client.ask(_TIMEOUT, [], command)):
        with suppress(ValueError, TypeError):  # not written by this service
            q, position, oid = json.loads(entry)
            positions[str(q)][int(position)] += int(count)
            posts[str(q)][str(oid)] += int(count)
    return {q: _summary(positions[q], posts[q]) for q in positions}


def _summary(positions: Counter[int], posts: Counter[str]) -> Opened:
    times = positions.total()
    mean = sum(position * count for position, count in positions.items()) / times
    return Opened(times, mean, posts.most_common(1)[0][0])


def rarely_opened(report: Report, opened: Mapping[str, Opened]) -> Sequence[RarelyOpened]:
    """The frequent searches that find something of which nothing, or something far down, is
    opened. None while no click was counted: the pages may not send them."""
    if not opened:
        return []
    failed = {query for query, _ in report.nothing}
    rows = [RarelyOpened(query, times, opened.get(query)) for query, times in report.top]
    return [row for row in rows if row.query not in failed and _needs_attention(row)]


def _needs_attention(row: RarelyOpened) -> bool:
    if row.opened is None:
        return row.times >= _LEAST_SEARCHES
    return row.opened.times >= _LEAST_CLICKS and row.opened.position > _FAR_DOWN
