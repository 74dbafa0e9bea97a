"""Reads a source into documents, sends them, and counts what becomes of them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Self

from elasticsearch import Elasticsearch

from analyzers.meaning import Model
from indexer.bulk import BulkLimits, Outcome, index_operation, send_bulk
from indexer.digests import digest, has_comments, without_mark
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

_REPORTED = 500  # entries between two reports of the progress

OnReject = Callable[[Reject], None]
OnSkip = Callable[[Skipped], None]


@dataclass(frozen=True, slots=True)
class MaxRejects:
    """How many posts of a source may be rejected, wholly or in part: a share of them or a number,
    whichever is more. By default a tenth, and three of a small source.

    `half`: it is too many, too, if more than half of the posts were rejected wholly: then the
    source was not understood.
    """

    share: float = 0.1
    number: int = 3
    half: bool = True

    @classmethod
    def parse(cls, text: str) -> Self:
        """`10%` or `3`.

        Raises:
            ValueError: it is neither.
        """
        text = text.strip()
        with suppress(ValueError):
            if text.endswith("%") and 0 <= float(text[:-1]) <= 100:
                return cls(share=float(text[:-1]) / 100, number=0, half=False)
            if int(text) >= 0:
                return cls(share=0.0, number=int(text), half=False)
        raise ValueError(f"{text!r} is neither a share such as 10% nor a number such as 3")

    def check(self, rejected: int, wholly: int, entries: int) -> None:
        """Compare the number of posts with a reject, and of those rejected wholly, with the limit.

        Raises:
            TooManyRejects: it is larger than allowed.
        """
        limit = max(self.number, int(self.share * entries))
        if rejected > limit or (self.half and 2 * wholly > entries):
            raise TooManyRejects(
                f"{rejected:,} of {entries:,} posts were rejected, wholly or in part; nothing was "
                "swapped.",
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
        max_rejects: of a build.
        force: of `reindex`: swap even if the source has far fewer posts or comments than the live
            generation; of `sync`: remove what the source lacks, however much it is.
        complete: of `sync`: the source has every post; a feed, which has only the latest, is not
            complete.
        as_new: of `add`: replace also what is newer in the index.
        on_skip: called for every post that is left out because the index has it already.
        fraction_read: returns the fraction of the source read so far (0 to 1), None if unknown.
        purpose: shown to other processes that wait for the lock.
    """

    max_rejects: MaxRejects = field(default_factory=MaxRejects)
    force: bool = False
    complete: bool = True
    as_new: bool = False
    limits: BulkLimits = field(default_factory=BulkLimits)
    on_progress: OnProgress = ignore_progress
    on_skip: OnSkip = lambda skipped: None
    fraction_read: Callable[[], float | None] = lambda: None
    purpose: str = "reindex"


