"""Builds a new generation from a source."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256

from elasticsearch import ApiError, Elasticsearch, TransportError

from indexer import SCHEMA, generations
from indexer.build import unfinished
from indexer.build.builder import Build, Built, IndexSettings, build_generation
from indexer.build.replay import delete_child_comments
from indexer.bulk.operations import BulkLimits, index_operation
from indexer.errors import IndexingError, Locked, TooFewDocuments, TooManyRejects
from indexer.ingest import Ingest, MaxRejects, OnReject, too_many_removed
from indexer.lock import Lock
from indexer.progress import OnProgress, Progress, ignore_progress
from indexer.records import Counts, Reject, SourceItem
from indexer.scan import count_documents, has_own_posts
from indexer.write.comments import update_comments


@dataclass(frozen=True, slots=True)
class ReindexOptions:
    """How to read a source into a new generation.

    Args:
        fraction_read: returns the fraction of the source read so far (0 to 1), None if unknown.
        purpose: shown to other processes that wait for the lock.
        fingerprint: the same as long as the sources and the options of reading them are; empty if
            that cannot be known. With it, a generation whose swap is refused is kept, and the next
            run continues with it.
        force: swap even if the source has far fewer posts or comments than the live generation.
    """

    max_rejects: MaxRejects = field(default_factory=MaxRejects)
    limits: BulkLimits = field(default_factory=BulkLimits)
    on_progress: OnProgress = ignore_progress
    fraction_read: Callable[[], float | None] = lambda: None
    purpose: str = "reindex"
    fingerprint: str = ""
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
    key = _key(options.fingerprint, settings)
    kept = unfinished.find(client, alias, key) if key else None
    with build_generation(client, lock, alias, settings, options.on_progress, kept) as build:
        if kept:
            filled = kept.filled
            for reject in filled.rejects:
                on_reject(reject)
        else:
            filled = _fill(client, build, raws, on_reject, options)
        try:
            options.max_rejects.check(filled.rejected, filled.entries)
            if not options.force:
                _compare_with_live(client, alias, filled.counts)
        except (TooManyRejects, TooFewDocuments) as error:
            if not (key and _keep(build, key, filled)):
                raise
            hint = f"{build.name} is kept for that: unless SOURCE changes, nothing is read again."
            raise type(error)(error.message, f"{error.remedy} {hint}") from None
        return build.finish(filled.counts)


def _key(fingerprint: str, settings: IndexSettings) -> str:
    if not fingerprint:
        return ""
    parts = (fingerprint, settings.rules.digest, settings.shards, settings.language.name, SCHEMA)
    return sha256(repr(parts).encode()).hexdigest()


def _fill(
    client: Elasticsearch,
    build: Build,
    raws: Iterable[SourceItem],
    on_reject: OnReject,
    options: ReindexOptions,
) -> unfinished.Filled:
    rejects: list[Reject] = []

    def report(reject: Reject) -> None:
        if len(rejects) <= unfinished.MAX_REJECTS:
            rejects.append(reject)
        on_reject(reject)

    with Ingest(report) as ingest:
        for outcomes in build.fill(map(index_operation, ingest.documents(raws)), options.limits):
            ingest.record_outcomes(outcomes)
            fraction = ingest.fraction_done(options.fraction_read())
            options.on_progress(
                Progress("reading", ingest.accepted.total, fraction, ingest.rejects)
            )
        _remove_comments_of_refused_posts(client, build, ingest)
        # Their posts have the texts of comments that were not indexed.
        target = generations.building_alias(build.name)
        update_comments(client, target, ingest.refused_comments, options.limits.retry_for)
        if not ingest.accepted.posts:
            options.max_rejects.check(ingest.rejected, ingest.entries)
            raise IndexingError(
                "The source has no posts; nothing was swapped.",
                "Check that it is the right file or folder.",
            )
        return unfinished.Filled(ingest.accepted, ingest.entries, ingest.rejected, tuple(rejects))


def _keep(build: Build, key: str, filled: unfinished.Filled) -> bool:
    """Whether the generation was kept; a failure to do so must not hide why it is not swapped."""
    if len(filled.rejects) > unfinished.MAX_REJECTS:
        return False
    with suppress(ApiError, TransportError, Locked):
        build.keep(key, filled)
        return True
    return False


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


def _remove_comments_of_refused_posts(client: Elasticsearch, build: Build, ingest: Ingest) -> None:
    if not ingest.refused_posts:
        return
    client.indices.refresh(index=build.name)
    comments = delete_child_comments(client, build.name, dict.fromkeys(ingest.refused_posts, 0))
    ingest.comments_removed(sum(len(outcomes) for outcomes in build.fill(comments)))
