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
_LIMIT = re.compile(r"(\d+) ?(?:/|per) ?(\d+)? ?(second|minute|hour|day)s?")
_SHARED = 10  # times the limit of a client for a network whose clients may take turns
_MOST = 10_000  # counters that a process keeps without Redis


class Limit(NamedTuple):
    """So many requests in so many seconds; `text` is the setting."""

    amount: int
    seconds: int
    text: str


def parse_limits(text: str) -> tuple[Limit, ...]:
    """The limits in a setting such as `60/minute` or `10/second; 300/hour`.

    Raises:
        ValueError: one of them is invalid.
    """
    limits = []
    for part in filter(None, map(str.strip, text.split(";"))):
        match = _LIMIT.fullmatch(part)
        if not match or not int(match[1]) or match[2] == "0":
            raise ValueError("must be a limit such as `60/minute`")
        limits.append(Limit(int(match[1]), int(match[2] or 1) * _PERIODS[match[3]], part))
    return tuple(limits)


class Quota(NamedTuple):
    """What a client may send until `resets` (seconds since 1970).

    `counter`: the key and the lifetime of the number in Redis.
    """

    counter: tuple[str, int]
    amount: int
    text: str
    resets: int


class RateLimiter:
    """Limits of requests. Threads may share it.

    Args:
        prefix: of the counters' keys in Redis.
    """

    def __init__(self, prefix: str, limits: Sequence[Limit]) -> None:
        self._prefix = prefix
        self._limits = limits
        self._lock = threading.Lock()
        self._own: Counter[str] = Counter()

    def quotas(self, clients: Sequence[str], bucket: str) -> list[Quota]:
        """The quotas of a client in the present periods.

        A period begins at the same time for all clients, as a multiple of its length.

        Args:
            clients: names of the client and of networks that it shares with others, which may send
                ten times as much.
            bucket: what kind of requests is counted together.
        """
        quotas: list[Quota] = []
        now = int(time.time())
        for amount, seconds, text in self._limits:
            resets = now - now % seconds + seconds
            for number, name in enumerate(clients):
                key = f"{self._prefix}{name} {bucket}:{seconds}:{resets}"
                most = amount if number == 0 else amount * _SHARED
                quotas.append(Quota((key, seconds), most, text, resets))
        return quotas

    def check(self, quotas: Sequence[Quota], counts: Sequence[int] | None) -> dict[str, str]:
        """Headers for the client: the quota of which it has used the most, what is left of it, and
        when it begins anew.

        Args:
            quotas: at least one.
            counts: of the requests of each quota, this one included; None without Redis.

        Raises:
            RateLimited: it has sent more requests than it may.
        """
        counted = zip(quotas, counts or self._count(quotas), strict=True)
        quota, count = max(counted, key=lambda pair: pair[1] / pair[0].amount)
        if count > quota.amount:
            wait = max(quota.resets - int(time.time()), 1)
            message = f"Too many requests: {quota.text} are allowed. Try again later."
            raise RateLimited(message, retry_after=wait)
        return {
            "X-RateLimit-Limit": str(quota.amount),
            "X-RateLimit-Remaining": str(quota.amount - count),
            "X-RateLimit-Reset": str(quota.resets),
        }

    def _count(self, quotas: Sequence[Quota]) -> list[int]:
        keys = [quota.counter[0] for quota in quotas]
        with self._lock:
            if len(self._own) > _MOST:
                self._own.clear()
            self._own.update(keys)
            return [self._own[key] for key in keys]
