"""Which requests are searches, and of whom: of people who agree to be counted. Pure.

A page that answers while the visitor types sends `p`, `pyt` and `python`; only `python` is a
search. This is decided from the times of the requests, so that it works for every page and program.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal

import msgspec

PAUSE = 3.0
"""Seconds without another request that make one a search."""
TYPING_PAUSE = 5.0
"""The same if the next request continues it: `pyth`, `python`."""
MOST = 30
"""Searches of one visitor within a minute; one with more is a program."""

Extent = Literal["all", "some", "nothing"]
"""Whether a post has all words of the search, or only some, or there is none."""

# Programs name themselves. A client without a browser's User-Agent counts as a program.
_PROGRAM = re.compile(
    r"(?<!cu)bot(?:\b|[/;_-])|crawl|spider|slurp|scrap|archive|preview|monitor|uptime|pingdom|headless"
    r"|lighthouse|facebookexternalhit|feed|curl|wget|python|urllib|httpx|aiohttp|go-http-client"
    r"|java/|okhttp|libwww|ruby|php|axios|node|undici|werkzeug|postman|https?://",
    re.IGNORECASE,
)


def agrees(environ: Mapping[str, Any]) -> bool:
    """Whether the client of a WSGI request is counted.

    Not counted are programs, pages that a browser loads in advance, and visitors who send
    `DNT: 1` or `Sec-GPC: 1`.
    """
    if environ.get("HTTP_DNT") == "1" or environ.get("HTTP_SEC_GPC") == "1":
        return False
    if "prefetch" in environ.get("HTTP_SEC_PURPOSE", ""):
        return False
    return not _is_program(environ.get("HTTP_USER_AGENT", ""))


@lru_cache(maxsize=1024)
def _is_program(user_agent: str) -> bool:
    return not user_agent.startswith(("Mozilla/", "Opera/")) or bool(_PROGRAM.search(user_agent))


class Search(msgspec.Struct, frozen=True, array_like=True, tag="s"):
    """One request: when (seconds since 1970), from whom, for what, and what came of it.

    `visitor` is a hash of the address, `mark` one of the address and the query: by marks the
    visitors of a query can be counted, while nothing tells which queries are of one visitor. `key`
    has the parameters of the request, `q` its query in lower case.
    """

    at: float
    visitor: str
    mark: str
    key: str
    q: str
    found: Extent


class Opening(msgspec.Struct, frozen=True, array_like=True, tag="o"):
    """A hit that was opened: when, after which query, at which position (from 1), and the post."""

    at: float
    q: str
    position: int
    oid: str


Event = Search | Opening


def searches(requests: Iterable[Search]) -> list[Search]:
    """The searches among the requests of one visitor; none if it is a program."""
    runs: list[Search] = []
    for request in sorted(requests, key=lambda request: request.at):
        if runs and request.q == runs[-1].q:  # a reload, a filter, another order
            found = runs[-1].found if request.found == "nothing" else request.found
            runs[-1] = msgspec.structs.replace(runs[-1], at=request.at, found=found)
        else:
            runs.append(request)
    chosen = [request for request, following in pairwise(runs) if not _typing(request, following)]
    chosen += runs[-1:]
    return chosen if len(chosen) <= MOST else []


def _typing(request: Search, following: Search) -> bool:
    """Whether a request was sent in between, while the next one was typed."""
    continued = following.q.startswith(request.q)
    return following.at - request.at < (TYPING_PAUSE if continued else PAUSE)
