"""Reads a source into documents, and counts what becomes of them."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self

from indexer.bulk.sender import Outcome
from indexer.errors import TooManyRejects
from indexer.normalise import documents
from indexer.records import Counts, Document, Origin, RawPost, Reject, Skipped, SourceItem

IsUnchanged = Callable[[str, str, Origin], bool]
"""Whether the index has this document unchanged (its id and raw digest) and it was not read before.
If so, it is marked as read, at this place."""

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
    """Reads a source once; a context manager, because it keeps the ids it has read on disk.

    Attributes:
        entries: posts and rejects that the source yielded.
        rejected: number of entries of which something was rejected: the post or a comment.
        rejects: number of rejects, of which one entry may have several.
        created: documents that are new in the index.
        older: documents of which the index has a newer version.
        refused_posts: oids of the posts that Elasticsearch refused.
        refused_comments: oids of the posts of which a comment was refused, or was a duplicate.
        changed_posts: oids of the posts of which the field `comments` may have to be updated.
    """

    def __init__(
        self,
        on_reject: OnReject,
        on_skip: OnSkip = lambda skipped: None,
        seen: "Seen | None" = None,  # shared with the caller, who closes it
    ) -> None:
        self._on_reject = on_reject
        self._on_skip = on_skip
        self._own = SeenIds()
        self._seen: Seen = seen or self._own
        self._accepted = {"post": 0, "comment": 0}
        self._partly_rejected: set[Origin] = set()  # entries with a document that was sent
        self._wholly_rejected = 0
        self.entries = 0
        self.rejects = 0
        self.created = 0
        self.older = 0
        self.refused_posts: list[str] = []
        self.refused_comments: set[str] = set()
        self.changed_posts: set[str] = set()
        self._read = 0
        self._done = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._own.close()

    @property
    def rejected(self) -> int:
        """The number of entries with a reject, whether found here or by Elasticsearch."""
        return self._wholly_rejected + len(self._partly_rejected)

    @property
    def accepted(self) -> Counts:
        """The documents that Elasticsearch accepted."""
        return Counts(self._accepted["post"], self._accepted["comment"])

    def documents(
        self, raws: Iterable[SourceItem], is_unchanged: IsUnchanged | None = None
    ) -> Iterator[Document]:
        """The documents of a source, each id once; rejects are reported as they occur.

        Unchanged documents are left out.
        """
        for raw in raws:
            if isinstance(raw, Skipped):
                self._on_skip(raw)
                continue
            before, read = self.rejects, self._read
            self.entries += 1
            if isinstance(raw, Reject):
                self._reject(raw)
            else:
                yield from self._documents_of(raw, is_unchanged)
            if self.rejects == before:
                continue
            if self._read == read:
                self._wholly_rejected += 1
            else:
                self._partly_rejected.add(raw.origin)

    def record_outcomes(self, outcomes: Iterable[Outcome]) -> None:
        """Count the outcomes of documents that were sent."""
        for outcome in outcomes:
            self._done += 1
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

    def comments_removed(self, count: int) -> None:
        """Accepted comments were deleted again because they have no post."""
        self._accepted["comment"] -= count
        self.created -= count

    def fraction_done(self, fraction_read: float | None) -> float | None:
        """The fraction of the source that was sent; reading is ahead of sending."""
        return None if fraction_read is None else fraction_read * self._done / max(self._read, 1)

    def _documents_of(self, raw: RawPost, is_unchanged: IsUnchanged | None) -> Iterator[Document]:
        def is_stored(id_: str, digest: str) -> bool:
            # A second document with the same id is made, and rejected below.
            if not is_unchanged or not is_unchanged(id_, digest, raw.origin):
                return False
            self._read += 1
            self._done += 1
            return True

        for found in documents(raw, is_stored if is_unchanged else None):
            if isinstance(found, Reject):
                self._reject(found)
            elif first := self._seen.add(found.id, found.origin):
                self._reject(_duplicate(found, first))
                if found.kind == "post":
                    return
                self.refused_comments.add(found.routing)
            else:
                self._read += 1
                yield found

    def _reject(self, reject: Reject) -> None:
        self.rejects += 1
        self._on_reject(reject)


class Seen(Protocol):
    """The ids read so far, with the place of each."""

    def add(self, id_: str, origin: Origin) -> str | None:
        """Add an id; returns where it was read first if it was there already."""


class SeenIds:
    """`Seen` on disk, so that memory use stays constant."""

    def __init__(self) -> None:
        # "" is SQLite's temporary database: in memory up to the cache size, then a nameless file.
        self._database = sqlite3.connect("", isolation_level=None)
        self._database.executescript(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -2000;"
            "CREATE TABLE seen (id TEXT PRIMARY KEY, origin TEXT) WITHOUT ROWID; BEGIN;"
        )

    def close(self) -> None:
        self._database.close()

    def __contains__(self, id_: str) -> bool:
        query = "SELECT 1 FROM seen WHERE id = ?"
        return self._database.execute(query, (id_,)).fetchone() is not None

    def add(self, id_: str, origin: Origin) -> str | None:
        added = self._database.execute(
            "INSERT OR IGNORE INTO seen VALUES (?, ?)", (id_, str(origin))
        )
        if added.rowcount:
            return None
        found: tuple[str] = self._database.execute(
            "SELECT origin FROM seen WHERE id = ?", (id_,)
        ).fetchone()
        return found[0]


def _duplicate(document: Document, first: str) -> Reject:
    oid = str(document.source["oid"])
    return Reject(
        document.origin,
        oid if document.kind == "post" else f"{document.routing}/{oid}",
        f"another {document.kind} has the oid {oid!r} already ({first})",
        "Give one of them another oid, or leave one out.",
    )
