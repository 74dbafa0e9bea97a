"""Brings a source into the live index: `sync` makes them equal, `add` removes nothing.

What a source changes is one stream of changes, in the order of reading. `sync` writes them and a
dry run prints them; `add` writes what is newer than in the index.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

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
from indexer.normalise import address_of, document_of
from indexer.passages import with_passages
from indexer.records import Document, RawPost, Read, Skipped, SourceItem, batches
from indexer.scan import has_own_posts, posts_at, stored_digests
from indexer.write.links import update_link_texts
from indexer.write.live import clear_stale_write_block, read_posts, write
from indexer.write.merge import Change, Source, from_source, over_http_only, without_source_comments

_BATCH = 200  # posts
_EXAMPLES = 5  # oids of missing posts in a message


@dataclass(frozen=True, slots=True)
class SyncResult:
    """What a sync did, in posts.

    Args:
        index: the live generation.
        rules: the digest of its synonym rules.
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
    """What a sync would do.

    Args:
        names: the oids of what would be added ("add"), changed ("change") and removed ("remove").
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
    Comments that came from a source are removed only if the source has comments at all.

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
                added=built.counts.posts,
                built=built,
                stale_builds=stale_builds,
            )
        live = generations.require_writable(client, alias)
        rebuilt = None
        outdated = not is_current(live, settings)
        rolled_back = rolled_back_from(client, alias, live, settings) if outdated else ""
        if outdated and not rolled_back:
            rebuilt = rebuild(client, lock, alias, settings, options.on_progress)

        ingest = _comparison(client, alias, on_reject, options)
        samples_only = not has_own_posts(client, alias)  # which a first sync replaces
        documents = ingest.documents(read(ingest.is_unchanged_entry))
        uncommented: list[str] = []
        for batch in batches(with_passages(documents, settings.model, client, alias), _BATCH):
            changes = {document.oid: _synced(document) for document in batch}
            written = write(client, alias, changes, ingest.options.limits)
            ingest.record(written.values())
            uncommented += _uncommented(batch, {oid: post.before for oid, post in written.items()})
        lock.check()
        if ingest.has_comments:
            write(client, alias, dict.fromkeys(uncommented, without_source_comments))
        to_remove, withheld = _removals(ingest, samples_only=samples_only)
        removed = 0
        for oids in batches(to_remove, _BATCH):
            written = write(client, alias, dict.fromkeys(oids, over_http_only))
            removed += sum(post.result == "deleted" for post in written.values())
        update_link_texts(client, alias, generations.live_alias(_name(client, alias)))
        client.indices.refresh(index=alias)
        return SyncResult(
            index=rebuilt.index if rebuilt else live.name,
            rules=rebuilt.rules if rebuilt else live.rules or "",
            added=ingest.created,
            changed=ingest.updated,
            removed=removed,
            unchanged=ingest.unchanged,
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
    added: list[str] = []
    changed: list[str] = []
    for batch in batches(ingest.documents(read(ingest.is_unchanged_entry)), _BATCH):
        posts = read_posts(client, alias, (document.oid for document in batch))
        for document, post in zip(batch, posts, strict=True):
            if post.source is None:
                added.append(document.oid)
            elif _synced(document)(post.source) == post.source:
                ingest.unchanged += 1
            else:
                changed.append(document.oid)
    samples_only = not has_own_posts(client, alias)
    missing, withheld = _removals(ingest, samples_only=samples_only)
    posts = read_posts(client, alias, missing, ["over_http"])
    removed = [
        post.oid
        for post in posts
        if post.source is not None and over_http_only(post.source) is None
    ]
    return SyncPreview(
        names={"add": added, "change": changed, "remove": removed},
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
    for batch in batches(with_passages(ingest.documents(joined), model, client, alias), _BATCH):
        newest = ingest.options.newest
        changes = {
            document.oid: _added(document) if newest else _added_if_newer(document)
            for document in batch
        }
        written = write(client, alias, changes, ingest.options.limits)
        for document in batch:
            before = written[document.oid].before
            if before and not newest and _is_older(document.source, before):
                ingest.older += 1
                ingest.options.on_skip(Skipped(document.origin, None, "older than in the index"))
        ingest.record(written.values())
    update_link_texts(client, alias, generations.live_alias(live.name))
    client.indices.refresh(index=alias)
    return ingest


def _name(client: Elasticsearch, alias: str) -> str:
    return generations.require_live(client, alias).name


def _comparison(
    client: Elasticsearch, alias: str, on_reject: OnReject, options: IngestOptions
) -> Ingest:
    """A reader that leaves out what the index has."""
    client.indices.refresh(index=alias)
    return Ingest(on_reject, options, stored_digests(client, alias), "comparing")


def _synced(document: Document) -> Change:
    """The post of the source. Without comments there it keeps those that it has until the whole
    source is read: it may have no comments at all."""
    return from_source(document, keeps_comments=not document.source.get("comments"))


def _added(document: Document) -> Change:
    return from_source(document, keeps_comments=True)


def _added_if_newer(document: Document) -> Change:
    def change(stored: Source | None) -> Source | None:
        if stored and _is_older(document.source, stored):
            return stored
        return _added(document)(stored)

    return change


def _is_older(source: Source, stored: Source) -> bool:
    return _changed_at(source) < _changed_at(stored)


def _changed_at(source: Source) -> float:
    date = source.get("modified") or source.get("pub_date")
    return datetime.fromisoformat(date).timestamp() if date else float("-inf")


def _uncommented(
    documents: Sequence[Document], before: Mapping[str, Source | None]
) -> Iterator[str]:
    """The posts without a comment in the source that have some of a source in the index."""
    for document in documents:
        comments = (before[document.oid] or {}).get("comments", ())
        is_kept = any(not comment.get("over_http") for comment in comments)
        if is_kept and not document.source.get("comments"):
            yield document.oid


def _removals(ingest: Ingest, *, samples_only: bool) -> tuple[list[str], str]:
    """The posts that the index has and the source lacks, unless that looks like a mistake.

    Args:
        samples_only: the index has no other posts than the sample posts.

    Returns:
        The oids, and why nothing may be removed; empty if it may.
    """
    if not ingest.options.complete:
        return [], ""
    posts = ingest.stored
    missing = [oid for oid in posts if oid not in ingest.read and oid not in ingest.kept]
    withheld = ""
    if ingest.options.force:
        pass
    elif posts and not ingest.read:
        withheld = f"the source has no posts, the index has {len(posts):,}"
    elif samples_only:
        pass
    elif too_many_removed(len(missing), len(posts)):
        examples = ", ".join(missing[:_EXAMPLES]) + (", …" if len(missing) > _EXAMPLES else "")
        withheld = (
            f"{len(missing):,} of {len(posts):,} posts are missing from the source ({examples})"
        )
    elif ingest.rejects_without_oid and missing:
        withheld = f"{ingest.rejects_without_oid:,} rejected lines may be the missing posts"
    return ([], withheld) if withheld else (missing, "")


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
                stored = known.get(address_of(raw.url), {})
                oid = stored.get("oid", raw.oid)
                if oid not in (raw.oid, str(raw.oid)):
                    raw = replace(raw, oid=oid, entry=b"")  # which has another oid
                    made, _ = document_of(raw)
                    is_older = made and _changed_at(made.source) <= _changed_at(stored)
                    if raw.is_summary or is_older:
                        on_skip(Skipped(raw.origin, None, "in the index already, by its address"))
                        continue
            yield raw
