"""Sends Redis commands with a time limit, but none while Redis is away; names and signs values."""

import hashlib
import hmac
import logging
import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any, Concatenate, ParamSpec, TypeVar
from urllib.parse import urlsplit

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from app.engines.back_off import BackOff, deadline, is_silent
from app.errors import BadSettings
from app.http.logs import add_time

Counter = tuple[str, int]
"""The key of a counter in Redis that a request increases, and the seconds until it expires."""

P = ParamSpec("P")
T = TypeVar("T")
D = TypeVar("D")

_SIGNATURE = 16  # bytes
_REFUSALS_APART = 60.0  # seconds between two log lines about refused commands

log = logging.getLogger(__name__)


class Keys:
    """The names of all keys for an alias.

    Args:
        variant: the settings that make answers differ, such as the strategy.
    """

    def __init__(self, alias: str, variant: str) -> None:
        self._variant = variant
        self._prefix = f"blogsearch:{{{alias}}}"
        self.generation = f"{self._prefix}:generation"
        self.rates = f"{self._prefix}:rate:"
        self.probe = f"{self._prefix}:probe"  # written only to see whether Redis accepts a value

    def answer(self, request: str) -> str:
        """Return the key for a normalized request, which may be long and contain anything."""
        hashed = short_hash(f"{self._variant}\n{request}")
        return f"{self._prefix}:answer:{hashed}"

    def insights(self, name: str) -> str:
        return f"{self._prefix}:insights:{name}"

    def memoized(self, name: str) -> str:
        return f"{self._prefix}:memoized:{name}"


class Signer:
    """Signs values in Redis, so that others who can write there cannot forge them.

    Args:
        secret: without it a signature proves only that a value is whole, and its purpose.
    """

    def __init__(self, secret: str) -> None:
        self._key = hashlib.blake2b(secret.encode()).digest() if secret else b""

    def sign(self, data: bytes, purpose: bytes) -> bytes:
        """Return the data followed by its signature."""
        return data + self._signature(data, purpose)

    def verify(self, kept: bytes, purpose: bytes) -> bytes | None:
        """Return the data; None if it was not signed with this secret for this purpose."""
        data, signature = kept[:-_SIGNATURE], kept[-_SIGNATURE:]
        is_right = hmac.compare_digest(signature, self._signature(data, purpose))
        return data if is_right else None

    def _signature(self, data: bytes, purpose: bytes) -> bytes:
        hashed = hashlib.blake2b(data, key=self._key, digest_size=_SIGNATURE)
        hashed.update(purpose)
        return hashed.digest()


