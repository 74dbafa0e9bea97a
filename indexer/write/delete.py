"""Deletes posts and comments from the live index; a deletion always wins over older versions."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Literal

from elasticsearch import Elasticsearch

from indexer.bulk.operations import chunks, delete_operation
from indexer.bulk.sender import Outcome, Sender
from indexer.errors import IndexingError
from indexer.generations import require_schema
from indexer.records import Document, Origin, comment_id, post_id
from indexer.scan import child_comments, current_versions
from indexer.write.deletions import (
    Deletion,
    deletion_versions,
    forget_deletions,
    record_deletions,
)
from indexer.write.live_index import LIMITS, now, send_to_live, update_live_comments

_BATCH = 1_000  # documents
_ATTEMPTS = 5  # when others write the same document at the same time


def delete_post(client: Elasticsearch, alias: str, oid: str) -> tuple[bool, int]:
    """Delete a post and its comments.

    Returns:
        Whether the post existed, and the number of comments deleted with it.

    Raises:
        BulkTimeout: Elasticsearch did not accept it in time; it may have been deleted.
        IndexingError: it was not deleted, for example because others keep writing to it.
        OtherSchema: the index was built by another version.
    """
    require_schema(client, alias)
    comments = 0
    existed = False
    for _ in range(_ATTEMPTS):
        client.indices.refresh(index=alias)
        found = [
            *_stored(client, alias, post_id(oid), oid),
            *child_comments(client, alias, [oid]),
        ]
        if not found:
            break
        deleted = delete_documents(client, alias, found)
        existed = existed or post_id(oid) in deleted
        comments += len(deleted - {post_id(oid)})
    else:
        if not existed:
            raise _kept_changing()
    return existed, comments


def delete_comment(client: Elasticsearch, alias: str, post_oid: str, oid: str) -> bool:
    """Delete one comment; False if it does not exist.

    Raises:
        BulkTimeout: Elasticsearch did not accept it in time; it may have been deleted.
        IndexingError: it was not deleted, for example because others keep writing to it.
        OtherSchema: the index was built by another version.
    """
    require_schema(client, alias)
    id_ = comment_id(post_oid, oid)
    for _ in range(_ATTEMPTS):
        found = _stored(client, alias, id_, post_oid)
        if not found or delete_documents(client, alias, found):
            # Also if it is gone: the process that deleted it may have been killed before it updated
            # the post.
            update_live_comments(client, alias, [post_oid])
            return bool(found)
    raise _kept_changing()


def delete_comments(client: Elasticsearch, alias: str, post_oids: Iterable[str]) -> int:
    """Delete all comments of posts that do not exist, as of the last refresh; how many."""
    comments = child_comments(client, alias, post_oids)
    deleted = 0
    while batch := list(islice(comments, _BATCH)):
        deleted += len(delete_documents(client, alias, batch))
    return deleted


def delete_documents(client: Elasticsearch, alias: str, documents: Sequence[Document]) -> set[str]:
    """Delete documents in the versions given; returns the ids that nobody changed meanwhile.

    The caller updates the comments of their posts.
    """
    moment = now()
    # Above an earlier deletion, too: its record would stay in place of this one, and a build that
    # began after it would not replay this deletion.
    earlier = deletion_versions(client, alias, [document.id for document in documents])
    to_delete = [
        replace(one, version=max(moment, one.version + 1, earlier.get(one.id, 0) + 1))
        for one in documents
    ]
    deletions = [Deletion(one.id, one.routing, one.version) for one in to_delete]
    record_deletions(client, alias, deletions, pending=True)
    sender = Sender(client, alias, LIMITS)
    deleted = {
        outcome.operation.id
        for chunk in chunks(map(delete_operation, to_delete), LIMITS)
        for outcome in send_to_live(client, alias, sender, chunk)
        # "not_found" counts: a build has replayed the recorded deletion already.
        if _made(outcome)
    }
    complete = [one for one in deletions if one.id in deleted]
    record_deletions(client, alias, complete, pending=False)
    forget_deletions(client, alias, [one for one in deletions if one.id not in deleted])
    return deleted


def _kept_changing() -> IndexingError:
    return IndexingError("It was not deleted: others keep writing to it.", "Send it again.")


def _made(outcome: Outcome) -> bool:
    """Whether the document was deleted; False if it has a newer version.

    Raises:
        IndexingError: Elasticsearch refuses deletions, for example because its disk is full.
    """
    refusal = outcome.refusal
    if refusal and not refusal.version_conflict:
        raise IndexingError(f"It was not deleted: {refusal.reason}.", refusal.remedy)
    return outcome.accepted


def _stored(client: Elasticsearch, alias: str, id_: str, routing: str) -> list[Document]:
    kind: Literal["post", "comment"] = "post" if id_.startswith("post:") else "comment"
    document = Document(id_, routing, 0, {}, kind, Origin(alias))
    versions = current_versions(client, alias, [document])
    return [replace(document, version=version) for version in versions.values()]
