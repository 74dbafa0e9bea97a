"""Sends the searches of one request to Elasticsearch, and records them for `debug-search`."""

import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any, NotRequired, Required, TypedDict

import msgspec
from elasticsearch import ConnectionTimeout, Elasticsearch

from app.engines.elastic import ONE_COPY, responses_of
from app.search.answer import Translation
from app.search.spelling import Facts, Word, WordFacts

if TYPE_CHECKING:
    from app.search.plan import Examined
    from app.search.view import IndexView

Body = dict[str, Any]
"""The body of a search, or a part of it: `{"query": …, "size": 10}`."""

# Uses the term statistics of all shards, so that a hit's score does not depend on its shard.
# Elasticsearch skips the extra phase for an index of one shard.
_SEARCH_TYPE = "dfs_query_then_fetch"
_MOST_WORDS = 20_000
_FEW_POSTS = 10_000
_pack, _unpack = msgspec.msgpack.Encoder().encode, msgspec.msgpack.Decoder(WordFacts).decode


class HeadingPlace(TypedDict):
    """A heading: its line in the text, the first line of code after it, its level, its id."""

    line: int
    code_line: int
    level: int
    id: str


class StoredPost(TypedDict, total=False):
    """The stored fields of a post or comment that a search may ask for."""

    oid: Required[str]
    title: str
    url: str
    pub_date: str
    categories: list[str]
    language: str
    image: str
    headings: list[HeadingPlace]
    announced: list[str]
    translation_key: str
    author: str


class EngineHit(TypedDict):
    """A hit of Elasticsearch. `matched_queries` are the names of the clauses it matches, `fields`
    are doc values, `inner_hits` its comments. `app.search.translations` adds `translations`."""

    _id: str
    _score: float | None
    _source: StoredPost
    fields: NotRequired[dict[str, list[str]]]
    highlight: NotRequired[dict[str, list[str]]]
    matched_queries: NotRequired[list[str]]
    inner_hits: NotRequired[dict[str, Any]]
    translations: NotRequired[list[Translation]]


class EngineHits(TypedDict):
    """The hits of a page, and the total number of hits, if it was counted."""

    hits: list[EngineHit]
    total: NotRequired[dict[str, Any]]


class Response(TypedDict):
    """The response of Elasticsearch to a search."""

    hits: EngineHits
    timed_out: bool
    aggregations: NotRequired[dict[str, Any]]
    suggest: NotRequired[dict[str, list[Any]]]


class WordMemo:
    """The facts about the last 20,000 words in one generation of an index, packed: as objects they
    would take 16 MB in each process. Threads may share it."""

    def __init__(self, most: int = _MOST_WORDS) -> None:
        self._facts: OrderedDict[Word, bytes] = OrderedDict()
        self._most = most
        self._lock = Lock()

    def recall(self, examined: "Examined") -> dict[str, WordFacts]:
        """Return what is known of these words, by the keys of their terms."""
        known = {}
        with self._lock:
            for key, (_, word) in examined.items():
                if facts := self._facts.get(word):
                    known[key] = _unpack(facts)
                    self._facts.move_to_end(word)
        return known

    def learn(self, examined: "Examined", facts: Facts) -> None:
        with self._lock:
            self._facts.update((examined[key][1], _pack(known)) for key, known in facts.items())
            while len(self._facts) > self._most:
                self._facts.popitem(last=False)


