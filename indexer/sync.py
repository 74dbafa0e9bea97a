"""Brings a source into the live index: `sync` makes them equal, `add` removes nothing.

The index is read once: the digest of every post. What differs in the source is read again as it is
now, merged and written on condition that nobody has written it since. A post that was written or
deleted over HTTP after the comparison stays as it is: the next `sync` looks at it again.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from elasticsearch import ApiError, Elasticsearch

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
from indexer.bulk import BulkTimeout
from indexer.errors import NoGeneration
from indexer.generations import Generation
from indexer.ingest import Ingest, IngestOptions, OnReject, too_many_removed
from indexer.lock import Lock
from indexer.normalise import address_of
from indexer.passages import with_passages
from indexer.records import Document, RawPost, Read, Skipped, SourceItem, batches
from indexer.scan import SAMPLES, count_documents, doc_values, ids
from indexer.write.links import update_link_texts
from indexer.write.live import Written, read_posts, write
from indexer.write.merge import Change, Source, from_source

_BATCH = 200  # posts read and written at a time
_EXAMPLES = 5  # oids of missing posts in a message

Apply = Callable[[Mapping[str, Change]], Mapping[str, Written]]
"""Makes changes of posts, by their oids, or only says what they would be."""


@dataclass(frozen=True, slots=True)
class SyncResult:
    """What a sync did, or would do.

    Args:
        index: the live generation.
        rules: the digest of its synonym rules.
        added, changed, removed: the oids of posts; a comment is `post/comment`.
        unchanged: number of posts.
        left: number of posts that differ and stay: in `sync` because they were written or deleted
            over HTTP after the comparison, in `add` because the index has a newer version.
        removals_withheld: why nothing was removed; empty if removals were made or not needed.
        rolled_back_from: the generation with the current settings that somebody rolled back from;
            the live one was not rebuilt.
        built: the generation that was built first, if any; `builds`: whether one would be.
        stale_builds: names of generations left by killed builds, which were deleted.
    """

    index: str
    rules: str
    added: Collection[str] = ()
    changed: Collection[str] = ()
    removed: Collection[str] = ()
    unchanged: int = 0
    left: int = 0
    removals_withheld: str = ""
    rolled_back_from: str = ""
    built: Built | None = None
    builds: bool = False
    stale_builds: tuple[str, ...] = ()


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
        TooManyRejects: of the first build.
    """
    options = options or IngestOptions(purpose="sync")
    with Lock(client, alias, options.purpose) as lock:
        existing, stale = generations.recover(client, alias)
        live = generations.live_of(existing)
        if live is None:
            built = reindex(client, alias, read(None), settings, on_reject, options, lock)
            oids = list(ids(client, built.index))
            return SyncResult(
                built.index, built.rules, added=oids, built=built, stale_builds=tuple(stale)
            )
        _check_readable(client, alias, existing, live)
        outdated = not is_current(live, settings)
        rolled_back = rolled_back_from(existing, live, settings) if outdated else ""
        rebuilt = None
        if outdated and not rolled_back:
            rebuilt = rebuild(client, lock, alias, settings, options.on_progress)
        comparison = _Comparison(client, alias, on_reject, options, _writer(client, alias, options))
        comparison.write(read, settings.model)
        withheld = comparison.remove(lock.check)
        comparison.update_links()
        return comparison.result(
            index=rebuilt.index if rebuilt else live.name,
            rules=rebuilt.rules if rebuilt else live.rules or "",
            removals_withheld=withheld,
            rolled_back_from=rolled_back,
            built=rebuilt,
            stale_builds=tuple(stale),
        )


def preview(
    client: Elasticsearch,
    alias: str,
    read: Read,
    settings: IndexSettings,
    on_reject: OnReject,
    options: IngestOptions | None = None,
) -> SyncResult:
    """What `sync` would do. Nothing is written.

    Raises:
        NoGeneration: there is no index.
        SourceError: reading the source failed.
    """
    live = generations.require_live(client, alias)
    existing = generations.list_generations(client, alias)

    def apply(changes: Mapping[str, Change]) -> dict[str, Written]:
        posts = read_posts(client, alias, changes)
        return {post.oid: _would_be(post.oid, post.source, changes[post.oid]) for post in posts}

    comparison = _Comparison(client, alias, on_reject, options or IngestOptions(), apply)
    comparison.write(read, None)
    return comparison.result(
        index=live.name,
        rules=live.rules or "",
        removals_withheld=comparison.remove(lambda: None),
        builds=not (is_current(live, settings) or rolled_back_from(existing, live, settings)),
    )


