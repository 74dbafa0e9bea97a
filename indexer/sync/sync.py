"""Makes the live index equal to a source: adds, changes and removes only what differs."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice

from elasticsearch import Elasticsearch

from indexer import SCHEMA, generations
from indexer.build.builder import Built, IndexSettings
from indexer.build.rebuild import rebuild
from indexer.build.reindex import ReindexOptions, reindex_locked
from indexer.bulk.operations import BulkLimits, Operation, index_operation
from indexer.bulk.sender import send_bulk
from indexer.generations import Generation
from indexer.ingest import Ingest, MaxRejects, OnReject, too_many_removed
from indexer.lock import Lock
from indexer.progress import OnProgress, Progress, ignore_progress
from indexer.records import Document, Origin, Read, Reject, Skipped, SourceItem
from indexer.scan import has_own_posts
from indexer.sync.add import finish_comments
from indexer.sync.comparison import Comparison, Stored
from indexer.write.comments import based_on_stored
from indexer.write.delete import delete_comments, delete_documents
from indexer.write.deletions import deletion_versions, forget_old_deletions
from indexer.write.live_index import now, update_live_comments

_BATCH = 500  # documents
_EXAMPLES = 5  # oids of missing posts in a message


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
        outdated = _is_outdated(live, settings)
        rolled_back = _rolled_back_from(client, alias, live, settings) if outdated else ""
        if outdated and not rolled_back:
            rebuilt = rebuild(client, lock, alias, settings, options.on_progress)
        with Comparison(client, alias) as comparison:
            run = _Sync(client, alias, comparison, on_reject, options)
            # Documents of an older schema may lack a field although the post has not changed.
            run.write(read, rewrite_all=live.schema != SCHEMA)
            lock.check()
            run.remove()
        client.indices.refresh(index=alias)
        return replace(
            run.result,
            index=rebuilt.index if rebuilt else live.name,
            rules=rebuilt.rules if rebuilt else live.rules or "",
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
    live = generations.require_live(client, alias)
    outdated = _is_outdated(live, settings)
    with Comparison(client, alias) as comparison:
        run = _Sync(client, alias, comparison, on_reject, options or SyncOptions())
        return replace(
            run.preview(read),
            builds=outdated and not _rolled_back_from(client, alias, live, settings),
        )


def _is_outdated(generation: Generation, settings: IndexSettings) -> bool:
    """Whether a generation was built with other rules, for another language or schema."""
    wanted = (settings.rules.digest, settings.language.name, SCHEMA)
    return (generation.rules, generation.language, generation.schema) != wanted


def _rolled_back_from(
    client: Elasticsearch, alias: str, live: Generation, settings: IndexSettings
) -> str:
    """The generation after the live one that is not outdated; empty if there is none.

    Somebody rolled back from it. To rebuild would undo that.
    """
    if live.schema != SCHEMA:
        return ""  # an older schema does not accept documents of the present one
    for one in generations.list_generations(client, alias):
        if one.number > live.number and not _is_outdated(one, settings):
            return one.name
    return ""


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


class _Sync:
    """Writes and removes the differences between a source and the live index."""

    def __init__(
        self,
        client: Elasticsearch,
        alias: str,
        comparison: Comparison,
        on_reject: OnReject,
        options: SyncOptions,
    ) -> None:
        self._client = client
        self._alias = alias
        self._comparison = comparison
        self._options = options
        self._on_reject = on_reject
        self._rejects_without_oid = 0
        # A first sync replaces the sample posts.
        self._has_own_posts = has_own_posts(client, alias)
        self._source_posts = 0
        self._source_has_comments = False
        self._rewrite_all = False
        self._unchanged = 0
        self._parsed = 0
        self._entries = 0
        self.result = SyncResult()

    def write(self, read: Read, *, rewrite_all: bool) -> None:
        """Send new and changed documents; with `rewrite_all` the unchanged ones too."""
        self._rewrite_all = rewrite_all
        changed = 0
        with Ingest(self._rejected, self._skipped, self._comparison) as ingest:
            is_unchanged = partial(self._is_unchanged_entry, ingest)
            operations = self._operations(ingest, read(None if rewrite_all else is_unchanged))
            for outcomes in send_bulk(self._client, self._alias, operations, self._options.limits):
                ingest.record_outcomes(outcomes)
                changed += sum(outcome.result == "updated" for outcome in outcomes)
                self._report(ingest)
            finish_comments(self._client, self._alias, ingest)
            self.result = replace(
                self.result,
                added=ingest.created,
                changed=changed,
                unchanged=self._unchanged,
                parsed=self._parsed,
            )

    def preview(self, read: Read) -> SyncPreview:
        """Compare everything, and write nothing."""
        added: list[str] = []
        changed: list[str] = []
        with Ingest(self._rejected, self._skipped, self._comparison) as ingest:
            raws = read(partial(self._is_unchanged_entry, ingest))
            for differing, stored in self._differing(ingest, raws):
                for one in differing:
                    (changed if one.id in stored else added).append(_name(one))
        complete = self._options.complete
        reason = self._reason_to_withhold() if complete else ""
        removed: Iterable[Document] = ()
        if complete and not reason:
            removed = self._comparison.missing(with_comments=self._source_has_comments)
        names = tuple(map(_name, removed))
        return SyncPreview(tuple(added), tuple(changed), names, self._unchanged, reason)

    def remove(self) -> None:
        """Delete what the source does not have, unless that looks like a mistake."""
        if not self._options.complete:
            return
        reason = self._reason_to_withhold()
        if reason:
            self.result = replace(self.result, removals_withheld=reason)
            return
        removed = 0
        changed_posts: set[str] = set()
        missing = self._comparison.missing(with_comments=self._source_has_comments)
        while batch := list(islice(missing, _BATCH)):
            removed += len(delete_documents(self._client, self._alias, batch))
            changed_posts.update(one.routing for one in batch if one.kind == "comment")
        # The comments of removed posts were removed too, but not those written meanwhile.
        without_post = update_live_comments(self._client, self._alias, changed_posts)
        removed += delete_comments(self._client, self._alias, without_post)
        self.result = replace(self.result, removed=removed)

    def _reason_to_withhold(self) -> str:
        if self._options.force:
            return ""
        indexed, missing = self._comparison.posts, sum(1 for _ in self._comparison.missing_posts())
        if not self._source_posts and indexed:
            return f"the source has no posts, the index has {indexed:,}"
        if not self._has_own_posts:
            return ""
        if too_many_removed(missing, indexed):
            examples = ", ".join(islice(self._comparison.missing_posts(), _EXAMPLES))
            more = ", …" if missing > _EXAMPLES else ""
            return (
                f"{missing:,} of {indexed:,} posts are missing from the source ({examples}{more})"
            )
        comments, missing_comments = self._comparison.count_source_comments()
        if self._source_has_comments and too_many_removed(missing_comments, comments):
            return f"{missing_comments:,} of {comments:,} comments are missing from the source"
        if self._rejects_without_oid and missing:
            return f"{self._rejects_without_oid:,} rejected lines may be the missing posts"
        return ""

    def _differing(
        self, ingest: Ingest, raws: Iterable[SourceItem]
    ) -> Iterator[tuple[list[Document], dict[str, Stored]]]:
        """Documents of the source that are new or differ, and what is stored of each by its id."""
        # Comparing what was read saves making documents of most. Of the others some still equal
        # the stored ones: the text of a page stays the same when its template changes.
        documents = ingest.documents(self._with_progress(ingest, raws), self._is_unchanged)
        while made := list(islice(documents, _BATCH)):
            stored = self._comparison.stored(made)
            if differing := [one for one in made if self._differs(one, stored.get(one.id))]:
                yield differing, stored

    def _operations(self, ingest: Ingest, raws: Iterable[SourceItem]) -> Iterator[Operation]:
        for differing, stored in self._differing(ingest, raws):
            batch = based_on_stored(self._client, self._alias, differing)
            deleted = deletion_versions(self._client, self._alias, {one.id for one in batch})
            for document in batch:
                present, _, _ = stored.get(document.id, (-1, "", False))
                newest = max(present, deleted.get(document.id, -1))
                # The source wins over a newer version, and over a deletion.
                version = document.version
                if version <= newest:
                    version = max(now(), newest + 1)
                yield index_operation(replace(document, version=version))

    def _is_unchanged_entry(self, ingest: Ingest, entry: bytes, origin: Origin) -> bool:
        documents = self._comparison.unchanged_documents(entry, origin)
        if not documents:
            return False
        self._source_posts += 1
        self._source_has_comments = self._source_has_comments or documents > 1
        self._unchanged += documents
        self._count_entry(ingest)
        return True

    def _is_unchanged(self, id_: str, raw_digest: str, origin: Origin) -> bool:
        if self._rewrite_all or not self._comparison.is_unchanged(id_, raw_digest, origin):
            return False
        self._count(id_)
        self._unchanged += 1
        return True

    def _differs(self, document: Document, stored: Stored | None) -> bool:
        self._count(document.id)
        if self._rewrite_all or not stored or stored[1:] != (document.source["digest"], False):
            return True
        self._unchanged += 1
        self._parsed += document.kind == "post"
        return False

    def _count(self, id_: str) -> None:
        if id_.startswith("post:"):
            self._source_posts += 1
        else:
            self._source_has_comments = True

    def _with_progress(self, ingest: Ingest, raws: Iterable[SourceItem]) -> Iterator[SourceItem]:
        for raw in raws:
            self._count_entry(ingest)
            yield raw

    def _count_entry(self, ingest: Ingest) -> None:
        if self._entries % _BATCH == 0:
            self._report(ingest)
        self._entries += 1

    def _rejected(self, reject: Reject) -> None:
        """A rejected post or comment is not missing: it keeps its state in the index."""
        if reject.oid is None:
            self._rejects_without_oid += 1
        else:
            self._comparison.add_rejected(reject.oid)
        self._on_reject(reject)

    def _skipped(self, skipped: Skipped) -> None:
        """A page that was taken for a post before is not missing either."""
        if skipped.oid is not None:
            self._comparison.add_rejected(skipped.oid)

    def _report(self, ingest: Ingest) -> None:
        done = self._unchanged + ingest.accepted.total
        self._options.on_progress(
            Progress("comparing", done, self._options.fraction_read(), ingest.rejects)
        )


def _name(document: Document) -> str:
    if document.kind == "post":
        return document.routing
    return f"{document.routing}/{document.id.rpartition(':')[2]}"
