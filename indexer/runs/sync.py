"""Brings a source into the live index: posts are added, changed and removed.

The index is read once: the digest of every post. Posts that differ in the source are read again in
their present state, merged, and written if nobody has written them since. A post written or deleted
over HTTP after the comparison is left to the next `sync`.
"""

from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import partial
from tempfile import SpooledTemporaryFile

import msgspec
from elasticsearch import Elasticsearch

from analyzers.meaning import Model
from indexer.errors import IndexingError
from indexer.posts.passages import with_passages
from indexer.posts.records import Post, Read, Skipped, batches, examples
from indexer.runs.build import Built, IndexSettings, is_current, posts_named, reindex
from indexer.runs.ingest import Alike, Ingest, IngestOptions, OnReject, too_many_removed
from indexer.store import generations
from indexer.store.scan import SAMPLES, count, doc_values, ids
from indexer.store.state import Lock, count_doubts
from indexer.write.links import update_link_texts
from indexer.write.live import (
    Change,
    Written,
    from_source,
    write,
)

_BATCH = 200  # posts read and written at a time
_IN_MEMORY = 64_000_000  # bytes of posts to be written; more go to a file
_RUNS = 3  # runs in a row in which a page must look like no post


@dataclass(frozen=True, slots=True)
class SyncResult:
    """The result of a sync.

    Args:
        index: the live generation.
        added, changed, removed: the oids of posts; a comment is `post/comment`.
        unchanged: the number of posts.
        removals_withheld: why nothing was removed; empty if removals were made or not needed.
        outdated: whether the index has other rules, or another language, than the settings.
        built: the generation that was built, if there was none.
        doubted: the posts whose pages no longer look like posts, and the reasons for keeping them.
        shortened: the changed posts that lost more than half of their text, if there are many: the
            source may only have summaries.
    """

    index: str
    added: Collection[str] = ()
    changed: Collection[str] = ()
    removed: Collection[str] = ()
    unchanged: int = 0
    removals_withheld: str = ""
    outdated: bool = False
    built: Built | None = None
    doubted: Mapping[str, str] = field(default_factory=dict)
    shortened: Sequence[str] = ()


def sync(
    client: Elasticsearch,
    alias: str,
    read: Read,
    settings: IndexSettings,
    on_reject: OnReject,
    options: IngestOptions | None = None,
) -> SyncResult:
    """Compare a source with the live index by digests, and make the index equal to it.

    Nothing is written before the source is read to its end. A post whose page no longer looks like
    one, without declaring why, stays until this has been found in three runs in a row.

    Without an index, the first generation is built. An index with other rules or another language
    is synced as it is. Comments are removed with their post. Otherwise only comments from a source
    are removed, and only if the source has comments at all.

    Args:
        read: called once.

    Raises:
        Locked: another process is building or syncing.
        LockLost: it was suspended and lost the lock; nothing was written since.
        SourceError: reading the source failed; nothing was changed.
        AllAlike: many posts would get the same text, or none; nothing was changed.
        NotBuilt: the first build failed.
        OutdatedIndex: the index has to be rebuilt first.
    """
    options = options or IngestOptions(purpose="sync")
    with Lock(client, alias, options.purpose) as lock:
        if live := generations.live_of(generations.recover(client, alias, for_sync=True)):
            generations.check_writable(live)
            target = generations.open_sync(client, live.name, lock)
            client.indices.refresh(index=live.name)
            comparison = _Comparison(client, alias, (target, lock), on_reject, options)
            comparison.write(read, settings.model)
            withheld = comparison.remove()
            if comparison.changes_links:
                update_link_texts(client, live.name, target, options.limits)
            return SyncResult(
                live.name,
                comparison.added,
                comparison.changed,
                comparison.removed,
                comparison.ingest.unchanged + comparison.unchanged,
                withheld,
                not is_current(live, settings),
                None,
                comparison.doubted,
                comparison.shortened(),
            )
    built = reindex(client, alias, read(None), settings, on_reject, options)
    return SyncResult(built.index, added=list(ids(client, built.index)), built=built)


