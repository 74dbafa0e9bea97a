"""Collect searches in the background, and count them a minute later.

Each process sends its requests to Redis every few seconds. They wait there for less than a minute,
under a hash of the visitor's address that cannot be reversed: its key is random and is replaced
every week. Then one process decides which requests were searches, adds them to the counts of the
day (`app.insights.counts`) and deletes them.

A page that answers while the visitor types sends `p`, `pyt` and `python`; only `python` is a
search. The times of the requests decide this, so that it works for every page and program.
"""

import hashlib
import re
import secrets
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from itertools import pairwise
from typing import Any

import msgspec
import redis

from app.cache.redis_client import Keys, RedisClient
from app.insights.counts import Counts, Event, Extent, Opening, Search

MAX_TEXT = 100
"""The maximum number of characters of a search, and of a post's oid, that is counted."""

_WINDOW = 45.0  # seconds that a request waits for others of the same visitor
_EVENTS_TTL = 60  # seconds
_SALT_TTL = 8 * 86_400  # seconds: visitors of a query are counted over a week

_DAY = 86_400  # seconds for which an opened hit is remembered
_OPENINGS = 5  # the most counted for a post, visitor and day, after different searches
_INTERVAL = 3.0  # seconds between two batches
_MOST_WAITING = 5_000  # events: of a process between two batches, and of all in Redis
_MAX_KEY = 400  # characters of a request that is counted

PAUSE = 4.0
"""The seconds without another request after which a request counts as a search."""
MOST = 30
"""The maximum number of searches per minute; a visitor with more is a program."""

# Programs name themselves. A client without a browser's User-Agent counts as a program, too.
_PROGRAM = re.compile(
    r"(?<!cu)bot(?:\b|[/;_-])|crawl|spider|slurp|scrap|archive|preview|monitor|uptime|pingdom|headless"
    r"|lighthouse|facebookexternalhit|feed|curl|wget|python|urllib|httpx|aiohttp|go-http-client"
    r"|java/|okhttp|libwww|ruby|php|axios|node|undici|werkzeug|postman|https?://",
    re.IGNORECASE,
)


class SearchLog:
    """The searches and opened hits that wait to be counted for an alias.

    Threads and forked workers may share it. No method fails because of an engine. Nothing is
    counted unless `is_on`.
    """

    def __init__(self, client: RedisClient, keys: Keys, counts: Counts) -> None:
        self._client = client
        self._events = keys.insights("events")
        self._salt = keys.insights("salt")
        self._opened = keys.insights("opened")
        self._counts = counts
        self._lock = threading.Lock()
        self._seen: list[tuple[str, Event]] = []
        self._timer: threading.Timer | None = None
        self.is_on = bool(client.redis is not None and counts.days)

    def record(self, q: str, key: str, found: Extent, visitor: str, client: str = "") -> None:
        """Collect a search by the key of its request. `visitor` distinguishes visitors; `client` is
        the name of an assistant."""
        if len(key) <= _MAX_KEY and len(q) <= MAX_TEXT:
            self._collect(visitor, Search(time.time(), "", "", key, q.casefold(), found, client))

    def record_opened(self, q: str, oid: str, visitor: str) -> None:
        """Collect an opened hit. It counts once per visitor, day and search, for few searches."""
        self._collect(visitor, Opening(time.time(), q.casefold(), oid))

    def _collect(self, visitor: str, event: Event) -> None:
        if not self.is_on:
            return
        with self._lock:
            if len(self._seen) < _MOST_WAITING:
                self._seen.append((visitor, event))
            # A timer from before a fork is not alive in the worker.
            if self._timer is None or not self._timer.is_alive():
                self._start_timer()

    def _start_timer(self) -> None:
        self._timer = threading.Timer(_INTERVAL, self._tick)
        self._timer.daemon = True
        with suppress(RuntimeError):  # no more threads; the next search tries again
            self._timer.start()

    def _tick(self) -> None:
        self.flush()
        waiting = self.count_due()
        with self._lock:
            self._timer = None
            if self._seen or waiting:
                self._start_timer()

    def flush(self) -> None:
        """Send the collected events to Redis; they are lost if Redis is unavailable."""
        with self._lock:
            seen, self._seen = self._seen, []
        if seen:
            self._client.ask(None, self._send, seen)

    def _send(self, client: "redis.Redis", seen: Sequence[tuple[str, Event]]) -> None:
        client.set(self._salt, secrets.token_bytes(16), nx=True, ex=_SALT_TTL)
        salt: Any = client.get(self._salt) or secrets.token_bytes(16)
        marked = [_mark(event, visitor, salt) for visitor, event in seen]
        openings = [event for event in marked if isinstance(event, Opening)]
        again = {id(event) for event in openings if not self._is_first(client, event)}
        waiting = {
            msgspec.json.encode(event): event.at for event in marked if id(event) not in again
        }
        if not waiting:
            return
        with client.pipeline(transaction=False) as pipeline:
            pipeline.zadd(self._events, waiting)
            pipeline.zremrangebyrank(self._events, 0, -_MOST_WAITING - 1)
            pipeline.expire(self._events, _EVENTS_TTL)
            pipeline.execute()

    def _is_first(self, client: "redis.Redis", opening: Opening) -> bool:
        """Whether the visitor opens this hit after this search for the first time today, and not
        after many other searches."""
        post, _, search = opening.mark.partition(".")
        key = f"{self._opened}:{datetime.fromtimestamp(opening.at, UTC).date()}:{post}"
        if int(client.scard(key)) >= _OPENINGS:
            return False
        is_first = bool(client.sadd(key, search))
        client.expire(key, _DAY)
        return is_first

    def count_due(self, now: float | None = None) -> bool:
        """Count the searches of visitors whose requests have waited long enough; return whether
        others still wait.

        Args:
            now: seconds since 1970, by default the current time.
        """
        waiting: Any = self._client.ask([], redis.Redis.zrange, self._events, 0, -1)
        due = _due(waiting, now or time.time())
        if not due:
            return bool(waiting)
        of_visitors: defaultdict[str, list[Search]] = defaultdict(list)
        events: list[Event] = []
        # A process counts only what it deleted itself: another one may have read the same events.
        for data in self._client.ask([], self._delete, list(due)):
            event = due[data]
            if isinstance(event, Search) and not event.client:
                of_visitors[event.visitor].append(event)
            else:
                events.append(event)
        for requests in of_visitors.values():
            events += searches(requests)
        self._counts.add(events)
        return len(due) < len(waiting)

    def _delete(self, client: "redis.Redis", events: Sequence[bytes]) -> list[bytes]:
        with client.pipeline(transaction=False) as pipeline:
            for event in events:
                pipeline.zrem(self._events, event)
            replies = pipeline.execute()
        return [event for event, deleted in zip(events, replies, strict=True) if deleted]


