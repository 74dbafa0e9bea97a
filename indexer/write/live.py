"""Single writes and deletions in the live index, as they come over HTTP.

A write with a modification date has that date as its version, and never overwrites a newer version
or a later deletion. A write without one always wins, whatever the clocks of different machines say.
A deletion always wins over older versions.

A client waits for each of these, so the caller limits the time of the whole (`time_limit`).
"""

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from elasticsearch import ApiError, Elasticsearch, TransportError

from indexer import generations
from indexer.bulk import (
    BulkLimits,
    BulkTimeout,
    Outcome,
    chunks,
    delete_operation,
    index_operation,
    send_chunk,
)
from indexer.errors import IndexingError, Locked, NoGeneration
from indexer.generations import require_schema
from indexer.lock import Lock
from indexer.records import Document, Origin, batches, comment_id, post_id
from indexer.refusals import NO_INDEX
from indexer.retry import Retry, is_temporary, remaining, time_limit
from indexer.scan import child_comments, current_versions
from indexer.write.comments import based_on_stored, update_comments
from indexer.write.deletions import (
    Deletion,
    deletion_versions,
    forget_deletions,
    record_deletions,
)
from indexer.write.links import slugs_of, update_link_texts

_LIMITS = BulkLimits(retry=Retry(total=20.0, longest_pause=0.25), timeout=20.0)
_CONFLICTS = Retry(total=5.0, first_pause=0.005, longest_pause=0.1)
"""For a document that is written by several clients at the same time."""
_BATCH = 1_000  # documents
_RESERVED = 8.0
"""Seconds of the time limit that are left for the field `comments` of the posts that were sent."""


@dataclass(frozen=True, slots=True)
class Write:
    """A document to write. `newest`: it came without a modification date."""

    document: Document
    newest: bool


@dataclass(frozen=True, slots=True)
class Written:
    """The result of one write: an HTTP status, with reason and remedy if it was refused."""

    id: str
    status: int
    result: str
    reason: str = ""
    remedy: str = ""


def now() -> int:
    """Milliseconds since 1970."""
    return int(time.time() * 1000)


def put(client: Elasticsearch, alias: str, writes: Sequence[Write]) -> list[Written]:
    """Write documents in the order given; returns one result for each.

    What Elasticsearch did not answer, or what was not sent before the time was over, has status
    503.

    Raises:
        NoGeneration: there is no live index.
        OtherSchema: it was built by another version.
    """
    require_schema(client, alias)
    results: dict[int, Written] = {}
    to_send: dict[int, Write] = {}
    writes = [_marked_over_http(write) for write in writes]
    deleted = deletion_versions(client, alias, {write.document.id for write in writes})
    # What was written again since its deletion is compared with the version in the index.
    present = current_versions(
        client, alias, [write.document for write in writes if write.document.id in deleted]
    )
    older = "it was deleted after this modification date"
    remedy = "To restore it, send a later `modified`, or none."
    for number, write in enumerate(writes):
        id_ = write.document.id
        deleted_version = deleted.get(id_, -1)
        if write.newest:
            to_send[number] = _with_version(write, max(now(), deleted_version + 1))
        elif write.document.version < deleted_version and id_ not in present:
            results[number] = Written(id_, 409, "older", older, remedy)
        else:
            to_send[number] = write
    without_post = _without_post(client, alias, [write.document for write in to_send.values()])
    for number, write in list(to_send.items()):
        if write.document.id in without_post:
            results[number] = _no_post(to_send.pop(number).document)
    posts = [write.document.routing for write in to_send.values() if write.document.kind == "post"]
    slugs = slugs_of(client, alias, posts)
    sent = _send_all(client, alias, to_send)
    if sent and all(result.reason == NO_INDEX.reason for result in sent.values()):
        raise NoGeneration("There is no index to write to yet.", NO_INDEX.remedy)
    results |= sent | _update_posts(client, alias, to_send, sent, slugs)
    return [results[number] for number in range(len(writes))]


