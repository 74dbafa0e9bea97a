"""A source into the live index: what is new or changed goes in, nothing goes out."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice

from elasticsearch import Elasticsearch

from indexer.bulk import send
from indexer.generations import require_live
from indexer.intake import Intake, OnReject
from indexer.items import Item, Limits, to_index
from indexer.live import now
from indexer.progress import Progress, Report, in_silence
from indexer.records import Document, RawPost, Reject
from indexer.rescue import unblocked
from indexer.seen import Seen
from indexer.tombstones import buried

_BATCH = 500  # documents whose tombstones are asked for at a time


@dataclass(frozen=True, slots=True)
class Added:
    """What an addition did. `older`: left alone, because the index or a deletion is newer."""

    created: int
    updated: int
    older: int


@dataclass(frozen=True, slots=True)
class AddOptions:
    """How to add.

    Args:
        newest: take every document as changed just now, whatever its date says.
        part: tells how much of the source was read (0 to 1), None where that is not known.
    """

    newest: bool = False
    limits: Limits = field(default_factory=Limits)
    report: Report = in_silence
    part: Callable[[], float | None] = lambda: None


def add(
    client: Elasticsearch,
    alias: str,
    raws: Iterable[RawPost | Reject],
    on_reject: OnReject,
    options: AddOptions | None = None,
) -> Added:
    """Write everything a source has into the live index, and refresh it.

    Raises:
        NoGeneration: there is no live index.
        SourceError: the source broke off; what was read before is in the index.
        NotTaken: Elasticsearch went away; what was sent before is in the index.
    """
    options = options or AddOptions()
    if require_live(client, alias).write_blocked:
        unblocked(client, alias)
    intake = Intake(on_reject)
    filtered = _Filter(client, alias, options.newest)
    with Seen() as seen:
        items = filtered.items(intake.documents(raws, seen))
        for outcomes in send(client, alias, items, options.limits):
            intake.settle(outcomes)
            options.report(
                Progress(
                    "adding", intake.accepted.total, intake.part(options.part()), intake.rejects
                )
            )
    client.indices.refresh(index=alias)
    return Added(
        created=intake.created,
        updated=intake.accepted.total - intake.created,
        older=intake.older + filtered.older,
    )


class _Filter:
    """Leaves out what was deleted since it was last changed, and the comments of such posts."""

    def __init__(self, client: Elasticsearch, alias: str, newest: bool) -> None:
        self._client = client
        self._alias = alias
        self._newest = newest
        self._gone: set[str] = set()
        self.older = 0

    def items(self, documents: Iterator[Document]) -> Iterator[Item]:
        while batch := list(islice(documents, _BATCH)):
            graves = buried(self._client, self._alias, {document.id for document in batch})
            for document in batch:
                grave = graves.get(document.id, -1)
                if self._newest:
                    yield to_index(replace(document, version=max(now(), grave + 1)))
                elif document.version < grave or document.routing in self._gone:
                    self._leave_out(document)
                else:
                    yield to_index(document)

    def _leave_out(self, document: Document) -> None:
        self.older += 1
        if document.kind == "post":
            self._gone.add(document.routing)
