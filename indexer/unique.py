"""Finds an oid that comes twice in one run."""

import hashlib
from collections.abc import Iterable, Iterator

from indexer.records import Document, Origin, Reject


class Unique:
    """Lets each post pass once; a later one of the same oid becomes a Reject that names the first.

    Remembers about 100 bytes a post, whatever the length of its oid: the memory of a run must not
    grow with its posts. Comments are compared within their post only, which comes right before
    them.
    """

    def __init__(self) -> None:
        self._first: dict[bytes, int] = {}
        self._sources: dict[str, int] = {}
        self._comments: dict[str, Origin] = {}
        self._refused: str | None = None

    def __call__(self, documents: Iterable[Document | Reject]) -> Iterator[Document | Reject]:
        """The same, without the repeated ones; comments of a refused post are dropped with it."""
        for document in documents:
            if isinstance(document, Reject):
                yield document
            elif document.kind == "post":
                yield self._post(document)
            elif document.routing != self._refused:
                yield self._comment(document)

    def _post(self, document: Document) -> Document | Reject:
        key = hashlib.blake2b(document.routing.encode(), digest_size=8).digest()
        first = self._first.get(key)
        self._comments = {}
        self._refused = None
        if first is None:
            self._first[key] = self._place(document.origin)
            return document
        self._refused = document.routing
        return _twice(document, self._origin(first))

    def _comment(self, document: Document) -> Document | Reject:
        if first := self._comments.get(document.id):
            return _twice(document, first)
        self._comments[document.id] = document.origin
        return document

    def _place(self, origin: Origin) -> int:
        """An origin as one number: its source in the upper bits, its line below."""
        source = self._sources.setdefault(origin.source, len(self._sources))
        return source << 40 | (origin.line or 0)

    def _origin(self, place: int) -> Origin:
        source = list(self._sources)[place >> 40]
        return Origin(source, place & (1 << 40) - 1 or None)


def unique(documents: Iterable[Document | Reject]) -> Iterator[Document | Reject]:
    """`Unique` over one run of documents."""
    return Unique()(documents)


def _twice(document: Document, first: Origin) -> Reject:
    oid = str(document.source["oid"])
    if document.kind == "comment":
        oid = f"{document.source['post_oid']}/{oid}"
    reason = f"the oid {oid!r} came before, in {first}"
    return Reject(document.origin, oid, reason, "Give each an oid of its own, or remove one.")
