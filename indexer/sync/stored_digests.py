"""The raw digests of all documents of an index, in memory."""

import sys
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence

from indexer.digests import count_of

_WITH_ENTRY = 48  # hex digits; a document without an entry has 32
_PARTS = 256


class StoredDigests:
    """Each document has a place, in the order of the hashes of the ids.

    Takes 24 bytes a document, and 4 more for finding it by its entry. Two of a million ids have the
    same hash of 64 bits with a probability of 3 in 100 million. The probability that a changed
    entry has the hash of one of a million others is 2 in 10 billion.

    Args:
        pages: raw digests in ascending order, as `indexer.scan.raw_digests` returns them.
    """

    def __init__(self, pages: Iterable[Sequence[str]]) -> None:
        self._ids, self._digests, self._entries = array("Q"), array("Q"), array("Q")
        for page in pages:
            digits = "".join(one.ljust(_WITH_ENTRY, "0") for one in page)
            parts = array("Q", bytes.fromhex(digits))
            if sys.byteorder == "little":
                parts.byteswap()
            self._ids.extend(parts[::3])
            self._digests.extend(parts[1::3])
            self._entries.extend(parts[2::3])
        # In parts by the first byte, as sorting all at once would take three times the memory of
        # everything else.
        by_entry = [array("I") for _ in range(_PARTS)]
        for place, entry in enumerate(self._entries):
            if entry:
                by_entry[entry >> 56].append(place)
        entry_of = self._entries.__getitem__
        self._by_entry = [array("I", sorted(part, key=entry_of)) for part in by_entry]

    def __len__(self) -> int:
        return len(self._ids)

    def __getitem__(self, place: int) -> str:
        """The raw digest of a document."""
        entry = self._entries[place]
        end = f"{entry:016x}" if entry else ""
        return f"{self._ids[place]:016x}{self._digests[place]:016x}{end}"

    def find(self, id_hash: int) -> int:
        """The place of a document, -1 if there is none."""
        place = bisect_left(self._ids, id_hash)
        return place if place < len(self._ids) and self._ids[place] == id_hash else -1

    def find_equal(self, raw_digest: str) -> int:
        """The place of the document with the 32 digits of an id and what it is made of, else -1."""
        id_hash, digest = divmod(int(raw_digest, 16), 1 << 64)
        place = self.find(id_hash)
        return place if place >= 0 and self._digests[place] == digest else -1

    def find_entry(self, hashed: int) -> Sequence[int]:
        """The places of the documents of an entry; none unless all that were made of it are there.

        Nor are there any if two entries have the same hash.

        Args:
            hashed: the `entry_hash`.
        """
        places = self._by_entry[hashed >> 56]
        first = bisect_left(places, hashed, key=self._entries.__getitem__)
        last = first
        while last < len(places) and count_of(self._entries[places[last]], hashed):
            last += 1
        found = places[first:last]
        return found if found and len(found) == count_of(self._entries[found[0]], hashed) else ()