def _mark(event: Event, visitor: str, salt: bytes) -> Event:
    """Return the event with hashes of the visitor."""

    def hashed(text: str) -> str:
        return hashlib.blake2b(text.encode(), key=salt, digest_size=8).hexdigest()

    if isinstance(event, Opening):
        of_post = f"{visitor}\n{event.oid}"
        mark = f"{hashed(of_post)}." + hashed(f"{of_post}\n{event.q}")
        return msgspec.structs.replace(event, mark=mark)
    if event.client:
        return event
    mark = f"{hashed('')[:4]}." + hashed(f"{visitor}\n{event.q}")
    return msgspec.structs.replace(event, visitor=hashed(visitor), mark=mark)


def _due(waiting: Iterable[bytes], now: float) -> dict[bytes, Event]:
    """Return opened hits, and the requests of visitors whose oldest has waited long enough."""
    events: dict[bytes, Event] = {}
    for data in waiting:
        with suppress(msgspec.DecodeError):  # of another version
            events[data] = msgspec.json.decode(data, type=Event)
    ready = {
        event.visitor
        for event in events.values()
        if isinstance(event, Search) and now - event.at >= _WINDOW
    }
    return {
        data: event
        for data, event in events.items()
        if not isinstance(event, Search) or event.client or event.visitor in ready
    }


# -- which requests are counted ------------------------------------------------------------------


def agrees(environ: Mapping[str, Any]) -> bool:
    """Whether the insights count the client of a WSGI request.

    They do not count programs, prefetched pages, and visitors who send `DNT: 1` or `Sec-GPC: 1`.
    """
    if environ.get("HTTP_DNT") == "1" or environ.get("HTTP_SEC_GPC") == "1":
        return False
    if "prefetch" in environ.get("HTTP_SEC_PURPOSE", ""):
        return False
    return not _is_program(environ.get("HTTP_USER_AGENT", ""))


@lru_cache(maxsize=1024)
def _is_program(user_agent: str) -> bool:
    return not user_agent.startswith(("Mozilla/", "Opera/")) or bool(_PROGRAM.search(user_agent))


def searches(requests: Iterable[Search]) -> list[Search]:
    """Return the searches among the requests of one visitor; none if it is a program."""
    runs: list[Search] = []
    for request in sorted(requests, key=lambda request: request.at):
        if runs and request.q == runs[-1].q:  # a reload, a filter, another order
            found = runs[-1].found if request.found == "nothing" else request.found
            runs[-1] = msgspec.structs.replace(runs[-1], at=request.at, found=found)
        else:
            runs.append(request)
    # The others were sent while the visitor typed the next one.
    chosen = [request for request, next_one in pairwise(runs) if next_one.at - request.at >= PAUSE]
    chosen += runs[-1:]
    return chosen if len(chosen) <= MOST else []