def _would_be(oid: str, stored: Source | None, change: Change) -> Written:
    changed = change(stored)
    if changed == stored:
        return Written(oid, "unchanged", stored)
    if changed is None:
        return Written(oid, "deleted", stored)
    return Written(oid, "created" if stored is None else "updated", stored)


def add(
    client: Elasticsearch,
    alias: str,
    items: Iterable[SourceItem],
    on_reject: OnReject,
    options: IngestOptions | None = None,
    model: Model | None = None,
) -> SyncResult:
    """Write the posts of a source to the live index, but none that is older than in the index.

    Posts get the oid that the index has for their URL: a feed has other oids than a folder. Such a
    post replaces the one in the index only if it is newer.

    Args:
        model: gives the vectors of passages; None: no vectors.

    Raises:
        NoGeneration: there is no live index.
        OtherSchema: it was built by another version.
        SourceError: reading the source failed; what was read before is in the index.
        BulkTimeout: Elasticsearch became unavailable; what was sent before is in the index.
    """
    options = options or IngestOptions(purpose="add")
    with Lock(client, alias, options.purpose):
        existing, _ = generations.recover(client, alias)
        live = generations.live_of(existing)
        if live is None:
            raise NoGeneration(
                f"There is no index {alias!r} yet.",
                "Build one with `blogsearch reindex POSTS.jsonl`.",
            )
        _check_readable(client, alias, existing, live)
        generations.check_schema(live.schema, live.model)
        comparison = _Comparison(client, alias, on_reject, options, _writer(client, alias, options))
        comparison.add(items, model)
        comparison.update_links()
        return comparison.result(index=live.name, rules=live.rules or "")


def _check_readable(
    client: Elasticsearch, alias: str, existing: Iterable[Generation], live: Generation
) -> None:
    generations.check_single(alias, [item.name for item in existing if item.aliased])
    try:
        if not live.closed:
            client.indices.refresh(index=live.name)
            return
    except ApiError:
        pass
    if reason := generations.damage(client, live):
        raise generations.damaged(reason)


def _writer(client: Elasticsearch, alias: str, options: IngestOptions) -> Apply:
    return partial(write, client, alias, limits=options.limits)


@dataclass(frozen=True, slots=True)
class _Lost:
    """Comments of a post that are missing from the source, and the digest of the post there."""

    comments: frozenset[str]
    digest: str


