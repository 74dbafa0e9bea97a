"""Brings a source into the live index: `sync` makes them equal, `add` removes nothing."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from elasticsearch import Elasticsearch

from analyzers.meaning import Model
from indexer import SCHEMA, generations
from indexer.build.builder import Built, IndexSettings
from indexer.build.rebuild import is_current, rebuild, rolled_back_from
from indexer.build.reindex import reindex_locked
from indexer.errors import other_schema
from indexer.ingest import Ingest, IngestOptions, MaxRejects, OnReject, StoredDigests
from indexer.lock import Lock
from indexer.records import Document, Read, SourceItem, batches, oids_of
from indexer.scan import has_own_posts, raw_digests
from indexer.sync.changes import Change, NewerDocuments, differences, join_by_address, removals
from indexer.write.deletions import forget_old_deletions
from indexer.write.live import (
    clear_stale_write_block,
    delete_comments,
    delete_documents,
    update_live_comments,
)

_BATCH = 500  # documents


@dataclass(frozen=True, slots=True)
class SyncResult:
    """What a sync did, in documents.

    Args:
        index: the live generation.
        rules: the digest of its synonym rules.
        parsed: unchanged posts whose HTML had to be parsed to compare them: another version of the
            code indexed them, or only the form of their source changed.
        removals_withheld: why nothing was removed; empty if removals were made or not needed.
        rolled_back_from: the generation with the current settings that somebody rolled back from;
            the live one was not rebuilt.
        built: the generation that was built first, if any.
        stale_builds: names of generations left by killed builds, which were deleted.
    """

    index: str = ""
    rules: str = ""
    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    parsed: int = 0
    removals_withheld: str = ""
    rolled_back_from: str = ""
    built: Built | None = None
    stale_builds: tuple[str, ...] = ()

    @property
    def changed_anything(self) -> bool:
        """Whether search results may differ now."""
        return bool(self.added or self.changed or self.removed or self.built)


@dataclass(frozen=True, slots=True)
class SyncPreview:
    """What a sync would do; a comment is named `post/comment`.

    Args:
        removals_withheld: as in SyncResult.
        builds: whether it would build a generation first, because the synonym rules, the language
            or the schema has changed.
    """

    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]
    unchanged: int
    removals_withheld: str
    builds: bool = False


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


def sync(
    client: Elasticsearch,
    alias: str,
    read: Read,
    settings: IndexSettings,
    on_reject: OnReject,
    options: IngestOptions | None = None,
) -> SyncResult:
    """Compare a source with the live index by digests, and make the index equal to it.

    Without an index, or if the rules or the mapping have changed, a generation is built first,
    unless a generation with these rules exists and was rolled back.
    Comments are removed with their post. Otherwise only those that came from a source are removed,
    and only if the source has comments at all.

    Args:
        read: called once.

    Raises:
        Locked: another process is building or syncing.
        SourceError: reading the source failed; nothing was removed.
    """
    options = options or IngestOptions(purpose="sync")
    with Lock(client, alias, options.purpose) as lock:
        stale_builds = tuple(generations.recover(client, alias))
        generations.check_writable(client, alias)
        forget_old_deletions(client, alias)
        live = generations.live(client, alias)
        if live is None:
            first = replace(options, max_rejects=MaxRejects(share=1.0))
            built = reindex_locked(client, lock, alias, read(None), settings, on_reject, first)
            return SyncResult(
                built.index,
                built.rules,
                added=built.counts.total,
                built=built,
                stale_builds=stale_builds,
            )
        rebuilt = None
        outdated = not is_current(live, settings)
        rolled_back = rolled_back_from(client, alias, live, settings) if outdated else ""
        if outdated and not rolled_back:
            rebuilt = rebuild(client, lock, alias, settings, options.on_progress)

        stored, ingest = _compared(client, alias, on_reject, options)
        samples_only = not has_own_posts(client, alias)  # which a first sync replaces
        changes = differences(client, alias, ingest, read(ingest.is_unchanged_entry))
        changed_documents = (change.document for change in changes)
        ingest.send(client, alias, changed_documents, settings.model)
        _finish_comments(client, alias, ingest)

        lock.check()
        to_remove = removals(client, alias, stored, ingest, samples_only=samples_only)
        removed = _remove(client, alias, to_remove.changes)
        client.indices.refresh(index=alias)
        return SyncResult(
            index=rebuilt.index if rebuilt else live.name,
            rules=rebuilt.rules if rebuilt else live.rules or "",
            added=ingest.created,
            changed=ingest.updated,
            removed=removed,
            unchanged=ingest.unchanged,
            parsed=ingest.parsed,
            removals_withheld=to_remove.withheld,
            rolled_back_from=rolled_back,
            built=rebuilt,
            stale_builds=stale_builds,
        )


def preview(
    client: Elasticsearch,
    alias: str,
    read: Read,
    settings: IndexSettings,
    on_reject: OnReject,
    options: IngestOptions | None = None,
) -> SyncPreview:
    """Compare a source with the live index as `sync` does, and write nothing.

    Raises:
        NoGeneration: there is no index.
        SourceError: reading the source failed.
    """
    live = generations.require_live(client, alias)
    stored, ingest = _compared(client, alias, on_reject, options or IngestOptions())
    names: dict[str, list[str]] = {"add": [], "change": [], "remove": []}
    for change in differences(client, alias, ingest, read(ingest.is_unchanged_entry)):
        names[change.action].append(_name(change.document))
    samples_only = not has_own_posts(client, alias)
    to_remove = removals(client, alias, stored, ingest, samples_only=samples_only)
    names["remove"] += (_name(change.document) for change in to_remove.changes)
    builds = not is_current(live, settings) and not rolled_back_from(client, alias, live, settings)
    return SyncPreview(
        added=tuple(names["add"]),
        changed=tuple(names["change"]),
        removed=tuple(names["remove"]),
        unchanged=ingest.unchanged,
        removals_withheld=to_remove.withheld,
        builds=builds,
    )


def add(
    client: Elasticsearch,
    alias: str,
    raws: Iterable[SourceItem],
    on_reject: OnReject,
    options: IngestOptions | None = None,
    model: Model | None = None,
) -> AddResult:
    """Write all documents of a source to the live index, and refresh it.

    Args:
        model: gives the vectors of passages; None: no vectors.

    Raises:
        NoGeneration: there is no live index.
        OtherSchema: it was built by another version.
        SourceError: reading the source failed; what was read before is in the index.
        BulkTimeout: Elasticsearch became unavailable; what was sent before is in the index.
    """
    live = generations.require_live(client, alias)
    generations.check_writable(client, alias)
    if live.schema != SCHEMA:
        raise other_schema(live.schema)
    if live.write_blocked:
        clear_stale_write_block(client, alias)
    ingest = Ingest(on_reject, options, phase="adding")
    newer = NewerDocuments(client, alias, newest=ingest.options.newest)
    raws = join_by_address(client, alias, raws, ingest.options.on_skip)
    ingest.send(client, alias, newer.of(ingest.documents(raws)), model)
    _finish_comments(client, alias, ingest)
    client.indices.refresh(index=alias)
    return AddResult(
        created=ingest.created,
        updated=ingest.accepted.total - ingest.created,
        older=ingest.older,
        deleted=newer.deleted,
    )


def _compared(
    client: Elasticsearch, alias: str, on_reject: OnReject, options: IngestOptions
) -> tuple[StoredDigests, Ingest]:
    """What the index has, and a reader that leaves it out."""
    client.indices.refresh(index=alias)
    stored = StoredDigests(raw_digests(client, alias))
    return stored, Ingest(on_reject, options, stored, "comparing")


def _finish_comments(client: Elasticsearch, alias: str, ingest: Ingest) -> None:
    """Update the field `comments` of what was written; delete comments that have no post.

    A post may have been refused, or deleted meanwhile.
    """
    without_post = update_live_comments(client, alias, ingest.changed_posts)
    ingest.comments_removed(delete_comments(client, alias, without_post))


def _remove(client: Elasticsearch, alias: str, changes: Iterator[Change]) -> int:
    removed = 0
    posts_with_comments: set[str] = set()
    for batch in batches((change.document for change in changes), _BATCH):
        removed += len(delete_documents(client, alias, batch))
        posts_with_comments.update(
            document.routing for document in batch if document.kind == "comment"
        )
    # The comments of removed posts were removed too, but not those written meanwhile.
    without_post = update_live_comments(client, alias, posts_with_comments)
    return removed + delete_comments(client, alias, without_post)


def _name(document: Document) -> str:
    post_oid, oid = oids_of(document.id)
    return post_oid if oid is None else f"{post_oid}/{oid}"
