"""What the visitor typed → words, quoted phrases and words to keep out. Pure.

The same cuts as the analysis chain makes, so that a word here is a token there.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field

from analyzers.languages import ENGLISH
from app.search import relevance

_PIECE = re.compile(r'(?P<out>(?<!\S)-(?=["\w.]))?(?:"(?P<quoted>[^"]*)"|(?P<plain>[^\s"]+))')
# Chinese characters and hiragana are a token each.
_ALONE = "[\u3005-\u3007\u3041-\u309f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
_LETTERS = rf"(?:(?!{_ALONE})[^\W_])+"
# A point or comma between digits is part of a number, an apostrophe between letters of a word.
_JOIN = r"(?:(?<=\d)[.,](?=\d)|(?<=[^\W\d_])'(?=[^\W\d_]))"
_TOKEN = re.compile(rf"{_ALONE}|{_LETTERS}(?:{_JOIN}{_LETTERS})*")
# ?? behind a word is a question asked loudly.
_SYMBOL = re.compile(
    r"\b[cC]\+\+(?!\+)|\b[cCfF]#|(?<![\w.])\.[nN][eE][tT]\b"
    r"|===|!==|==|!=|=>|->|:=|&&|\|\||(?<![\w?])\?\?|\?\?(?=\w)"
)
_SYMBOL_OR_TOKEN = re.compile(f"{_SYMBOL.pattern}|{_TOKEN.pattern}")
_PART = re.compile(r"(?:(?<=\d),(?=\d)|[^/,;&|()\[\]{}<>])+")
_QUOTES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "＇": "'", "“": '"', "”": '"'})
# Letters that are no other letter with a mark, and that asciifolding folds all the same.
_FOLDED = str.maketrans(
    {"ß": "ss", "ø": "o", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"}
)
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
        return all(piece in ENGLISH.stop_words for piece in self.pieces)

    @property
    def partly_stop(self) -> bool:
        """Whether the stemmed fields would find less than was typed, as in `--no-cache`."""
        return any(piece in ENGLISH.stop_words for piece in self.pieces)

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
    tokens = list(_SYMBOL_OR_TOKEN.finditer(text))
    if not tokens:
        return None
    # An emoji or a sign behind a word would be a token of its own, and asked for.
    begin, end = tokens[0].start(), tokens[-1].end()
    while end < len(text) and unicodedata.category(text[end])[0] == "M":
        end += 1
    pieces = tuple(plain(token.group()) for token in tokens)
    return Word(text[begin:end], "-".join(pieces), pieces, at, start + begin, start + end)


def plain(token: str) -> str:
    """Lower-case and without accents, as the analysis makes it."""
    parts = unicodedata.normalize("NFKD", token.lower())
    bare = "".join(letter for letter in parts if not unicodedata.combining(letter))
    return bare.translate(_FOLDED).removesuffix("'s")


def apart(glued: Word) -> tuple[Word, ...]:
    """The pieces of a glued word as words of their own, for when they stand nowhere together.

    None for a single piece, and for more than anybody means one by one.
    """
    if not 1 < len(glued.pieces) <= relevance.PIECES_APART:
        return ()
    return tuple(
        Word(
            token.group(),
            plain(token.group()),
            (plain(token.group()),),
            f"{glued.at}.{number}",
            glued.start + token.start(),
            glued.start + token.end(),
        )
        for number, token in enumerate(_SYMBOL_OR_TOKEN.finditer(glued.text))
    )


def joined(one: Word, other: Word) -> Word:
    """Two words written as one: `post gres`."""
    token = one.token + other.token
    return Word(token, token, (token,), f"{one.at}+{other.at}", one.start, other.end)
