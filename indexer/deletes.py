"""Deletions from the live index. Each is the newest there is, and takes its comments along."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from elasticsearch import Elasticsearch

from indexer.items import chunks, to_delete
from indexer.live import LIMITS, now, patiently, versions_of
from indexer.orphans import comments
from indexer.records import Document, Origin
from indexer.sender import Sender
from indexer.tombstones import Tombstone, bury

_TRIES = 5  # against others who write the same document at the same moment


def delete_post(client: Elasticsearch, alias: str, oid: str) -> tuple[bool, int]:
    """Delete a post and its comments.

    Returns:
        Whether it was there, and how many comments went with it.

    Raises:
        NotTaken: Elasticsearch did not take it in time; it may or may not be gone.
    """
    removed = 0
    was_there = False
    for _ in range(_TRIES):
        client.indices.refresh(index=alias)
        found = [*_stored(client, alias, f"post:{oid}", oid), *comments(client, alias, [oid])]
        if not found:
            break
        gone = delete(client, alias, found)
        was_there = was_there or f"post:{oid}" in gone
        removed += len(gone - {f"post:{oid}"})
    return was_there, removed


def delete_comment(client: Elasticsearch, alias: str, post_oid: str, oid: str) -> bool:
    """Delete one comment; False when there is none.

    Raises:
        NotTaken: Elasticsearch did not take it in time; it may or may not be gone.
    """
    id_ = f"comment:{post_oid}:{oid}"
    for _ in range(_TRIES):
        found = _stored(client, alias, id_, post_oid)
        if not found:
            return False
        if delete(client, alias, found):
            return True
    return False


def delete(client: Elasticsearch, alias: str, documents: Sequence[Document]) -> set[str]:
    """Delete documents as they were found; ids of those that nobody changed meanwhile."""
    moment = now()
    doomed = [
        replace(document, version=max(moment, document.version + 1)) for document in documents
    ]
    stones = [Tombstone(one.id, one.routing, one.version) for one in doomed]
    bury(client, alias, stones, pending=True)
    sender = Sender(client, alias, LIMITS)
    gone = {
        outcome.item.id
        for chunk in chunks(map(to_delete, doomed), LIMITS)
        for outcome in patiently(client, alias, sender, chunk)
        # One not found was there a moment ago: a build that read its tombstone was faster.
        if outcome.accepted
    }
    bury(client, alias, stones, pending=False)
    return gone


def _stored(client: Elasticsearch, alias: str, id_: str, routing: str) -> list[Document]:
    kind: Literal["post", "comment"] = "post" if id_.startswith("post:") else "comment"
    wanted = Document(id_, routing, 0, {}, kind, Origin(alias))
    versions = versions_of(client, alias, [wanted])
    return [replace(wanted, version=version) for version in versions.values()]
