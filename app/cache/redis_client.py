"""Redis commands with a time limit, behind a circuit breaker.

The time limits of redis-py count per read and per connection attempt: a server that sends one byte
now and then is waited for without end. Here every connect, TLS handshake, read and write of a
command shares one deadline. Only looking up the host names of Redis is not limited.
"""

import logging
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Concatenate, ParamSpec, TypeVar
from urllib.parse import SplitResult, unquote, urlsplit

import redis
from redis.backoff import NoBackoff
from redis.connection import Connection, SSLConnection, UnixDomainSocketConnection
from redis.exceptions import LockError
from redis.retry import Retry
from redis.sentinel import Sentinel, SentinelConnectionPool, SentinelManagedConnection

from app.cache.circuit_breaker import CircuitBreaker
from app.cache.redis_cluster import SCHEMES as CLUSTER_SCHEMES
from app.cache.redis_cluster import SlotConnection, SlotTlsConnection, cluster_pool
from app.logs import add_time
from app.sockets import deadline, is_readable

P = ParamSpec("P")
T = TypeVar("T")

_FIRST_DELAY, _LONGEST_DELAY = 0.5, 10.0  # seconds without Redis after a failure
_REFUSALS_APART = 60.0  # seconds between two log lines of commands that Redis refuses
_TOLERANCE = 0.002  # seconds by which a read or write may miss the deadline
_SHORTEST = 0.0005  # seconds; 0 would make the socket non-blocking
_SENTINEL_SCHEME = "redis+sentinel"

log = logging.getLogger(__name__)


class RedisUnavailable(Exception):
    """Redis cannot be used now: not configured, unreachable, too slow, or its reply is invalid."""


@dataclass(slots=True)
class TimeLimit:
    """The seconds that one search may still spend on Redis, over all its commands.

    `insist`: Redis is used although it has just failed once, as it may only have been slow.
    """

    remaining: float
    insist: bool = False


