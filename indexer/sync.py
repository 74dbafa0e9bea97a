"""Brings a source into the live index: `sync` makes them equal, `add` removes nothing.

What a source changes is one stream of changes, in the order of reading. `sync` writes them and a
dry run prints them; `add` writes what is newer than in the index.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from elasticsearch import Elasticsearch

from analyzers.meaning import Model
from indexer import generations
from indexer.build.builder import (
    Built,
    IndexSettings,
    is_current,
    rebuild,
    reindex,
    rolled_back_from,
)
from indexer.ingest import (
    Ingest,
    IngestOptions,
    MaxRejects,
    OnReject,
    OnSkip,
    too_many_removed,
)
from indexer.lock import Lock
from indexer.normalise import address_of, post_document
from indexer.records import (
    Document,
    RawPost,
    Read,
    Skipped,
    SourceItem,
    batches,
    name_of,
    oids_of,
    post_id,
)
from indexer.scan import (
    child_comments,
    current_versions,
    has_own_posts,
    posts_at,
    raw_digests,
    stored_ids,
)
from indexer.write.comments import based_on_stored
from indexer.write.deletions import deletion_versions, forget_old_deletions
from indexer.write.live import (
    clear_stale_write_block,
    delete_comments,
    delete_documents,
    now,
    update_live_comments,
    update_live_link_texts,
)

_BATCH = 500  # documents
_NEVER = -1  # below any version
_NOT_STORED = (_NEVER, "")  # a version and a digest
_EXAMPLES = 5  # oids of missing posts in a message


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
        names: of what would be added ("add"), changed ("change") and removed ("remove").
        removals_withheld: as in SyncResult.
        builds: whether it would build a generation first, because the synonym rules, the language
            or the schema has changed.
    """

    names: Mapping[str, Sequence[str]]
    unchanged: int
    removals_withheld: str
    builds: bool


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
        if generations.live(client, alias) is None:
            first = replace(options, max_rejects=MaxRejects(share=1.0))
            built = reindex(client, alias, read(None), settings, on_reject, first, lock)
            return SyncResult(
                built.index,
                built.rules,
                added=built.counts.total,
                built=built,
                stale_builds=stale_builds,
            )
        live = generations.require_writable(client, alias)
        forget_old_deletions(client, alias)
        rebuilt = None
        outdated = not is_current(live, settings)
        rolled_back = rolled_back_from(client, alias, live, settings) if outdated else ""
        if outdated and not rolled_back:
            rebuilt = rebuild(client, lock, alias, settings, options.on_progress)

        ingest = _comparison(client, alias, on_reject, options)
        samples_only = not has_own_posts(client, alias)  # which a first sync replaces
        changes = _differences(client, alias, ingest, read(ingest.is_unchanged_entry))
        ingest.send(client, alias, (document for _, document in changes), settings.model, alias)
        _finish_comments(client, alias, ingest)

        lock.check()
        to_remove, withheld = _removals(client, alias, ingest, samples_only=samples_only)
        removed = _remove(client, alias, to_remove)
        update_live_link_texts(client, alias, None)
        client.indices.refresh(index=alias)
        return SyncResult(
            index=rebuilt.index if rebuilt else live.name,
            rules=rebuilt.rules if rebuilt else live.rules or "",
            added=ingest.created,
            changed=ingest.updated,
            removed=removed,
            unchanged=ingest.unchanged,
            parsed=ingest.parsed,
            removals_withheld=withheld,
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
    ingest = _comparison(client, alias, on_reject, options or IngestOptions())
    names: dict[str, list[str]] = {"add": [], "change": []}
    for action, document in _differences(client, alias, ingest, read(ingest.is_unchanged_entry)):
        names[action].append(name_of(document.id))
    samples_only = not has_own_posts(client, alias)
    to_remove, withheld = _removals(client, alias, ingest, samples_only=samples_only)
    return SyncPreview(
        names={**names, "remove": [name_of(document.id) for document in to_remove]},
        unchanged=ingest.unchanged,
        removals_withheld=withheld,
        builds=not (is_current(live, settings) or rolled_back_from(client, alias, live, settings)),
    )


def add(
    client: Elasticsearch,
    alias: str,
    raws: Iterable[SourceItem],
    on_reject: OnReject,
    options: IngestOptions | None = None,
    model: Model | None = None,
) -> Ingest:
    """Write all documents of a source to the live index, and refresh it.

    Args:
        model: gives the vectors of passages; None: no vectors.

    Returns:
        What became of the documents.

    Raises:
        NoGeneration: there is no live index.
        OtherSchema: it was built by another version.
        SourceError: reading the source failed; what was read before is in the index.
        BulkTimeout: Elasticsearch became unavailable; what was sent before is in the index.
    """
    live = generations.require_writable(client, alias)
    generations.require_schema(client, alias)
    if live.write_blocked:
        clear_stale_write_block(client, alias)
    ingest = Ingest(on_reject, options, phase="adding")
    joined = _joined_by_address(client, alias, raws, ingest.options.on_skip)
    ingest.send(client, alias, _newer(client, alias, ingest, joined), model, alias)
    _finish_comments(client, alias, ingest)
    update_live_link_texts(client, alias, None)
    client.indices.refresh(index=alias)
    return ingest


def _comparison(
    client: Elasticsearch, alias: str, on_reject: OnReject, options: IngestOptions
) -> Ingest:
    """A reader that leaves out what the index has."""
    client.indices.refresh(index=alias)
    return Ingest(on_reject, options, raw_digests(client, alias), "comparing")


def _differences(
    client: Elasticsearch, alias: str, ingest: Ingest, raws: Iterable[SourceItem]
) -> Iterator[tuple[Literal["add", "change"], Document]]:
    """What of a source is new or differs; the source wins over newer versions and deletions."""
    for batch in batches(ingest.documents(raws), _BATCH):
        query = {"ids": {"values": [document.id for document in batch]}}
        stored = {
            document.id: (document.version, "" if over_http else digest)
            for document, digest, over_http in stored_ids(client, alias, query)
        }
        differing = []
        for document in batch:
            _, digest = stored.get(document.id, _NOT_STORED)
            # The text of a page stays the same when its template changes.
            if digest == document.source["digest"]:
                ingest.unchanged += 1
                ingest.parsed += document.kind == "post"
            else:
                differing.append(document)
        deleted = deletion_versions(client, alias, [document.id for document in differing])
        for document in based_on_stored(client, alias, differing):
            version, _ = stored.get(document.id, _NOT_STORED)
            newest = max(version, deleted.get(document.id, _NEVER))
            if document.version <= newest:
                document = replace(document, version=max(now(), newest + 1))
            yield "change" if document.id in stored else "add", document


def _removals(
    client: Elasticsearch, alias: str, ingest: Ingest, *, samples_only: bool
) -> tuple[Iterator[Document], str]:
    """What the index has and the source lacks, unless that looks like a mistake.

    Comments on posts that stay are missing only if the source has comments at all.

    Args:
        samples_only: the index has no other posts than the sample posts.

    Returns:
        The documents as `_present` yields them, and why nothing may be removed; empty if it may.
    """
    if not ingest.options.complete:
        return iter(()), ""
    posts = [id_ for id_ in ingest.stored if id_.startswith("post:")]
    missing_posts = [id_ for id_ in posts if not _is_read(id_, ingest)]
    gone = set(missing_posts)
    comments = [
        id_
        for id_ in ingest.stored
        if id_.startswith("comment:") and post_id(oids_of(id_)[0]) not in gone
    ]
    missing_comments: list[str] = []
    if any(id_.startswith("comment:") for id_ in ingest.read):
        missing_comments = [id_ for id_ in comments if not _is_read(id_, ingest)]
    withheld = ""
    if ingest.options.force:
        pass
    elif posts and not any(id_.startswith("post:") for id_ in ingest.read):
        withheld = f"the source has no posts, the index has {len(posts):,}"
    elif samples_only:
        pass
    elif too_many_removed(len(missing_posts), len(posts)):
        examples = ", ".join(oids_of(id_)[0] for id_ in missing_posts[:_EXAMPLES])
        more = ", …" if len(missing_posts) > _EXAMPLES else ""
        withheld = (
            f"{len(missing_posts):,} of {len(posts):,} posts are missing from the source "
            f"({examples}{more})"
        )
    elif too_many_removed(len(missing_comments), len(comments)):
        withheld = (
            f"{len(missing_comments):,} of {len(comments):,} comments are missing from the source"
        )
    elif ingest.rejects_without_oid and missing_posts:
        withheld = f"{ingest.rejects_without_oid:,} rejected lines may be the missing posts"
    if withheld:
        return iter(()), withheld
    return _present(client, alias, missing_posts, missing_comments), ""


def _is_read(id_: str, ingest: Ingest) -> bool:
    """Whether the source has a document, or a Reject names it, its post, or all its comments."""
    if id_ in ingest.read:
        return True
    post_oid, comment_oid = oids_of(id_)
    names = {post_oid}
    if comment_oid is not None:
        names |= {f"{post_oid}/{comment_oid}", f"{post_oid}/?"}
    return not names.isdisjoint(ingest.kept)


def _present(
    client: Elasticsearch, alias: str, posts: Sequence[str], comments: Sequence[str]
) -> Iterator[Document]:
    """The missing documents as they are in the index now, unless they came over HTTP.

    They have the version there, and no source. After some posts their comments.
    """
    for ids in (posts, comments):
        for batch in batches(ids, _BATCH):
            stored = list(stored_ids(client, alias, {"ids": {"values": batch}}))
            documents = [document for document, _, over_http in stored if not over_http]
            yield from documents
            if ids is posts:
                oids = [document.routing for document in documents]
                yield from child_comments(client, alias, oids)


def _finish_comments(client: Elasticsearch, alias: str, ingest: Ingest) -> None:
    """Update the field `comments` of what was written; delete comments that have no post.

    A post may have been refused, or deleted meanwhile.
    """
    without_post = update_live_comments(client, alias, ingest.changed_posts)
    ingest.comments_removed(delete_comments(client, alias, without_post))


def _remove(client: Elasticsearch, alias: str, documents: Iterator[Document]) -> int:
    removed = 0
    posts_with_comments: set[str] = set()
    for batch in batches(documents, _BATCH):
        removed += len(delete_documents(client, alias, batch))
        posts_with_comments.update(
            document.routing for document in batch if document.kind == "comment"
        )
    # The comments of removed posts were removed too, but not those written meanwhile.
    without_post = update_live_comments(client, alias, posts_with_comments)
    return removed + delete_comments(client, alias, without_post)


def _joined_by_address(
    client: Elasticsearch, alias: str, raws: Iterable[SourceItem], on_skip: OnSkip
) -> Iterator[SourceItem]:
    """Posts under the oid that the index has for their URL: a feed has other oids than a folder.

    The post in the index stays unless the post of the source is newer: the content of a feed may
    be a summary.
    """
    for batch in batches(raws, _BATCH):
        urls = [raw.url for raw in batch if isinstance(raw, RawPost) and isinstance(raw.url, str)]
        known = posts_at(client, alias, {address_of(url) for url in urls})
        for raw in batch:
            if isinstance(raw, RawPost) and isinstance(raw.url, str):
                oid, version = known.get(address_of(raw.url), (raw.oid, 0))
                if oid not in (raw.oid, str(raw.oid)):
                    raw = replace(raw, oid=oid, entry=b"")  # which has another oid
                    document = post_document(raw)
                    is_older = isinstance(document, Document) and document.version <= version
                    if raw.is_summary or is_older:
                        on_skip(Skipped(raw.origin, None, "in the index already, by its address"))
                        continue
            yield raw


def _newer(
    client: Elasticsearch, alias: str, ingest: Ingest, raws: Iterable[SourceItem]
) -> Iterator[Document]:
    """What of a source may be newer than in the index.

    Left out are documents deleted after their last change, and the comments of such posts. Those
    that were written again since are not: Elasticsearch compares their versions. With the option
    `newest` nothing is left out, and every document gets the newest version.
    """
    newest = ingest.options.newest
    deleted_posts: set[str] = set()
    for batch in batches(ingest.documents(raws), _BATCH):
        deleted = deletion_versions(client, alias, {document.id for document in batch})
        suspects = [document for document in batch if newest or document.id in deleted]
        present = current_versions(client, alias, suspects)
        former = {
            document.id: max(deleted.get(document.id, _NEVER), present.get(document.id, _NEVER))
            for document in suspects
        }
        if newest:  # also above a version in the future
            batch = [
                replace(document, version=max(now(), document.version, former[document.id] + 1))
                for document in batch
            ]
        for document in based_on_stored(client, alias, batch):
            if document.routing in deleted_posts or (
                document.version < deleted.get(document.id, _NEVER) and document.id not in present
            ):
                ingest.deleted += 1
                if document.kind == "post":
                    deleted_posts.add(document.routing)
            else:
                yield document
