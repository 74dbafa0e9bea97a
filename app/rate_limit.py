"""How many requests a client may send in a period, counted by all processes together in Redis.

The counters are read with the first command that a request sends to Redis anyway, so that a limit
costs a cached search no further round trip. While Redis is unavailable each process counts alone.
"""

import math
import re
import threading
import time
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import TYPE_CHECKING, NamedTuple

from app.errors import RateLimited

if TYPE_CHECKING:
    from app.cache.store import Keys

_PERIODS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400}
_LIMIT = re.compile(r"(\d+) ?(?:/|per) ?(\d+)? ?(second|minute|hour|day)s?")
_WITH_PORT = re.compile(r"\[([^\]]+)\](?::\d+)?|([^:]+):\d+")  # IPv6, IPv4
_IPV6_PREFIX = 64  # bits; a client usually has all addresses of its /64 network
_MOST = 10_000  # counters that a process keeps without Redis
_SITE = 4  # times the limit of a client for a whole /48 network, whose parts may take turns


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
    """What a client may send until `resets` (seconds since 1970), counted under `key`."""

    key: str
    seconds: int
    amount: int
    text: str
    resets: int


@lru_cache(maxsize=1024)
def network_of(address: str | None) -> str:
    """The key of a client for rate limits and counts: its IPv4 address, or its IPv6 network."""
    parsed = parse_address(address or "")
    if isinstance(parsed, str):
        return "unknown"
    if parsed.version == 4:
        return str(parsed)
    return str(ip_network((parsed, _IPV6_PREFIX), strict=False))


def parse_address(text: str) -> IPv4Address | IPv6Address | str:
    """An address in X-Forwarded-For, to which some proxies add a port; the text if it is invalid.

    An IPv4-mapped IPv6 address (dual-stack sockets) is returned as IPv4.
    """
    text = text.strip()
    match = _WITH_PORT.fullmatch(text)
    try:
        parsed = ip_address(match[1] or match[2] if match else text)
    except ValueError:
        return text
    return parsed.ipv4_mapped or parsed if isinstance(parsed, IPv6Address) else parsed


@lru_cache(maxsize=1024)
def site_of(client: str) -> str:
    """The /48 network that a client's /64 network is a part of; "" for other clients."""
    network, space, rest = client.partition(" ")
    if ":" not in network:
        return ""
    return f"{ip_network(network).supernet(new_prefix=48)}{space}{rest}"


class RateLimiter:
    """The limits of one alias. Threads may share it."""

    def __init__(self, keys: "Keys", limits: Sequence[Limit]) -> None:
        self._prefix = keys.rates
        self._limits = limits
        self._lock = threading.Lock()
        self._own: Counter[str] = Counter()

    def quotas(self, client: str) -> list[Quota]:
        """The quotas of a client in the present periods, none for the client "".

        A period begins at the same time for all clients, as a multiple of its length.
        """
        quotas: list[Quota] = []
        if not client:
            return quotas
        site = site_of(client)
        now = int(time.time())
        for amount, seconds, text in self._limits:
            resets = now - now % seconds + seconds
            for name, times in ((client, 1), (site, _SITE)) if site else ((client, 1),):
                key = f"{self._prefix}{name}:{seconds}:{resets}"
                quotas.append(Quota(key, seconds, times * amount, text, resets))
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
        if counts is None:
            counts = self._count(quotas)
        least = math.inf
        for candidate, count in zip(quotas, counts, strict=True):
            share = 1 - count / candidate.amount
            if share < least:
                least, quota, remaining = share, candidate, candidate.amount - count
        if remaining < 0:
            wait = max(quota.resets - int(time.time()), 1)
            message = f"Too many requests: {quota.text} are allowed. Try again later."
            raise RateLimited(message, retry_after=wait)
        return {
            "X-RateLimit-Limit": str(quota.amount),
            "X-RateLimit-Remaining": str(remaining),
            "X-RateLimit-Reset": str(quota.resets),
        }

    def _count(self, quotas: Sequence[Quota]) -> list[int]:
        with self._lock:
            if len(self._own) > _MOST:
                self._own.clear()
            self._own.update(quota.key for quota in quotas)
            return [self._own[quota.key] for quota in quotas]
