"""Reads a source into documents, and counts what becomes of them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Self

from indexer.bulk.sender import Outcome
from indexer.errors import TooManyRejects
from indexer.normalise import documents
from indexer.progress import OnProgress, Phase, Progress, ignore_progress
from indexer.records import Counts, Document, Origin, RawPost, Reject, Skipped, SourceItem
from indexer.stored import StoredDigests

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
        try:
            if not text.endswith("%"):
                found = cls(number=int(text))
            else:
                found = cls(share=float(text[:-1]) / 100)
        except ValueError:
            found = cls(number=-1)
        if not 0 <= found.share <= 1 or (found.number is not None and found.number < 0):
            raise ValueError(f"{text!r} is neither a share such as 10% nor a number such as 3")
        return found

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


class Ingest:
    """Reads a source once, and counts what becomes of it.

    Args:
        stored: what the index has; its unchanged documents are left out. None: an empty index.
        phase, on_progress: what `report` reports, and to whom.
        fraction_read: returns the fraction of the source read so far (0 to 1), None if unknown.

    Attributes:
        read: the ids of all documents of the source, and where each was read.
        kept: what a Reject or Skipped names, so that it is not missing from the source: a post
            (`oid`), a comment (`oid/comment`), or all comments of a post (`oid/?`).
        rejects_without_oid: number of rejects that may be any post.
        entries: posts and rejects that the source yielded.
        rejected: number of entries of which something was rejected: the post or a comment.
        rejects: number of rejects, of which one entry may have several.
        created: documents that are new in the index.
        unchanged: documents that the index has as they are in the source.
        parsed: unchanged posts whose HTML had to be parsed to see that.
        older: documents of which the index has a newer version.
        refused_posts: oids of the posts that Elasticsearch refused.
        refused_comments: oids of the posts of which a comment was refused, or was a duplicate.
        changed_posts: oids of the posts of which the field `comments` may have to be updated.
    """

    def __init__(
        self,
        on_reject: OnReject,
        on_skip: OnSkip = lambda skipped: None,
        stored: StoredDigests | None = None,
        phase: Phase = "reading",
        on_progress: OnProgress = ignore_progress,
        fraction_read: Callable[[], float | None] = lambda: None,
    ) -> None:
        self._on_reject = on_reject
        self._on_skip = on_skip
        self._stored = stored or StoredDigests(())
        self._phase = phase
        self._on_progress = on_progress
        self._fraction_read = fraction_read
        self.read: dict[str, Origin] = {}
        self.kept: set[str] = set()
        self.rejects_without_oid = 0
        self.entries = 0
        self.rejects = 0
        self.created = 0
        self.unchanged = 0
        self.parsed = 0
        self.older = 0
        self.refused_posts: list[str] = []
        self.refused_comments: set[str] = set()
        self.changed_posts: set[str] = set()
        self._accepted = {"post": 0, "comment": 0}
        self._partly_rejected: set[Origin] = set()  # entries with a document that was sent
        self._wholly_rejected = 0
        self._sent = 0

    @property
    def rejected(self) -> int:
        """The number of entries with a reject, whether found here or by Elasticsearch."""
        return self._wholly_rejected + len(self._partly_rejected)

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
                self._on_skip(raw)
                continue
            before, read = self.rejects, len(self.read)
            self._count_entry()
            if isinstance(raw, Reject):
                self._reject(raw)
            else:
                yield from self._documents_of(raw)
            if self.rejects == before:
                continue
            if len(self.read) == read:
                self._wholly_rejected += 1
            else:
                self._partly_rejected.add(raw.origin)

    def is_unchanged_entry(self, entry: bytes, origin: Origin) -> bool:
        """Whether the index has all documents of this entry unchanged, and none was read before.

        If so, they count as read.
        """
        ids = self._stored.of_entry(entry)
        if not ids or any(id_ in self.read for id_ in ids):
            return False
        self._count_entry()
        self.read.update(dict.fromkeys(ids, origin))
        self.unchanged += len(ids)
        return True

    def count_unchanged(self, documents: Iterable[Document]) -> None:
        """Count documents that turned out to be unchanged after they had been made."""
        for document in documents:
            self.unchanged += 1
            self.parsed += document.kind == "post"

    def record_outcomes(self, outcomes: Iterable[Outcome]) -> None:
        """Count the outcomes of documents that were sent, and report the progress."""
        for outcome in outcomes:
            self._sent += 1
            if outcome.accepted:
                self._accepted[outcome.operation.kind] += 1
                if outcome.operation.kind == "comment" or outcome.result == "updated":
                    self.changed_posts.add(outcome.operation.routing)
                self.created += outcome.result == "created"
                continue
            if outcome.refusal and outcome.refusal.version_conflict:
                self.older += 1
                self._on_skip(Skipped(outcome.operation.origin, None, "older than in the index"))
                continue
            self._partly_rejected.add(outcome.operation.origin)
            self._reject(outcome.reject())
            if outcome.operation.kind == "post":
                self.refused_posts.append(outcome.operation.oid)
            else:
                self.refused_comments.add(outcome.operation.routing)
        self.report()

    def comments_removed(self, count: int) -> None:
        """Accepted comments were deleted again because they have no post."""
        self._accepted["comment"] -= count
        self.created -= count

    def report(self) -> None:
        """Report the progress; reading is ahead of sending."""
        done = self._sent + self.unchanged
        fraction = self._fraction_read()
        if fraction is not None:
            fraction *= done / max(len(self.read), 1)
        self._on_progress(
            Progress(self._phase, self.unchanged + self.accepted.total, fraction, self.rejects)
        )

    def _documents_of(self, raw: RawPost) -> Iterator[Document]:
        def is_unchanged(id_: str, raw_digest: str) -> bool:
            # A second document with the same id is made, and rejected below.
            if id_ in self.read or not self._stored.has(id_, raw_digest):
                return False
            self.read[id_] = raw.origin
            self.unchanged += 1
            return True

        for made in documents(raw, is_unchanged):
            if isinstance(made, Reject):
                self._reject(made)
            elif first := self.read.get(made.id):
                self._reject(_duplicate(made, first))
                if made.kind == "post":
                    return
                self.refused_comments.add(made.routing)
            else:
                self.read[made.id] = made.origin
                yield made

    def _reject(self, reject: Reject) -> None:
        """A rejected post or comment is not missing: it keeps its state in the index."""
        self.rejects += 1
        if reject.oid is None:
            self.rejects_without_oid += 1
        else:
            self.kept.add(reject.oid.strip())  # stored oids are stripped, too
        self._on_reject(reject)

    def _count_entry(self) -> None:
        if self.entries % _REPORTED == 0 and self.entries:
            self.report()
        self.entries += 1


def _duplicate(document: Document, first: Origin) -> Reject:
    oid = str(document.source["oid"])
    return Reject(
        document.origin,
        oid if document.kind == "post" else f"{document.routing}/{oid}",
        f"another {document.kind} has the oid {oid!r} already ({first})",
        "Give one of them another oid, or leave one out.",
    )
