"""The raw digests of an index in memory: finding documents, and all documents of an entry."""

import random

from indexer.digests import entry_hash, id_digest, with_count
from indexer.sync.stored_digests import StoredDigests


def raw(id_: str, entry: int = 0) -> str:
    """A raw digest; of a document without an entry 32 digits."""
    return f"{id_digest(id_)}{int(id_digest(id_[::-1]), 16):016x}{f'{entry:016x}' if entry else ''}"


def pages(digests: list[str], size: int) -> list[list[str]]:
    ordered = sorted(digests)
    return [ordered[start : start + size] for start in range(0, len(ordered), size)]


def test_an_entry_is_found_with_all_its_documents_or_not_at_all() -> None:
    chance = random.Random(5)
    made = {number: chance.randint(1, 5) for number in range(5_000)}
    entries = {number: entry_hash(str(number).encode()) for number in made}
    digests = [
        raw(f"{number}:{nth}", with_count(entries[number], count))
        for number, count in made.items()
        for nth in range(count)
    ]
    gone = set(chance.sample(digests, 500))
    stored = StoredDigests(pages([one for one in digests if one not in gone], 1_000))
    assert len(stored) == len(digests) - 500
    for number, count in made.items():
        expected = {
            raw(f"{number}:{nth}", with_count(entries[number], count)) for nth in range(count)
        }
        found = {stored[place] for place in stored.find_entry(entries[number])}
        assert found == (set() if expected & gone else expected)
    assert not stored.find_entry(entry_hash(b"another"))


def test_two_entries_with_the_same_hash_are_not_found() -> None:
    entry = entry_hash(b"a line")
    for counts in ([1, 1], [1, 2], [2, 1]):
        digests = [
            raw(f"{number}:{nth}", with_count(entry, count))
            for number, count in enumerate(counts)
            for nth in range(count)
        ]
        assert not StoredDigests(pages(digests, 10)).find_entry(entry)


def test_documents_with_and_without_an_entry_are_found_by_their_ids() -> None:
    entry = with_count(entry_hash(b"a line"), 1)
    digests = [raw("a"), raw("b", entry), raw("c")]
    stored = StoredDigests(pages(digests, 2))
    assert sorted(stored[place] for place in range(3)) == sorted(digests)
    for one in digests:
        assert stored[stored.find(int(one[:16], 16))] == one
        assert stored[stored.find_equal(one[:32])] == one
    assert stored.find(int(id_digest("d"), 16)) == -1
    assert stored.find_equal(id_digest("a") + id_digest("another")) == -1
    assert len(StoredDigests([])) == 0
