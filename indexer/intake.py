"""From what a source yields to what goes to Elasticsearch: counted, and every reject told."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from indexer.errors import TooManyRejects
from indexer.normalise import documents
from indexer.progress import Counts
from indexer.records import Document, RawPost, Reject
from indexer.seen import Seen
from indexer.sender import Outcome

OnReject = Callable[[Reject], None]


@dataclass(frozen=True, slots=True)
class Allowance:
    """How many lines of a source may be rejected: a share (0.005 is 0.5 %) or a number."""

    share: float = 0.005
    number: int | None = None

    def __str__(self) -> str:
        return f"{self.share * 100:g} %" if self.number is None else f"{self.number:,}"

    def check(self, rejected: int, lines: int) -> None:
        """Raises TooManyRejects when more were rejected than this."""
        most = self.share * lines if self.number is None else self.number
        if rejected > most:
            raise TooManyRejects(
                f"{rejected:,} of {lines:,} lines were rejected ({rejected / lines:.1%}), more "
                f"than the {self} allowed; nothing was swapped.",
                "Correct them, or allow more with --max-rejects.",
            )


class Intake:
    """Reads a source once.

    `lines` are what the source yielded: posts, and what could be none. `older` counts documents
    of which the index has a newer version.
    """

    def __init__(self, on_reject: OnReject) -> None:
        self._on_reject = on_reject
        self._accepted = {"post": 0, "comment": 0}
        self.lines = 0
        self.rejected_lines = 0
        self.rejects = 0
        self.created = 0
        self.older = 0
        self._read = 0
        self._settled = 0
        self.refused_posts: list[str] = []

    @property
    def accepted(self) -> Counts:
        """What Elasticsearch took."""
        return Counts(self._accepted["post"], self._accepted["comment"])

    def documents(self, raws: Iterable[RawPost | Reject], seen: Seen) -> Iterator[Document]:
        """The documents of a source, each id once; rejects are told as they turn up."""
        for raw in raws:
            before = self.rejects
            self.lines += 1
            if isinstance(raw, Reject):
                self._reject(raw)
            else:
                yield from self._of(raw, seen)
            self.rejected_lines += self.rejects > before

    def part(self, read: float | None) -> float | None:
        """The part that is through, where `read` is the part read: reading runs ahead."""
        return None if read is None else read * self._settled / max(self._read, 1)

    def settle(self, outcomes: Iterable[Outcome]) -> None:
        """Count what became of them."""
        for outcome in outcomes:
            self._settled += 1
            if outcome.accepted:
                self._accepted[outcome.item.kind] += 1
                self.created += outcome.result == "created"
                continue
            if outcome.refusal and outcome.refusal.older:
                self.older += 1
                continue
            self.rejected_lines += 1
            self._reject(outcome.reject())
            if outcome.item.kind == "post":
                self.refused_posts.append(outcome.item.oid)

    def withdraw(self, comments: int) -> None:
        """Comments that were taken, and removed again with a post that was not."""
        self._accepted["comment"] -= comments

    def _of(self, raw: RawPost, seen: Seen) -> Iterator[Document]:
        for found in documents(raw):
            if isinstance(found, Reject):
                self._reject(found)
            elif first := seen.add(found.id, found.origin):
                self._reject(_twice(found, first))
                if found.kind == "post":
                    return
            else:
                self._read += 1
                yield found

    def _reject(self, reject: Reject) -> None:
        self.rejects += 1
        self._on_reject(reject)


def _twice(document: Document, first: str) -> Reject:
    oid = str(document.source["oid"])
    return Reject(
        document.origin,
        oid,
        f"a {document.kind} with the oid {oid!r} was there already ({first})",
        "Give one of them another oid, or leave one out.",
    )
