"""Parses the query text into terms, quoted phrases and exclusions. Pure.

Splits the text where the analyzer splits it, so that each term is one token of the index.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from analyzers.languages import Language
from analyzers.signs import (
    ACRONYM,
    APOSTROPHES,
    DECADE,
    FLAG,
    FLAGS,
    LETTER,
    SHORT_FLAG,
    UNITS,
    bigrams,
    in_letters,
    is_grammar,
    is_unspaced,
    runs,
    with_groups,
)
from app.search.scoring import FEW_WORDS, LONGEST_CORRECTED

_PIECE = re.compile(r'(?P<out>(?<!\S)-(?=["\w.]))?(?:"(?P<quoted>[^"]*)"|(?P<plain>[^\s"]+))')


# Replaced by spaces, so that the offsets of the words after them stay the same.
_OPERATOR = re.compile(
    r'(?<!\S)(?:(?P<title>in:title)(?!\S)|(?P<not>-)?category:(?:"(?P<quoted>[^"]+)"|(?P<plain>[^\s"]+)))',
    re.I,
)


def _marks() -> str:
    """Return character ranges of Unicode's marks: Hindi vowels, Arabic points, combining accents.
    Each belongs to the letter before it, but `re` does not count it as a letter."""
    ranges: list[list[int]] = []
    for code in (*range(0x300, 0x3100), *range(0xA600, 0xAC00), *range(0xFE00, 0xFE30)):
        if unicodedata.category(chr(code)).startswith("M"):
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


_MARK = rf"[{_marks()}\u200c\u200d]"
# A point or comma between digits is part of a number; an apostrophe between letters is part of a
# word, and so is the point of Catalan's col·legi.
_JOIN = (
    rf"(?:(?<=\d)[.,](?=\d)|(?<=\d)'(?=\d{{3}}(?!\d))|{DECADE}|(?<!\d)['·](?=[^\W\d_])"
    r"|(?<=[א-ת])״(?=[א-ת]))"
)
_WORD = rf"[^\W_](?:{_MARK}|{_JOIN}?[^\W_])*"
# An acronym, a number before a unit, a letter and its word (T-shirt), or any other word.
_TOKEN = rf"(?<![^\W_])(?:{ACRONYM}|\d[\d.,]*(?=(?i:{UNITS})(?![^\W_])))|{LETTER}{_WORD}|{_WORD}"
# libc++ is a word, too, and so is -- before one. ?? after a word is an emphatic question mark.
_SYMBOL = re.compile(
    r"[^\W_]*[cC]\+\+(?!\+)|\b[cCfF]#|(?<![\w.])\.[nN][eE][tT]\b"
    rf"|(?<![\w-]){FLAG}(?=[^\W\d_])|(?<!\S)[—–](?=[^\W\d_])|(?<!\S)-(?=(?:{FLAGS})(?![\w-]))"
    r"|===|!==|==|!=|=>|->|:=|&&|\|\||(?<![\w?])\?\?|\?\?(?=\w)"
)
# An emoji that stands alone is a word, with its joiners and colour modifiers.
_PICTURE = (
    "(?:[\U0001f1e6-\U0001f1ff]{2}|[\u231a-\u23ff\u25aa-\u27bf\u2b05-\u2b55\U0001f004-\U0001faff])"
)
_EMOJI = re.compile(rf"{_PICTURE}(?:[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]|\u200d{_PICTURE})*")
_SYMBOL_OR_TOKEN = re.compile(f"{_SYMBOL.pattern}|{_TOKEN}")
_PART = re.compile(r"(?:(?<=\d),(?=\d)|[^/,;&|()\[\]{}<>])+")
# Only a dash behind a space is that of a flag: not in (-v), [-v|-q], [-122.5, 37.4].
_INNER_DASH = re.compile(r"(?<=[/,;&|()\[\]{}<>])(?:-(?!-)|[—–])")
QUOTATION_MARKS = '"“”„‟«»＂'
"""The marks that may enclose a phrase; keyboards insert those of their language."""
_USUAL = {**APOSTROPHES, **str.maketrans(dict.fromkeys(QUOTATION_MARKS, '"'))}
_FLAG = re.compile(rf"(?:{FLAGS})(?![\w-])")
_VENDOR = re.compile("(?:webkit|moz)-[a-z]")  # -webkit-appearance of CSS excludes nothing
_DASH = re.compile("^[—–]")  # phones replace -- by these
_GERSHAYIM = re.compile('(?<=[א-ת])["״](?=[א-ת])')
# python3.12 is python and 3.12.
_VERSION = re.compile(r"(?<=[^\W\d_])(?=\d+\.\d)")
_WORD_OR_NUMBER = re.compile(r"^\d+|[^\W\d_]+|\d[^\W_]*")
_NUMBERED = re.compile(r"[^\W\d_]+\d[^\W_]*|\d+[^\W\d_]{2,}")
_LETTER = rf"[^\W\d_]{_MARK}*"
_IN_TWO = re.compile(
    rf"(?:{_LETTER}){{2,}} (?:{_LETTER}){{2,}}|(?:{_LETTER})+ \d[^\W_]*|[1-9]\d{{0,2}} \d{{3}}"
    rf"|\d+ (?:{_LETTER}){{3,}}"
)
_CORRECTABLE = re.compile(rf"(?:{_LETTER}){{3,}}(?:['·](?:{_LETTER})+)?")


EXAMINED_TERMS = 12
"""Limits the cost of a query; the first twelve words are enough to answer a longer one well."""

MAX_TERMS = 32
"""The maximum number of terms of a query; the rest are ignored. A sentence of 200 characters, the
longest query, has fewer words; 100 single letters cost four times as much as one."""

MAX_PIECES = 24
"""The maximum number of pieces into which a compound term (a path) is split."""


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """One word of a query.

    `text` is as typed; `token` is its token in the index, `folded` the token without accents.
    `pieces` are the tokens of a compound term (`node.js`), which must be adjacent. `key` is its
    position: "1.0" for a piece of a term, "0+1" for two terms joined into one. `light`: a stop word
    or a function word. `continues`: in text without spaces, it begins with the last character of
    the previous term.
    """

    text: str
    token: str
    folded: str
    pieces: tuple[str, ...]
    key: str
    start: int
    end: int
    stop: bool
    light: bool
    continues: bool = False

    @property
    def is_word(self) -> bool:
        """Whether it begins a significant word; a text without spaces counts as one word."""
        return not self.light and not self.continues

    def key_with(self, other: "QueryTerm") -> str:
        """Return the key of this term joined with another one."""
        return f"{self.key}+{other.key}"

    @property
    def is_joined(self) -> bool:
        """Whether it is made of two terms."""
        return "+" in self.key

    @property
    def is_short_flag(self) -> bool:
        """Whether it may be a flag (`rm -rf`); it excludes a word if no post contains the flag."""
        return self.pieces[0] == SHORT_FLAG

    @property
    def correctable(self) -> bool:
        """Whether the suggester is asked for spellings: three or more letters and nothing else."""
        short = len(self.token) <= LONGEST_CORRECTED
        return short and not self.stop and bool(_CORRECTABLE.fullmatch(self.token))

    def joins(self, other: "QueryTerm") -> bool:
        """Whether two terms may be one word (`post gres`, `es 6`, `7 zip`) or number (10 000)."""
        unspaced = is_unspaced(self.token) or is_unspaced(other.token)
        stop = (self.stop or other.stop) and "." not in self.key  # `in side`, but on-line is online
        return not (unspaced or stop) and bool(_IN_TWO.fullmatch(f"{self.token} {other.token}"))


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """The terms of a query, its quoted phrases with their offsets, and its excluded texts.

    `examined`: the terms that decide which posts match, and that are looked up and corrected: the
    first significant ones, or the first of all terms if none is significant and nothing is quoted.
    `in_title`: only posts with the words in their titles. `categories`: only posts of one of these;
    `other_categories`: only posts of none of these.
    """

    terms: tuple[QueryTerm, ...] = ()
    quoted: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    quoted_at: tuple[int, ...] = ()
    examined: tuple[QueryTerm, ...] = ()
    in_title: bool = False
    categories: tuple[str, ...] = ()
    other_categories: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether there is nothing to search for."""
        categories = self.categories or self.other_categories
        return not (self.terms or self.quoted or self.excluded or categories)

    def with_terms(self, terms: Sequence[QueryTerm]) -> "ParsedQuery":
        """Return the query with these terms instead of its own."""
        significant = [term for term in terms if not term.light]
        if not significant and not self.quoted:
            significant = [term for term in terms if not term.stop] or list(terms)
        return replace(self, terms=tuple(terms), examined=tuple(significant[:EXAMINED_TERMS]))


