"""Builds a new generation from a source."""

from collections.abc import Iterable
from dataclasses import replace

from elasticsearch import Elasticsearch

from analyzers.meaning import Model
from indexer import SCHEMA, generations
from indexer.build.builder import Built, IndexSettings, build, copy_documents
from indexer.build.replay import delete_child_comments
from indexer.build.upgrade import adaptation
from indexer.bulk import BulkLimits, send_bulk
from indexer.errors import IndexingError, TooFewDocuments
from indexer.generations import Generation
from indexer.ingest import Ingest, IngestOptions, OnReject, too_many_removed
from indexer.lock import Lock
from indexer.records import Counts, Document, SourceItem, oids_of, post_id
from indexer.scan import count_documents, has_own_posts, stored_documents
from indexer.write.comments import update_comments

_EXAMPLES = 5  # oids in a message


def reindex(
    client: Elasticsearch,
    alias: str,
    raws: Iterable[SourceItem],
    settings: IndexSettings,
    on_reject: OnReject,
    options: IngestOptions | None = None,
) -> Built:
    """Build the next generation from a source, and make it live.

    Raises:
        Locked: another process is building.
        TooManyRejects: more was rejected than allowed; nothing was swapped.
        VerificationFailed: accepted documents are missing; nothing was swapped.
        SourceError: reading the source failed; nothing was swapped.
        TooFewDocuments: the source has far fewer than the live generation; nothing was swapped.
        Damaged: the live generation cannot be read; with `options.force` it is replaced.
    """
    options = options or IngestOptions()
    with Lock(client, alias, options.purpose) as lock:
        return reindex_locked(client, lock, alias, raws, settings, on_reject, options)


def reindex_locked(
    client: Elasticsearch,
    lock: Lock,
    alias: str,
    raws: Iterable[SourceItem],
    settings: IndexSettings,
    on_reject: OnReject,
    options: IngestOptions,
) -> Built:
    """`reindex` for a caller that already holds the lock."""

    over_http = Counts()

    def fill(name: str, live: Generation | None) -> Counts:
        nonlocal over_http
        ingest = _read(client, name, raws, settings.model, on_reject, options)
        if live is None or not has_own_posts(client, live.name):  # it replaces the sample posts
            return ingest.accepted
        kept, without_post = _over_http(client, live, name, ingest)
        if without_post and not options.force:
            raise _left_out(without_post)
        target = generations.building_alias(name)
        over_http = copy_documents(client, target, kept, settings.model)
        posts = {document.routing for document in kept if document.kind == "comment"}
        update_comments(client, target, posts, BulkLimits())
        accepted = ingest.accepted + over_http
        if not options.force:
            _check_not_far_fewer(accepted, count_documents(client, live.name))
        return accepted

    built = build(client, lock, alias, settings, fill, options.on_progress, force=options.force)
    return replace(built, over_http=over_http)


def _read(
    client: Elasticsearch,
    name: str,
    raws: Iterable[SourceItem],
    model: Model | None,
    on_reject: OnReject,
    options: IngestOptions,
) -> Ingest:
    """Write the documents of a source to a new generation."""
    target = generations.building_alias(name)
    ingest = Ingest(on_reject, options)
    ingest.send(client, target, ingest.documents(raws), model)
    if ingest.refused_posts:
        client.indices.refresh(index=name)
        comments = delete_child_comments(client, name, dict.fromkeys(ingest.refused_posts, 0))
        ingest.comments_removed(sum(map(len, send_bulk(client, target, comments))))
    # Their posts have the texts of comments that were not indexed.
    update_comments(client, target, ingest.refused_comments, options.limits)
    options.max_rejects.check(ingest.rejected, ingest.entries)
    if not ingest.accepted.posts:
        raise IndexingError(
            "The source has no posts; nothing was swapped.",
            "Check that it is the right file or folder.",
        )
    return ingest


def _over_http(
    client: Elasticsearch, live: Generation, name: str, ingest: Ingest
) -> tuple[list[Document], list[Document]]:
    """What the live generation has over HTTP and the source lacks.

    Returns:
        Posts, and comments on posts that the new generation has; then the other comments.
    """
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
    kept: list[Document] = []
    without_post: list[Document] = []
    for document in documents:
        (kept if post_id(document.routing) in posts else without_post).append(document)
    return kept, without_post


def _left_out(comments: list[Document]) -> TooFewDocuments:
    """The error for comments that exist nowhere else, naming their posts."""
    oids = list(dict.fromkeys(oids_of(comment.id)[0] for comment in comments))
    examples = ", ".join(oids[:_EXAMPLES]) + (", …" if len(oids) > _EXAMPLES else "")
    return TooFewDocuments(
        f"{len(comments):,} comments came over HTTP, on posts that the source does not "
        f"have ({examples}); nothing was swapped.",
        "Check the source, or use --force to leave them out.",
    )


def _check_not_far_fewer(accepted: Counts, indexed: Counts) -> None:
    for name, now, before in (
        ("posts", accepted.posts, indexed.posts),
        ("comments", accepted.comments, indexed.comments),
    ):
        if too_many_removed(before - now, before):
            raise TooFewDocuments(
                f"The source has {now:,} {name}, the live index {before:,}; nothing was swapped.",
                "Check the source, or use --force to replace them.",
            )
