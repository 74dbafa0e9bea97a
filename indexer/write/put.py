"""Writes single documents to the live index, as they come over HTTP.

A write with a modification date has that date as its version, and never overwrites a newer version
or a later deletion. A write without one always wins, whatever the clocks of different machines say.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from elasticsearch import Elasticsearch, TransportError

from indexer.bulk.operations import chunks, index_operation
from indexer.bulk.refusals import NO_INDEX
from indexer.bulk.sender import BulkTimeout, Outcome, Sender
from indexer.errors import IndexingError, NoGeneration
from indexer.generations import require_schema
from indexer.records import Document, post_id
from indexer.scan import current_versions
from indexer.write.comments import based_on_stored
from indexer.write.delete import delete_documents
from indexer.write.deletions import deletion_versions
from indexer.write.live_index import LIMITS, now, send_to_live, update_live_comments

_ATTEMPTS = 10  # when others write the same document at the same time


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


def put(client: Elasticsearch, alias: str, writes: Sequence[Write]) -> list[Written]:
    """Write documents in the order given; returns one result for each.

    If Elasticsearch becomes unavailable in between, the remaining writes have status 503; they may
    or may not have been accepted.

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
    for number, write in enumerate(writes):
        deleted_version = deleted.get(write.document.id, -1)
        if write.newest:
            to_send[number] = _with_version(write, max(now(), deleted_version + 1))
        elif write.document.version < deleted_version and write.document.id not in present:
            results[number] = _deleted_later(write.document)
        else:
            to_send[number] = write
    missing = _without_post(client, alias, [write.document for write in to_send.values()])
    for number in [number for number, one in to_send.items() if one.document.id in missing]:
        results[number] = _no_post(to_send.pop(number).document)
    sent = _send_all(client, alias, to_send)
    if sent and all(one.reason == NO_INDEX.reason for one in sent.values()):
        raise NoGeneration("There is no index to write to yet.", NO_INDEX.remedy)
    results |= _with_comments_updated(client, alias, to_send, sent)
    return [results[number] for number in range(len(writes))]


def _send_all(client: Elasticsearch, alias: str, writes: Mapping[int, Write]) -> dict[int, Written]:
    results: dict[int, Written] = {}
    remaining = dict(writes)
    for _ in range(_ATTEMPTS):
        for number, outcome in _send(client, alias, remaining):
            results[number] = _written(outcome)
        conflicting = {
            number: write for number, write in remaining.items() if results[number].status == 409
        }
        remaining = _to_repeat(client, alias, conflicting)
        if not remaining:
            break
    return results


def _with_comments_updated(
    client: Elasticsearch, alias: str, writes: Mapping[int, Write], results: dict[int, Written]
) -> dict[int, Written]:
    """Update the field `comments` of the posts written; the results after that.

    A comment whose post was deleted meanwhile is deleted, too.
    """
    # A new post has no other comments than those that were sent with it.
    numbers = {
        number: write.document.routing
        for number, write in writes.items()
        if write.document.kind == "comment" or results[number].status in {200, 503}
    }
    try:
        without_post = update_live_comments(client, alias, numbers.values())
        comments_without_post = {
            number: writes[number].document
            for number, oid in numbers.items()
            if oid in without_post
            and writes[number].document.kind == "comment"
            and results[number].status < 300
        }
        if comments_without_post:
            stored = current_versions(client, alias, list(comments_without_post.values()))
            to_delete = [
                replace(one, version=stored[one.id])
                for one in comments_without_post.values()
                if one.id in stored
            ]
            delete_documents(client, alias, to_delete)
    except (IndexingError, TransportError) as error:
        return results | {
            number: _unknown(writes[number].document, error)
            for number in numbers
            if results[number].status < 300
        }
    return results | {
        number: _no_post(document) for number, document in comments_without_post.items()
    }


def _send(
    client: Elasticsearch, alias: str, writes: Mapping[int, Write]
) -> Iterator[tuple[int, Outcome]]:
    numbers = iter(writes)
    documents = based_on_stored(client, alias, [write.document for write in writes.values()])
    operations = [index_operation(document) for document in documents]
    sender = Sender(client, alias, LIMITS)
    sent = 0
    try:
        for chunk in chunks(operations, LIMITS):
            for outcome in send_to_live(client, alias, sender, chunk):
                sent += 1
                yield next(numbers), outcome
    except BulkTimeout as error:
        for operation in operations[sent:]:
            yield next(numbers), Outcome(operation, 503, "unknown", error.refusal())


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


def _marked_over_http(write: Write) -> Write:
    source = {**write.document.source, "over_http": True}
    return replace(write, document=replace(write.document, source=source))


def _with_version(write: Write, version: int) -> Write:
    return replace(write, document=replace(write.document, version=version))


def _without_post(client: Elasticsearch, alias: str, documents: Sequence[Document]) -> set[str]:
    """Ids of comments whose post is neither in the index nor in the same request."""
    in_request = {document.routing for document in documents if document.kind == "post"}
    comments = [
        document
        for document in documents
        if document.kind == "comment" and document.routing not in in_request
    ]
    if not comments:
        return set()
    posts = [replace(comment, id=post_id(comment.routing)) for comment in comments]
    found = current_versions(client, alias, posts)
    return {comment.id for comment in comments if post_id(comment.routing) not in found}


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
    return Written(document.id, 503, "unknown", str(error), "Send it again.")


def _no_post(document: Document) -> Written:
    return Written(
        document.id,
        404,
        "refused",
        f"there is no post {document.routing!r} to comment on",
        "Send the post first.",
    )


def _deleted_later(document: Document) -> Written:
    return Written(
        document.id,
        409,
        "older",
        "it was deleted after this modification date",
        "To restore it, send a later `modified`, or none.",
    )