def parse_query(q: str, language: Language) -> ParsedQuery:
    """Split a query into terms, quoted phrases (`"…"`), exclusions (`-word`), `in:title` and
    `category:name`. With more than `FEW_WORDS` significant words outside of its quotation marks,
    the query is a sentence, and they are ignored."""
    q = with_groups(_GERSHAYIM.sub("״", in_letters(q.translate(_USUAL))), "'")
    if operators := list(_OPERATOR.finditer(q)):
        rest = parse_query(_OPERATOR.sub(lambda match: " " * len(match[0]), q), language)
        in_title = any(match["title"] for match in operators)
        named: dict[bool, list[str]] = {False: [], True: []}
        for match in operators:
            if not match["title"]:
                named[bool(match["not"])].append(match["quoted"] or match["plain"])
        chosen, others = map(tuple, named.values())
        return replace(rest, in_title=in_title, categories=chosen, other_categories=others)
    terms: list[QueryTerm] = []
    quoted: list[str] = []
    excluded: list[str] = []
    quoted_at: list[int] = []
    for piece in _PIECE.finditer(q):
        text = piece["plain"] if piece["quoted"] is None else piece["quoted"].strip()
        if not text.isalpha() and not _tokens(text):
            continue
        if piece["out"] and piece["quoted"] is None and _FLAG.match(text):
            terms.extend(_terms(f"-{text}", piece.start(), len(terms), language))
        elif piece["out"] and not _VENDOR.match(text):
            excluded.append(text)
        elif piece["quoted"] is not None:
            quoted.append(text)
            quoted_at.append(piece.start())
        else:
            terms.extend(_terms(text, piece.start("plain"), len(terms), language))
    if quoted and sum(term.is_word for term in terms) > FEW_WORDS:
        return parse_query(_PIECE.sub(_unquote, q), language)
    query = ParsedQuery(quoted=tuple(quoted), excluded=tuple(excluded), quoted_at=tuple(quoted_at))
    return query.with_terms(terms[:MAX_TERMS])