class _Comparison:
    """A comparison of a source with the live index, of which every post's digest is read once.

    Attributes:
        unchanged: the number of posts that were compared and did not differ.
        changes_links: whether the texts of links may now differ from those in the posts. Writes
            over HTTP leave that to the next `sync`.
    """

    def __init__(
        self,
        client: Elasticsearch,
        alias: str,
        through: tuple[str, Lock],
        on_reject: OnReject,
        options: IngestOptions,
    ) -> None:
        self._client, self._alias, self._through = client, alias, through
        self._digests: dict[str, str] = {}
        self._over_http: set[str] = set()
        self._at: dict[str, str] = {}  # oids by address; only for a source that lacks some posts
        names = ("oid", "digest", "over_http", *(() if options.complete else ("address",)))
        for values in doc_values(client, alias, names):
            self._digests[values["oid"]] = values.get("digest", "")
            if "address" in values:
                self._at[values["address"]] = values["oid"]
            if values.get("over_http"):
                self._over_http.add(values["oid"])
        of_source = {oid: text for oid, text in self._digests.items() if oid not in self._over_http}
        self.ingest = Ingest(on_reject, options, of_source)
        self.added: list[str] = []
        self.changed: list[str] = []
        self.removed: list[str] = []
        self.unchanged = 0
        self.changes_links = bool(self._over_http)
        self.doubted: dict[str, str] = {}
        self._shortened: list[str] = []
        self._with_lost: list[Post] = []
        self._lost_comments: list[str] = []

    def write(self, read: Read, model: Model | None) -> None:
        """Write new and changed posts, except posts with comments that the source lacks."""
        read_posts = self.ingest.posts(read(self.ingest.is_unchanged_entry))
        with SpooledTemporaryFile(_IN_MEMORY) as held:
            alike = Alike(len(self._digests))
            for post in read_posts:
                if not self._is_elsewhere(post):
                    if post.oid in self._digests:
                        alike.add(post)
                    held.write(msgspec.json.encode(post) + b"\n")
            if not self.ingest.options.force:
                alike.check(partial(posts_named, self._client, self._alias))
            held.seek(0)
            posts = (msgspec.json.decode(line, type=Post) for line in held)
            for batch in batches(with_passages(posts, model, self._client, self._alias), _BATCH):
                self._write(batch, keeps_comments=False, keeps_lost=True)

    def remove(self) -> str:
        """Remove what the source lacks, unless that looks like a mistake; return why it was not.

        Comments can only be missing if the source has comments at all.
        """
        options = self.ingest.options
        missing, doubted = self._missing(), self._doubted()
        removes_comments = options.complete and (options.comments or self.ingest.has_comments)
        comments = self._lost_comments if removes_comments else []
        too_many = too_many_removed(len(doubted), len(self._digests))
        if too_many and not options.force:
            withheld = f"{len(doubted):,} of {len(self._digests):,} pages no longer look like posts"
            withheld = f"{withheld} ({examples(list(doubted))})"
        else:
            missing += self._followed(doubted, 1 if too_many else _RUNS)
            withheld = self._withheld(missing, len(comments))
        if withheld and comments:
            return withheld  # these posts stay unchanged
        for batch in batches(self._with_lost, _BATCH):
            self._write(batch, keeps_comments=not removes_comments, keeps_lost=False)
        if withheld:
            return withheld
        self.removed += comments
        for gone in batches(missing, _BATCH):
            changes = {oid: self._unless_written(oid, lambda stored: None) for oid in gone}
            for written in self._apply(changes).values():
                if written.result == "deleted":
                    self.removed.append(written.oid)
        return ""

    def _doubted(self) -> dict[str, Skipped]:
        """Return the posts whose pages no longer look like posts, without declaring why."""
        if not self.ingest.options.complete:
            return {}
        own = self._digests.keys() - self._over_http - self.ingest.read.keys()
        return {oid: item for oid, item in self.ingest.doubted.items() if oid in own}

    def _followed(self, doubted: Mapping[str, Skipped], runs: int) -> list[str]:
        """Return the posts that were doubted in enough runs; report the others."""
        counts = count_doubts(self._client, self._alias, doubted)
        for oid, item in doubted.items():
            if counts[oid] < runs:
                self.doubted[oid] = f"{item.origin}: {item.reason}, run {counts[oid]} of {runs}"
        return [oid for oid in doubted if counts[oid] >= runs]

    def _withheld(self, missing: Sequence[str], comments: int) -> str:
        """Return why posts and this number of comments may not be removed; empty if they may."""
        ingest, indexed = self.ingest, len(self._digests) - len(self._over_http)
        if ingest.options.force or not (missing or comments):
            return ""
        if not ingest.read:
            return f"the source has no posts, the index has {indexed:,}"
        samples = set(ids(self._client, self._alias, SAMPLES)) if missing else set()
        own = [oid for oid in missing if oid not in samples]  # any source replaces the samples
        if too_many_removed(len(own), indexed - len(samples)):
            missed = f"{len(own):,} of {indexed:,} posts are missing from the source"
            return f"{missed} ({examples(own)})"
        of_all = count(self._client, self._alias)[1] if comments else 0
        if too_many_removed(comments, of_all):
            return f"{comments:,} of {of_all:,} comments are missing from the source"
        if ingest.rejects_without_oid and own:
            return f"{ingest.rejects_without_oid:,} rejected lines may be the missing posts"
        return ""

    def _is_elsewhere(self, post: Post) -> bool:
        """Whether the index has a post's address under another oid; a feed has other oids, and
        often only a summary, than the folder from which the post was read."""
        oid = self._at.get(post.address, post.oid)
        self.unchanged += oid != post.oid
        return oid != post.oid

    def _missing(self) -> list[str]:
        if not self.ingest.options.complete:
            return []
        there = self._over_http | self.ingest.read.keys() | self.ingest.kept
        return [oid for oid in self._digests if oid not in there]

    def _write(self, posts: Sequence[Post], *, keeps_comments: bool, keeps_lost: bool) -> None:
        changes = {}
        for post in posts:
            change: Change = from_source(post, keeps_comments=keeps_comments)
            if keeps_lost:
                withdrawn = self.ingest.withdrawn.get(post.oid, frozenset())
                change = _unless_lost(post, withdrawn, change)
            changes[post.oid] = self._unless_written(post.oid, change)
        results = self._apply(changes)
        for post in posts:
            oid, written = post.oid, results[post.oid]
            withdrawn = self.ingest.withdrawn.get(oid, frozenset())
            lost = _lost(post, written.before, withdrawn) if keeps_lost else set()
            self.removed += _find_withdrawn(written, withdrawn)
            if written.refusal:
                self.ingest.refuse(oid, written.refusal)
            elif lost and not self._was_written(oid, written.before):
                self._with_lost.append(post)
                self._lost_comments += [f"{oid}/{comment}" for comment in sorted(lost)]
            elif written.result == "created":
                self.added.append(oid)
            elif written.result == "unchanged":
                self.unchanged += 1
            else:
                self.changed.append(oid)
                if written.before and 2 * len(post.text) < len(written.before.text):
                    self._shortened.append(oid)

    def shortened(self) -> list[str]:
        """Return the posts that lost most of their text, if so many look like a mistake."""
        is_mistake = too_many_removed(len(self._shortened), len(self._digests))
        return self._shortened if is_mistake else []

    def _apply(self, changes: Mapping[str, Change]) -> dict[str, Written]:
        limits = self.ingest.options.limits
        results = write(self._client, self._alias, changes, limits, self._through)
        for written in results.values():
            refusal = written.refusal
            if refusal and (written.result == "unknown" or written.oid not in self.ingest.read):
                raise IndexingError(f"{written.oid}: {refusal.reason}.", refusal.remedy)
            if _linked(written.before) != _linked(written.after):
                self.changes_links = True
        return results

    def _unless_written(self, oid: str, change: Change) -> Change:
        return lambda stored: stored if self._was_written(oid, stored) else change(stored)

    def _was_written(self, oid: str, stored: Post | None) -> bool:
        """Whether a post was written or deleted over HTTP since the comparison."""
        now = (stored.digest, stored.over_http) if stored else (None, False)
        return now != (self._digests.get(oid), oid in self._over_http)


def _linked(post: Post | None) -> tuple[object, ...]:
    """Return the fields that determine the texts of links."""
    return (post.slug, post.address, post.links, post.title) if post else ()


def _unless_lost(post: Post, withdrawn: Set[str], change: Change) -> Change:
    return lambda stored: stored if _lost(post, stored, withdrawn) else change(stored)


def _lost(post: Post, stored: Post | None, withdrawn: Set[str]) -> set[str]:
    """Return the oids of comments that came from the source and are missing there now, except those
    that it marks as withdrawn."""
    comments = stored.comments if stored else ()
    return {one.oid for one in comments if not one.over_http} - post.comment_oids() - withdrawn


def _find_withdrawn(written: Written, withdrawn: Collection[str]) -> list[str]:
    """Return the comments that were removed because the source marks them as not public."""
    if written.result != "updated" or not (written.before and written.after):
        return []
    gone = written.before.comment_oids() - written.after.comment_oids()
    return [f"{written.oid}/{comment}" for comment in sorted(gone.intersection(withdrawn))]
