"""The raw digests of the documents of an index, in memory."""

from collections.abc import Iterable, Iterator, Sequence

from indexer.digests import count_of, entry_hash

_OF_DOCUMENT = 32  # hex digits of a raw digest; behind them may be 16 of the entry
_OF_ENTRY = 13  # of those, without the number of its documents


class StoredDigests:
    """By id, the raw digest of each document that came from a source; takes 0.3 KB a document.

    Iterating gives the ids. The probability that a changed entry has the hash of one of a million
    others is 2 in 10 billion.

    Args:
        digests: ids with their raw digests, as `indexer.scan.raw_digests` returns them.
    """

    def __init__(self, digests: Iterable[tuple[str, str]]) -> None:
        self._digests = dict(digests)
        self._entries: dict[str, list[str]] = {}
        for id_, digest in self._digests.items():
            if entry := digest[_OF_DOCUMENT : _OF_DOCUMENT + _OF_ENTRY]:
                self._entries.setdefault(entry, []).append(id_)

    def __iter__(self) -> Iterator[str]:
        return iter(self._digests)

    def has(self, id_: str, raw_digest: str) -> bool:
        """Whether the index has this document, made of what has this raw digest."""
        return self._digests.get(id_, "")[:_OF_DOCUMENT] == raw_digest

    def of_entry(self, entry: bytes) -> Sequence[str]:
        """The ids of the documents of an entry; none unless the index has all that were made of it.

        Nor are there any if two entries have the same hash.
        """
        hashed = entry_hash(entry)
        ids = self._entries.get(f"{hashed:016x}"[:_OF_ENTRY], ())
        if ids and len(ids) == count_of(int(self._digests[ids[0]][_OF_DOCUMENT:], 16), hashed):
            return ids
        return ()
