"""Which requests are searches, and of whom: of people who agree to be counted. Pure.

A page that answers while the visitor types sends `p`, `pyt` and `python`; only `python` is a
search. A request is a search if the client sends no other one soon after it. This is decided from
the times of the requests, so that it works for every page and program without changes to them.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import orjson

PAUSE = 3.0
"""Seconds without another request that make one a search."""
TYPING_PAUSE = 5.0
"""The same if the next request continues it: `pyth`, `python`."""
MOST, MOST_REQUESTS = 30, 300
"""Searches and requests of one client within a minute; one with more of either is a program."""

_LATEST = 2.0**36  # seconds since 1970: the year 4147

# Programs name themselves. A client without a browser's User-Agent counts as a program.
_PROGRAM = re.compile(
    r"(?<!cu)bot(?:\b|[/;_-])|crawl|spider|slurp|scrap|archive|preview|monitor|uptime|pingdom|headless"
    r"|lighthouse|facebookexternalhit|feed|curl|wget|python|urllib|httpx|aiohttp|go-http-client"
    r"|java/|okhttp|libwww|ruby|php|axios|node|undici|werkzeug|postman|https?://",
    re.IGNORECASE,
)


class Visitor(NamedTuple):
    """What tells the searches of one client from those of others, for less than a minute."""

    address: str
    user_agent: str


def visitor_of(environ: Mapping[str, Any]) -> Visitor | None:
    """The visitor of a WSGI request; None if the visitor is not counted.

    Not counted are programs, pages that a browser loads in advance, and visitors who send
    `DNT: 1` or `Sec-GPC: 1`.
    """
    if environ.get("HTTP_DNT") == "1" or environ.get("HTTP_SEC_GPC") == "1":
        return None
    if "prefetch" in environ.get("HTTP_SEC_PURPOSE", ""):
        return None
    user_agent = environ.get("HTTP_USER_AGENT", "")
    if is_program(user_agent):
        return None
    return Visitor(environ.get("REMOTE_ADDR", ""), user_agent)


@lru_cache(maxsize=1024)
def is_program(user_agent: str) -> bool:
    """Whether a User-Agent is that of a program and not of a browser."""
    return not user_agent.startswith(("Mozilla/", "Opera/")) or bool(_PROGRAM.search(user_agent))


@dataclass(frozen=True, slots=True)
class Event:
    """One request: when (seconds since 1970), from whom, for what, and what came of it.

    `client` is a hash. `key` is that of the request, `q` its query. `state` is that of the cache.
    `seconds`: how long the answer took.
    """

    at: float
    client: str
    key: str
    q: str
    state: str
    has_hits: bool
    seconds: float

    def dump(self) -> str:
        """The event as text."""
        fields = (self.at, self.client, self.key, self.q, self.state, self.has_hits, self.seconds)
        return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def load(cls, text: bytes) -> "Event | None":
        """The event that `dump` wrote; None of another version."""
        try:
            fields = orjson.loads(text)
        except ValueError:
            return None
        match fields:
            case [float(at), str(), str(), str(), str(), bool(), float()] if 0 < at < _LATEST:
                return cls(*fields)
        return None


Pair = tuple[str, str]
"""A query without hits, and the next query of the same client, which had hits."""


def searches(events: Iterable[Event]) -> list[Event]:
    """The searches among the requests of one client; none if it is a program."""
    runs: list[Event] = []
    requests = sorted(events, key=lambda event: event.at)
    if len(requests) > MOST_REQUESTS:
        return []
    for event in requests:
        if runs and _text(event) == _text(runs[-1]):  # a reload, a filter, another order
            runs[-1] = replace(runs[-1], at=event.at, has_hits=runs[-1].has_hits or event.has_hits)
        else:
            runs.append(event)
    chosen = [event for event, following in pairwise(runs) if not _typing(event, following)]
    chosen += runs[-1:]
    return chosen if len(chosen) <= MOST else []


def _typing(event: Event, following: Event) -> bool:
    """Whether a request was sent in between, while the next one was typed."""
    continued = _text(following).startswith(_text(event))
    return following.at - event.at < (TYPING_PAUSE if continued else PAUSE)


def pairs(events: Sequence[Event]) -> list[Pair]:
    """Searches without hits, each with the first one after it that had some."""
    result: list[Pair] = []
    succeeded = ""
    for event in reversed(events):
        if event.has_hits:
            succeeded = _text(event)
        elif succeeded:
            result.append((_text(event), succeeded))
    return result[::-1]


def _text(event: Event) -> str:
    return event.q.casefold()
