"""Writes what differs between a source and the live index, and removes what is gone."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice

from elasticsearch import Elasticsearch

from indexer.bulk import send
from indexer.comparison import Comparison
from indexer.deletes import delete
from indexer.intake import Intake, OnReject
from indexer.items import Item, Limits, to_index
from indexer.live import now
from indexer.progress import Built, Progress, Report, in_silence
from indexer.records import Document, RawPost, Reject
from indexer.seen import Seen
from indexer.tombstones import buried

FEW = 5
"""Posts that may go at a time without a question, however small the blog."""
MOST = 0.25
"""The share of the posts that may go at a time without a question."""

_BATCH = 500  # documents


@dataclass(frozen=True, slots=True)
class SyncOptions:
    """How to sync.

    Args:
        force: remove what is gone at the source, however much it is.
        complete: the source has every post there is; a feed, which has the latest, has not.
        part: tells how much of the source was read (0 to 1), None where that is not known.
    """

    force: bool = False
    complete: bool = True
    limits: Limits = field(default_factory=Limits)
    report: Report = in_silence
    part: Callable[[], float | None] = lambda: None
    purpose: str = "sync"


@dataclass(frozen=True, slots=True)
class Synced:
    """What a sync did, in documents; `held_back` says why nothing was removed, if that is so.

    `built` is the generation that had to be built first; `index` and `rules` are live now;
    `orphans` are what a build that was killed had left, and are gone.
    """

    index: str
    rules: str
    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    held_back: str = ""
    built: Built | None = None
    orphans: tuple[str, ...] = ()

    @property
    def anything(self) -> bool:
        """Whether an answer may be another one now."""
        return bool(self.added or self.changed or self.removed or self.built)


class Reconciliation:
    """One comparison, carried out."""

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
        self._nameless = 0
        self._comments = False
        self._posts = 0
        self._intake = Intake(self._rejected)
        self.rewrite = False
        self.result = Synced("", "")

    def write(self, raws: Iterable[RawPost | Reject]) -> None:
        """Send what is new or differs."""
        added = changed = 0
        with Seen() as seen:
            items = self._items(self._intake.documents(raws, seen))
            for outcomes in send(self._client, self._alias, items, self._options.limits):
                self._intake.settle(outcomes)
                added += sum(outcome.result == "created" for outcome in outcomes)
                changed += sum(outcome.result == "updated" for outcome in outcomes)
                self._tell()
        self.result = replace(self.result, added=added, changed=changed)

    def remove(self) -> None:
        """Delete what the source does not have any more, unless that looks like a mistake."""
        if not self._options.complete:
            return
        doomed = self._comparison.missing_posts()
        reason = self._why_not(doomed)
        if reason:
            self.result = replace(self.result, held_back=reason)
            return
        removed = 0
        gone = self._comparison.missing(with_comments=self._comments)
        while batch := list(islice(gone, _BATCH)):
            removed += len(delete(self._client, self._alias, batch))
        self.result = replace(self.result, removed=removed)

    def _why_not(self, doomed: int) -> str:
        if self._options.force:
            return ""
        if not self._posts and self._comparison.posts:
            return f"the source has no posts, the index has {self._comparison.posts:,}"
        if doomed > max(FEW, MOST * self._comparison.posts):
            return f"{doomed:,} of {self._comparison.posts:,} posts are gone at the source"
        if self._nameless and doomed:
            return f"{self._nameless:,} rejected lines may be posts that seem to be gone"
        return ""

    def _items(self, documents: Iterator[Document]) -> Iterator[Item]:
        while batch := list(islice(documents, _BATCH)):
            differing = [one for one in batch if self._differs(one)]
            graves = buried(self._client, self._alias, {one.id for one in differing})
            for document in differing:
                newest = max(self._comparison.version(document.id), graves.get(document.id, -1))
                version = document.version
                if version <= newest:
                    version = max(now(), newest + 1)
                yield to_index(replace(document, version=version))
            self._tell()

    def _differs(self, document: Document) -> bool:
        self._posts += document.kind == "post"
        self._comments = self._comments or document.kind == "comment"
        same = self._comparison.meet(document.id) == document.source["digest"]
        if same and not self.rewrite:
            self.result = replace(self.result, unchanged=self.result.unchanged + 1)
            return False
        return True

    def _rejected(self, reject: Reject) -> None:
        """What is rejected keeps the state it has in the index: it is not gone."""
        if reject.oid is None:
            self._nameless += 1
        else:
            self._comparison.keep(reject.oid)
        self._on_reject(reject)

    def _tell(self) -> None:
        done = self.result.unchanged + self._intake.accepted.total
        self._options.report(
            Progress("comparing", done, self._options.part(), self._intake.rejects)
        )
