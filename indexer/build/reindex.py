"""Builds a new generation from a source."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from elasticsearch import Elasticsearch

from analyzers.meaning import Model
from indexer import generations
from indexer.build.builder import Built, IndexSettings, build
from indexer.build.replay import delete_child_comments
from indexer.bulk.operations import BulkLimits, index_operation
from indexer.bulk.sender import send_bulk
from indexer.errors import IndexingError, TooFewDocuments
from indexer.ingest import Ingest, MaxRejects, OnReject, too_many_removed
from indexer.lock import Lock
from indexer.passages import with_passages
from indexer.progress import OnProgress, ignore_progress
from indexer.records import Counts, SourceItem
from indexer.scan import count_documents, has_own_posts
from indexer.write.comments import update_comments


@dataclass(frozen=True, slots=True)
class ReindexOptions:
    """How to read a source into a new generation.

    Args:
        fraction_read: returns the fraction of the source read so far (0 to 1), None if unknown.
        purpose: shown to other processes that wait for the lock.
        force: swap even if the source has far fewer posts or comments than the live generation.
    """

    max_rejects: MaxRejects = field(default_factory=MaxRejects)
    limits: BulkLimits = field(default_factory=BulkLimits)
    on_progress: OnProgress = ignore_progress
    fraction_read: Callable[[], float | None] = lambda: None
    purpose: str = "reindex"
    force: bool = False


def reindex(
    client: Elasticsearch,
    alias: str,
    raws: Iterable[SourceItem],
    settings: IndexSettings,
    on_reject: OnReject,
    options: ReindexOptions | None = None,
) -> Built:
    """Build the next generation from a source, and make it live.

    Raises:
        Locked: another process is building.
        TooManyRejects: more was rejected than allowed; nothing was swapped.
        VerificationFailed: accepted documents are missing; nothing was swapped.
        SourceError: reading the source failed; nothing was swapped.
        TooFewDocuments: the source has far fewer than the live generation; nothing was swapped.
    """
    options = options or ReindexOptions()
    with Lock(client, alias, options.purpose) as lock:
        return reindex_locked(client, lock, alias, raws, settings, on_reject, options)


def reindex_locked(
    client: Elasticsearch,
    lock: Lock,
    alias: str,
    raws: Iterable[SourceItem],
    settings: IndexSettings,
    on_reject: OnReject,
    options: ReindexOptions,
) -> Built:
    """`reindex` for a caller that already holds the lock."""

    def fill(name: str) -> Counts:
        accepted = _fill(client, name, raws, settings.model, on_reject, options)
        if not options.force:
            _compare_with_live(client, alias, accepted)
        return accepted

    return build(client, lock, alias, settings, fill, options.on_progress)


def _fill(
    client: Elasticsearch,
    name: str,
    raws: Iterable[SourceItem],
    model: Model | None,
    on_reject: OnReject,
    options: ReindexOptions,
) -> Counts:
    target = generations.building_alias(name)
    ingest = Ingest(on_reject, on_progress=options.on_progress, fraction_read=options.fraction_read)
    operations = map(index_operation, with_passages(ingest.documents(raws), model))
    for outcomes in send_bulk(client, target, operations, options.limits):
        ingest.record_outcomes(outcomes)
    if ingest.refused_posts:
        client.indices.refresh(index=name)
        comments = delete_child_comments(client, name, dict.fromkeys(ingest.refused_posts, 0))
        ingest.comments_removed(sum(map(len, send_bulk(client, target, comments))))
    # Their posts have the texts of comments that were not indexed.
    update_comments(client, target, ingest.refused_comments, options.limits.retry_for)
    options.max_rejects.check(ingest.rejected, ingest.entries)
    if not ingest.accepted.posts:
        raise IndexingError(
            "The source has no posts; nothing was swapped.",
            "Check that it is the right file or folder.",
        )
    return ingest.accepted


def _compare_with_live(client: Elasticsearch, alias: str, found: Counts) -> None:
    if generations.live(client, alias) is None:
        return
    indexed = count_documents(client, alias)
    if not has_own_posts(client, alias):
        return
    for name, now, before in (
        ("posts", found.posts, indexed.posts),
        ("comments", found.comments, indexed.comments),
    ):
        if too_many_removed(before - now, before):
            raise TooFewDocuments(
                f"The source has {now:,} {name}, the live index {before:,}; nothing was swapped.",
                "Check the source, or use --force to replace them.",
            )
