"""Compares two ways to keep many small answers: a key each, or fields of packed hashes."""

import random
import statistics
import time
import zlib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import redis

from app.cache.serializers import render
from devstack.servers import redis_server

ANSWERS = 20_000
_FIELDS = 100  # a hash
_LOOKS = 4_000


@dataclass(frozen=True, slots=True)
class Way:
    """A way to keep small answers: bytes of memory of each, and µs to get one (median)."""

    name: str
    bytes_each: float
    read: float
    payload: float


def compare(answers: int = ANSWERS) -> list[dict[str, Any]]:
    """Keys; hashes with the default limits; hashes with limits that let them stay packed."""
    ways = [
        _measured("a key each", answers, hashed=False, packed=False),
        _measured("hashes of 100, default limits", answers, hashed=True, packed=False),
        _measured("hashes of 100, packed", answers, hashed=True, packed=True),
    ]
    return [asdict(way) for way in ways]


def _small_answer(nth: int) -> bytes:
    """An answer without hits: the most frequent kind of small answer."""
    body = {"q": f"misspelt{nth}", "count": 0, "page": 1, "size": 10, "strategy": "blended"}
    return render({**body, "hits": [], "corrected": None})


def _place(nth: int, answers: int) -> tuple[str, str]:
    digest = f"{zlib.crc32(str(nth).encode()):08x}{nth:024x}"
    return f"blogsearch:{{posts}}:answers:{int(digest[:8], 16) % (answers // _FIELDS)}", digest


def _measured(name: str, answers: int, *, hashed: bool, packed: bool) -> Way:
    with redis_server() as server, redis.Redis.from_url(server.url) as client:
        if packed:
            _allow(client)
        before = client.info("memory")["used_memory"]
        with client.pipeline(transaction=False) as pipeline:
            for nth in range(answers):
                bucket, digest = _place(nth, answers)
                if hashed:
                    pipeline.hset(bucket, digest, _small_answer(nth))
                else:
                    pipeline.set(
                        f"blogsearch:{{posts}}:answer:{digest}", _small_answer(nth), ex=600
                    )
            pipeline.execute()
        used = client.info("memory")["used_memory"] - before

        def get(nth: int) -> Any:
            bucket, digest = _place(nth, answers)
            if hashed:
                return client.hget(bucket, digest)
            return client.get(f"blogsearch:{{posts}}:answer:{digest}")

        size = statistics.fmean(len(_small_answer(nth)) for nth in range(answers))
        return Way(name, used / answers, _median(get, answers), size)


def _allow(client: "redis.Redis") -> None:
    """Raise the limits of packed hashes; their names had ziplist in them before Redis 7."""
    for packing in ("listpack", "ziplist"):
        try:
            client.config_set(f"hash-max-{packing}-entries", 512)
            client.config_set(f"hash-max-{packing}-value", 4096)
        except redis.ResponseError:
            continue
        return
    raise LookupError("this Redis has neither hash-max-listpack-entries nor -ziplist-")


def _median(get: Callable[[int], Any], answers: int) -> float:
    source, taken = random.Random(5), []
    for nth in range(_LOOKS):
        wanted = source.randrange(answers)
        began = time.perf_counter_ns()
        found = get(wanted)
        spent = time.perf_counter_ns() - began
        if found != _small_answer(wanted):
            raise AssertionError("Redis returned another answer")
        if nth >= _LOOKS // 10:  # warmed up
            taken.append(spent)
    return statistics.median(taken) / 1000
