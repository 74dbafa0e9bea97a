"""Which documents of the live index a source has, and which of them unchanged."""

import tempfile
from array import array
from collections.abc import Iterator, Mapping
from contextlib import closing
from itertools import islice
from types import TracebackType
from typing import Any, Literal, Self

from elasticsearch import Elasticsearch

from indexer.digests import entry_hash, id_digest
from indexer.ingest import SeenIds
from indexer.records import Document, Origin, post_id
from indexer.scan import MAX_BUCKETS, child_comments, count_from_source, raw_digests, stored_ids
from indexer.sync.stored_digests import StoredDigests

_PAGES = 8  # of digests; more only where a page would be larger than it may be
_MIN_PAGE = 10_000
_TERMS = 10_000  # raw digests in one query, which may have 65,536
_POSTS = 1_000  # of which the comments are read at a time
_LINES = 1 << 32

Stored = tuple[int, str, bool]
"""The version and the digest of a document in the index, and whether it came over HTTP."""


class Comparison:
    """Every document of an index at one moment: its raw digest, and where the source has it.

    A context manager. Takes 36 bytes of memory a document. Left out are documents that came over
    HTTP, and those without a raw digest. Ids that the index does not have are kept on disk.
    """

    def __init__(self, client: Elasticsearch, index: str) -> None:
        self._client = client
        self._index = index
        client.indices.refresh(index=index)
        self.posts = count_from_source(client, index, _of_kind("post"))
        self._comments = count_from_source(client, index, _of_kind("comment"))
        size = min(max((self.posts + self._comments) // _PAGES, _MIN_PAGE), MAX_BUCKETS)
        self._stored = StoredDigests(raw_digests(client, index, size))
        # Where each was read: 0 if it was not, otherwise its line, and above that the offset of its
        # source in a file of their names.
        self._seen = array("Q", bytes(8 * len(self._stored)))
        self._sources = tempfile.TemporaryFile()  # noqa: SIM115 -- closed by `__exit__`
        self._sources.write(b"\n")
        self._source, self._offset, self._end = "", 0, 1
        self._others = SeenIds()
        self._rejected = SeenIds()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._sources.close()
        self._others.close()
        self._rejected.close()

    def is_unchanged(self, id_: str, raw_digest: str, origin: Origin) -> bool:
        """Whether the index has a document with this raw digest that was not read before.

        If so, it is marked as read. `id_` is part of the raw digest.
        """
        slot = self._stored.find_equal(raw_digest)
        if slot < 0 or self._seen[slot]:
            return False
        self._seen[slot] = self._place_of(origin)
        return True

    def unchanged_documents(self, entry: bytes, origin: Origin) -> int:
        """The number of documents of an entry, if the index has all of them unchanged and none of
        them was read before; else 0.

        If so, they are marked as read.
        """
        slots = self._stored.find_entry(entry_hash(entry))
        if any(self._seen[slot] for slot in slots):
            return 0
        place = self._place_of(origin) if slots else 0
        for slot in slots:
            self._seen[slot] = place
        return len(slots)

    def add(self, id_: str, origin: Origin) -> str | None:
        """Note that a document was read; returns where it was read first if it was before."""
        slot = self._stored.find(int(id_digest(id_), 16))
        if slot < 0:
            return self._others.add(id_, origin)
        if not self._seen[slot]:
            self._seen[slot] = self._place_of(origin)
            return None
        offset, line = divmod(self._seen[slot], _LINES)
        self._sources.seek(offset)
        source = self._sources.readline().decode().rstrip("\n")
        self._sources.seek(self._end)
        return str(Origin(source, line or None))

    def add_rejected(self, oid: str) -> None:
        """Note what a Reject names: a post with its comments, or `post/comment`."""
        self._rejected.add(oid.strip(), Origin(""))  # stored oids are stripped, too

    def stored(self, documents: list[Document]) -> dict[str, Stored]:
        """What is stored of those that the index has, by id."""
        query = {"ids": {"values": [document.id for document in documents]}}
        found = stored_ids(self._client, self._index, query)
        return {one.id: (one.version, digest, over_http) for one, digest, over_http in found}

    def missing_posts(self) -> Iterator[str]:
        """The oids of the posts that were not read."""
        return (post.routing for post in self._missing("post"))

    def count_source_comments(self) -> tuple[int, int]:
        """The number of comments that came from a source, and of those that were not read.

        Comments of missing posts do not count.
        """
        count = self._comments
        missing = self._missing("post")
        with closing(SeenIds()) as gone:
            while posts := list(islice(missing, _POSTS)):
                of_posts = {"terms": {"post_oid": [post.routing for post in posts]}}
                count -= count_from_source(self._client, self._index, of_posts)
                for post in posts:
                    gone.add(post.id, post.origin)
            unread = sum(post_id(one.routing) not in gone for one in self._missing("comment"))
        return count, unread

    def missing(self, *, with_comments: bool) -> Iterator[Document]:
        """The documents that were not read: posts with all their comments, without a source.

        Args:
            with_comments: also comments that were not read though their post was, unless they
                came over HTTP.
        """
        missing = self._missing("post")
        with closing(SeenIds()) as gone:
            while posts := list(islice(missing, _POSTS)):
                yield from posts
                for post in posts:
                    gone.add(post.id, post.origin)
                oids = [post.routing for post in posts]
                yield from child_comments(self._client, self._index, oids)
            if with_comments:
                for comment in self._missing("comment"):
                    if post_id(comment.routing) not in gone:
                        yield comment

    def _missing(self, kind: Literal["post", "comment"]) -> Iterator[Document]:
        """Documents that the source lacks, except those written over HTTP."""
        for query in self._unread():
            both = {"bool": {"filter": [query, _of_kind(kind)]}}
            for document, _, over_http in stored_ids(self._client, self._index, both):
                if not (over_http or document.id in self._others or self._is_rejected(document)):
                    yield document

    def _is_rejected(self, document: Document) -> bool:
        """Whether a Reject names the document, its post, or a comment on it without an oid."""
        names = [document.routing]
        if document.kind == "comment":
            comment_oid = document.id.rpartition(":")[2]  # which has no colon
            names += [f"{document.routing}/{comment_oid}", f"{document.routing}/?"]
        return any(name in self._rejected for name in names)

    def _unread(self) -> Iterator[Mapping[str, Any]]:
        """Queries for the documents of which no raw digest was read."""
        slots = (slot for slot, place in enumerate(self._seen) if not place)
        while some := list(islice(slots, _TERMS)):
            yield {"terms": {"raw_digest": [self._stored[slot] for slot in some]}}
        if self.posts + self._comments > len(self._stored):
            yield {"bool": {"must_not": {"exists": {"field": "raw_digest"}}}}

    def _place_of(self, origin: Origin) -> int:
        if origin.source != self._source:
            self._source, self._offset = origin.source, self._end
            self._end += self._sources.write(origin.source.replace("\n", " ").encode() + b"\n")
        return self._offset * _LINES + (origin.line or 0)


def _of_kind(kind: str) -> Mapping[str, Any]:
    return {"term": {"kind": kind}}
