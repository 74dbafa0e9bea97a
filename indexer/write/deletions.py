"""The record of deletions, written before the documents are deleted.

It is needed three times: by a build, so that what was deleted meanwhile is not in the new
generation; by a write, so that an older version of a deleted post does not restore it
(Elasticsearch itself forgets a deletion after a minute); and by a rollback.

A deletion is `pending` until it is complete. `deletions_since` returns pending ones whatever their
sequence number, so that a build's checkpoint cannot fall between a record and its deletion. A build
replays a pending one only if the document is gone from the live index: its process may have died.

A record has the version of its deletion as its own (`external_gte`), so that of two processes that
delete the same document, the one with the lower version neither replaces nor removes the record of
the other.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from elasticsearch import Elasticsearch

from indexer.bulk import (
    BulkLimits,
    BulkTimeout,
    Operation,
    chunks,
    delete_operation,
    index_operation,
    send_chunk,
)
from indexer.records import Document, Origin, batches
from indexer.retry import Retry
from indexer.scan import Checkpoint, docs_of, scan
from indexer.state import ensure_state, state_index

KEPT_DAYS = 30
"""How long an older version of a deleted post is recognised as such."""

_LIMITS = BulkLimits(retry=Retry(total=10.0, longest_pause=1.0), timeout=20.0)


@dataclass(frozen=True, slots=True)
class Deletion:
    """A deleted document: its id, routing, and the version of the deletion (ms since 1970).

    The deletion of a post includes its comments. `pending`: it may not have been made.
    """

    id: str
    routing: str
    version: int
    pending: bool = False

    def document(self) -> Document:
        """The document to delete, without a source."""
        return Document(self.id, self.routing, self.version, {}, Origin("deletions"))


def record_deletions(
    client: Elasticsearch, alias: str, deletions: Sequence[Deletion], *, pending: bool
) -> None:
    """Record deletions: before they are made with `pending`, afterwards without.

    The record of a deletion with a higher version stays as it is.
    """
    at = int(time.time() * 1000)
    records = [_record(deletion, pending=pending, at=at) for deletion in deletions]
    _send(client, alias, map(index_operation, records))


def forget_deletions(client: Elasticsearch, alias: str, deletions: Sequence[Deletion]) -> None:
    """Remove the records of deletions that were not made, because the document has changed."""
    _send(client, alias, map(delete_operation, map(_record, deletions)))


def _record(deletion: Deletion, **values: Any) -> Document:
    """The record of a deletion, with further values."""
    id_, version = _record_id(deletion.id), deletion.version
    source = {"what": "deletion", "id": deletion.id, "routing": deletion.routing, **values}
    source["version"] = version
    return Document(id_, id_, version, source, Origin("deletions"))


def _send(client: Elasticsearch, alias: str, operations: Iterable[Operation]) -> None:
    for chunk in chunks(operations, _LIMITS):
        index = ensure_state(client, alias)
        for outcome in send_chunk(client, index, chunk, _LIMITS, require_alias=False):
            # A conflict: there is a record with a higher version.
            if outcome.refusal and not outcome.refusal.version_conflict:
                reason, remedy = outcome.refusal.reason, outcome.refusal.remedy
                raise BulkTimeout(f"A deletion cannot be recorded: {reason}.", remedy)


def deletion_versions(client: Elasticsearch, alias: str, ids: Iterable[str]) -> dict[str, int]:
    """Document id to the version of its deletion, for those of `ids` that were deleted."""
    record_ids = [_record_id(id_) for id_ in ids]
    if not record_ids:
        return {}
    response = client.options(ignore_status=404).mget(index=state_index(alias), ids=record_ids)
    records = [doc["_source"] for doc in docs_of(response) if doc.get("found")]
    return {source["id"]: int(source["version"]) for source in records}


def deletions_since(client: Elasticsearch, alias: str, since: Checkpoint) -> Iterator[Deletion]:
    """Deletions recorded after a checkpoint of the state index, and pending ones."""
    index = ensure_state(client, alias)
    client.indices.refresh(index=index)
    (sequence,) = since.values()
    query = {
        "bool": {
            "filter": [{"term": {"what": "deletion"}}],
            "should": [
                {"range": {"_seq_no": {"gt": sequence}}},
                {"term": {"pending": True}},
            ],
            "minimum_should_match": 1,
        }
    }
    for hit in scan(client, index, query=query):
        source = hit["_source"]
        yield Deletion(source["id"], source["routing"], int(source["version"]), source["pending"])


def forget_old_deletions(client: Elasticsearch, alias: str) -> None:
    """Remove records older than `KEPT_DAYS`; take over those of schema 1."""
    index = ensure_state(client, alias)
    _take_over_tombstones(client, alias, index)
    old = {"range": {"at": {"lt": f"now-{KEPT_DAYS}d"}}}
    client.delete_by_query(
        index=index,
        query={"bool": {"filter": [{"term": {"what": "deletion"}}, old]}},
        conflicts="proceed",
    )


def _take_over_tombstones(client: Elasticsearch, alias: str, index: str) -> None:
    """Make records of those that the version with schema 1 wrote, as `gone:ID`."""
    query = {"term": {"what": "tombstone"}}
    for batch in batches(scan(client, index, query=query), _LIMITS.chunk_documents):
        former = [hit["_source"] for hit in batch]
        deletions = [
            Deletion(source["id"], source["routing"], int(source["version"])) for source in former
        ]
        record_deletions(client, alias, deletions, pending=False)
        ids = {"ids": {"values": [hit["_id"] for hit in batch]}}
        client.delete_by_query(index=index, query=ids, conflicts="proceed", refresh=True)


def _record_id(id_: str) -> str:
    return f"deletion:{id_}"