def delete_post(client: Elasticsearch, alias: str, oid: str) -> tuple[bool, int]:
    """Delete a post and its comments.

    Returns:
        Whether the post existed, and the number of comments deleted with it.

    Raises:
        BulkTimeout: Elasticsearch did not accept it in time; it may have been deleted.
        IndexingError: it was not deleted, for example because it is written all the time.
        OtherSchema: the index was built by another version.
    """
    require_schema(client, alias)

    def stored() -> list[Document]:
        client.indices.refresh(index=alias)
        post = _stored(client, alias, post_id(oid), oid)
        return [*post, *child_comments(client, alias, [oid])]

    slugs = slugs_of(client, alias, [oid])
    deleted = _delete(client, alias, post_id(oid), stored)
    update_live_link_texts(client, alias, slugs)
    return post_id(oid) in deleted, len(deleted - {post_id(oid)})


def delete_comment(client: Elasticsearch, alias: str, post_oid: str, oid: str) -> bool:
    """Delete one comment; False if it does not exist.

    Raises:
        As `delete_post`.
    """
    require_schema(client, alias)
    id_ = comment_id(post_oid, oid)
    deleted = _delete(client, alias, id_, lambda: _stored(client, alias, id_, post_oid))
    # Also if it is gone: the process that deleted it may have been killed before it updated the
    # post.
    update_live_comments(client, alias, [post_oid])
    return bool(deleted)


def _delete(
    client: Elasticsearch, alias: str, id_: str, stored: Callable[[], Sequence[Document]]
) -> set[str]:
    """Delete documents, also in versions that others write meanwhile, until there are none.

    Args:
        id_: of the document that has to be among them.
        stored: returns the documents as they are now.

    Returns:
        The ids of those that were deleted.

    Raises:
        IndexingError: others write it all the time.
    """
    deleted: set[str] = set()
    for _ in _CONFLICTS.attempts():
        documents = stored()
        if not documents:
            return deleted
        deleted |= delete_documents(client, alias, documents)
    if id_ not in deleted:
        raise IndexingError("It was not deleted: it is written all the time.", "Send it again.")
    return deleted


def delete_comments(client: Elasticsearch, alias: str, post_oids: Iterable[str]) -> int:
    """Delete all comments of posts that do not exist, as of the last refresh; how many."""
    comments = child_comments(client, alias, post_oids)
    return sum(len(delete_documents(client, alias, batch)) for batch in batches(comments, _BATCH))


def delete_documents(client: Elasticsearch, alias: str, documents: Sequence[Document]) -> set[str]:
    """Delete documents in the versions given; returns the ids that nobody changed meanwhile.

    The caller updates the comments of their posts.
    """
    moment = now()
    # Above an earlier deletion, too: its record would stay in place of this one, and a build that
    # began after it would not replay this deletion.
    earlier = deletion_versions(client, alias, [document.id for document in documents])
    to_delete = [
        replace(
            document, version=max(moment, document.version + 1, earlier.get(document.id, 0) + 1)
        )
        for document in documents
    ]
    deletions = [
        Deletion(document.id, document.routing, document.version) for document in to_delete
    ]
    record_deletions(client, alias, deletions, pending=True)
    deleted: set[str] = set()
    for chunk in chunks(map(delete_operation, to_delete), _LIMITS):
        for outcome in send_chunk(client, alias, chunk, _LIMITS, unblock=_unblock(client, alias)):
            # "not_found" counts: a build has replayed the recorded deletion already.
            if outcome.accepted:
                deleted.add(outcome.operation.id)
            elif outcome.refusal and not outcome.refusal.version_conflict:
                reason, remedy = outcome.refusal.reason, outcome.refusal.remedy
                raise IndexingError(f"It was not deleted: {reason}.", remedy)
    complete = [deletion for deletion in deletions if deletion.id in deleted]
    record_deletions(client, alias, complete, pending=False)
    changed = [deletion for deletion in deletions if deletion.id not in deleted]
    forget_deletions(client, alias, changed)
    return deleted


