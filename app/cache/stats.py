"""How the cache is doing, in numbers."""

import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import redis

from app.cache.errors import CacheAway
from app.cache.keys import Keys
from app.cache.link import Link

_PATIENT = 10.0  # seconds; nobody's search waits for this
_AT_A_TIME = 1000
_MOST = 100_000  # keys looked at; beyond that the sizes are of these


@dataclass(frozen=True, slots=True)
class Stats:
    """The cache of one alias.

    `searches`: how many ended in which state since the counts were cleared. `sizes` of the kept
    answers: count, and bytes in total, of the median and of the largest. `memory`: what Redis says
    of all that it holds. `popular`: the most frequent searches and how often. Everything is empty
    when Redis cannot be asked.
    """

    generation: str
    searches: dict[str, int]
    sizes: dict[str, int]
    memory: dict[str, Any]
    popular: list[tuple[str, float]]

    @property
    def hit_rate(self) -> float | None:
        """Searches answered from the cache, stale ones too, of all; None before the first."""
        total = sum(self.searches.values())
        kept = self.searches.get("HIT", 0) + self.searches.get("STALE", 0)
        return kept / total if total else None


def sizes(link: Link, keys: Keys) -> dict[str, int]:
    """Bytes of the kept answers: count, total, median and largest."""

    def command(client: "redis.Redis") -> list[int]:
        found: list[int] = []
        for batch in _answers(client, keys):
            with client.pipeline(transaction=False) as pipeline:
                for key in batch:
                    pipeline.strlen(key)
                # An answer may expire between being listed and being measured.
                found += [size for size in pipeline.execute() if size]
            if len(found) >= _MOST:
                break
        return found

    found = _asked(link, command, [])
    return {
        "count": len(found),
        "total": sum(found),
        "median": int(statistics.median(found)) if found else 0,
        "largest": max(found, default=0),
    }


def memory(link: Link) -> dict[str, Any]:
    """Redis' own account of its memory; `maxmemory` 0 is no limit."""
    info: dict[str, Any] = _asked(link, lambda client: client.info("memory"), {})
    wanted = ("used_memory", "used_memory_peak", "maxmemory", "maxmemory_policy")
    return {name: info[name] for name in wanted if name in info}


def generation(link: Link, keys: Keys) -> str:
    """The current generation: index, rules and a mark."""
    found = _asked(link, lambda client: client.get(keys.generation), None)
    return found.decode("utf-8", "replace") if isinstance(found, bytes) else ""


def clear(link: Link, keys: Keys) -> int | None:
    """Drop all kept answers and the counts of states; how many answers, None without Redis."""

    def command(client: "redis.Redis") -> int:
        gone = sum(int(client.unlink(*batch)) for batch in _answers(client, keys))
        client.delete(keys.counts)
        return gone

    gone: int | None = _asked(link, command, None)
    return gone


def _answers(client: "redis.Redis", keys: Keys) -> Iterator[list[bytes]]:
    batch: list[bytes] = []
    for key in client.scan_iter(match=keys.every_answer, count=_AT_A_TIME):
        batch.append(key)
        if len(batch) == _AT_A_TIME:
            yield batch
            batch = []
    if batch:
        yield batch


def _asked(link: Link, command: Any, otherwise: Any) -> Any:
    try:
        return link.call(command, link.budget(_PATIENT))
    except (CacheAway, redis.ResponseError):
        return otherwise
