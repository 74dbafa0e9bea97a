"""Figures of the cache, and clearing it."""

import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import redis

from app.cache.redis_client import RedisClient, RedisUnavailable, TimeLimit
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

    def command(client: "redis.Redis") -> list[int]:
        found: list[int] = []
        for batch in _answers(client, keys):
            with client.pipeline(transaction=False) as pipeline:
                for key in batch:
                    pipeline.strlen(key)
                # An answer may expire between being listed and being measured.
                found += [size for size in pipeline.execute() if size]
            if len(found) >= _MAX_KEYS:
                break
        return found

    found = _run(client, command, [])
    return {
        "count": len(found),
        "total": sum(found),
        "median": int(statistics.median(found)) if found else 0,
        "largest": max(found, default=0),
    }


def memory(client: RedisClient) -> dict[str, Any]:
    """What Redis reports of its memory; `maxmemory` 0 means no limit."""
    info: dict[str, Any] = _run(client, lambda redis: redis.info("memory"), {})
    wanted = ("used_memory", "used_memory_peak", "maxmemory", "maxmemory_policy")
    return {name: info[name] for name in wanted if name in info}


def generation(client: RedisClient, keys: Keys) -> str:
    """The current generation: index, rules and a random part; "" when there is none."""
    found = _run(client, lambda redis: redis.get(keys.generation), None)
    return found.decode("utf-8", "replace") if isinstance(found, bytes) else ""


def clear(client: RedisClient, keys: Keys) -> int | None:
    """Delete all kept answers and the counts of states; how many answers, None without Redis."""

    def command(client: "redis.Redis") -> int:
        deleted = sum(int(client.unlink(*batch)) for batch in _answers(client, keys))
        client.delete(keys.counts)
        return deleted

    deleted: int | None = _run(client, command, None)
    return deleted


def _answers(client: "redis.Redis", keys: Keys) -> Iterator[list[bytes]]:
    batch: list[bytes] = []
    for key in client.scan_iter(match=keys.all_answers, count=_BATCH):
        batch.append(key)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _run(client: RedisClient, command: Any, default: Any) -> Any:
    try:
        return client.call(TimeLimit(_TIMEOUT), command)
    except (RedisUnavailable, redis.ResponseError):
        return default
