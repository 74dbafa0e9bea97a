"""What new rules would change: an index with them beside the live one, and the same searches."""

import uuid
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from elasticsearch import Elasticsearch
from elasticsearch.helpers import bulk
from werkzeug.datastructures import MultiDict

from analyzers.lint.scratch_index import remove_orphans
from analyzers.rules import RuleSet
from app.errors import BadRequest
from app.search import search
from app.search.request import MAX_SIZE, SearchRequest
from app.settings import Settings
from indexer.scan import stored_documents
from indexer.schema import index_body

SHOWN = 10
"""A move is told when it begins or ends among the first hits, those of the first page."""


@dataclass(frozen=True, slots=True)
class Move:
    """A hit and its ranks, from 1; None where it is not among the first 50."""

    title: str
    oid: str
    before: int | None
    after: int | None


@dataclass(frozen=True, slots=True)
class Change:
    """How the answer to one search would change; `before` and `after` count all hits."""

    query: str
    before: int
    after: int
    gained: tuple[Move, ...]
    lost: tuple[Move, ...]
    moved: tuple[Move, ...]

    def __bool__(self) -> bool:
        return bool(self.gained or self.lost or self.moved or self.before != self.after)


@contextmanager
def beside(client: Elasticsearch, alias: str, live: str, rules: RuleSet) -> Iterator[str]:
    """An index with other rules and the live one's posts, gone afterwards; the live one is read."""
    remove_orphans(client, f"{alias}-preview-*")
    index = f"{alias}-preview-{uuid.uuid4().hex[:12]}"
    body = index_body(rules, shards=_shards(client, live), replicas=0)
    body["settings"] |= {"hidden": True, "refresh_interval": "-1"}
    try:
        client.indices.create(index=index, **body)
        client.indices.refresh(index=live)
        actions = (
            {
                "_index": index,
                "_id": document.id,
                "routing": document.routing,
                "_source": document.source,
            }
            for document in stored_documents(client, live)
        )
        bulk(client, actions, chunk_size=500)
        client.indices.refresh(index=index)
        yield index
    finally:
        client.options(ignore_status=404).indices.delete(index=index)


def changes(
    client: Elasticsearch, live: str, other: str, queries: Iterable[str], settings: Settings
) -> Iterator[Change]:
    """For every search how its answer differs between two indices, searches nobody may send left
    out."""
    for query in queries:
        try:
            request = SearchRequest.parse(MultiDict({"q": query, "size": str(MAX_SIZE)}))
        except BadRequest:
            continue
        before, after = (search(client, index, request, settings).body for index in (live, other))
        yield compare(query, before, after)


def compare(query: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Change:
    """The difference of two answers."""
    old, new = _ranked(before["hits"]), _ranked(after["hits"])
    found = {
        key: Move(
            title=hit["title"],
            oid=hit["oid"],
            before=old[key][0] if key in old else None,
            after=new[key][0] if key in new else None,
        )
        for key, (_, hit) in (old | new).items()
    }
    both = sorted(
        (move for move in found.values() if move.before and move.after),
        key=lambda move: move.before or 0,
    )
    resting = _longest_rising([move.after or 0 for move in both])
    return Change(
        query,
        before["count"],
        after["count"],
        gained=_by_rank(move for move in found.values() if move.before is None),
        lost=_by_rank(move for move in found.values() if move.after is None),
        moved=_by_rank(
            move
            for move in both
            if move.after not in resting and min(move.before or 0, move.after or 0) <= SHOWN
        ),
    )


def _ranked(hits: Sequence[Mapping[str, Any]]) -> dict[tuple[Any, ...], tuple[int, Any]]:
    return {
        (hit.get("kind"), hit["oid"], hit.get("comment_oid")): (rank, hit)
        for rank, hit in enumerate(hits, 1)
    }


def _by_rank(moves: Iterable[Move]) -> tuple[Move, ...]:
    return tuple(sorted(moves, key=lambda move: (move.after or move.before or 0, move.oid)))


def _longest_rising(ranks: Sequence[int]) -> set[int]:
    """The most ranks that are in order: those hits stay, and the others have moved around them."""
    ends: list[int] = []  # ends[n]: the smallest end of a rising row of n + 1
    former: dict[int, int | None] = {}
    for rank in ranks:
        at = bisect_left(ends, rank)
        former[rank] = ends[at - 1] if at else None
        ends[at : at + 1] = [rank]
    resting: set[int] = set()
    step = ends[-1] if ends else None
    while step is not None:
        resting.add(step)
        step = former[step]
    return resting


def _shards(client: Elasticsearch, index: str) -> int:
    """Scores depend on how many shards there are."""
    found = client.indices.get_settings(index=index, name="index.number_of_shards")
    return int(found[index]["settings"]["index"]["number_of_shards"])
