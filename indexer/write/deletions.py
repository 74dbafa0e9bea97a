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
from typing import Any, cast

from elasticsearch import ApiError, Elasticsearch, TransportError

from indexer.bulk.refusals import RETRYABLE, Refusal, refusal_from
from indexer.bulk.sender import BulkTimeout, retryable_refusal
from indexer.records import Document, Origin
from indexer.scan import Checkpoint, docs_of, scan
from indexer.state import ensure_state, state_index

KEPT_DAYS = 30
"""How long an older version of a deleted post is recognised as such."""

_CHUNK = 1_000  # deletions in one bulk request


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
        return Document(
            id=self.id,
            routing=self.routing,
            version=self.version,
            source={},
            kind="post" if self.id.startswith("post:") else "comment",
            origin=Origin("deletions"),
        )


def record_deletions(
    client: Elasticsearch, alias: str, deletions: Sequence[Deletion], *, pending: bool
) -> None:
    """Record deletions: before they are made with `pending`, afterwards without.

    The record of a deletion with a higher version stays as it is.
    """
    at = int(time.time() * 1000)
    _bulk(
        client,
        alias,
        (
            {
                **_record(deletion),
                "_source": {
                    "what": "deletion",
                    "id": deletion.id,
                    "routing": deletion.routing,
                    "version": deletion.version,
                    "pending": pending,
                    "at": at,
                },
            }
            for deletion in deletions
        ),
    )


def forget_deletions(client: Elasticsearch, alias: str, deletions: Iterable[Deletion]) -> None:
    """Remove the records of deletions that were not made, because the document has changed."""
    _bulk(client, alias, ({"_op_type": "delete", **_record(one)} for one in deletions))


def _record(deletion: Deletion) -> dict[str, object]:
    return {
        "_id": _state_id(deletion.id),
        "version": deletion.version,
        "version_type": "external_gte",
    }


def _bulk(client: Elasticsearch, alias: str, actions: Iterable[dict[str, object]]) -> None:
    # Imported here: it loads anyio, and the service needs it for nothing else.
    from elasticsearch import helpers

    try:
        _, errors = helpers.bulk(
            client,
            actions,
            index=ensure_state(client, alias),
            chunk_size=_CHUNK,
            max_retries=6,
            initial_backoff=0.1,
            max_backoff=1,
            retry_on_status=sorted(RETRYABLE),
            raise_on_error=False,
        )
    except (ApiError, TransportError) as error:
        raise _not_recorded(retryable_refusal(error)) from error
    for item in cast(list[dict[str, Any]], errors):
        (entry,) = item.values()
        # 404: it is forgotten already; 409: there is a record with a higher version.
        if entry["status"] not in {404, 409}:
            raise _not_recorded(refusal_from(entry))


def _not_recorded(refusal: Refusal) -> BulkTimeout:
    message = f"A deletion cannot be recorded: {refusal.reason}."
    return BulkTimeout(message, refusal.remedy, refusal.write_blocked)


def deletion_versions(client: Elasticsearch, alias: str, ids: Iterable[str]) -> dict[str, int]:
    """Document id to the version of its deletion, for those of `ids` that were deleted."""
    state_ids = [_state_id(id_) for id_ in ids]
    if not state_ids:
        return {}
    response = client.options(ignore_status=404).mget(index=state_index(alias), ids=state_ids)
    found = [doc["_source"] for doc in docs_of(response) if doc.get("found")]
    return {source["id"]: int(source["version"]) for source in found}


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
    """Remove records older than `KEPT_DAYS`."""
    old = {"range": {"at": {"lt": f"now-{KEPT_DAYS}d"}}}
    client.delete_by_query(
        index=ensure_state(client, alias),
        query={"bool": {"filter": [{"term": {"what": "deletion"}}, old]}},
        conflicts="proceed",
    )


def _state_id(id_: str) -> str:
    return f"deletion:{id_}"
