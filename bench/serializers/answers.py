"""What is serialized: answers of this service, and lists of floats as in a benchmark of 2017."""

import json
import os
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.elastic import connect
from app.search import search
from app.search.render import post_hit
from app.search.request import SearchRequest
from app.search.snippets import MARK, UNMARK
from bench.service import indexed, settings_for

HITS = (1, 10, 50)
FLOATS = (10, 100, 1_000, 10_000)
_SAMPLE = Path(__file__).resolve().parents[2] / "sample" / "posts.jsonl"
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


def answers() -> tuple[list[Workload], str]:
    """Answers of 1, 10 and 50 hits, and where they are from.

    With ELASTICSEARCH_URL the sample posts are indexed there, searched, and deleted again. Without
    it answers are made of the sample posts by the code that renders answers.
    """
    if "ELASTICSEARCH_URL" in os.environ:
        with _indexed() as ask:
            found = [_with_hits(ask, hits) for hits in HITS]
        return found, "searches of the sample posts on Elasticsearch"
    return [_composed(hits) for hits in HITS], "composed of the sample posts, no Elasticsearch"


@contextmanager
def _indexed() -> "Iterator[Callable[[str, int], Body]]":
    """Searches of the sample posts, by query and number of hits."""
    with indexed(_SAMPLE) as alias:
        settings = settings_for(alias)
        with connect(settings, timeout=30) as client:
            yield (
                lambda query, size: (
                    search(client, alias, SearchRequest(q=query, size=size), settings).body
                )
            )


def _with_hits(ask: Callable[[str, int], Body], hits: int) -> Workload:
    for query in _QUERIES:
        body = ask(query, hits)
        if len(body["hits"]) == hits:
            return Workload(_named(hits), body, True)
    raise LookupError(f"none of {', '.join(_QUERIES)} has {hits} hits in {_SAMPLE.name}")


def _composed(hits: int) -> Workload:
    posts = [json.loads(line) for line in _SAMPLE.read_text("utf-8").splitlines()]
    found = [post_hit(_hit(post, rank)) for rank, post in enumerate(posts[:hits])]
    body = {"q": "python", "count": len(posts), "page": 1, "size": hits, "hits": found}
    return Workload(_named(hits), body, True)


def _hit(post: Body, rank: int) -> Body:
    words = post["text"].split()
    fragments = [" ".join([MARK + words[at] + UNMARK, *words[at + 1 : at + 20]]) for at in (0, 20)]
    source = {name: post.get(name) for name in ("oid", "title", "url", "pub_date")}
    return {"_source": source, "_score": 12.3456789 / (rank + 1), "highlight": {"text": fragments}}


def _named(hits: int) -> str:
    return "1 hit" if hits == 1 else f"{hits} hits"
