"""Makes the live index equal to a source: adds, changes and removes only what differs."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from elasticsearch import Elasticsearch

from indexer import generations
from indexer.build.builder import Built, IndexSettings
from indexer.build.rebuild import is_current, rebuild, rolled_back_from
from indexer.build.reindex import ReindexOptions, reindex_locked
from indexer.bulk.operations import BulkLimits, index_operation
from indexer.bulk.sender import send_bulk
from indexer.ingest import Ingest, MaxRejects, OnReject
from indexer.lock import Lock
from indexer.passages import with_passages
from indexer.progress import OnProgress, ignore_progress
from indexer.records import Document, Read, SourceItem, oids_of
from indexer.scan import has_own_posts, raw_digests
from indexer.stored import StoredDigests
from indexer.sync.add import finish_comments
from indexer.sync.changes import Change, differences, missing, removals
from indexer.write.delete import delete_comments, delete_documents
from indexer.write.deletions import forget_old_deletions
from indexer.write.live_index import update_live_comments

_BATCH = 500  # documents


@dataclass(frozen=True, slots=True)
class SyncOptions:
    """How to sync.

    Args:
        force: remove what the source lacks, however much it is.
        complete: the source has every post; a feed, which has only the latest, is not complete.
        fraction_read: returns the fraction of the source read so far (0 to 1), None if unknown.
        purpose: shown to other processes that wait for the lock.
    """

    force: bool = False
    complete: bool = True
    limits: BulkLimits = field(default_factory=BulkLimits)
    on_progress: OnProgress = ignore_progress
    fraction_read: Callable[[], float | None] = lambda: None
    purpose: str = "sync"


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


def sync(
    client: Elasticsearch,
    alias: str,
    read: Read,
    settings: IndexSettings,
    on_reject: OnReject,
    options: SyncOptions | None = None,
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
    options = options or SyncOptions()
    with Lock(client, alias, options.purpose) as lock:
        stale_builds = tuple(generations.recover(client, alias))
        forget_old_deletions(client, alias)
        live = generations.live(client, alias)
        if live is None:
            built = _first_build(client, lock, alias, read(None), settings, on_reject, options)
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

        stored, ingest = _prepared(client, alias, on_reject, options)
        samples_only = not has_own_posts(client, alias)  # which a first sync replaces
        changes = differences(client, alias, ingest, read(ingest.is_unchanged_entry))
        changed_documents = (change.document for change in changes)
        operations = map(index_operation, with_passages(changed_documents, settings.model))
        changed = 0
        for outcomes in send_bulk(client, alias, operations, options.limits):
            ingest.record_outcomes(outcomes)
            changed += sum(outcome.result == "updated" for outcome in outcomes)
        finish_comments(client, alias, ingest)

        lock.check()
        lacking = missing(
            stored,
            ingest,
            complete=options.complete,
            force=options.force,
            samples_only=samples_only,
        )
        removed = _remove(client, alias, removals(client, alias, lacking))
        client.indices.refresh(index=alias)
        return SyncResult(
            index=rebuilt.index if rebuilt else live.name,
            rules=rebuilt.rules if rebuilt else live.rules or "",
            added=ingest.created,
            changed=changed,
            removed=removed,
            unchanged=ingest.unchanged,
            parsed=ingest.parsed,
            removals_withheld=lacking.withheld,
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
    options: SyncOptions | None = None,
) -> SyncPreview:
    """Compare a source with the live index as `sync` does, and write nothing.

    Raises:
        NoGeneration: there is no index.
        SourceError: reading the source failed.
    """
    options = options or SyncOptions()
    live = generations.require_live(client, alias)
    outdated = not is_current(live, settings)
    stored, ingest = _prepared(client, alias, on_reject, options)
    names: dict[str, list[str]] = {"add": [], "change": [], "remove": []}
    for change in differences(client, alias, ingest, read(ingest.is_unchanged_entry)):
        names[change.action].append(_name(change.document))
    lacking = missing(
        stored,
        ingest,
        complete=options.complete,
        force=options.force,
        samples_only=not has_own_posts(client, alias),
    )
    for change in removals(client, alias, lacking):
        names[change.action].append(_name(change.document))
    return SyncPreview(
        added=tuple(names["add"]),
        changed=tuple(names["change"]),
        removed=tuple(names["remove"]),
        unchanged=ingest.unchanged,
        removals_withheld=lacking.withheld,
        builds=outdated and not rolled_back_from(client, alias, live, settings),
    )


def _prepared(
    client: Elasticsearch, alias: str, on_reject: OnReject, options: SyncOptions
) -> tuple[StoredDigests, Ingest]:
    """What the index has, and a reader that leaves it out."""
    client.indices.refresh(index=alias)
    stored = StoredDigests(raw_digests(client, alias))
    ingest = Ingest(
        on_reject,
        stored=stored,
        phase="comparing",
        on_progress=options.on_progress,
        fraction_read=options.fraction_read,
    )
    return stored, ingest


def _remove(client: Elasticsearch, alias: str, changes: Iterator[Change]) -> int:
    removed = 0
    posts_with_comments: set[str] = set()
    while batch := [change.document for change in islice(changes, _BATCH)]:
        removed += len(delete_documents(client, alias, batch))
        posts_with_comments.update(
            document.routing for document in batch if document.kind == "comment"
        )
    # The comments of removed posts were removed too, but not those written meanwhile.
    without_post = update_live_comments(client, alias, posts_with_comments)
    return removed + delete_comments(client, alias, without_post)


def _first_build(
    client: Elasticsearch,
    lock: Lock,
    alias: str,
    raws: Iterable[SourceItem],
    settings: IndexSettings,
    on_reject: OnReject,
    options: SyncOptions,
) -> Built:
    reindexing = ReindexOptions(
        MaxRejects(share=1.0), options.limits, options.on_progress, options.fraction_read
    )
    return reindex_locked(client, lock, alias, raws, settings, on_reject, reindexing)


def _name(document: Document) -> str:
    post_oid, oid = oids_of(document.id)
    return post_oid if oid is None else f"{post_oid}/{oid}"
