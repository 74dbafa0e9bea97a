"""Deletions, written down before they are made.

Three things need them: a build, so that what was deleted meanwhile is not in what it built; a
write, so that an older version of a deleted post does not bring it back (Elasticsearch itself
forgets a deletion after a minute); and a rollback.

A tombstone is `pending` until the deletion is through. Whoever collects tombstones takes the
pending ones whatever their age in sequence numbers, so that there is no gap between a tombstone
and its deletion into which a build's checkpoint could fall.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from elasticsearch import Elasticsearch

from indexer.catch_up import Checkpoint, hits
from indexer.records import Document, Origin
from indexer.state import ensure_state, state_index

KEPT_DAYS = 30
"""How long an older version of a deleted post is recognised as such."""

_PENDING = "5m"  # a deletion takes seconds; one that is pending for longer died with its process


@dataclass(frozen=True, slots=True)
class Tombstone:
    """A deleted document: its id, routing, and the version of the deletion (ms since 1970).

    That of a post stands for its comments, too.
    """

    id: str
    routing: str
    version: int

    def document(self) -> Document:
        """As something to delete."""
        kind = self.id.split(":", 1)[0]
        return Document(
            id=self.id,
            routing=self.routing,
            version=self.version,
            source={},
            kind="post" if kind == "post" else "comment",
            origin=Origin("tombstone"),
        )


def bury(
    client: Elasticsearch, alias: str, tombstones: Sequence[Tombstone], *, pending: bool
) -> None:
    """Write tombstones, before the deletion with `pending`, after it without."""
    index = ensure_state(client, alias)
    operations: list[dict[str, object]] = []
    for tombstone in tombstones:
        operations.append({"index": {"_id": _name(tombstone.id)}})
        operations.append(
            {
                "what": "tombstone",
                "id": tombstone.id,
                "routing": tombstone.routing,
                "version": tombstone.version,
                "pending": pending,
                "at": int(time.time() * 1000),
            }
        )
    for start in range(0, len(operations), 2000):
        answer = client.bulk(index=index, operations=operations[start : start + 2000])
        if answer["errors"]:
            raise RuntimeError(f"tombstones were refused: {answer['items'][:3]}")


def buried(client: Elasticsearch, alias: str, ids: Iterable[str]) -> dict[str, int]:
    """Document id → version of its deletion, for those of `ids` that were deleted."""
    names = [_name(id_) for id_ in ids]
    if not names:
        return {}
    answer = client.options(ignore_status=404).mget(index=state_index(alias), ids=names)
    found = [one["_source"] for one in answer.get("docs", []) if one.get("found")]
    return {source["id"]: int(source["version"]) for source in found}


def buried_since(client: Elasticsearch, alias: str, since: Checkpoint) -> Iterator[Tombstone]:
    """Tombstones written after the checkpoint of the state index, and those still pending."""
    index = ensure_state(client, alias)
    client.indices.refresh(index=index)
    (sequence,) = since.values()
    recent = {"range": {"at": {"gte": f"now-{_PENDING}"}}}
    query = {
        "bool": {
            "filter": [{"term": {"what": "tombstone"}}],
            "should": [
                {"range": {"_seq_no": {"gt": sequence}}},
                {"bool": {"filter": [{"term": {"pending": True}}, recent]}},
            ],
            "minimum_should_match": 1,
        }
    }
    for hit in hits(client, index, query=query):
        source = hit["_source"]
        yield Tombstone(source["id"], source["routing"], int(source["version"]))


def forget_old(client: Elasticsearch, alias: str) -> None:
    """Delete tombstones after `KEPT_DAYS`."""
    old = {"range": {"at": {"lt": f"now-{KEPT_DAYS}d"}}}
    client.delete_by_query(
        index=ensure_state(client, alias),
        query={"bool": {"filter": [{"term": {"what": "tombstone"}}, old]}},
        conflicts="proceed",
    )


def _name(id_: str) -> str:
    return f"gone:{id_}"