def _unquote(piece: re.Match[str]) -> str:
    return piece.group() if piece["out"] or not piece["quoted"] else f" {piece['quoted']} "


def _terms(run: str, start: int, position: int, language: Language) -> Iterator[QueryTerm]:
    """Yield the terms of a text without spaces: two for a/b, one compound term for a-b and a.b, and
    one for every two neighbouring characters of Chinese, Japanese and Korean."""
    if run.isascii() and run.isalpha():  # true for most; the general case takes four times as long
        yield _query_term(run, [run], str(position), (start, start + len(run)), language)
        return
    for part, at, is_characters in runs(run):
        terms = _pairs if is_characters else _words
        for term in terms(part, start + at, position, language):
            yield term
            position += 1


def _pairs(run: str, start: int, position: int, language: Language) -> Iterator[QueryTerm]:
    """Yield a term for every two neighbouring characters. Its offsets are those of the first
    character; the offsets of the last term are those of both."""
    tokens = bigrams(run)
    for number, token in enumerate(tokens):
        end = len(run) if number == len(tokens) - 1 else number + 1
        place = (start + min(number, end), start + end)
        term = _query_term(token, [token], str(position + number), place, language)
        yield replace(term, continues=number > 0)


def _words(run: str, start: int, position: int, language: Language) -> Iterator[QueryTerm]:
    run = _INNER_DASH.sub(" ", run)
    for part in [re.match(".*", run)] if _SYMBOL.search(run) else _PART.finditer(run):
        begin = start + (part.start() if part else 0)
        texts = _VERSION.split(part.group() if part else "")
        for text, following in zip_longest(texts, texts[1:]):
            term = _term(text, begin, str(position), language)
            begin += len(text)
            # The v of v1.18 is not a word: the index has the number.
            if term and not (following and text in ("v", "V")):
                yield term
                position += 1


def _term(text: str, start: int, key: str, language: Language) -> QueryTerm | None:
    tokens = _tokens(text)
    if not tokens:
        return None
    # An emoji or a sign at the end would be a token of its own.
    begin, end = tokens[0].start(), tokens[-1].end()
    while end < len(text) and unicodedata.category(text[end])[0] == "M":
        end += 1
    words = [_DASH.sub(FLAG, token.group()) for token in tokens]
    return _query_term(
        _DASH.sub(FLAG, text[begin:end]), words, key, (start + begin, start + end), language
    )


def _tokens(text: str) -> list[re.Match[str]]:
    """Return the words and signs that the tokenizer keeps, or the emoji if there are none."""
    return list(_SYMBOL_OR_TOKEN.finditer(text)) or list(_EMOJI.finditer(text))


def _query_term(
    text: str, words: Sequence[str], key: str, place: tuple[int, int], language: Language
) -> QueryTerm:
    pieces = tuple(map(language.written, words))
    token = "-".join(pieces)
    stop = language.stop_words.issuperset(pieces)
    light = stop or token in language.function_words or is_grammar(token)
    return QueryTerm(text, token, language.fold(token), pieces, key, *place, stop, light)


def apart(compound: QueryTerm, language: Language) -> tuple[QueryTerm, ...]:
    """Return the pieces of a compound term as separate terms, for when no post has them adjacent;
    also the word and the number of `python3`, `gpt4o` and `7zip`. Empty for any other term."""
    is_numbered = _NUMBERED.fullmatch(compound.text)
    if not is_numbered and not 1 < len(compound.pieces) <= MAX_PIECES:
        return ()
    pieces = _WORD_OR_NUMBER if is_numbered else _SYMBOL_OR_TOKEN
    return tuple(
        _query_term(
            token.group(),
            [token.group()],
            f"{compound.key}.{number}",
            (compound.start + token.start(), compound.start + token.end()),
            language,
        )
        for number, token in enumerate(pieces.finditer(compound.text))
        if token.group() not in (FLAG, SHORT_FLAG)
    )


def join_terms(first: QueryTerm, second: QueryTerm, language: Language) -> QueryTerm:
    """Return two terms joined into one word: `postgres` for `post gres`."""
    text = first.token + second.token
    return _query_term(text, [text], first.key_with(second), (first.start, second.end), language)
