"""Erases searches from the counts: one query, or all of them."""

import json
from typing import Any
from urllib.parse import parse_qsl

import redis

from app.cache.redis_client import RedisClient
from app.cache.store import Keys
from app.insights.sessions import Event

_TIMEOUT = 10.0  # seconds


def erase(client: RedisClient, keys: Keys, query: str | None = None) -> int:
    """Delete a query, in any case of letters, from all lists; None: delete all counts.

    The totals of a day, which name no query, keep it unless everything is deleted.

    Returns:
        How many entries, or with None how many keys, were deleted.

    Raises:
        Unavailable: Redis does not answer.
    """
    wanted = None if query is None else query.strip().casefold()

    def command(client: "redis.Redis") -> int:
        names = list(client.scan_iter(match=keys.insights("*"), count=1000))
        if wanted is None:
            return int(client.unlink(*names)) if names else 0
        return sum(_erase_from(client, name, wanted) for name in names)

    return client.require(_TIMEOUT, command)


def _erase_from(client: "redis.Redis", name: bytes, query: str) -> int:
    kind = name.decode().rpartition(":insights:")[2].partition(":")[0]
    if kind not in {"events", "requests", "nothing", "slow", "next", "opened", "dismissed"}:
        return 0
    members: Any = client.zrange(name, 0, -1)
    matching = [member for member in members if query in _queries(kind, member)]
    return int(client.zrem(name, *matching)) if matching else 0


def _queries(kind: str, member: bytes) -> list[str]:
    """The queries in an entry of a list."""
    text = member.decode("utf-8", "replace")
    if kind == "events":
        return [Event.load(text).q.casefold()]
    if kind == "requests":
        return [dict(parse_qsl(text)).get("q", "").casefold()]
    if kind == "next":
        return list(json.loads(text))
    if kind == "opened":
        return [json.loads(text)[0]]
    return [text]
