"""What the visitor typed → words, quoted phrases and words to keep out. Pure.

The same cuts as the analysis chain makes, so that a word here is a token there.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from analyzers.chains import STOP_WORDS

_PIECE = re.compile(r'(?P<out>(?<!\S)-(?=["\w.]))?(?:"(?P<quoted>[^"]*)"|(?P<plain>[^\s"]+))')
# A point or comma between digits is part of a number, an apostrophe between letters of a word.
_TOKEN = re.compile(r"[^\W_]+(?:(?:(?<=\d)[.,](?=\d)|(?<=[^\W\d_])'(?=[^\W\d_]))[^\W_]+)*")
_SYMBOL = re.compile(
    r"(?i)\bc\+\+(?!\+)|\b[cf]#|(?<![\w.])\.net\b|===|!==|==|!=|=>|->|:=|&&|\|\||\?\?"
)
_APART = re.compile(r"[/,;&|()\[\]{}<>]+")
_QUOTES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "＇": "'", "“": '"', "”": '"'})
_MENDABLE = re.compile(r"[^\W\d_]{3,}(?:'[^\W\d_]+)?")


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a search.

    `text` is as typed; `token` is lower-case, without a possessive 's; `pieces` are the tokens of a
    word that the analysis cuts (`node.js`), which must then stand together. `at` is its position
    among all words, -1 for a word that is only kept out.
    """

    text: str
    token: str
    pieces: tuple[str, ...]
    at: int

    @property
    def stop(self) -> bool:
        """Whether the stemmed fields have nothing of this word."""
        return all(piece in STOP_WORDS for piece in self.pieces)

    @property
    def mendable(self) -> bool:
        """Whether a typo may be looked for: letters only, three or more, and nothing quoted."""
        return not self.stop and bool(_MENDABLE.fullmatch(self.token))


@dataclass(frozen=True, slots=True)
class Query:
    """What was typed, understood: words in their order, quoted phrases, what is kept out."""

    words: tuple[Word, ...] = ()
    quoted: tuple[str, ...] = ()
    out: tuple[str, ...] = field(default=())

    @property
    def required(self) -> tuple[Word, ...]:
        """The words a post must have: all but stop words, or all where there is nothing else."""
        meant = tuple(word for word in self.words if not word.stop)
        return meant or (() if self.quoted else self.words)

    @property
    def phrase(self) -> str:
        return " ".join(word.text for word in self.words)


def understand(q: str) -> Query:
    """Take a query apart."""
    words: list[Word] = []
    quoted: list[str] = []
    out: list[str] = []
    for piece in _PIECE.finditer(q.translate(_QUOTES)):
        text = piece["plain"] if piece["quoted"] is None else piece["quoted"].strip()
        if not _SYMBOL.search(text) and not _TOKEN.search(text):
            continue
        if piece["out"]:
            out.append(text)
        elif piece["quoted"] is not None:
            quoted.append(text)
        else:
            words.extend(_words(text, len(words)))
    return Query(tuple(words), tuple(quoted), tuple(out))


def _words(text: str, start: int) -> Iterator[Word]:
    """The words of one run without spaces; a/b are two, a-b and a.b one that stands together."""
    parts = [text] if _SYMBOL.search(text) else _APART.split(text)
    at = start
    for part in parts:
        found = word(part, at)
        if found:
            at += 1
            yield found


def word(text: str, at: int) -> Word | None:
    """One word, or None where nothing of it would be a token."""
    if _SYMBOL.search(text):
        return Word(text, text.lower(), (text.lower(),), at)
    pieces = tuple(_plain(token) for token in _TOKEN.findall(text))
    if not pieces:
        return None
    return Word(text.strip("\"'`.,:!?"), "-".join(pieces), pieces, at)


def _plain(token: str) -> str:
    return token.lower().removesuffix("'s")


def apart(glued: Word) -> tuple[Word, ...]:
    """The pieces of a glued word as words of their own, for when they stand nowhere together."""
    return tuple(Word(piece, piece, (piece,), glued.at) for piece in glued.pieces)