def short_hash(text: str) -> str:
    """Return a hash of 32 characters."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


class RedisUnavailable(Exception):
    """Redis cannot be used now: it is not configured, away, or too slow."""


class RedisRefused(RedisUnavailable):
    """Redis answered, but refused the command: it is full, or a read-only replica."""


class RedisClient:
    """Runs Redis commands within `timeout` seconds; after a failure, none until Redis responds.

    Threads and forked workers may share it: redis-py's pool opens new connections after a fork.
    """

    def __init__(self, connection: "redis.Redis | None", timeout: float) -> None:
        self.redis = connection
        self._timeout = timeout
        self.back_off = BackOff("Redis", lambda: _responds(connection, timeout))
        self._silent_until = 0.0
        self._idle: list[Any] = []  # connections

    def read(
        self, names: Sequence[str], counters: Sequence[Counter] = ()
    ) -> tuple[list[bytes | None], Sequence[int] | None]:
        """Read some keys and increase the counters in one round trip; return the values and counts.

        The counts are None if Redis refuses to count, like a full one or a replica.

        Raises:
            RedisRefused, RedisUnavailable: as `call` does.
        """
        return self.call(self._read, names, counters)

    def _read(
        self, client: "redis.Redis", names: Sequence[str], counters: Sequence[Counter]
    ) -> tuple[list[bytes | None], Sequence[int] | None]:
        counting = [(("INCRBY", key, 1), ("EXPIRE", key, seconds)) for key, seconds in counters]
        values, *replies = self._send(client, ("MGET", *names), *chain.from_iterable(counting))
        if len(values) != len(names) or not all(isinstance(one, bytes | None) for one in values):
            raise ValueError("the reply to MGET is invalid")
        counts = replies[::2]
        return values, counts if all(isinstance(count, int) for count in counts) else None

    def write(self, name: str, value: bytes, milliseconds: int) -> None:
        """Keep a value for `milliseconds`, if Redis accepts it."""
        self.ask(None, self._send, ("SET", name, value, "PX", milliseconds))

    def _send(self, client: "redis.Redis", *commands: tuple[str | bytes | int, ...]) -> list[Any]:
        """Send commands, and return the replies. Raises an error reply only to the first command.

        Uses connections of redis-py without its client and pool: 0.04 ms instead of 0.15, and a
        search needs two.
        """
        connection = self._connection(client.connection_pool)
        connection.send_packed_command(connection.pack_commands(commands), check_health=False)
        replies: list[Any] = []
        for _ in commands:
            try:
                replies.append(connection.read_response(disable_decoding=True))
            except redis.ResponseError as refusal:
                replies.append(refusal)
        self._idle.append(connection)
        if isinstance(replies[0], redis.ResponseError):
            raise replies[0]
        return replies

    def _connection(self, pool: Any) -> Any:
        """Return an idle connection of this process that is open and silent, or else a new one."""
        while self._idle:
            connection = self._idle.pop()
            with suppress(redis.RedisError, OSError):
                if connection.pid == os.getpid() and self._is_silent(connection):
                    return connection
            connection.disconnect()
        return pool.make_connection()

    @staticmethod
    def _is_silent(connection: Any) -> bool:
        if isinstance(connection, redis.SSLConnection):
            return not connection.can_read()
        return is_silent(connection._sock)  # `can_read` waits for gevent: 10 % of a kept answer

    def call(
        self,
        command: Callable[Concatenate["redis.Redis", P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Call `command(redis, *args, **kwargs)`.

        Raises:
            RedisRefused: Redis refused this command.
            RedisUnavailable: it cannot be used now, or this command failed.
        """
        if self.redis is None or not self.back_off.available:
            raise RedisUnavailable("Redis is not used now")
        started = time.monotonic()
        try:
            with deadline(self._timeout):
                return command(self.redis, *args, **kwargs)
        except redis.ResponseError as error:
            # Logged once a minute: Redis is full, read-only, or its user lacks a permission.
            if started >= self._silent_until:
                self._silent_until = started + _REFUSALS_APART
                log.warning("Redis refuses a command: %s", error)
            raise RedisRefused(str(error)) from error
        except Exception as error:
            # redis-py raises any of Python's exceptions for a malformed reply.
            reason = f"{type(error).__name__}: {error}"
            self.back_off.begin(reason)
            raise RedisUnavailable(reason) from error
        finally:
            add_time("redis", time.monotonic() - started)

    def ask(
        self,
        default: D,
        command: Callable[Concatenate["redis.Redis", P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T | D:
        """Return what `call` returns, or `default` without Redis."""
        try:
            return self.call(command, *args, **kwargs)
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
    """Return a client that has opened no connection yet; without a URL, one that has no Redis.

    Args:
        timeout: the time limit of a command in seconds.
        ca_file: the trusted certificates for TLS; empty: the usual ones.

    Raises:
        BadSettings: the URL is invalid.
    """
    if not url:
        return RedisClient(None, timeout)
    options: dict[str, Any] = {
        # In a gevent worker `deadline` limits the whole command; these apply in other processes.
        "socket_timeout": timeout,
        "socket_connect_timeout": timeout,
        "protocol": 2,  # RESP3 costs a new connection one more round trip
        "driver_info": None,  # two CLIENT SETINFO would cost another one
        "retry": Retry(NoBackoff(), 0),  # a visitor waits
    }
    if ca_file and urlsplit(url).scheme == "rediss":
        options["ssl_ca_certs"] = ca_file
    try:
        client = redis.Redis.from_url(url, **options)
        pool = client.connection_pool
        pool.connection_class(**pool.connection_kwargs)  # fails for an unknown option
        parts = urlsplit(url)
        (parts.hostname or "").encode("idna")  # fails for names that no host can have
        if parts.scheme != "unix":
            int(parts.path.strip("/") or 0)  # redis-py uses 0 for a database that is no number
        return RedisClient(client, timeout)
    except (ValueError, TypeError, redis.RedisError):
        # Any part of the URL may be the password.
        raise BadSettings(
            "REDIS_URL is not valid. Write it like redis://127.0.0.1:6379/0 or "
            "unix:///run/redis.sock, and percent-encode the password."
        ) from None