class _Comparison:
    """A source and the live index, of which every post's digest is read once."""

    def __init__(
        self,
        client: Elasticsearch,
        alias: str,
        on_reject: OnReject,
        options: IngestOptions,
        apply: Apply,
    ) -> None:
        self._client, self._alias, self._apply = client, alias, apply
        self._digests: dict[str, str] = {}
        self._over_http: set[str] = set()
        for values in doc_values(client, alias, ("oid", "digest", "over_http")):
            self._digests[values["oid"]] = values.get("digest", "")
            if values.get("over_http"):
                self._over_http.add(values["oid"])
        of_source = {oid: text for oid, text in self._digests.items() if oid not in self._over_http}
        self.ingest = Ingest(on_reject, options, of_source, "comparing")
        self._added: list[str] = []
        self._changed: list[str] = []
        self._removed: list[str] = []
        self._unchanged: set[str] = set()  # though they had to be compared
        self._left: set[str] = set()  # as they are, though they differ
        self._lost: dict[str, _Lost] = {}
        self._links_changed = False

    def result(self, **values: Any) -> SyncResult:
        """What was done, with further fields of the result."""
        return SyncResult(
            added=self._added,
            changed=self._changed,
            removed=self._removed,
            unchanged=self.ingest.unchanged + len(self._unchanged),
            left=len(self._left),
            **values,
        )

    def write(self, read: Read, model: Model | None) -> None:
        """Write what is new or differs; comments that the source lacks stay for the moment."""
        self._write(read(self.ingest.is_unchanged_entry), model, self._as_in_source)

    def add(self, items: Iterable[SourceItem], model: Model | None) -> None:
        """Write what is new, or not older than in the index."""
        joined: set[str] = set()

        def change_of(document: Document) -> Change:
            return self._if_newer(document, or_equal=document.oid not in joined)

        self._write(self._joined_by_address(items, joined), model, change_of)

    def remove(self, check: Callable[[], None]) -> str:
        """Remove what the source lacks, unless that looks like a mistake; why nothing was removed.

        Comments are missing only if the source has comments at all.

        Args:
            check: called before something is removed.
        """
        ingest = self.ingest
        if not ingest.options.complete:
            return ""
        missing = [
            oid
            for oid in self._digests
            if oid not in self._over_http and oid not in ingest.read and oid not in ingest.kept
        ]
        comments = [
            f"{oid}/{comment}" for oid, lost in self._lost.items() for comment in lost.comments
        ]
        removes_comments = ingest.has_comments
        if withheld := self._withheld(missing, len(comments) if removes_comments else 0):
            return withheld
        if missing or comments:
            check()
        for batch in batches(missing, _BATCH):
            written = self._apply({oid: self._without(oid) for oid in batch})
            self._removed += [oid for oid in batch if written[oid].result == "deleted"]
        for posts in batches(self._lost.items(), _BATCH):
            self._apply({oid: _without_lost(lost, removes_comments) for oid, lost in posts})
        self._removed += comments if removes_comments else []
        return ""

    def update_links(self) -> None:
        """Make the texts of links equal to those of the posts, if any of these may differ now.

        Writes over HTTP leave that to the next `sync`.
        """
        if self._links_changed or self._over_http:
            index = generations.require_live(self._client, self._alias).name
            limits = self.ingest.options.limits
            update_link_texts(self._client, index, generations.live_alias(index), limits)

    def _write(
        self,
        items: Iterable[SourceItem],
        model: Model | None,
        change_of: Callable[[Document], Change],
    ) -> None:
        documents = self.ingest.documents(items)
        posts = with_passages(documents, model, self._client, self._alias)
        workers = self.ingest.options.limits.workers
        in_flight: deque[tuple[Sequence[Document], Future[Mapping[str, Written]]]] = deque()
        with ThreadPoolExecutor(workers, thread_name_prefix="sync") as pool:
            try:
                for batch in batches(posts, _BATCH):
                    if len(in_flight) >= workers:
                        self._record(*in_flight.popleft())
                    changes = {document.oid: change_of(document) for document in batch}
                    in_flight.append((batch, pool.submit(self._apply, changes)))
                while in_flight:
                    self._record(*in_flight.popleft())
            finally:
                for _, future in in_flight:
                    future.cancel()

    def _record(
        self, documents: Sequence[Document], writing: "Future[Mapping[str, Written]]"
    ) -> None:
        results = writing.result()
        for document in documents:
            written = results[document.oid]
            if written.refusal and written.result == "unknown":
                raise BulkTimeout(f"{written.refusal.reason}.", written.refusal.remedy)
            if written.refusal:
                self.ingest.refuse(document.origin, document.oid, written.refusal)
            elif written.result == "created":
                self._added.append(document.oid)
            elif written.result == "updated" and document.oid not in self._unchanged:
                self._changed.append(document.oid)
            elif document.oid not in self._left:
                self._unchanged.add(document.oid)
        self.ingest.report()

    def _as_in_source(self, document: Document) -> Change:
        """The post as the source has it, with the comments that it lacks, and without a digest if
        there are any, until it is known whether they may be removed."""
        oid = document.oid
        sent = {comment["oid"] for comment in document.source.get("comments", ())}

        def change(stored: Source | None) -> Source | None:
            if self._was_written(oid, stored):
                return stored
            comments = (stored or {}).get("comments", ())
            of_source = {item["oid"] for item in comments if not item.get("over_http")}
            lost = frozenset(of_source - sent)
            merged = from_source(document, keeps_comments=bool(lost))(stored)
            if merged and lost:
                self._lost[oid] = _Lost(lost, document.source.get("digest", ""))
                merged = _with_digest(merged, "")
            if stored and merged and _with_digest(merged, "") == _with_digest(stored, ""):
                self._unchanged.add(oid)  # only the form of its source has changed
            self._note_links(stored, merged)
            return merged

        return change

    def _if_newer(self, document: Document, *, or_equal: bool) -> Change:
        merge = from_source(document, keeps_comments=True)

        def change(stored: Source | None) -> Source | None:
            if stored and not _is_newer(document.source, stored, or_equal=or_equal):
                self._left.add(document.oid)
                return stored
            merged = merge(stored)
            self._note_links(stored, merged)
            return merged

        return change

    def _without(self, oid: str) -> Change:
        def change(stored: Source | None) -> Source | None:
            if self._was_written(oid, stored):
                return stored
            self._note_links(stored, None)
            return None

        return change

    def _was_written(self, oid: str, stored: Source | None) -> bool:
        """Whether a post was written or deleted over HTTP since the comparison."""
        before = self._digests.get(oid), oid in self._over_http
        now = (None, False)
        if stored:
            now = stored.get("digest", ""), bool(stored.get("over_http"))
        if now != before:
            self._left.add(oid)
        return now != before

    def _note_links(self, stored: Source | None, merged: Source | None) -> None:
        names = ("slug", "address", "links", "title")
        before, after = ([(post or {}).get(name) for name in names] for post in (stored, merged))
        self._links_changed = self._links_changed or before != after

    def _withheld(self, missing: Sequence[str], comments: int) -> str:
        """Why posts and so many comments may not be removed; empty if they may."""
        ingest, indexed = self.ingest, len(self._digests) - len(self._over_http)
        if ingest.options.force or not (missing or comments):
            return ""
        if not ingest.read:
            return f"the source has no posts, the index has {indexed:,}"
        samples = set(ids(self._client, self._alias, SAMPLES)) if missing else set()
        own = [oid for oid in missing if oid not in samples]  # any source replaces the samples
        if too_many_removed(len(own), indexed - len(samples)):
            examples = ", ".join(own[:_EXAMPLES]) + (", …" if len(own) > _EXAMPLES else "")
            return f"{len(own):,} of {indexed:,} posts are missing from the source ({examples})"
        if comments:
            of_all = count_documents(self._client, self._alias).comments
            if too_many_removed(comments, of_all):
                return f"{comments:,} of {of_all:,} comments are missing from the source"
        if ingest.rejects_without_oid and own:
            return f"{ingest.rejects_without_oid:,} rejected lines may be the missing posts"
        return ""

    def _joined_by_address(
        self, items: Iterable[SourceItem], joined: set[str]
    ) -> Iterator[SourceItem]:
        """Posts under the oid that the index has for their URL: a feed has other oids than a
        folder. They are added to `joined`.

        A summary of such a post is left out; otherwise it replaces the one in the index if it is
        newer.
        """
        on_skip = self.ingest.options.on_skip
        for batch in batches(items, _BATCH):
            posts = [item for item in batch if isinstance(item, RawPost)]
            addresses = {address_of(post.url) for post in posts if isinstance(post.url, str)}
            known = _posts_at(self._client, self._alias, addresses)
            for item in batch:
                if isinstance(item, RawPost) and isinstance(item.url, str):
                    oid = known.get(address_of(item.url), item.oid)
                    if oid not in (item.oid, str(item.oid)):
                        if item.is_summary:
                            reason = "in the index already, by its address"
                            on_skip(Skipped(item.origin, None, reason))
                            continue
                        item = replace(item, oid=oid, entry=b"")  # which has another oid
                        joined.add(oid)
                yield item


