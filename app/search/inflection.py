"""Stems, and whether two words are inflections of one word."""

from functools import lru_cache

import snowballstemmer  # type: ignore[import-untyped]

# fmt: off
_ENDINGS = frozenset((
    "", "e", "s", "es", "d", "ed", "ing", "r", "er", "rs", "ers", "or", "ors", "y", "ies", "ied",
    "ly", "al", "ally", "ion", "ions", "able", "ment", "ments", "ful", "ness", "ity", "ive",
))
# fmt: on


def akin(one: str, other: str) -> bool:
    """Whether two words are inflections of one word: the same stem, and endings that words have."""
    if stem(one) != stem(other):
        return False
    shared = next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )
    endings = {_ending(one, shared), _ending(other, shared)}
    # A letter e too many or missing is a typo, not an inflection.
    return endings <= _ENDINGS and endings != {"", "e"}


def _ending(word: str, shared: int) -> str:
    """What follows the shared letters; -ing after format and after formatt is the same."""
    ending = word[shared:]
    doubled = shared and ending[:1] == word[shared - 1] and ending[1:2] in {"e", "i", "o"}
    return ending[1:] if doubled else ending


@lru_cache(maxsize=10_000)
def stem(word: str) -> str:
    """Snowball's English stem, as the `snowball` filter makes it."""
    # A new stemmer each time: it keeps the word in itself, and threads share this module.
    return str(snowballstemmer.stemmer("english").stemWord(word))
