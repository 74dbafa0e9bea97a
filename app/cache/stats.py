"""Figures of the cache, and clearing it."""

import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import redis

from app.cache.redis_client import RedisClient
from app.cache.store import Keys

_TIMEOUT = 10.0  # seconds; no search waits for this
_BATCH = 1000  # keys
_MAX_KEYS = 100_000  # measured; beyond that the sizes are those of a sample


@dataclass(frozen=True, slots=True)
class Stats:
    """The cache of one alias.

    `sizes`: number of the kept answers, and bytes of all, of the median and of the largest.
    `memory`: what Redis reports for everything that it holds. Everything is empty when Redis is
    unavailable.
    """

    generation: str
    sizes: dict[str, int]
    memory: dict[str, Any]


def hit_rate(states: Mapping[str, int]) -> float | None:
    """The share of searches answered from the cache, stale or not; None before the first."""
    total = sum(states.values())
    return (states.get("HIT", 0) + states.get("STALE", 0)) / total if total else None


def sizes(client: RedisClient, keys: Keys) -> dict[str, int]:
    """Bytes of the kept answers: count, total, median and largest."""

    def measure(client: "redis.Redis") -> list[int]:
        measured: list[int] = []
        for batch in _answers(client, keys):
            with client.pipeline(transaction=False) as pipeline:
                for key in batch:
                    pipeline.strlen(key)
                # An answer may expire between being listed and being measured.
                measured += [size for size in pipeline.execute() if size]
            if len(measured) >= _MAX_KEYS:
                break
        return measured

    measured = client.ask(_TIMEOUT, [], measure)
    return {
        "count": len(measured),
        "total": sum(measured),
        "median": int(statistics.median(measured)) if measured else 0,
        "largest": max(measured, default=0),
    }


def memory(client: RedisClient) -> dict[str, Any]:
    """What Redis reports of its memory; `maxmemory` 0 means no limit."""
    info: dict[str, Any] = client.ask(_TIMEOUT, {}, redis.Redis.info, "memory")
    wanted = ("used_memory", "used_memory_peak", "maxmemory", "maxmemory_policy")
    return {name: info[name] for name in wanted if name in info}


def generation(client: RedisClient, keys: Keys) -> str:
    """The current generation: index, rules and a random part; "" when there is none."""
    current = client.ask(_TIMEOUT, None, redis.Redis.get, keys.generation)
    return current.decode("utf-8", "replace") if isinstance(current, bytes) else ""


def clear(client: RedisClient, keys: Keys) -> int | None:
    """Delete all kept answers and the counts of states; how many answers, None without Redis."""

    def command(client: "redis.Redis") -> int:
        deleted = sum(int(client.unlink(*batch)) for batch in _answers(client, keys))
        client.delete(keys.counts)
        return deleted

    return client.ask(_TIMEOUT, None, command)


def _answers(client: "redis.Redis", keys: Keys) -> Iterator[list[bytes]]:
    names = client.scan_iter(match=f"{keys.answers}*", count=_BATCH)
    while batch := list(islice(names, _BATCH)):
        yield batch
