"""Connections to Redis whose every step ends with the time of the command they are made for.

redis-py's own timeouts are no such bound: they count per read, so that a server that sends a byte
now and then is waited for without end, and a new connection starts counting anew.
"""

import socket
import threading
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

import redis
from redis.backoff import NoBackoff
from redis.connection import Connection, SSLConnection, UnixDomainSocketConnection
from redis.retry import Retry
from redis.sentinel import Sentinel, SentinelConnectionPool, SentinelManagedConnection

_until = threading.local()  # .moment: when this thread's command has to be over, monotonic


def end_at(moment: float) -> None:
    """This thread's next command has to be over then, in `time.monotonic()`'s seconds."""
    _until.moment = moment


def _remaining() -> float:
    """Seconds left for this thread's command; never 0, which would mean non-blocking."""
    return float(max(getattr(_until, "moment", 0.0) - time.monotonic(), 0.0005))


class _BoundedSocket:
    """A socket whose every read and write ends with the command's time, not with its own."""

    def __init__(self, wrapped: socket.socket) -> None:
        self._wrapped = wrapped

    def __getattr__(self, name: str) -> Any:
        return getattr(self._wrapped, name)

    def recv_into(self, *args: Any) -> int:
        self._wrapped.settimeout(_remaining())
        return self._wrapped.recv_into(*args)

    def recv(self, *args: Any) -> bytes:
        self._wrapped.settimeout(_remaining())
        return self._wrapped.recv(*args)

    def sendall(self, data: Any) -> None:
        self._wrapped.settimeout(_remaining())
        self._wrapped.sendall(data)


class _Bounded:
    """Mixed into redis-py's connections: connects within the command's time too."""

    socket_connect_timeout: float | None

    def _connect(self) -> Any:
        self.socket_connect_timeout = _remaining()
        return _BoundedSocket(super()._connect())  # type: ignore[misc]


class _Tcp(_Bounded, Connection):
    pass


class _Tls(_Bounded, SSLConnection):
    pass


class _Unix(_Bounded, UnixDomainSocketConnection):
    pass


class _ToMaster(_Bounded, SentinelManagedConnection):
    pass


_BOUNDED: Mapping[type, type] = {
    Connection: _Tcp,
    SSLConnection: _Tls,
    UnixDomainSocketConnection: _Unix,
}
_SENTINEL = "redis+sentinel"


def open_redis(url: str) -> "redis.Redis | None":
    """A client with bounded connections, none of them open yet; None for no address.

    `redis://`, `rediss://` and `unix://` as redis-py has them, and
    `redis+sentinel://[user:password@]host:port,host:port/service[/db]` for the master that these
    sentinels name.

    Raises:
        ValueError: an address of none of these forms.
    """
    if not url:
        return None
    parts = urlsplit(url)
    return _mastered(parts) if parts.scheme == _SENTINEL else _direct(url)


def _options() -> dict[str, Any]:
    return {
        "protocol": 2,  # RESP3 costs a new connection one more round trip and gives us nothing
        "driver_info": None,  # so do two CLIENT SETINFO
        "socket_timeout": None,  # ours instead
        "retry": Retry(NoBackoff(), 0),  # the default takes seconds
    }


def _direct(url: str) -> "redis.Redis":
    pool = redis.ConnectionPool.from_url(url, **_options())
    pool.connection_class = _BOUNDED[pool.connection_class]
    return redis.Redis(connection_pool=pool)


def _mastered(parts: SplitResult) -> "redis.Redis":
    account, _, hosts = parts.netloc.rpartition("@")
    user, _, password = account.partition(":")
    service, _, db = parts.path.strip("/").partition("/")
    if not hosts or not service:
        raise ValueError("a redis+sentinel address is redis+sentinel://host:port/service")
    manager = Sentinel([])  # type: ignore[no-untyped-call]
    manager.sentinels = [_direct(f"redis://{host}") for host in hosts.split(",")]
    pool = SentinelConnectionPool(  # type: ignore[no-untyped-call]
        service,
        manager,
        connection_class=_ToMaster,
        username=unquote(user) or None,
        password=unquote(password) or None,
        db=int(db or 0),
        **_options(),
    )
    return redis.Redis(connection_pool=pool)
