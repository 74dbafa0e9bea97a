"""The one connection to Redis: it opens late, is bounded in time, and lets go when Redis is away.

A search may spend `BLOGSEARCH_CACHE_TIMEOUT` on Redis in all, however many commands it needs and
however Redis fails. redis-py's own timeout is no such bound: it counts per read, so that a server
that sends a byte now and then is waited for without end, and a new connection starts anew.
"""

import socket
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

import redis
from redis.backoff import NoBackoff
from redis.connection import Connection, SSLConnection, UnixDomainSocketConnection
from redis.retry import Retry

from app.cache.errors import CacheAway

T = TypeVar("T")

_FIRST_REST, _LONGEST_REST = 0.5, 10.0  # seconds without asking, doubled after each failure

_until = threading.local()  # .moment: when this thread's command has to be over, monotonic


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


_BOUNDED: dict[type, type] = {
    Connection: _Tcp,
    SSLConnection: _Tls,
    UnixDomainSocketConnection: _Unix,
}


def open_redis(url: str, timeout: float) -> "redis.Redis | None":
    """A client with bounded connections, none of them open yet; None for no address.

    Raises:
        ValueError: the address is none that redis-py knows.
    """
    if not url:
        return None
    pool = redis.ConnectionPool.from_url(
        url,
        protocol=2,  # RESP3 costs a new connection one more round trip and gives us nothing
        driver_info=None,  # so do two CLIENT SETINFO
        socket_timeout=timeout,
        socket_connect_timeout=timeout,
        retry=Retry(NoBackoff(), 0),  # the default waits seconds
    )
    pool.connection_class = _BOUNDED[pool.connection_class]
    return redis.Redis(connection_pool=pool)


class Budget:
    """The seconds that one search may still spend on Redis."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.left = seconds

    def renew(self) -> None:
        """As much again as at first."""
        self.left = self._seconds


class Link:
    """Commands go through `call`; after a fault Redis is left alone for a while.

    Threads and forked workers may share it: redis-py's pool makes connections anew after a fork.
    """

    def __init__(self, client: "redis.Redis | None", timeout: float) -> None:
        self._client = client
        self.timeout = timeout
        self._lock = threading.Lock()
        self._rest = 0.0  # how long the current rest is; 0: Redis answers
        self._rest_until = 0.0

    def budget(self, seconds: float | None = None) -> Budget:
        """A search's time on Redis, the setting's unless said otherwise."""
        return Budget(self.timeout if seconds is None else seconds)

    def call(self, command: Callable[["redis.Redis"], T], budget: Budget) -> T:
        """What Redis answers.

        Raises:
            CacheAway: it cannot be asked, was too slow, or answered nonsense.
            redis.ResponseError: it answers, but refuses this command (full, read-only).
        """
        if self._client is None or budget.left <= 0 or not self._may_ask():
            raise CacheAway("Redis is left alone for now")
        began = time.monotonic()
        _until.moment = began + budget.left
        try:
            answer = command(self._client)
        except redis.ResponseError:
            self._answered()
            raise
        except (redis.RedisError, OSError, ValueError, TypeError, KeyError, IndexError) as error:
            # redis-py meets an answer of the wrong shape with whatever Python makes of it.
            self._failed()
            raise CacheAway(f"{type(error).__name__}: {error}") from error
        finally:
            budget.left -= time.monotonic() - began
        self._answered()
        return answer

    def _may_ask(self) -> bool:
        """Once the rest is over, one thread tries while the others still do without."""
        if not self._rest:
            return True
        with self._lock:
            now = time.monotonic()
            if self._rest and now < self._rest_until:
                return False
            self._rest_until = now + self._rest
            return True

    def _failed(self) -> None:
        with self._lock:
            self._rest = min(max(self._rest * 2, _FIRST_REST), _LONGEST_REST)
            self._rest_until = time.monotonic() + self._rest

    def _answered(self) -> None:
        if self._rest:
            with self._lock:
                self._rest = 0.0
