"""Builds a new generation from a source."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from elasticsearch import Elasticsearch

from indexer import generations
from indexer.build.builder import Build, Built, IndexSettings, build_generation
from indexer.build.replay import delete_child_comments
from indexer.bulk.operations import BulkLimits, index_operation
from indexer.errors import IndexingError, TooFewDocuments
from indexer.ingest import Ingest, MaxRejects, OnReject, too_many_removed
from indexer.lock import Lock
from indexer.progress import OnProgress, Progress, ignore_progress
from indexer.records import Counts, SourceItem
from indexer.scan import count_documents
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
    with (
        build_generation(client, lock, alias, settings, options.on_progress) as build,
        Ingest(on_reject) as ingest,
    ):
        for outcomes in build.fill(map(index_operation, ingest.documents(raws)), options.limits):
            ingest.record_outcomes(outcomes)
            fraction = ingest.fraction_done(options.fraction_read())
            options.on_progress(
                Progress("reading", ingest.accepted.total, fraction, ingest.rejects)
            )
        _remove_comments_of_refused_posts(client, build, ingest)
        # Their posts have the texts of comments that were not indexed.
        update_comments(client, build.name, ingest.refused_comments, options.limits.retry_for)
        options.max_rejects.check(ingest.rejected_lines, ingest.lines)
        if not ingest.accepted.posts:
            raise IndexingError(
                "The source has no posts; nothing was swapped.",
                "Check that it is the right file or folder.",
            )
        if not options.force:
            _compare_with_live(client, alias, ingest.accepted)
        return build.finish(ingest.accepted)


def _compare_with_live(client: Elasticsearch, alias: str, found: Counts) -> None:
    if generations.live(client, alias) is None:
        return
    indexed = count_documents(client, alias)
    for name, now, before in (
        ("posts", found.posts, indexed.posts),
        ("comments", found.comments, indexed.comments),
    ):
        if too_many_removed(before - now, before):
            raise TooFewDocuments(
                f"The source has {now:,} {name}, the live index {before:,}; nothing was swapped.",
                "Check the source, or use --force to replace them.",
            )


def _remove_comments_of_refused_posts(client: Elasticsearch, build: Build, ingest: Ingest) -> None:
    if not ingest.refused_posts:
        return
    client.indices.refresh(index=build.name)
    comments = delete_child_comments(client, build.name, dict.fromkeys(ingest.refused_posts, 0))
    ingest.comments_removed(sum(len(outcomes) for outcomes in build.fill(comments)))
