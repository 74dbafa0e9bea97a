"""What is serialized: answers of this service, and lists of floats as in a benchmark of 2017."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from app.elastic import connect
from app.search import search
from app.search.request import SearchRequest
from bench.relevance import SAMPLE
from bench.service import elasticsearch_url, indexed, settings_for

HITS = (1, 10, 50)
FLOATS = (10, 100, 1_000, 10_000)
# Tried in this order until one has enough hits: from a usual search to a word of most posts.
_QUERIES = ("pythn", "date format", "people", "what", "which", "have")

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Workload:
    """A value to serialize; an answer also has to become the bytes of a response."""

    name: str
    value: Any
    is_answer: bool


def floats() -> list[Workload]:
    """Lists of random floats, the same ones each time."""
    source = random.Random(2017)
    return [
        Workload(f"{count} floats", [source.random() for _ in range(count)], False)
        for count in FLOATS
    ]


def answers() -> list[Workload]:
    """Answers of 1, 10 and 50 hits, from searches of the sample posts."""
    elasticsearch_url()
    with indexed(SAMPLE[0]) as alias:
        settings = settings_for(alias)
        with connect(settings, timeout=30) as client:

            def ask(query: str, size: int) -> Body:
                return search(client, alias, SearchRequest(q=query, size=size), settings).body

            return [_with_hits(ask, hits) for hits in HITS]


def _with_hits(ask: Callable[[str, int], Body], hits: int) -> Workload:
    for query in _QUERIES:
        body = ask(query, hits)
        if len(body["hits"]) == hits:
            return Workload(_named(hits), body, True)
    raise LookupError(f"none of {', '.join(_QUERIES)} has {hits} hits in the sample posts")


def _named(hits: int) -> str:
    return "1 hit" if hits == 1 else f"{hits} hits"
