"""Redis commands with a time limit; none is sent while Redis is away."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Concatenate, ParamSpec, TypeVar
from urllib.parse import urlsplit

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from app.back_off import BackOff
from app.deadline import deadline
from app.logs import add_time

P = ParamSpec("P")
T = TypeVar("T")
D = TypeVar("D")

_REFUSALS_APART = 60.0  # seconds between two log lines of commands that Redis refuses

log = logging.getLogger(__name__)


class RedisUnavailable(Exception):
    """Redis cannot be used now: not configured, away, or the time for it is used up."""


class RedisRefused(RedisUnavailable):
    """Redis answered, but refused the command: it is full, or a read-only replica."""


@dataclass(slots=True)
class TimeLimit:
    """The seconds that one search may still spend on Redis, over all its commands."""

    remaining: float


class RedisClient:
    """Runs Redis commands within time limits; after a failure none is sent until Redis responds.

    Threads and forked workers may share it: redis-py's pool opens new connections after a fork.
    """

    def __init__(self, connection: "redis.Redis | None", timeout: float) -> None:
        self.redis = connection
        self.timeout = timeout
        self.back_off = BackOff("Redis", lambda: _responds(connection, timeout))
        self._silent_until = 0.0

    def call(
        self,
        limit: TimeLimit,
        command: Callable[Concatenate["redis.Redis", P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Call `command(redis, *args, **kwargs)`.

        Raises:
            RedisRefused: Redis refused this command.
            RedisUnavailable: it cannot be used now, this command failed, or `limit` is used up.
        """
        if self.redis is None or limit.remaining <= 0 or not self.back_off.available:
            raise RedisUnavailable("Redis is not used now")
        started = time.monotonic()
        try:
            with deadline(limit.remaining):
                return command(self.redis, *args, **kwargs)
        except redis.ResponseError as error:
            # Once a minute: it is full, read-only, or its user lacks a permission.
            if started >= self._silent_until:
                self._silent_until = started + _REFUSALS_APART
                log.warning("Redis refuses a command: %s", error)
            raise RedisRefused(str(error)) from error
        except Exception as error:
            # redis-py reports a reply of the wrong shape with any exception of Python's.
            reason = f"{type(error).__name__}: {error}"
            self.back_off.begin(reason)
            raise RedisUnavailable(reason) from error
        finally:
            seconds = time.monotonic() - started
            limit.remaining -= seconds
            add_time("redis", seconds)

    def ask(
        self,
        limit: TimeLimit | float,
        default: D,
        command: Callable[Concatenate["redis.Redis", P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T | D:
        """What a command returns within a limit or so many seconds; `default` without Redis."""
        limit = limit if isinstance(limit, TimeLimit) else TimeLimit(limit)
        try:
            return self.call(limit, command, *args, **kwargs)
        except RedisUnavailable:
            return default


def _responds(connection: "redis.Redis | None", timeout: float) -> bool:
    try:
        with deadline(timeout):
            return connection is not None and bool(connection.ping())
    except redis.ResponseError:
        return True
    except Exception:  # noqa: BLE001 -- as in `RedisClient.call`
        return False


def connect(url: str, timeout: float, ca_file: str = "") -> RedisClient:
    """A client that opens no connection yet; without a URL, one that has no Redis.

    `redis://`, `rediss://` and `unix://` are those of redis-py.

    Args:
        timeout: seconds that one search may spend on Redis.
        ca_file: the certificates that may sign Redis' own over TLS; empty: the usual ones.

    Raises:
        ValueError: the URL is invalid.
    """
    if not url:
        return RedisClient(None, timeout)
    options: dict[str, Any] = {
        # In a gevent worker the deadline of each command is shorter; these are for other processes.
        "socket_timeout": timeout,
        "socket_connect_timeout": timeout,
        "protocol": 2,  # RESP3 costs a new connection one more round trip
        "driver_info": None,  # so do two CLIENT SETINFO
        "retry": Retry(NoBackoff(), 0),  # a visitor waits
    }
    if ca_file and urlsplit(url).scheme == "rediss":
        options["ssl_ca_certs"] = ca_file
    client = redis.Redis.from_url(url, **options)
    return RedisClient(client, timeout)
