"""Measures each operation in every round, in a different order each time; drops the first rounds.

The values are in Redis, reached in four ways, in memcached, or in a dictionary.
"""

import gc
import random
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
"""Redis over TCP with the C parser, as the service uses it."""


@dataclass(frozen=True, slots=True)
class Workload:
    """A value to serialize; an answer must also become the bytes of a response."""

    name: str
    value: Any
    is_answer: bool


class Store(Protocol):
    """Bytes under a key."""

    def set(self, key: str, data: bytes) -> object: ...

    def get(self, key: str) -> Any: ...


class _Dictionary(dict[str, bytes]):
    """A store in the memory of this process."""

    set = dict.__setitem__


@contextmanager
def stores() -> Iterator[tuple[dict[str, Store], str]]:
    """Yield all stores by name, memcached only if it is installed, and the version of Redis."""

    def connected(url: str, parser: type) -> "redis.Redis":
        return redis.Redis.from_url(url, parser_class=parser, protocol=2, driver_info=None)

    with redis_server() as server, memcached_server() as memcached:
        over_tcp = connected(server.url, _HiredisParser)
        opened: dict[str, Store] = {
            TCP: over_tcp,
            "redis tcp, python parser": connected(server.url, _RESP2Parser),
            "redis unix": connected(server.unix_url, _HiredisParser),
            "redis unix, python parser": connected(server.unix_url, _RESP2Parser),
        }
        if memcached:
            opened["memcached tcp"] = MemcachedClient(memcached, no_delay=True)
        opened["dict"] = _Dictionary()
        yield opened, str(over_tcp.info("server")["redis_version"])


@dataclass
class Cell:
    """One serializer on one workload in one store.

    `write`: from the value to Redis. `read`: from Redis to the bytes of a response that any client
    accepts, or to the value if it is not an answer. `value`: from Redis to the value. `taken`:
    microseconds of each.
    """

    serializer: Serializer
    workload: Workload
    store_name: str
    store: Store
    visits: int = 1  # per round
    size: int = 0
    taken: dict[str, list[float]] = field(default_factory=dict)

    @property
    def key(self) -> str:
        return f"{self.serializer.name} {self.workload.name}".replace(" ", "_")

    def operations(self) -> dict[str, Callable[[], object]]:
        """Return the three operations, after checking that the value can be stored and read.

        Raises:
            AssertionError: another value was read.
        """
        serializer, value = self.serializer, self.workload.value
        key, get, put = self.key, self.store.get, self.store.set

        def write() -> None:
            put(key, serializer.dumps(value))

        def read() -> object:
            return serializer.loads(get(key))

        def response() -> object:
            return serializer.response(get(key))

        write()
        self.size = len(get(key))
        if read() != value:
            raise AssertionError(f"{key} does not come back from {self.store_name}")
        return {
            "write": write,
            "value": read,
            "read": response if self.workload.is_answer else read,
        }


def measure(cells: Iterable[Cell], rounds: int) -> None:
    """Fill `taken` of each cell with `rounds` times for each operation."""
    order = random.Random(5)
    operations = []
    for cell in cells:
        operations += [(cell, name, run) for name, run in cell.operations().items()] * cell.visits
    gc.collect()
    gc.freeze()
    gc.disable()  # otherwise a collection would be timed with some operation
    try:
        for nth in range(WARM_UP + rounds):
            order.shuffle(operations)
            for cell, name, run in operations:
                began = time.perf_counter_ns()
                run()
                taken = time.perf_counter_ns() - began
                if nth >= WARM_UP:
                    cell.taken.setdefault(name, []).append(taken / 1000)
            gc.collect()
    finally:
        gc.enable()
        gc.unfreeze()