class Ingest:
    """Reads a source once, and counts what becomes of it.

    Args:
        stored: the digests of posts, by their oids, which are left out if they are unchanged.
        phase: what is reported as the progress.

    Attributes:
        read: the oids of all posts of the source, and where each was read.
        has_comments: whether any post of the source has comments.
        kept: the oids that a Reject or Skipped names: these posts are not missing from the source.
        rejects_without_oid: number of rejects that may be any post.
        entries: posts and rejects that the source yielded.
        rejects: number of rejects, of which one entry may have several.
        unchanged: posts that the index has as they are in the source.
        accepted: the documents that Elasticsearch accepted.
    """

    def __init__(
        self,
        on_reject: OnReject,
        options: IngestOptions | None = None,
        stored: Mapping[str, str] | None = None,
        phase: Phase = "reading",
    ) -> None:
        self._on_reject = on_reject
        self.options = options or IngestOptions()
        self._stored = stored or {}
        self._by_digest = {without_mark(text): oid for oid, text in self._stored.items() if text}
        self._phase = phase
        self.read: dict[str, Origin] = {}
        self.kept: set[str] = set()
        self.rejects_without_oid = self.entries = self.rejects = 0
        self.unchanged = 0
        self.has_comments = False
        self.accepted = Counts()
        self._rejected: set[Origin] = set()

    @property
    def rejected(self) -> int:
        """The number of entries of which something was rejected: the post or a comment."""
        return len(self._rejected) + self.rejects_without_oid

    def documents(self, items: Iterable[SourceItem]) -> Iterator[Document]:
        """The documents of a source, each oid once; rejects are reported as they occur.

        Unchanged documents are left out.
        """
        for item in items:
            if isinstance(item, Skipped):
                # A page that was taken for a post before is not missing.
                if item.oid is not None:
                    self.kept.add(item.oid.strip())
                continue
            if self.entries % _REPORTED == 0 and self.entries:
                self.report()
            self.entries += 1
            if isinstance(item, Reject):
                self._reject(item)
            else:
                if not self._is_known(item) and (made := self._made(item)):
                    yield made

    def is_unchanged_entry(self, entry: bytes, origin: Origin) -> bool:
        """Whether the index has the post of this entry unchanged, and it was not read before.

        If so, it counts as read.
        """
        oid = self._by_digest.get(digest(entry))
        if oid is None or oid in self.read:
            return False
        if self.entries % _REPORTED == 0 and self.entries:
            self.report()
        self.entries += 1
        self._keep(oid, origin, self._stored[oid])
        return True

    def _keep(self, oid: str, origin: Origin, stored: str) -> None:
        """Count a post as unchanged."""
        self.read[oid] = origin
        self.unchanged += 1
        self.has_comments = self.has_comments or has_comments(stored)

    def send(
        self,
        client: Elasticsearch,
        target: str,
        documents: Iterable[Document],
        model: Model | None,
        stored_in: str | None,
    ) -> None:
        """Write documents to the alias of a build.

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
            operation = outcome.operation
            if outcome.refusal:
                self.refuse(operation.origin, operation.oid, outcome.refusal)
            else:
                self.accepted += Counts(1, operation.comments)
        self.report()

    def refuse(self, origin: Origin, oid: str, refusal: Refusal) -> None:
        """Count a document that Elasticsearch refused."""
        self._reject(Reject(origin, oid, refusal.reason, refusal.remedy))

    def report(self) -> None:
        """Report the progress; reading is ahead of sending."""
        done = self.unchanged + self.accepted.posts
        fraction = self.options.fraction_read()
        if fraction is not None:
            fraction *= done / max(len(self.read), 1)
        self.options.on_progress(Progress(self._phase, done, fraction, self.rejects))

    def _is_known(self, item: RawPost | Document) -> bool:
        """Whether it has been read before, or the index has it unchanged; it is counted then."""
        if isinstance(item, Document):
            oid: str | None = item.oid
        else:
            oid = oid_of_reject(item.oid)
        if oid is None:
            return False
        if first := self.read.get(oid):
            reason = f"another post has the oid {oid!r} already ({first})"
            remedy = "Give one of them another oid, or leave one out."
            self._reject(Reject(item.origin, oid, reason, remedy))
            return True
        if (stored := self._stored.get(oid)) and stored == _digest(item):
            self._keep(oid, item.origin, stored)
            return True
        return False

    def _made(self, item: RawPost | Document) -> Document | None:
        if isinstance(item, Document):
            made: Document | None = item
        else:
            made, rejects = document_of(item)
            for reject in rejects:
                self._reject(reject)
            if made and rejects:  # without a digest they are reported by every `sync`
                bare = {name: value for name, value in made.source.items() if name != "digest"}
                made = replace(made, source=bare)
        if made:
            self.read[made.oid] = made.origin
            comments = made.source.get("comments", ())
            of_source = any(not comment.get("over_http") for comment in comments)
            self.has_comments = self.has_comments or of_source
        return made

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


def _digest(item: RawPost | Document) -> str:
    return str(item.source.get("digest", "")) if isinstance(item, Document) else digest_of(item)
