"""Measures each operation in every round, in another order each time; drops the first rounds.

What is measured is kept in Redis, reached in four ways, in memcached, or in a dictionary.
"""

import gc
import random
import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import redis
from pymemcache.client.base import Client as MemcachedClient  # type: ignore[import-untyped]
from redis._parsers import _HiredisParser, _RESP2Parser

from bench.serializers.registry import Serializer
from devstack.servers import memcached_server, redis_server

WARM_UP = 3  # rounds
TCP = "redis tcp"
"""As the service does: Redis over TCP with the C parser."""


@dataclass(frozen=True, slots=True)
class Workload:
    """A value to serialize; an answer also has to become the bytes of a response."""

    name: str
    value: Any
    is_answer: bool


class Store(Protocol):
    """Bytes under a key."""

    def set(self, key: str, data: bytes) -> object: ...

    def get(self, key: str) -> Any: ...


@contextmanager
def stores() -> Iterator[tuple[dict[str, Store], str]]:
    """All stores by name, memcached only if it is installed; and the version of Redis."""
    with redis_server() as server, memcached_server() as memcached:
        over_tcp = _redis(server.url, _HiredisParser)
        opened: dict[str, Store] = {
            TCP: over_tcp,
            "redis tcp, python parser": _redis(server.url, _RESP2Parser),
            "redis unix": _redis(server.unix_url, _HiredisParser),
            "redis unix, python parser": _redis(server.unix_url, _RESP2Parser),
        }
        if memcached:
            opened["memcached tcp"] = MemcachedClient(memcached, no_delay=True)
        opened["dict"] = _Dictionary()
        yield opened, str(over_tcp.info("server")["redis_version"])


def _redis(url: str, parser: type) -> "redis.Redis":
    return redis.Redis.from_url(url, parser_class=parser, protocol=2, driver_info=None)


class _Dictionary:
    """The memory of a process, which other processes do not see."""

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}

    def set(self, key: str, data: bytes) -> None:
        self._kept[key] = data

    def get(self, key: str) -> bytes | None:
        return self._kept.get(key)


@dataclass(frozen=True, slots=True)
class Timing:
    """Microseconds of one operation."""

    median: float
    average: float
    stddev: float

    @classmethod
    def of(cls, nanoseconds: list[int]) -> "Timing":
        times = [taken / 1000 for taken in nanoseconds]
        return cls(statistics.median(times), statistics.fmean(times), statistics.stdev(times))


@dataclass
class Cell:
    """One serializer on one workload in one store.

    `write`: from the value to Redis. `read`: from Redis to the bytes of a response that any client
    accepts, or to the value if it is not an answer. `value`: from Redis to the value.
    """

    serializer: Serializer
    workload: Workload
    store_name: str
    store: Store
    visits: int = 1  # a round
    size: int = 0
    taken: dict[str, list[int]] = field(default_factory=dict)

    @property
    def key(self) -> str:
        return f"{self.serializer.name} {self.workload.name}".replace(" ", "_")

    def operations(self) -> dict[str, Callable[[], object]]:
        operations: dict[str, Callable[[], object]] = {"write": self._write, "value": self._value}
        operations["read"] = self._response if self.workload.is_answer else self._value
        return operations

    def prepare(self) -> None:
        """Store the value, and check that it comes back."""
        data = self.serializer.dumps(self.workload.value)
        self.size = len(data)
        self.store.set(self.key, data)
        if self._value() != self.workload.value:
            raise AssertionError(f"{self.key} does not come back from {self.store_name}")

    def _write(self) -> None:
        data = self.serializer.dumps(self.workload.value)
        self.store.set(self.key, data)

    def _value(self) -> object:
        return self.serializer.loads(self.store.get(self.key))

    def _response(self) -> object:
        return self.serializer.response(self.store.get(self.key))

    def timings(self) -> dict[str, Timing]:
        return {name: Timing.of(taken) for name, taken in self.taken.items()}


def measure(cells: Iterable[Cell], rounds: int, tell: Callable[[int], object]) -> None:
    """Fill `taken` of each cell with `rounds` times per operation; `tell` is called each round."""
    order = random.Random(5)
    operations = []
    for cell in cells:
        cell.prepare()
        operations += [(cell, name, run) for name, run in cell.operations().items()] * cell.visits
    gc.collect()
    gc.freeze()
    gc.disable()  # else a collection would be part of some operation
    try:
        for nth in range(WARM_UP + rounds):
            order.shuffle(operations)
            for cell, name, run in operations:
                began = time.perf_counter_ns()
                run()
                taken = time.perf_counter_ns() - began
                if nth >= WARM_UP:
                    cell.taken.setdefault(name, []).append(taken)
            gc.collect()
            tell(nth)
    finally:
        gc.enable()
        gc.unfreeze()
