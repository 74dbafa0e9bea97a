"""The requests of one client within a minute → its searches. Pure.

A page that answers while the visitor types sends `p`, `pyt` and `python`; only `python` is a
search. A request is a search if the client sends no other one soon after it. This is decided from
the times of the requests, so that it works for every page and program without changes to them.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

PAUSE = 3.0
"""Seconds without another request that make one a search."""
TYPING_PAUSE = 5.0
"""The same if the next request continues it: `pyth`, `python`."""
MOST, MOST_REQUESTS = 30, 300
"""Searches and requests of one client within a minute; one with more of either is a program."""


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
    def load(cls, text: str | bytes) -> "Event":
        """The event that `dump` wrote."""
        return cls(*json.loads(text))


Pair = tuple[str, str]
"""A query that found nothing, and the one that the same client tried next and that did."""


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
