"""Adds a source to the live index: new and changed documents are written, nothing is removed."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice

from elasticsearch import Elasticsearch

from analyzers.meaning import Model
from indexer import SCHEMA
from indexer.bulk.operations import BulkLimits, index_operation
from indexer.bulk.sender import send_bulk
from indexer.errors import other_schema
from indexer.generations import require_live
from indexer.ingest import Ingest, OnReject, OnSkip
from indexer.normalise import address_of, post_document
from indexer.passages import with_passages
from indexer.progress import OnProgress, ignore_progress
from indexer.records import Document, RawPost, Skipped, SourceItem
from indexer.scan import current_versions, posts_at
from indexer.write.comments import based_on_stored
from indexer.write.delete import delete_comments
from indexer.write.deletions import deletion_versions
from indexer.write.live_index import clear_stale_write_block, now, update_live_comments

_BATCH = 500  # documents whose deletions are looked up at a time


@dataclass(frozen=True, slots=True)
class AddResult:
    """What was added, in documents.

    Args:
        older: left unchanged, because the index is newer.
        deleted: left out, because they were deleted after their last change.
    """

    created: int
    updated: int
    older: int
    deleted: int


@dataclass(frozen=True, slots=True)
class AddOptions:
    """How to add.

    Args:
        on_skip: called for every post that is left out because the index has it already.
        newest: treat every document as changed now, whatever its date and that in the index.
        fraction_read: returns the fraction of the source read so far (0 to 1), None if unknown.
        model: gives the vectors of passages; None: no vectors.
    """

    newest: bool = False
    on_skip: OnSkip = lambda skipped: None
    limits: BulkLimits = field(default_factory=BulkLimits)
    on_progress: OnProgress = ignore_progress
    fraction_read: Callable[[], float | None] = lambda: None
    model: Model | None = None


def add(
    client: Elasticsearch,
    alias: str,
    raws: Iterable[SourceItem],
    on_reject: OnReject,
    options: AddOptions | None = None,
) -> AddResult:
    """Write all documents of a source to the live index, and refresh it.

    Raises:
        NoGeneration: there is no live index.
        OtherSchema: it was built by another version.
        SourceError: reading the source failed; what was read before is in the index.
        BulkTimeout: Elasticsearch became unavailable; what was sent before is in the index.
    """
    options = options or AddOptions()
    live = require_live(client, alias)
    if live.schema != SCHEMA:
        raise other_schema(live.schema)
    if live.write_blocked:
        clear_stale_write_block(client, alias)
    deletions = _DeletionFilter(client, alias, newest=options.newest)
    ingest = Ingest(
        on_reject,
        options.on_skip,
        phase="adding",
        on_progress=options.on_progress,
        fraction_read=options.fraction_read,
    )
    joined = _join_by_address(client, alias, raws)
    documents = with_passages(deletions.filter(ingest.documents(joined)), options.model)
    operations = map(index_operation, documents)
    for outcomes in send_bulk(client, alias, operations, options.limits):
        ingest.record_outcomes(outcomes)
    finish_comments(client, alias, ingest)
    client.indices.refresh(index=alias)
    return AddResult(
        created=ingest.created,
        updated=ingest.accepted.total - ingest.created,
        older=ingest.older,
        deleted=deletions.count,
    )


def _join_by_address(
    client: Elasticsearch, alias: str, raws: Iterable[SourceItem]
) -> Iterator[SourceItem]:
    """Posts under the oid that the index has for their URL: a feed has other oids than a folder.

    Of such a post the index's version stays unless this one is newer: a feed's content may be a
    summary.
    """
    items = iter(raws)
    while batch := list(islice(items, _BATCH)):
        urls = [raw.url for raw in batch if isinstance(raw, RawPost) and isinstance(raw.url, str)]
        known = posts_at(client, alias, {address_of(url) for url in urls})
        for raw in batch:
            if isinstance(raw, RawPost) and isinstance(raw.url, str):
                oid, version = known.get(address_of(raw.url), (raw.oid, 0))
                if oid != raw.oid and oid != str(raw.oid):
                    joined = replace(raw, oid=oid, entry=b"")  # which has another oid
                    document = post_document(joined)
                    if isinstance(document, Document) and document.version <= version:
                        yield Skipped(raw.origin, None, "in the index already, by its address")
                        continue
                    raw = joined
            yield raw


def finish_comments(client: Elasticsearch, alias: str, ingest: Ingest) -> None:
    """Update the field `comments` of what was written; delete comments that have no post.

    A post may have been refused, or deleted meanwhile.
    """
    without_post = update_live_comments(client, alias, ingest.changed_posts)
    ingest.comments_removed(delete_comments(client, alias, without_post))


class _DeletionFilter:
    """Leaves out documents deleted after their last change, and the comments of such posts.

    Those that were written again since are not left out: Elasticsearch compares their versions.
    `count` is the number left out. With `newest` nothing is left out, and every document gets the
    newest version.
    """

    def __init__(self, client: Elasticsearch, alias: str, *, newest: bool) -> None:
        self._client = client
        self._alias = alias
        self._newest = newest
        self._deleted_posts: set[str] = set()
        self.count = 0

    def filter(self, documents: Iterator[Document]) -> Iterator[Document]:
        while batch := list(islice(documents, _BATCH)):
            deleted = deletion_versions(self._client, self._alias, {one.id for one in batch})
            suspects = batch if self._newest else [one for one in batch if one.id in deleted]
            present = current_versions(self._client, self._alias, suspects)
            if self._newest:
                batch = [_with_newest_version(one, deleted, present) for one in batch]
            for document in based_on_stored(self._client, self._alias, batch):
                if document.routing in self._deleted_posts or (
                    document.version < deleted.get(document.id, -1) and document.id not in present
                ):
                    self.count += 1
                    if document.kind == "post":
                        self._deleted_posts.add(document.routing)
                else:
                    yield document


def _with_newest_version(
    document: Document, deleted: Mapping[str, int], present: Mapping[str, int]
) -> Document:
    """The document with a version above all former ones of it, which may be in the future."""
    former = max(deleted.get(document.id, -1), present.get(document.id, -1))
    return replace(document, version=max(now(), document.version, former + 1))
