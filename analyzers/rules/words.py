"""How many words a side of a rule has, decided without a server.

The analysis chain decides what a token is, and it changes; index settings must be buildable
without asking a server. So this splits wherever a chain might. Too many words is the safe side to
err on: a side taken for several words is compiled to a contraction, and a contraction holds for a
single token too, whereas an equivalent that turns out to be several tokens breaks phrases
(docs/synonyms.md). That the compiled rules do what they say under the real chain is what
`analyzers.lint.check` proves.
"""

import re
import unicodedata

Words = tuple[str, ...]

APOSTROPHES = str.maketrans(dict.fromkeys("’‘ʼ＇", "'"))
"""Curly and other apostrophes that keyboards and editors put where `'` is meant."""

# The standard tokenizer makes a token of every ideograph, hiragana and emoji (UAX 29).
_ALONE = "\u2600-\u27bf\U0001f000-\U0001faff"
_ALONE += "\u3005-\u3007\u3041-\u309f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_LETTER = rf"(?:[^\W_{_ALONE}]|[\u0300-\u036f\u200c\u200d])"

# `+` and `#` belong to the word before them and a leading dot to the word behind it: C++, C#, .NET.
_WORD = re.compile(
    rf"[{_ALONE}]|(?:(?<!\S)\.)?{_LETTER}+(?:'{_LETTER}+)*(?:\+\+?|#)*(?!{_LETTER})|{_LETTER}+"
)
_CHUNK = re.compile(r"\S+")


def normalise(side: str) -> str:
    """The side as rules compare it: NFC, lower case, straight apostrophes, single spaces."""
    text = unicodedata.normalize("NFC", side).translate(APOSTROPHES).lower()
    return " ".join(text.split())


def words(side: str) -> Words:
    """The words of a normalised side; never empty for a side that is not.

    A side without a letter or a digit (`===`) is cut at its spaces only: whether any token comes
    of it is for the real chain to say.
    """
    return tuple(_WORD.findall(side)) or tuple(_CHUNK.findall(side))


def folded(word: str) -> str:
    """A word without accents and with straight apostrophes, as the chain folds it."""
    if word.isascii():
        return word
    parts = unicodedata.normalize("NFKD", word.translate(APOSTROPHES))
    return "".join(char for char in parts if not unicodedata.combining(char))


def joined(several: Words) -> str:
    """One word made of several: `machine learning` → `machinelearning`; empty when nothing is left.

    Only letters and digits come out, so that every chain takes it for one token.
    """
    return "".join(_SPELLED.get(char) or _plain(char) for char in "".join(several))


_SPELLED = {"+": "plus", "#": "sharp"}


def _plain(char: str) -> str:
    if char.isalnum():
        return char
    return f"{ord(char):x}" if unicodedata.category(char) == "So" else ""
