"""Builds a new generation from a source."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from elasticsearch import Elasticsearch

from analyzers.meaning import Model
from indexer import SCHEMA, generations
from indexer.build.builder import Built, IndexSettings, build
from indexer.build.replay import delete_child_comments
from indexer.build.upgrade import adaptation
from indexer.bulk.operations import BulkLimits, index_operation
from indexer.bulk.sender import send_bulk
from indexer.errors import IndexingError, TooFewDocuments, VerificationFailed
from indexer.ingest import Ingest, MaxRejects, OnReject, too_many_removed
from indexer.lock import Lock
from indexer.passages import with_passages
from indexer.progress import OnProgress, ignore_progress
from indexer.records import Counts, Document, SourceItem, oids_of, post_id
from indexer.scan import count_documents, has_own_posts, stored_documents
from indexer.write.comments import update_comments

_EXAMPLES = 5  # oids in a message


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

    over_http = _OverHttp()

    def fill(name: str) -> Counts:
        nonlocal over_http
        ingest = _fill(client, name, raws, settings.model, on_reject, options)
        live = generations.live(client, alias)
        if live is None:
            return ingest.accepted
        if not has_own_posts(client, alias):  # it replaces the sample posts
            return ingest.accepted
        over_http = _OverHttp.of(client, live, name, ingest)
        if not options.force:
            over_http.check_left_out()
        accepted = ingest.accepted + _copy(client, name, over_http.kept, settings.model)
        if not options.force:
            _compare_with_live(client, alias, accepted)
        return accepted

    built = build(client, lock, alias, settings, fill, options.on_progress)
    return replace(built, over_http=over_http.counts)


def _fill(
    client: Elasticsearch,
    name: str,
    raws: Iterable[SourceItem],
    model: Model | None,
    on_reject: OnReject,
    options: ReindexOptions,
) -> Ingest:
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
    return ingest


@dataclass(frozen=True, slots=True)
class _OverHttp:
    """What the live generation has over HTTP and the source lacks.

    Args:
        kept: posts, and comments on posts that the new generation has.
        left_out: ids of the other comments.
    """

    kept: tuple[Document, ...] = ()
    left_out: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, client: Elasticsearch, live: generations.Generation, name: str, ingest: Ingest
    ) -> Self:
        """Look at every document of the live generation that came over HTTP."""
        adapt = adaptation(client, live.schema, name, SCHEMA)
        # A former schema may not tell what came over HTTP: `adapt` finds out.
        query = {"term": {"over_http": True}} if live.schema == SCHEMA else None
        documents = [
            document
            for document in map(adapt, stored_documents(client, live.name, query))
            if document.source.get("over_http") and document.id not in ingest.read
        ]
        posts = {document.id for document in documents if document.kind == "post"}
        posts |= ingest.read.keys() - {post_id(oid) for oid in ingest.refused_posts}
        return cls(
            tuple(one for one in documents if post_id(one.routing) in posts),
            tuple(one.id for one in documents if post_id(one.routing) not in posts),
        )

    @property
    def counts(self) -> Counts:
        """What is kept."""
        posts = sum(document.kind == "post" for document in self.kept)
        return Counts(posts, len(self.kept) - posts)

    def check_left_out(self) -> None:
        """Refuse to drop what exists nowhere else.

        Raises:
            TooFewDocuments: naming the posts.
        """
        if not self.left_out:
            return
        oids = dict.fromkeys(oids_of(id_)[0] for id_ in self.left_out)
        examples = ", ".join(list(oids)[:_EXAMPLES]) + (", …" if len(oids) > _EXAMPLES else "")
        raise TooFewDocuments(
            f"{len(self.left_out):,} comments came over HTTP, on posts that the source does not "
            f"have ({examples}); nothing was swapped.",
            "Check the source, or use --force to leave them out.",
        )


def _copy(
    client: Elasticsearch, name: str, documents: Sequence[Document], model: Model | None
) -> Counts:
    """Copy documents of the live generation; how many."""
    target = generations.building_alias(name)
    copied = {"post": 0, "comment": 0}
    for outcomes in send_bulk(
        client, target, map(index_operation, with_passages(documents, model))
    ):
        for outcome in outcomes:
            if outcome.refusal:
                raise VerificationFailed(
                    f"{outcome.operation.id}, which came over HTTP, cannot be copied to {name}: "
                    f"{outcome.refusal.reason}; nothing was swapped.",
                    outcome.refusal.remedy,
                )
            copied[outcome.operation.kind] += 1
    posts = {document.routing for document in documents if document.kind == "comment"}
    update_comments(client, target, posts, BulkLimits().retry_for)
    return Counts(copied["post"], copied["comment"])


def _compare_with_live(client: Elasticsearch, alias: str, found: Counts) -> None:
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
