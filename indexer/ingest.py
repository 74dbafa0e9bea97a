"""Reads a source into documents, sends them, and counts what becomes of them."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Self

from elasticsearch import Elasticsearch

from analyzers.meaning import Model
from indexer.bulk import BulkLimits, BulkTimeout, Outcome, index_operation, send_bulk
from indexer.digests import DIGITS, entry_digest
from indexer.errors import TooManyRejects
from indexer.normalise import digest_of, document_of, oid_of_reject
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
)
from indexer.refusals import Refusal
from indexer.write.live import Written
from indexer.write.merge import Source

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
        stored: oids and digests of what the index has, which is left out if it is unchanged.
        phase: what is reported as the progress.

    Attributes:
        stored: the same, as a dictionary; takes 0.3 KB a post.
        read: the oids of all posts of the source, and where each was read.
        kept: the oids of posts that a Reject or Skipped names, so that they are not missing from
            the source.
        has_comments: whether the source has comments at all.
        rejects_without_oid: number of rejects that may be any post.
        entries: posts and rejects that the source yielded.
        rejects: number of rejects, of which one entry may have several.
        accepted: the documents that Elasticsearch accepted.
        created, updated: posts that are new in the index, or were changed.
        unchanged: posts that the index has as they are in the source.
        older: posts of which the index has a newer version.
        refused_posts: oids of the posts that Elasticsearch refused.
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
        self._stored_entries = {
            digest[DIGITS:]: oid for oid, digest in self.stored.items() if digest[DIGITS:]
        }
        self._phase = phase
        self.read: dict[str, Origin] = {}
        self.kept: set[str] = set()
        self.rejects_without_oid = self.entries = self.rejects = 0
        self.created = self.updated = self.unchanged = self.older = 0
        self.has_comments = False
        self.refused_posts: set[str] = set()
        self.accepted = Counts()
        self._rejected: set[Origin] = set()
        self._sent = 0

    @property
    def rejected(self) -> int:
        """The number of entries of which something was rejected: the post or a comment."""
        return len(self._rejected) + self.rejects_without_oid

    def documents(self, raws: Iterable[SourceItem]) -> Iterator[Document]:
        """The documents of a source, each oid once; rejects are reported as they occur.

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
        """Whether the index has the post of this entry unchanged, and it was not read before.

        If so, it counts as read.
        """
        oid = self._stored_entries.get(entry_digest(entry))
        if oid is None or oid in self.read:
            return False
        self._count_entry()
        self.read[oid] = origin
        self.unchanged += 1
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
            operation = outcome.operation
            if outcome.refusal:
                self._refuse(operation.oid, operation.origin, outcome.refusal)
            else:
                self.accepted += Counts(1, operation.comments)
        self.report()

    def record(self, written: Iterable[Written]) -> None:
        """Count what became of posts of the live index, and report the progress.

        Raises:
            BulkTimeout: Elasticsearch did not accept one in time.
        """
        for post in written:
            self._sent += 1
            self.created += post.result == "created"
            if post.result == "updated" and not _differ(post.before, post.after):
                self.unchanged += 1  # only the form in which it is read has changed
            else:
                self.updated += post.result == "updated"
                self.unchanged += post.result == "unchanged"
            if post.refusal and post.result == "unknown":
                raise BulkTimeout(f"{post.oid} was not written: {post.refusal.reason}.", "")
            if post.refusal:
                self._refuse(post.oid, self.read[post.oid], post.refusal)
        self.report()

    def _refuse(self, oid: str, origin: Origin, refusal: Refusal) -> None:
        self.refused_posts.add(oid)
        self._reject(Reject(origin, oid, refusal.reason, refusal.remedy))

    def report(self) -> None:
        """Report the progress; reading is ahead of sending."""
        done = self._sent + self.unchanged
        fraction = self.options.fraction_read()
        if fraction is not None:
            fraction *= done / max(len(self.read), 1)
        self.options.on_progress(
            Progress(self._phase, self.unchanged + self._sent, fraction, self.rejects)
        )

    def _documents_of(self, raw: RawPost) -> Iterator[Document]:
        self.has_comments = self.has_comments or bool(raw.comments)
        oid = oid_of_reject(raw.oid)
        stored = self.stored.get(oid or "")
        if oid and stored and oid not in self.read and stored[:DIGITS] == digest_of(raw)[:DIGITS]:
            self.read[oid] = raw.origin
            self.unchanged += 1
            return
        made, rejects = document_of(raw)
        for reject in rejects:
            self._reject(reject)
        if made is None:
            return
        if first := self.read.get(made.oid):
            reason = f"another post has the oid {made.oid!r} already ({first})"
            remedy = "Give one of them another oid, or leave one out."
            self._reject(Reject(made.origin, made.oid, reason, remedy))
        else:
            self.read[made.oid] = made.origin
            yield made

    def _reject(self, reject: Reject) -> None:
        """A rejected post is not missing: it keeps its state in the index."""
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


def _differ(before: Source | None, after: Source | None) -> bool:
    return {**(before or {}), "digest": ""} != {**(after or {}), "digest": ""}