class RedisClient:
    """Runs Redis commands within time limits; after a failure Redis is left alone for a while.

    Threads and forked workers may share it: redis-py's pool opens new connections after a fork.
    """

    def __init__(
        self, connection: "redis.Redis | None", timeout: float, *, over_tls: bool = False
    ) -> None:
        self.redis = connection
        self.timeout = timeout
        self._over_tls = over_tls
        self.breaker = CircuitBreaker(_FIRST_DELAY, _LONGEST_DELAY)
        self._silent_until = 0.0

    @property
    def configured(self) -> bool:
        """Whether there is a Redis at all."""
        return self.redis is not None

    def call(
        self,
        limit: TimeLimit,
        command: Callable[Concatenate["redis.Redis", P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Call `command(redis, *args, **kwargs)`.

        Raises:
            RedisUnavailable: Redis cannot be used now, or `limit` is used up.
            redis.ResponseError, redis.exceptions.LockError: Redis answered, but refused the
                command (it is full, or a read-only replica).
        """
        if self.redis is None or limit.remaining <= 0 or not self._may_call(limit):
            raise RedisUnavailable("Redis is not used now")
        started = time.monotonic()
        _current.deadline = started + limit.remaining
        try:
            with deadline(limit.remaining) if self._over_tls else nullcontext():
                result = command(self.redis, *args, **kwargs)
        except (redis.ResponseError, LockError) as error:
            self.breaker.record_success()
            self._log_refusal(error)
            raise
        except Exception as error:
            # redis-py reports a reply of the wrong shape with any exception of Python's.
            if self.breaker.record_failure(started):
                log.warning("Redis failed: %s: %s", type(error).__name__, error)
            raise RedisUnavailable(f"{type(error).__name__}: {error}") from error
        finally:
            seconds = time.monotonic() - started
            limit.remaining -= seconds
            add_time("redis", seconds)
        self.breaker.record_success()
        return result

    def _may_call(self, limit: TimeLimit) -> bool:
        return self.breaker.allow() or (limit.insist and self.breaker.failed_once)

    def _log_refusal(self, error: Exception) -> None:
        """Once a minute: it is full, read-only, or its user lacks a permission."""
        now = time.monotonic()
        if not isinstance(error, LockError) and now >= self._silent_until:
            self._silent_until = now + _REFUSALS_APART
            log.warning("Redis refuses a command: %s", error)


# The deadline of the command that runs in this thread, as `time.monotonic()`.
_current = threading.local()


def _remaining() -> float:
    """Seconds left for the command of this thread."""
    return float(max(getattr(_current, "deadline", 0.0) - time.monotonic(), _SHORTEST))


class _DeadlineSocket:
    """A socket whose reads and writes end at the deadline of the current command."""

    def __init__(self, wrapped: socket.socket) -> None:
        self._wrapped = wrapped
        self._timeout = 0.0
        self.fileno = wrapped.fileno  # redis-py polls it before each command

    def __getattr__(self, name: str) -> Any:
        return getattr(self._wrapped, name)

    def recv_into(self, *args: Any) -> int:
        self._set_timeout()
        return self._wrapped.recv_into(*args)

    def recv(self, *args: Any) -> bytes:
        self._set_timeout()
        return self._wrapped.recv(*args)

    def sendall(self, data: Any) -> None:
        self._set_timeout()
        self._wrapped.sendall(data)

    def _set_timeout(self) -> None:
        remaining = _remaining()
        # A system call, which most commands are spared: they begin with the same timeout.
        if abs(remaining - self._timeout) > _TOLERANCE:
            self._timeout = remaining
            self._wrapped.settimeout(remaining)


class _DeadlineMixin:
    """Connects within the deadline of the current command.

    redis-py reads `socket_connect_timeout` for each address it tries, and `socket_timeout` before
    the TLS handshake, which Python ends as a whole after that time.
    """

    @property
    def socket_connect_timeout(self) -> float:
        return _remaining()

    @socket_connect_timeout.setter
    def socket_connect_timeout(self, value: object) -> None:
        pass

    @property
    def socket_timeout(self) -> float:
        return _remaining()

    @socket_timeout.setter
    def socket_timeout(self, value: object) -> None:
        pass

    def can_read(self, timeout: float = 0) -> bool:
        """redis-py asks this before each command, and by default gevent's `poll`, which is slow."""
        if not timeout and self._is_idle():
            return False
        return bool(super().can_read(timeout))  # type: ignore[misc]

    def _is_idle(self) -> bool:
        """Whether nothing was received, and nothing is left of the last reply."""
        sock, reader = self._sock, self._parser._reader  # type: ignore[attr-defined]
        return bool(sock and reader and not reader.has_data() and not is_readable(sock))

    def _connect(self) -> Any:
        return _DeadlineSocket(super()._connect())  # type: ignore[misc]


class _BoundedMixin:
    """Limits each connect and each reply as a whole to `socket_timeout`."""

    socket_timeout: float

    def connect(self) -> None:
        with deadline(self.socket_timeout):
            super().connect()  # type: ignore[misc]

    def read_response(self, *args: Any, **options: Any) -> Any:
        with deadline(self.socket_timeout):
            return super().read_response(*args, **options)  # type: ignore[misc]


def _with(mixin: type, *bases: type) -> Mapping[type, type]:
    """Each class of connections, and the same with a mixin."""
    return {base: type(f"{mixin.__name__}{base.__name__}", (mixin, base), {}) for base in bases}


_WITH_DEADLINE = _with(
    _DeadlineMixin,
    *(Connection, SSLConnection, UnixDomainSocketConnection),
    *(SentinelManagedConnection, SlotConnection, SlotTlsConnection),
)
_BOUNDED = _with(_BoundedMixin, Connection, SSLConnection, SlotConnection, SlotTlsConnection)


def bounded_pool(url: str, key: str, ca_file: str, **options: Any) -> "redis.ConnectionPool | None":
    """The connections to Redis over TLS or in a cluster for a client of redis-py that is not a
    RedisClient; None for other URLs, for which that client has its own.

    Raises:
        ValueError: the URL is invalid.
    """
    parts = urlsplit(url)
    options |= _certificates(url, ca_file)
    if parts.scheme in CLUSTER_SCHEMES:
        return cluster_pool(parts, key, _BOUNDED, options)
    if not _over_tls(url):
        return None
    pool = redis.ConnectionPool.from_url(url, **options)
    pool.connection_class = _BOUNDED[SSLConnection]
    return pool


def connect(url: str, timeout: float, key: str, ca_file: str = "") -> RedisClient:
    """A client that opens no connection yet; without a URL, one that has no Redis.

    `redis://`, `rediss://` and `unix://` are those of redis-py.
    `redis+sentinel://[user:password@]host:port,host:port/service[/db]` is the master that these
    sentinels name. `redis+cluster://[user:password@]host:port,host:port` and `rediss+cluster://`
    are the master that has `key` by these nodes of a cluster.

    Args:
        timeout: seconds that one search may spend on Redis.
        key: any of the keys that are used, which all have the same hash tag.
        ca_file: the certificates that may sign Redis' own over TLS; empty: the usual ones.

    Raises:
        ValueError: the URL is invalid.
    """
    if not url:
        return RedisClient(None, timeout)
    parts = urlsplit(url)
    if parts.scheme == _SENTINEL_SCHEME:
        client = _through_sentinel(parts)
    elif parts.scheme in CLUSTER_SCHEMES:
        options = {**_options(), **_certificates(url, ca_file)}
        pool = cluster_pool(parts, key, _WITH_DEADLINE, options)
        client = redis.Redis(connection_pool=pool)
    else:
        client = _direct(url, ca_file)
    client.set_response_callback("SET", _reply_to_set)
    return RedisClient(client, timeout, over_tls=_over_tls(url))


def _over_tls(url: str) -> bool:
    return urlsplit(url).scheme.startswith("rediss")


def _certificates(url: str, ca_file: str) -> dict[str, str]:
    return {"ssl_ca_certs": ca_file} if ca_file and _over_tls(url) else {}


def _reply_to_set(reply: object, **options: object) -> bool | None:
    """None when NX kept an older value. redis-py takes any other reply for that, garbage too."""
    if reply is None or reply == b"OK":
        return None if reply is None else True
    raise ValueError("the reply to SET is invalid")


def _options() -> dict[str, Any]:
    return {
        "protocol": 2,  # RESP3 costs a new connection one more round trip
        "driver_info": None,  # so do two CLIENT SETINFO
        "retry": Retry(NoBackoff(), 0),  # retries are the circuit breaker's business
    }


def _direct(url: str, ca_file: str = "") -> "redis.Redis":
    pool = redis.ConnectionPool.from_url(url, **_options(), **_certificates(url, ca_file))
    pool.connection_class = _WITH_DEADLINE[pool.connection_class]
    return redis.Redis(connection_pool=pool)


def _through_sentinel(parts: SplitResult) -> "redis.Redis":
    account, _, hosts = parts.netloc.rpartition("@")
    user, _, password = account.partition(":")
    service, _, db = parts.path.strip("/").partition("/")
    if not hosts or not service:
        raise ValueError("a Sentinel URL is redis+sentinel://host:port/service")
    manager = Sentinel([])  # type: ignore[no-untyped-call]
    manager.sentinels = [_direct(f"redis://{host}") for host in hosts.split(",")]
    pool = SentinelConnectionPool(  # type: ignore[no-untyped-call]
        service,
        manager,
        connection_class=_WITH_DEADLINE[SentinelManagedConnection],
        username=unquote(user) or None,
        password=unquote(password) or None,
        db=int(db or 0),
        **_options(),
    )
    return redis.Redis(connection_pool=pool)
