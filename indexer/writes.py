"""Single writes to the live index: which version wins, and what became of each document.

Two rules. A write with a modification date is as old as that date, and never overwrites a newer
one, not even a deletion. A write without one is the newest there is, whatever the clocks of two
machines say.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from elasticsearch import Elasticsearch

from indexer.errors import NoGeneration
from indexer.items import chunks, to_index
from indexer.live import LIMITS, now, patiently, versions_of
from indexer.records import Document
from indexer.sender import NotTaken, Outcome, Sender
from indexer.tombstones import buried

_TRIES = 5  # against others who write the same document at the same moment


@dataclass(frozen=True, slots=True)
class Write:
    """A document to be written. `newest`: it came without a modification date."""

    document: Document
    newest: bool


@dataclass(frozen=True, slots=True)
class Written:
    """What became of one write: an HTTP status, and why where it was refused."""

    id: str
    status: int
    result: str
    reason: str = ""
    remedy: str = ""


def put(client: Elasticsearch, alias: str, writes: Sequence[Write]) -> list[Written]:
    """Write documents in the order given; one result each.

    Where Elasticsearch goes away in the middle, the rest has status 503: nothing says it was taken.

    Raises:
        NoGeneration: there is no live index.
    """
    results: dict[int, Written] = {}
    graves = buried(client, alias, {write.document.id for write in writes})
    to_send: dict[int, Write] = {}
    for number, write in enumerate(writes):
        grave = graves.get(write.document.id, -1)
        if write.newest:
            version = max(now(), grave + 1)
            to_send[number] = replace(write, document=replace(write.document, version=version))
        elif write.document.version < grave:
            results[number] = _deleted_since(write.document)
        else:
            to_send[number] = write
    missing = _without_post(client, alias, [write.document for write in to_send.values()])
    for number in [number for number, one in to_send.items() if one.document.id in missing]:
        results[number] = _no_post(to_send.pop(number).document)
    results |= _send_all(client, alias, to_send)
    return [results[number] for number in range(len(writes))]


def _send_all(client: Elasticsearch, alias: str, writes: Mapping[int, Write]) -> dict[int, Written]:
    results: dict[int, Written] = {}
    waiting = dict(writes)
    for attempt in range(_TRIES):
        for number, outcome in _send(client, alias, waiting):
            results[number] = _written(outcome)
        # Somebody's clock is ahead of ours, or the date of what is there lies in the future.
        beaten = {
            number: write
            for number, write in waiting.items()
            if write.newest and results[number].status == 409
        }
        if not beaten or attempt == _TRIES - 1:
            break
        waiting = _raised(client, alias, beaten)
    return results


def _send(
    client: Elasticsearch, alias: str, writes: Mapping[int, Write]
) -> Iterator[tuple[int, Outcome]]:
    numbers = iter(writes)
    items = [to_index(write.document) for write in writes.values()]
    sender = Sender(client, alias, LIMITS)
    sent = 0
    try:
        for chunk in chunks(items, LIMITS):
            for outcome in patiently(client, alias, sender, chunk):
                sent += 1
                yield next(numbers), outcome
    except NotTaken as error:
        for item in items[sent:]:
            yield next(numbers), Outcome(item, 503, "unknown", error.refusal())


def _raised(client: Elasticsearch, alias: str, beaten: Mapping[int, Write]) -> dict[int, Write]:
    versions = versions_of(client, alias, [write.document for write in beaten.values()])
    raised = {}
    for number, write in beaten.items():
        current = versions.get(write.document.id, write.document.version)
        document = replace(write.document, version=max(now(), current + 1))
        raised[number] = replace(write, document=document)
    return raised


def _without_post(client: Elasticsearch, alias: str, documents: Sequence[Document]) -> set[str]:
    """Ids of comments whose post is neither in the index nor in the same request."""
    coming = {document.routing for document in documents if document.kind == "post"}
    orphans = [one for one in documents if one.kind == "comment" and one.routing not in coming]
    if not orphans:
        return set()
    posts = [replace(one, id=f"post:{one.routing}") for one in orphans]
    found = versions_of(client, alias, posts)
    return {one.id for one in orphans if f"post:{one.routing}" not in found}


def _written(outcome: Outcome) -> Written:
    refusal = outcome.refusal
    if refusal is None:
        return Written(outcome.item.id, outcome.status, outcome.result)
    if outcome.status == 404:
        raise NoGeneration("There is no index to write to yet.", refusal.remedy)
    result = "older" if refusal.older else outcome.result
    # What Elasticsearch calls a bad request is, to our caller, a document that cannot be taken.
    status = 422 if outcome.status in {400, 413} else outcome.status
    return Written(outcome.item.id, status, result, refusal.reason, refusal.remedy)


def _no_post(document: Document) -> Written:
    return Written(
        document.id,
        404,
        "refused",
        f"there is no post {document.routing!r} to comment on",
        "Send the post first.",
    )


def _deleted_since(document: Document) -> Written:
    return Written(
        document.id,
        409,
        "older",
        "it was deleted after this modification date",
        "Send a later `modified`, or none, if it is to come back.",
    )
