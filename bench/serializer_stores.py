"""Where serialized values are kept while measuring: Redis in four ways, memcached, a dictionary."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import redis
from pymemcache.client.base import Client as MemcachedClient  # type: ignore[import-untyped]
from redis._parsers import _HiredisParser, _RESP2Parser

from bench.servers import memcached_server, redis_server

TCP = "redis tcp"
"""As the service does: Redis over TCP with the C parser."""


class Store(Protocol):
    """Bytes under a key."""

    def set(self, key: str, data: bytes) -> object: ...

    def get(self, key: str) -> Any: ...


@contextmanager
def stores() -> Iterator[dict[str, Store]]:
    """All stores by name; memcached only if it is installed."""
    with redis_server() as server, memcached_server() as memcached:
        found: dict[str, Store] = {
            TCP: _redis(server.url, _HiredisParser),
            "redis tcp, python parser": _redis(server.url, _RESP2Parser),
            "redis unix": _redis(server.unix_url, _HiredisParser),
            "redis unix, python parser": _redis(server.unix_url, _RESP2Parser),
        }
        if memcached:
            found["memcached tcp"] = MemcachedClient(memcached, no_delay=True)
        found["dict"] = _Dictionary()
        yield found


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
