"""Reads a source into documents, sends them, and counts what becomes of them."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Self

from elasticsearch import Elasticsearch

from analyzers.meaning import Model
from indexer.bulk import BulkLimits, Outcome, index_operation, send_bulk
from indexer.digests import ENTRY_DIGITS, RAW_DIGITS, entry_hash
from indexer.errors import TooManyRejects
from indexer.normalise import documents
from indexer.passages import with_passages
from indexer.records import (
    Counts,
    Document,
    OnProgress,
    Origin,
    Phase,
    Progress,
    RawPost,
    Reject,
    Skipped,
    SourceItem,
    ignore_progress,
    name_of,
)

_REPORTED = 500  # entries between two reports of the progress

OnReject = Callable[[Reject], None]
OnSkip = Callable[[Skipped], None]


@dataclass(frozen=True, slots=True)
class MaxRejects:
    """How many entries of a source may be rejected: a share (0.1 is 10 %) or a number."""

    share: float = 0.1
    number: int | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """`10%` or `3`.

        Raises:
            ValueError: it is neither.
        """
        text = text.strip()
        with suppress(ValueError):
            if text.endswith("%") and 0 <= float(text[:-1]) <= 100:
                return cls(share=float(text[:-1]) / 100)
            if int(text) >= 0:
                return cls(number=int(text))
        raise ValueError(f"{text!r} is neither a share such as 10% nor a number such as 3")

    def __str__(self) -> str:
        return f"{self.share * 100:g} %" if self.number is None else f"{self.number:,}"

    def check(self, rejected: int, entries: int) -> None:
        """Compare the number of entries with a reject with the limit.

        Raises:
            TooManyRejects: it is larger than allowed.
        """
        limit = self.share * entries if self.number is None else self.number
        if rejected > limit:
            raise TooManyRejects(
                f"{rejected:,} of {entries:,} posts were rejected, wholly or in part "
                f"({rejected / entries:.1%}), more than the {self} allowed; nothing was swapped.",
                f"Correct them, or go on without them: --max-rejects {rejected}.",
            )


MAX_REMOVED = 5
"""Posts, and comments, that may be removed at a time without `force`, however small the blog."""
MAX_REMOVED_SHARE = 0.25
"""The share of the posts, and of the comments, that may be removed at a time without `force`."""


def too_many_removed(removed: int, indexed: int) -> bool:
    """Whether removing so many of the indexed posts or comments looks like a mistake."""
    return removed > max(MAX_REMOVED, MAX_REMOVED_SHARE * indexed)


@dataclass(frozen=True, slots=True)
class IngestOptions:
    """How a source is read and written.

    Args:
        max_rejects: of `reindex`.
        force: of `reindex`: swap even if the source has far fewer posts or comments than the live
            generation; of `sync`: remove what the source lacks, however much it is.
        complete: of `sync`: the source has every post; a feed, which has only the latest, is not
            complete.
        newest: of `add`: treat every document as changed now, whatever its date and that in the
            index.
        on_skip: called for every post that is left out because the index has it already.
        fraction_read: returns the fraction of the source read so far (0 to 1), None if unknown.
        purpose: shown to other processes that wait for the lock.
    """

    max_rejects: MaxRejects = field(default_factory=MaxRejects)
    force: bool = False
    complete: bool = True
    newest: bool = False
    limits: BulkLimits = field(default_factory=BulkLimits)
    on_progress: OnProgress = ignore_progress
    on_skip: OnSkip = lambda skipped: None
    fraction_read: Callable[[], float | None] = lambda: None
    purpose: str = "reindex"


class Ingest:
    """Reads a source once, and counts what becomes of it.

    Args:
        stored: ids and raw digests of what the index has, which is left out if it is unchanged.
        phase: what is reported as the progress.

    Attributes:
        stored: the same, as a dictionary; takes 0.3 KB a document.
        read: the ids of all documents of the source, and where each was read.
        kept: what a Reject or Skipped names, so that it is not missing from the source: a post
            (`oid`), a comment (`oid/comment`), or all comments of a post (`oid/?`).
        rejects_without_oid: number of rejects that may be any post.
        entries: posts and rejects that the source yielded.
        rejects: number of rejects, of which one entry may have several.
        created, updated: documents that are new in the index, or replaced another version.
        unchanged: documents that the index has as they are in the source.
        parsed: unchanged posts whose HTML had to be parsed to see that.
        older: documents of which the index has a newer version.
        deleted: documents that were deleted after their last change.
        refused_posts: oids of the posts that Elasticsearch refused.
        refused_comments: oids of the posts of which a comment was refused, or was a duplicate.
        changed_posts: oids of the posts of which the field `comments` may have to be updated.
    """

    def __init__(
        self,
        on_reject: OnReject,
        options: IngestOptions | None = None,
        stored: Iterable[tuple[str, str]] = (),
        phase: Phase = "reading",
    ) -> None:
        self._on_reject = on_reject
        self.options = options or IngestOptions()
        self.stored = dict(stored)
        self._stored_entries: dict[str, list[str]] = {}  # ids by the hash of their entry
        for id_, digest in self.stored.items():
            if entry := digest[RAW_DIGITS : RAW_DIGITS + ENTRY_DIGITS]:
                self._stored_entries.setdefault(entry, []).append(id_)
        self._phase = phase
        self.read: dict[str, Origin] = {}
        self.kept: set[str] = set()
        self.rejects_without_oid = self.entries = self.rejects = 0
        self.created = self.updated = self.unchanged = self.parsed = 0
        self.older = self.deleted = 0
        self.refused_posts: list[str] = []
        self.refused_comments: set[str] = set()
        self.changed_posts: set[str] = set()
        self._accepted = {"post": 0, "comment": 0}
        self._rejected: set[Origin] = set()
        self._sent = 0

    @property
    def rejected(self) -> int:
        """The number of entries of which something was rejected: the post or a comment."""
        return len(self._rejected) + self.rejects_without_oid

    @property
    def accepted(self) -> Counts:
        """The documents that Elasticsearch accepted."""
        return Counts(self._accepted["post"], self._accepted["comment"])

    def documents(self, raws: Iterable[SourceItem]) -> Iterator[Document]:
        """The documents of a source, each id once; rejects are reported as they occur.

        Unchanged documents are left out.
        """
        for raw in raws:
            if isinstance(raw, Skipped):
                # A page that was taken for a post before is not missing.
                if raw.oid is not None:
                    self.kept.add(raw.oid.strip())
                continue
            self._count_entry()
            if isinstance(raw, Reject):
                self._reject(raw)
            else:
                yield from self._documents_of(raw)

    def is_unchanged_entry(self, entry: bytes, origin: Origin) -> bool:
        """Whether the index has all documents of this entry unchanged, and none was read before.

        If so, they count as read. The probability that a changed entry has the hash of one of a
        million others is 2 in 10 billion.
        """
        ids = self._stored_entries.get(entry_hash(entry), ())
        if not ids or any(id_ in self.read for id_ in ids):
            return False
        # Another number: some were deleted, or two entries have the same hash.
        if len(ids) != int(self.stored[ids[0]][RAW_DIGITS + ENTRY_DIGITS :], 16):
            return False
        self._count_entry()
        self.read.update(dict.fromkeys(ids, origin))
        self.unchanged += len(ids)
        return True

    def send(
        self,
        client: Elasticsearch,
        target: str,
        documents: Iterable[Document],
        model: Model | None,
        stored_in: str,
    ) -> None:
        """Write documents through an alias.

        Args:
            model: gives the vectors of their passages.
            stored_in: an index that may have some of these vectors.
        """
        posts = with_passages(documents, model, client, stored_in)
        operations = map(index_operation, posts)
        for outcomes in send_bulk(client, target, operations, self.options.limits):
            self.record_outcomes(outcomes)

    def record_outcomes(self, outcomes: Iterable[Outcome]) -> None:
        """Count the outcomes of documents that were sent, and report the progress."""
        for outcome in outcomes:
            self._sent += 1
            operation, refusal = outcome.operation, outcome.refusal
            if refusal is None:
                self._accepted[operation.kind] += 1
                if operation.kind == "comment" or outcome.result == "updated":
                    self.changed_posts.add(operation.routing)
                self.created += outcome.result == "created"
                self.updated += outcome.result == "updated"
            elif refusal.version_conflict:
                self.older += 1
                self.options.on_skip(Skipped(operation.origin, None, "older than in the index"))
            else:
                name = name_of(operation.id)
                self._reject(Reject(operation.origin, name, refusal.reason, refusal.remedy))
                if operation.kind == "post":
                    self.refused_posts.append(operation.routing)
                else:
                    self.refused_comments.add(operation.routing)
        self.report()

    def comments_removed(self, count: int) -> None:
        """Accepted comments were deleted again because they have no post."""
        self._accepted["comment"] -= count
        self.created -= count

    def report(self) -> None:
        """Report the progress; reading is ahead of sending."""
        done = self._sent + self.unchanged
        fraction = self.options.fraction_read()
        if fraction is not None:
            fraction *= done / max(len(self.read), 1)
        self.options.on_progress(
            Progress(self._phase, self.unchanged + self.accepted.total, fraction, self.rejects)
        )

    def _documents_of(self, raw: RawPost) -> Iterator[Document]:
        def is_unchanged(id_: str, raw_digest: str) -> bool:
            # A second document with the same id is made, and rejected below.
            if id_ in self.read or self.stored.get(id_, "")[:RAW_DIGITS] != raw_digest:
                return False
            self.read[id_] = raw.origin
            self.unchanged += 1
            return True

        for document in documents(raw, is_unchanged):
            if isinstance(document, Reject):
                self._reject(document)
            elif first := self.read.get(document.id):
                self._reject(
                    Reject(
                        document.origin,
                        name_of(document.id),
                        f"another {document.kind} has the oid {document.source['oid']!r} already "
                        f"({first})",
                        "Give one of them another oid, or leave one out.",
                    )
                )
                if document.kind == "post":
                    return
                self.refused_comments.add(document.routing)
            else:
                self.read[document.id] = document.origin
                yield document

    def _reject(self, reject: Reject) -> None:
        """A rejected post or comment is not missing: it keeps its state in the index."""
        self.rejects += 1
        if reject.oid is None:
            # The only one of its entry. In an export entries without an oid have the same origin.
            self.rejects_without_oid += 1
        else:
            self._rejected.add(reject.origin)
            self.kept.add(reject.oid.strip())  # stored oids are stripped, too
        self._on_reject(reject)

    def _count_entry(self) -> None:
        if self.entries % _REPORTED == 0 and self.entries:
            self.report()
        self.entries += 1
