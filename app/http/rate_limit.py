"""How many requests a client may send in a period, counted by all processes together in Redis.

The counters are read with the first command that a request sends to Redis anyway, so that a limit
costs a cached search no further round trip: the library `limits` would take one. While Redis is
unavailable each process counts alone.
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
_SHARED = 10  # times the limit of a client for a network whose clients may take turns
_MOST = 10_000  # counters that a process keeps without Redis


def parse_limit(text: str) -> tuple[int, int]:
    """Requests and seconds of a limit such as `60/minute`; 0 if it is empty: none.

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
    """What a client may send in the present period.

    `counter`: the key and the lifetime of the number in Redis.
    """

    counter: tuple[str, int]
    amount: int


class RateLimiter:
    """A limit of requests. Threads may share it.

    Args:
        prefix: of the counters' keys in Redis.
        limit: such as `60/minute`; empty: none.
    """

    def __init__(self, prefix: str, limit: str) -> None:
        self._prefix = prefix
        self._limit = limit
        self._amount, self._seconds = parse_limit(limit)
        self._lock = threading.Lock()
        self._own: Counter[str] = Counter()

    def quotas(self, clients: Sequence[str], bucket: str) -> list[Quota]:
        """The quotas of a client in the present period, which begins at the same time for all.

        Args:
            clients: names of the client and of networks that it shares with others, which may send
                ten times as much.
            bucket: what kind of requests is counted together.
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
            counts: of the requests of each quota, this one included; None without Redis.

        Raises:
            RateLimited: it has sent more requests than it may.
        """
        counted = zip(quotas, counts or self._count(quotas), strict=True)
        if any(count > quota.amount for quota, count in counted):
            message = f"Too many requests: {self._limit} are allowed. Try again later."
            wait = self._seconds - int(time.time()) % self._seconds
            raise RateLimited(message, retry_after=wait)

    def _count(self, quotas: Sequence[Quota]) -> list[int]:
        keys = [quota.counter[0] for quota in quotas]
        with self._lock:
            if len(self._own) > _MOST:
                self._own.clear()
            self._own.update(keys)
            return [self._own[key] for key in keys]
