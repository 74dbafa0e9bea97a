"""Limit the requests of each client per period, counted by all processes together in Redis.

The counters are read with the first command that a request sends to Redis anyway, so that a cached
search needs no further round trip; the library `limits` would need one. While Redis is unavailable,
each process counts alone.
"""

import re
import threading
import time
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from app.errors import RateLimited

_PERIODS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400}
_LIMIT = re.compile(rf"([1-9]\d*)/({'|'.join(_PERIODS)})")
_SHARED = 10  # a network may send this many times the limit of one client
_MOST = 10_000  # counters that a process keeps without Redis


def parse_limit(text: str) -> tuple[int, int]:
    """Parse a limit such as `60/minute` into requests and seconds; both are 0 if it is empty.

    Raises:
        ValueError: it is invalid.
    """
    if not text:
        return 0, 0
    match = _LIMIT.fullmatch(text)
    if not match:
        raise ValueError("must be a limit such as `60/minute`")
    return int(match[1]), _PERIODS[match[2]]


class Quota(NamedTuple):
    """The number of requests that a client may send in the present period.

    `counter`: the key of the counter in Redis, and its lifetime in seconds.
    """

    counter: tuple[str, int]
    amount: int


class RateLimiter:
    """A limit of requests. Threads may share it.

    Args:
        prefix: the prefix of the counters' keys in Redis.
        limit: such as `60/minute`; empty: no limit.
    """

    def __init__(self, prefix: str, limit: str) -> None:
        self._prefix = prefix
        self._limit = limit
        self._amount, self._seconds = parse_limit(limit)
        self._lock = threading.Lock()
        self._own: Counter[str] = Counter()

    def quotas(self, clients: Sequence[str], bucket: str) -> list[Quota]:
        """Return the quotas of a client in the present period, which is the same for all clients.

        Args:
            clients: the names of the client and of networks that it shares with others; a network
                may send ten times as many requests.
            bucket: the kind of requests that are counted together.
        """
        if not self._amount:
            return []
        period = int(time.time()) // self._seconds
        return [
            Quota(
                (f"{self._prefix}{name} {bucket}:{period}", self._seconds),
                self._amount * (_SHARED if number else 1),
            )
            for number, name in enumerate(clients)
        ]

    def check(self, quotas: Sequence[Quota], counts: Sequence[int] | None) -> None:
        """Check that a client may send its request.

        Args:
            counts: the requests of each quota, including this one; None without Redis.

        Raises:
            RateLimited: the client has sent more requests than allowed.
        """
        counted = zip(quotas, counts or self._count(quotas), strict=True)
        if any(count > quota.amount for quota, count in counted):
            message = f"Too many requests: the limit is {self._limit}. Try again later."
            wait = self._seconds - int(time.time()) % self._seconds
            raise RateLimited(message, retry_after=wait)

    def _count(self, quotas: Sequence[Quota]) -> list[int]:
        keys = [quota.counter[0] for quota in quotas]
        with self._lock:
            if len(self._own) > _MOST:
                self._own.clear()
            self._own.update(keys)
            return [self._own[key] for key in keys]
