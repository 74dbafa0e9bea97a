"""Which documents of the live index a source has, and which of them unchanged."""

import sys
import tempfile
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from contextlib import closing
from itertools import islice
from types import TracebackType
from typing import Any, Literal, Self

from elasticsearch import Elasticsearch

from indexer.digests import count_of, id_digest
from indexer.ingest import SeenIds
from indexer.records import Document, Origin, comment_id, post_id
from indexer.scan import MAX_BUCKETS, child_comments, count_from_source, raw_digests, stored_ids

_PAGES = 8  # of digests; more only where a page would be larger than it may be
_MIN_PAGE = 10_000
_TERMS = 10_000  # raw digests in one query, which may have 65,536
_POSTS = 1_000  # of which the comments are read at a time
_LINES = 1 << 32


class Comparison:
    """Every document of an index at one moment: its raw digest, and where the source has it.

    A context manager. Holds 32 bytes a document, in arrays ordered by the hash of the id, and 4 for
    finding it by its entry. Two of a million ids have the same hash of 64 bits with a probability
    of 3 in 100 million, and a changed entry has the hash of another with one of 2 in 10 billion.
    Left out are documents that came over HTTP, and those without a raw digest. The ids of what is
    not in the arrays are kept on disk.
    """

    def __init__(self, client: Elasticsearch, index: str) -> None:
        self._client = client
        self._index = index
        client.indices.refresh(index=index)
        self.posts = count_from_source(client, index, _of_kind("post"))
        self._comments = count_from_source(client, index, _of_kind("comment"))
        self._ids, self._digests, self._entries = array("Q"), array("Q"), array("Q")
        size = min(max((self.posts + self._comments) // _PAGES, _MIN_PAGE), MAX_BUCKETS)
        for page in raw_digests(client, index, size):
            # A document without an entry has 32 digits.
            parts = array("Q", bytes.fromhex("".join(one.ljust(48, "0") for one in page)))
            if sys.byteorder == "little":
                parts.byteswap()
            self._ids.extend(parts[::3])
            self._digests.extend(parts[1::3])
            self._entries.extend(parts[2::3])
        self._by_entry = self._sorted_by_entry()
        # Where each was read: 0 if it was not, otherwise its line, and above that the offset of its
        # source in a file of their names.
        self._seen = array("Q", bytes(8 * len(self._ids)))
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

        If so, it has been read now. `id_` is part of the raw digest.
        """
        id_hash, digest = divmod(int(raw_digest, 16), 1 << 64)
        slot = self._find(id_hash)
        if slot < 0 or self._digests[slot] != digest or self._seen[slot]:
            return False
        self._seen[slot] = self._place_of(origin)
        return True

    def unchanged_documents(self, entry_hash: int, origin: Origin) -> int:
        """The number of documents of an entry, if the index has all of them as they were made of
        this entry, and none was read before; else 0.

        If so, they have been read now.
        """
        slots = self._by_entry[entry_hash >> 56]
        first = bisect_left(slots, entry_hash, key=self._entries.__getitem__)
        if first == len(slots):
            return 0
        entry = self._entries[slots[first]]
        count = count_of(entry, entry_hash)
        found = slots[first : first + count]
        # The last one is of this entry too if as many are there as were made of it.
        if not count or len(found) < count or self._entries[found[-1]] != entry:
            return 0
        if any(self._seen[slot] for slot in found):
            return 0
        place = self._place_of(origin)
        for slot in found:
            self._seen[slot] = place
        return count

    def add(self, id_: str, origin: Origin) -> str | None:
        """Note that a document was read; returns where it was read first if it was before."""
        slot = self._find(int(id_digest(id_), 16))
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
        nowhere = Origin("")
        self._rejected.add(post_id(oid), nowhere)
        post_oid, slash, comment = oid.rpartition("/")
        if slash:
            self._rejected.add(comment_id(post_oid, comment), nowhere)

    def stored(self, documents: list[Document]) -> dict[str, tuple[int, str, bool]]:
        """The version and the digest of those that the index has, and whether it came over HTTP."""
        query = {"ids": {"values": [document.id for document in documents]}}
        found = stored_ids(self._client, self._index, query)
        return {one.id: (one.version, digest, over_http) for one, digest, over_http in found}

    def count_missing_posts(self) -> int:
        """The number of posts that were not read."""
        return sum(1 for _ in self._missing("post"))

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
        """What the index had and the source has not, but documents that came over HTTP."""
        for query in self._unread():
            both = {"bool": {"filter": [query, _of_kind(kind)]}}
            for document, _, over_http in stored_ids(self._client, self._index, both):
                if not (
                    over_http
                    or document.id in self._others
                    or document.id in self._rejected
                    or post_id(document.routing) in self._rejected
                ):
                    yield document

    def _unread(self) -> Iterator[Mapping[str, Any]]:
        """Queries for the documents of which no raw digest was read."""
        slots = (slot for slot, place in enumerate(self._seen) if not place)
        while some := list(islice(slots, _TERMS)):
            yield {"terms": {"raw_digest": [self._raw_digest(slot) for slot in some]}}
        if self.posts + self._comments > len(self._ids):
            yield {"bool": {"must_not": {"exists": {"field": "raw_digest"}}}}

    def _raw_digest(self, slot: int) -> str:
        entry = self._entries[slot]
        end = f"{entry:016x}" if entry else ""
        return f"{self._ids[slot]:016x}{self._digests[slot]:016x}{end}"

    def _sorted_by_entry(self) -> "list[array[int]]":
        """The places of the documents that have an entry, ordered by it; 256 parts by its first
        byte, as sorting all at once would take three times the memory of everything else."""
        parts = [array("I") for _ in range(256)]
        for slot, entry in enumerate(self._entries):
            if entry:
                parts[entry >> 56].append(slot)
        return [array("I", sorted(part, key=self._entries.__getitem__)) for part in parts]

    def _find(self, id_hash: int) -> int:
        """The place of a document in the arrays, -1 if it has none."""
        slot = bisect_left(self._ids, id_hash)
        return slot if slot < len(self._ids) and self._ids[slot] == id_hash else -1

    def _place_of(self, origin: Origin) -> int:
        if origin.source != self._source:
            self._source, self._offset = origin.source, self._end
            self._end += self._sources.write(origin.source.replace("\n", " ").encode() + b"\n")
        return self._offset * _LINES + (origin.line or 0)


def _of_kind(kind: str) -> Mapping[str, Any]:
    return {"term": {"kind": kind}}