def _posts_at(client: Elasticsearch, alias: str, addresses: Collection[str]) -> dict[str, str]:
    """Address to the oid of the only post that has it, as of the last refresh."""
    if not addresses:
        return {}
    by_address: dict[str, list[str]] = {}
    query = {"terms": {"address": sorted(addresses)}}
    for post in doc_values(client, alias, ("oid", "address"), query):
        by_address.setdefault(post["address"], []).append(post["oid"])
    return {address: oids[0] for address, oids in by_address.items() if len(oids) == 1}


def _without_lost(lost: _Lost, removes: bool) -> Change:
    """A post without the comments that its source lacks, or with them; with its digest again."""

    def change(stored: Source | None) -> Source | None:
        if stored is None or stored.get("digest"):  # it was written meanwhile
            return stored
        kept = [
            comment
            for comment in stored.get("comments", ())
            if not removes or comment.get("over_http") or comment["oid"] not in lost.comments
        ]
        bare = {name: value for name, value in stored.items() if name != "comments"}
        return _with_digest({**bare, **({"comments": kept} if kept else {})}, lost.digest)

    return change


def _with_digest(source: Source, digest: str) -> Source:
    """With another digest; "" for none."""
    bare = {name: value for name, value in source.items() if name != "digest"}
    return {**bare, "digest": digest} if digest else bare


def _is_newer(source: Source, stored: Source, *, or_equal: bool) -> bool:
    """Whether a post was changed later than the one that is stored."""
    changed, before = _changed_at(source), _changed_at(stored)
    return changed >= before if or_equal else changed > before


def _changed_at(source: Source) -> datetime:
    date = source.get("modified") or source.get("pub_date")
    return datetime.fromisoformat(date) if date else datetime.min.replace(tzinfo=UTC)
