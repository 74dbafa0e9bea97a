"""Writes single documents to the live index.

A write with a modification date has that date as its version, and never overwrites a newer version
or a later deletion. A write without one always wins, whatever the clocks of different machines say.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from elasticsearch import Elasticsearch

from indexer.bulk.operations import chunks, index_operation
from indexer.bulk.sender import BulkTimeout, Outcome, Sender
from indexer.errors import NoGeneration
from indexer.records import Document
from indexer.scan import current_versions
from indexer.write.deletions import deletion_versions
from indexer.write.live_index import LIMITS, now, send_to_live

_ATTEMPTS = 5  # when others write the same document at the same time


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
    """
    results: dict[int, Written] = {}
    to_send: dict[int, Write] = {}
    deleted = deletion_versions(client, alias, {write.document.id for write in writes})
    for number, write in enumerate(writes):
        deleted_version = deleted.get(write.document.id, -1)
        if write.newest:
            to_send[number] = _with_version(write, max(now(), deleted_version + 1))
        elif write.document.version < deleted_version:
            results[number] = _deleted_later(write.document)
        else:
            to_send[number] = write
    missing = _without_post(client, alias, [write.document for write in to_send.values()])
    for number in [number for number, one in to_send.items() if one.document.id in missing]:
        results[number] = _no_post(to_send.pop(number).document)
    results |= _send_all(client, alias, to_send)
    return [results[number] for number in range(len(writes))]


def _send_all(client: Elasticsearch, alias: str, writes: Mapping[int, Write]) -> dict[int, Written]:
    results: dict[int, Written] = {}
    remaining = dict(writes)
    for _ in range(_ATTEMPTS):
        for number, outcome in _send(client, alias, remaining):
            results[number] = _written(outcome)
        # The stored version is in the future, or another machine's clock is ahead of ours.
        conflicting = {
            number: write
            for number, write in remaining.items()
            if write.newest and results[number].status == 409
        }
        if not conflicting:
            break
        remaining = _above_stored_versions(client, alias, conflicting)
    return results


def _send(
    client: Elasticsearch, alias: str, writes: Mapping[int, Write]
) -> Iterator[tuple[int, Outcome]]:
    numbers = iter(writes)
    operations = [index_operation(write.document) for write in writes.values()]
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


def _above_stored_versions(
    client: Elasticsearch, alias: str, conflicting: Mapping[int, Write]
) -> dict[int, Write]:
    stored = current_versions(client, alias, [write.document for write in conflicting.values()])
    return {
        number: _with_version(
            write, max(now(), stored.get(write.document.id, write.document.version) + 1)
        )
        for number, write in conflicting.items()
    }


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
    posts = [replace(comment, id=f"post:{comment.routing}") for comment in comments]
    found = current_versions(client, alias, posts)
    return {comment.id for comment in comments if f"post:{comment.routing}" not in found}


def _written(outcome: Outcome) -> Written:
    refusal = outcome.refusal
    if refusal is None:
        return Written(outcome.operation.id, outcome.status, outcome.result)
    if outcome.status == 404:
        raise NoGeneration("There is no index to write to yet.", refusal.remedy)
    result = "older" if refusal.version_conflict else outcome.result
    # A bad request to Elasticsearch is an invalid document to our client.
    status = 422 if outcome.status in {400, 413} else outcome.status
    return Written(outcome.operation.id, status, result, refusal.reason, refusal.remedy)


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