def update_live_comments(client: Elasticsearch, alias: str, post_oids: Iterable[str]) -> set[str]:
    """Update the field `comments` of posts in the live index; returns the oids without a post.

    Raises:
        BulkTimeout: Elasticsearch did not accept it in time.
    """
    return update_comments(client, alias, post_oids, _LIMITS, _unblock(client, alias))


def update_live_link_texts(
    client: Elasticsearch, alias: str, slugs: Collection[str] | None
) -> None:
    """Update the field `link_texts` of posts with these slugs in the live index; None: of all.

    Raises:
        BulkTimeout: Elasticsearch did not accept it in time.
    """
    update_link_texts(client, alias, slugs, _LIMITS, _unblock(client, alias))


def clear_stale_write_block(client: Elasticsearch, alias: str) -> None:
    """Allow writes to the live index again if a build was killed after blocking them."""
    try:
        with Lock(client, alias, "clearing a stale write block"):
            generations.recover(client, alias)
    except Locked:
        # The build is alive and will allow writes itself.
        return


def _unblock(client: Elasticsearch, alias: str) -> "partial[None]":
    return partial(clear_stale_write_block, client, alias)


def _send_all(client: Elasticsearch, alias: str, writes: Mapping[int, Write]) -> dict[int, Written]:
    """Send all, and again those whose version conflicts with one that they may replace."""
    results: dict[int, Written] = {}
    pending = dict(writes)
    with time_limit(max(remaining() - _RESERVED, remaining() / 2)):
        for _ in _CONFLICTS.attempts():
            results |= _send(client, alias, pending)
            conflicting = {
                number: write for number, write in pending.items() if results[number].status == 409
            }
            try:
                pending = _to_repeat(client, alias, conflicting)
            except (ApiError, TransportError) as error:
                if not is_temporary(error):
                    raise
                return results | {
                    number: _unknown(write.document, error) for number, write in conflicting.items()
                }
            if not pending:
                break
    return results


def _send(client: Elasticsearch, alias: str, writes: Mapping[int, Write]) -> dict[int, Written]:
    """The result of each write, until the time is over or Elasticsearch does not respond."""
    results: dict[int, Written] = {}
    unblock = _unblock(client, alias)
    failure: Exception | None = None
    for numbers in batches(writes, _LIMITS.chunk_documents):
        if failure or remaining() <= 0:
            break
        try:
            documents = [writes[number].document for number in numbers]
            operations = map(index_operation, based_on_stored(client, alias, documents))
            unanswered = iter(numbers)
            for chunk in chunks(operations, _LIMITS):
                for outcome in send_chunk(client, alias, chunk, _LIMITS, unblock=unblock):
                    results[next(unanswered)] = _written(outcome)
        except (BulkTimeout, ApiError, TransportError) as error:
            # Without a result nothing was written.
            if not isinstance(error, BulkTimeout) and not (results and is_temporary(error)):
                raise
            failure = error
        for number in numbers:
            if failure and number not in results:
                results[number] = _unknown(writes[number].document, failure)
    not_sent = "it was not sent to Elasticsearch before the time of the request was over"
    for number in writes.keys() - results.keys():
        id_ = writes[number].document.id
        results[number] = Written(id_, 503, "not sent", not_sent, "Send it again.")
    return results