@dataclass(slots=True)
class SearchSession:
    """Sends the requests of one search, with what is known of the index: `view` and `words`.

    `timeout`: the seconds that Elasticsearch may work on a search; longer is an error, because
    partial results would be a wrong answer. `sent`: the requests in order: kind, Elasticsearch's
    own time and the time until the response was read, in milliseconds, and the bodies. `figures`:
    the figures of the index at the last response, "" before.

    Exceptions of the Elasticsearch client pass through; `app.engines.elastic.translate_errors` maps
    them.
    """

    client: Elasticsearch
    index: str
    view: "IndexView"
    words: WordMemo = field(default_factory=WordMemo)
    timeout: float | None = None
    sent: list[dict[str, Any]] = field(default_factory=list)
    figures: str = ""

    @property
    def is_current(self) -> bool:
        """Whether the index still has the generation of the view."""
        return self.figures in ("", self.view.figures)

    def send(self, kind: str, *bodies: Body) -> list[Response]:
        """Send searches in one request, and return the response to each.

        Raises:
            ApiError: one of them failed, on every shard or on some.
            ConnectionTimeout: one of them took longer than `timeout`.
        """
        header = {
            "index": self.index,
            "preference": ONE_COPY,
            "allow_partial_search_results": False,
        }
        limits = {"timeout": f"{self.timeout * 1000:.0f}ms"} if self.timeout else {}
        # The first search sees what its figures say. Of many posts they take a search of their own,
        # whose result Elasticsearch keeps until the index changes.
        are_few = self.view.shards == 1 and self.view.posts <= _FEW_POSTS
        sent_bodies = [_with_figures(bodies[0]), *bodies[1:]] if are_few else bodies
        lines = [line for body in sent_bodies for line in (header, {**body, **limits})]
        lines += [] if are_few else figures_searches(self.index, self.view.shards)
        started = time.perf_counter()
        response = self.client.msearch(searches=lines, search_type=_SEARCH_TYPE)
        total_ms = round((time.perf_counter() - started) * 1000, 1)
        sent = {"kind": kind, "took_ms": response["took"], "total_ms": total_ms}
        self.sent.append({**sent, "bodies": list(bodies)})
        responses: list[Response] = responses_of(response)
        if any(part["timed_out"] for part in responses):
            raise ConnectionTimeout("Elasticsearch stopped the search at its time limit")
        if are_few:
            self.figures = read_figures([responses[0]["aggregations"]["figures"]])
        else:
            self.figures = read_figures([part["aggregations"] for part in responses[len(bodies) :]])
        return responses[: len(bodies)]

    def scores(self, body: Body) -> dict[str, dict[str, float]]:
        """Send a search, and return what each named clause added to a hit's score, by `_id`."""
        response = self.client.search(
            index=self.index,
            body=body,
            preference=ONE_COPY,
            search_type=_SEARCH_TYPE,
            include_named_queries_score=True,
            allow_partial_search_results=False,
        )
        hits = response["hits"]["hits"]
        return {hit["_id"]: hit.get("matched_queries", {}) for hit in hits}

    def explain(self, *, bodies: bool = False) -> list[dict[str, Any]]:
        """Return the requests that were sent, optionally with their bodies."""
        left_out = () if bodies else ("bodies",)
        return [
            {name: value for name, value in sent.items() if name not in left_out}
            for sent in self.sent
        ]


# -- figures ---------------------------------------------------------------------------------------

FIGURES: Body = {
    "size": 0,
    "track_total_hits": False,
    "aggs": {
        "numbers": {"stats": {"field": "_seq_no"}},
        "index": {"terms": {"field": "_index"}},
    },
}


def figures_searches(index: str, shards: int) -> list[Body]:
    """Return headers and bodies, for `_msearch`, of searches for the figures of an index."""
    return [line for header in shard_headers(index, shards) for line in (header, FIGURES)]


def shard_headers(index: str, shards: int) -> list[Body]:
    """Return the header of a search for each shard."""
    copies = [ONE_COPY] if shards == 1 else [f"_shards:{nth}|{ONE_COPY}" for nth in range(shards)]
    whole = {"index": index, "allow_partial_search_results": False}
    return [{**whole, "preference": copy} for copy in copies]


def _with_figures(body: Body) -> Body:
    figures = {"global": {}, "aggs": FIGURES["aggs"]}
    return {**body, "aggs": {**body.get("aggs", {}), "figures": figures}}


def read_figures(shards: Sequence[Mapping[str, Any]]) -> str:
    """Read the figures in the aggregations of each shard."""
    numbers = [f"{found['numbers']['count']}:{found['numbers']['sum']:.0f}" for found in shards]
    names = sorted({bucket["key"] for found in shards for bucket in found["index"]["buckets"]})
    return " ".join([",".join(names), *numbers])
