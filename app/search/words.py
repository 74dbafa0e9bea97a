"""What the visitor typed → words, quoted phrases and words to keep out. Pure.

The same cuts as the analysis chain makes, so that a word here is a token there.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field

from analyzers.chains import STOP_WORDS

_PIECE = re.compile(r'(?P<out>(?<!\S)-(?=["\w.]))?(?:"(?P<quoted>[^"]*)"|(?P<plain>[^\s"]+))')
# A point or comma between digits is part of a number, an apostrophe between letters of a word.
_TOKEN = re.compile(r"[^\W_]+(?:(?:(?<=\d)[.,](?=\d)|(?<=[^\W\d_])'(?=[^\W\d_]))[^\W_]+)*")
_SYMBOL = re.compile(
    r"(?i)\bc\+\+(?!\+)|\b[cf]#|(?<![\w.])\.net\b|===|!==|==|!=|=>|->|:=|&&|\|\||\?\?"
)
_PART = re.compile(r"(?:(?<=\d),(?=\d)|[^/,;&|()\[\]{}<>])+")
_QUOTES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "＇": "'", "“": '"', "”": '"'})
_MENDABLE = re.compile(r"[^\W\d_]{3,}(?:'[^\W\d_]+)?")


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a search.

    `text` is as typed; `token` is lower-case, without a possessive 's; `pieces` are the tokens of a
    word that the analysis cuts (`node.js`), which must then stand together. `at` names its place
    among the words: "0", "1", …, and "1.0", "1.1" for pieces taken apart. `start` and `end` are
    offsets in the query.
    """

    text: str
    token: str
    pieces: tuple[str, ...]
    at: str
    start: int
    end: int

    @property
    def stop(self) -> bool:
        """Whether the stemmed fields have nothing of this word."""
        return all(piece in STOP_WORDS for piece in self.pieces)

    @property
    def partly_stop(self) -> bool:
        """Whether the stemmed fields would find less than was typed, as in `--no-cache`."""
        return any(piece in STOP_WORDS for piece in self.pieces)

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
            words.extend(_words(text, piece.start("plain"), len(words)))
    return Query(tuple(words), tuple(quoted), tuple(out))


def _words(run: str, start: int, place: int) -> Iterator[Word]:
    """The words of one run without spaces; a/b are two, a-b and a.b one that stands together."""
    for found in [re.match(".*", run)] if _SYMBOL.search(run) else _PART.finditer(run):
        made = found and _word(found.group(), start + found.start(), str(place))
        if made:
            yield made
            place += 1


def _word(text: str, start: int, at: str) -> Word | None:
    """One word, or None where nothing of it would be a token."""
    bare = text.strip("\"'`.,:;!?")
    begin = start + text.index(bare)
    if _SYMBOL.search(text):
        return Word(text, text.lower(), (text.lower(),), at, start, start + len(text))
    pieces = tuple(_plain(token) for token in _TOKEN.findall(bare))
    if not pieces:
        return None
    return Word(bare, "-".join(pieces), pieces, at, begin, begin + len(bare))


def _plain(token: str) -> str:
    """Lower-case and without accents, as the analysis makes it."""
    parts = unicodedata.normalize("NFKD", token.lower())
    bare = "".join(letter for letter in parts if not unicodedata.combining(letter))
    return bare.removesuffix("'s")


def apart(glued: Word) -> tuple[Word, ...]:
    """The pieces of a glued word as words of their own, for when they stand nowhere together."""
    return tuple(
        Word(
            token.group(),
            _plain(token.group()),
            (_plain(token.group()),),
            f"{glued.at}.{number}",
            glued.start + token.start(),
            glued.start + token.end(),
        )
        for number, token in enumerate(_TOKEN.finditer(glued.text))
    )


def joined(one: Word, other: Word) -> Word:
    """Two words written as one: `post gres`."""
    token = one.token + other.token
    return Word(token, token, (token,), f"{one.at}+{other.at}", one.start, other.end)