def _update_posts(
    client: Elasticsearch,
    alias: str,
    writes: Mapping[int, Write],
    sent: Mapping[int, Written],
    slugs: set[str],
) -> dict[int, Written]:
    """Update the field `comments` of the posts written, and the field `link_texts` of those that
    they link to; the results that differ after that.

    A comment whose post was deleted meanwhile is deleted, too.

    Args:
        slugs: of the posts and their links before they were written.
    """
    # A new post has no other comments than those that were sent with it.
    numbers = {
        number: write.document
        for number, write in writes.items()
        if (write.document.kind == "comment" or sent[number].status in {200, 503})
        and sent[number].result != "not sent"
    }
    accepted = {
        number: document for number, document in numbers.items() if sent[number].status < 300
    }
    try:
        oids = [document.routing for document in numbers.values()]
        without_post = update_live_comments(client, alias, oids)
        orphans = {
            number: document
            for number, document in accepted.items()
            if document.kind == "comment" and document.routing in without_post
        }
        stored = current_versions(client, alias, list(orphans.values()))
        to_delete = [
            replace(document, version=stored[document.id])
            for document in orphans.values()
            if document.id in stored
        ]
        if to_delete:
            delete_documents(client, alias, to_delete)
        written = [
            write.document.routing
            for number, write in writes.items()
            if write.document.kind == "post" and sent[number].status < 300
        ]
        if written:
            update_live_link_texts(client, alias, slugs | slugs_of(client, alias, written))
    except (IndexingError, ApiError, TransportError) as error:
        return {number: _unknown(document, error) for number, document in accepted.items()}
    return {number: _no_post(document) for number, document in orphans.items()}


def _to_repeat(
    client: Elasticsearch, alias: str, conflicting: Mapping[int, Write]
) -> dict[int, Write]:
    """The writes that are not older than what is stored, with a version that may succeed."""
    documents = [write.document for write in conflicting.values()]
    stored = current_versions(client, alias, documents)
    repeated = {}
    for (number, write), document in zip(
        conflicting.items(), based_on_stored(client, alias, documents), strict=True
    ):
        version = stored.get(document.id, document.version)
        if write.newest:
            # The stored version is in the future, or another machine's clock is ahead of ours.
            repeated[number] = _with_version(write, max(now(), version + 1))
        elif document.version >= version:
            # Only the comments of the post were updated since.
            repeated[number] = write
    return repeated


def _stored(client: Elasticsearch, alias: str, id_: str, routing: str) -> list[Document]:
    document = Document(id_, routing, 0, {}, Origin(alias))
    versions = current_versions(client, alias, [document])
    return [replace(document, version=version) for version in versions.values()]


def _without_post(client: Elasticsearch, alias: str, documents: Sequence[Document]) -> set[str]:
    """Ids of comments whose post is neither in the index nor in the same request."""
    in_request = {document.routing for document in documents if document.kind == "post"}
    comments = [
        document
        for document in documents
        if document.kind == "comment" and document.routing not in in_request
    ]
    posts = [replace(comment, id=post_id(comment.routing)) for comment in comments]
    present = current_versions(client, alias, posts)
    return {comment.id for comment in comments if post_id(comment.routing) not in present}


def _marked_over_http(write: Write) -> Write:
    source = {**write.document.source, "over_http": True}
    return replace(write, document=replace(write.document, source=source))


def _with_version(write: Write, version: int) -> Write:
    return replace(write, document=replace(write.document, version=version))


def _written(outcome: Outcome) -> Written:
    refusal = outcome.refusal
    if refusal is None:
        return Written(outcome.operation.id, outcome.status, outcome.result)
    result = "older" if refusal.version_conflict else outcome.result
    # A bad request to Elasticsearch is an invalid document to our client. Without an index or
    # disk space (429), the same request may succeed later.
    status = {400: 422, 413: 422, 404: 503, 429: 503}.get(outcome.status, outcome.status)
    if refusal.other_schema:
        status = 503
    return Written(outcome.operation.id, status, result, refusal.reason, refusal.remedy)


def _unknown(document: Document, error: Exception) -> Written:
    reason = error.message if isinstance(error, IndexingError) else f"Elasticsearch failed: {error}"
    return Written(document.id, 503, "unknown", reason, "Send it again.")


def _no_post(document: Document) -> Written:
    reason = f"there is no post {document.routing!r} to comment on"
    return Written(document.id, 404, "refused", reason, "Send the post first.")
