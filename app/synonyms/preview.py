"""Compares the results of searches before and after a change of rules, on two indices."""

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from elasticsearch import Elasticsearch
from werkzeug.datastructures import MultiDict

from analyzers.languages import Language
from analyzers.rules.compile import RuleSet
from analyzers.scratch_index import delete_stale_indices, mark_as_scratch
from app.errors import BadRequest
from app.search import search
from app.search.request import MAX_SIZE, SearchRequest
from app.settings import Settings
from indexer.build.builder import copy_documents
from indexer.scan import stored_documents
from indexer.schema import index_body

FIRST_PAGE = 10
"""A move is reported when it starts or ends on the first page."""


@dataclass(frozen=True, slots=True)
class Move:
    """A hit and its ranks, from 1; None where it is not among the first `MAX_SIZE`."""

    title: str
    oid: str
    before: int | None
    after: int | None


@dataclass(frozen=True, slots=True)
class Change:
    """How the results of one search change; `before` and `after` are the numbers of all hits."""

    query: str
    before: int
    after: int
    gained: tuple[Move, ...]
    lost: tuple[Move, ...]
    moved: tuple[Move, ...]

    def __bool__(self) -> bool:
        return bool(self.gained or self.lost or self.moved or self.before != self.after)


@contextmanager
def preview_index(
    client: Elasticsearch, alias: str, live: str, rules: RuleSet, language: Language
) -> Iterator[str]:
    """A temporary index with other rules and the posts of the live index; gives its name."""
    delete_stale_indices(client, f"{alias}-preview-*")
    index = f"{alias}-preview-{uuid.uuid4().hex[:12]}"
    # As many shards as the live index has: scores depend on it.
    body = index_body(rules, shards=_shards(client, live), replicas=0, language=language)
    body["settings"] |= {"hidden": True, "refresh_interval": "-1"}
    try:
        client.indices.create(index=index, **mark_as_scratch(body))
        client.indices.refresh(index=live)
        copy_documents(client, index, stored_documents(client, live), None, require_alias=False)
        client.indices.refresh(index=index)
        yield index
    finally:
        client.options(ignore_status=404).indices.delete(index=index)


def compare_searches(
    client: Elasticsearch, live: str, other: str, queries: Iterable[str], settings: Settings
) -> Iterator[Change]:
    """The change of each search between two indices; invalid searches are left out."""
    for query in queries:
        try:
            request = SearchRequest.parse(MultiDict({"q": query, "size": str(MAX_SIZE)}))
        except BadRequest:
            continue
        before, after = (search(client, index, request, settings).body for index in (live, other))
        yield compare(query, before, after)


def compare(query: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Change:
    """The difference between two responses to a search.

    `moved` has the hits that explain the new order: those that only make room are not moved.
    """
    old, new = _ranked(before["hits"]), _ranked(after["hits"])
    moves = {
        key: Move(
            title=hit["title"],
            oid=hit["oid"],
            before=old[key][0] if key in old else None,
            after=new[key][0] if key in new else None,
        )
        for key, (_, hit) in (old | new).items()
    }
    ours, theirs = [key for key in old if key in new], [key for key in new if key in old]
    blocks = SequenceMatcher(None, ours, theirs, autojunk=False).get_matching_blocks()
    in_order = {key for block in blocks for key in ours[block.a : block.a + block.size]}
    return Change(
        query,
        before["count"],
        after["count"],
        gained=_by_rank(move for move in moves.values() if move.before is None),
        lost=_by_rank(move for move in moves.values() if move.after is None),
        moved=_by_rank(
            moves[key]
            for key in ours
            if key not in in_order and min(old[key][0], new[key][0]) <= FIRST_PAGE
        ),
    )


def _ranked(hits: Sequence[Mapping[str, Any]]) -> dict[tuple[Any, ...], tuple[int, Any]]:
    return {
        (hit["kind"], hit["oid"], hit.get("comment", {}).get("oid")): (rank, hit)
        for rank, hit in enumerate(hits, 1)
    }


def _by_rank(moves: Iterable[Move]) -> tuple[Move, ...]:
    return tuple(sorted(moves, key=lambda move: (move.after or move.before or 0, move.oid)))


def _shards(client: Elasticsearch, index: str) -> int:
    settings = client.indices.get_settings(index=index, name="index.number_of_shards")
    return int(settings[index]["settings"]["index"]["number_of_shards"])
