"""Handles characters in words that the standard tokenizer splits, joins or drops.

In Chinese, Japanese and Korean, which have no spaces between words or attach endings to them, every
two neighbouring characters are a token (`cjk_bigram`), in an index of any language. For names and
operators that the tokenizer would drop, the char filters of `analyzers.chains` write words first;
they are internal, and `readable` turns them back.
"""

import re
import unicodedata
from collections.abc import Iterator
from hashlib import blake2b

# Ideographs, hiragana, katakana (also half-width) and Hangul, for a character class.
_HANGUL = "\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3"
CHARACTERS = (
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    f"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff{_HANGUL}"
)
APOSTROPHES = str.maketrans(dict.fromkeys("’‘ʼ＇´`′׳", "'"))
UNITS = (
    r"[kmgtp]i?b(?:ps)?|[kmgt]?hz|[kmgt]i?o|[kcmnµμ]?m|[mµμ]s|[km]g|(?<=\d\d)g|k?wh?|[km]?v|m?ah|px|r?em"
    "|pt|dpi|fps|rpm|mph|lbs?|oz|ft|inch|kcal|min|bit|[ap]m"
)
"""A pattern of units after a number, with or without a space; not s, h or k, as in names (5s)."""


ACRONYM = r"(?:[A-Z]\.)+[A-Z](?![^\W_.])|(?:(?:[^\W\d_]|[A-Z][a-z])\.){2,}"
"""U.S.A., U.K, Ph.D., e.g., but not the end of co.uk."""
DECADE = r"(?<=\d0)'(?=s(?![^\W_]))"
"""The apostrophe of 90's."""
LETTER = r"(?<![\w.-])[A-Za-z]-(?=[^\W\d_]{2}|\d)"
"""A letter that belongs to the word after its hyphen (T-shirt, F-16)."""
NARROW = "\u202f"
"""The space inside numbers (10 000)."""
_SPACES = ("\u00a0", "\u2009", NARROW)  # no-break or narrow ones
_SPACE = f"[{''.join(_SPACES)}]"
_GROUPS = re.compile(rf"(?<![\w.,+/-])(?<!\d\s)[1-9]\d{{0,2}}(?:{_SPACE}\d{{3}})+(?!{_SPACE}?\d)")
_SEPARATED = re.compile(
    rf"(?<![^\W_])(?P<acronym>{ACRONYM})|(?P<letter>{LETTER})"
    rf"|(?P<thousand>(?<=\d)[,'](?=\d{{3}}(?!\d))|{DECADE})|(?P<unit>(?<=\d)(?=(?i:{UNITS})(?![^\W_])))"
)


def _usual() -> dict[int, str]:
    """Return the usual forms of small (CO₂) and foreign digits, of ancient Greek accents, of emoji
    in a colour (👍🏽), and of ligatures, in which no stemmer sees a word's ending."""
    plain = dict.fromkeys((0x20E3, 0xFE0E, 0xFE0F, *range(0x1F3FB, 0x1F400)), "")
    digits = {ord(zero) + n: str(n) for zero in "₀٠۰०০๐" for n in range(10)}
    greek = {}
    for code in range(0x1F00, 0x2000):
        parts = unicodedata.normalize("NFD", chr(code))
        base = parts[0]
        if "Α" <= base <= "ω":
            accents = "\u0301" * any(mark in parts for mark in "\u0300\u0301\u0342")
            greek[code] = unicodedata.normalize("NFC", base + accents)
    codes = (0x132, 0x133, *range(0x1C4, 0x1CD), *range(0xFB00, 0xFB07))  # ĳ, ǆ, ﬁ
    ligatures = {code: unicodedata.normalize("NFKC", chr(code)) for code in codes}
    return digits | greek | plain | ligatures | {0xB5: "μ", 0x2126: "Ω"}


USUAL = _usual()
_USUAL = {0xFF01 + number: 0x21 + number for number in range(0x5E)} | {0x05F4: '"'} | USUAL
_POWER = re.compile(r"\b([^\W\d_]{1,2})([²³])")
_TIMES = re.compile(r"(?<![^\W_])(?!0[xX])[\d.,]+(?:\s?[xX×]\s?\d[\d.,]*)+")
_NUMERALS = {chr(code) for code in range(0x3400) if unicodedata.category(chr(code)) == "No"}
_NUMERAL = re.compile(
    f"({_POWER.pattern})|[{''.join(_NUMERALS.difference(map(chr, USUAL)))}]"  # m² stays
)
_RUN = re.compile(f"(?P<characters>[{CHARACTERS}]+)|[^{CHARACTERS}]+")
_PART = re.compile(f"[{CHARACTERS}]{{1,2}}")
_HALF = re.compile("[\uff66-\uff9f]")
_THAI = re.compile("[\u0e01-\u0e3a]")
_GRAMMAR = re.compile("[\u3041-\u309fー]{1,2}")


def runs(text: str) -> Iterator[tuple[str, int, bool]]:
    """Yield the parts of a text with their starts, and whether they consist of `CHARACTERS`."""
    for run in _RUN.finditer(text):
        yield run.group(), run.start(), run["characters"] is not None


def bigrams(run: str) -> list[str]:
    """Return the tokens of a run of `CHARACTERS`: a single one, or every two neighbours."""
    if _HALF.search(run):
        run = unicodedata.normalize("NFKC", run)
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


def split(text: str) -> list[str]:
    """Split a text into words, and runs of `CHARACTERS` in them into pairs."""
    if text.isascii():
        return text.split()
    return [
        token
        for word in text.split()
        for run, _, is_characters in runs(word)
        for token in (bigrams(run) if is_characters else [run])
    ]


def in_letters(query: str) -> str:
    """Return a query with the sign of 3×3 for the x of 3x3, 2x for 2×, and blanks for numbers that
    the tokenizer drops (½, ①). It stays as long."""
    query = _TIMES.sub(lambda found: re.sub("[xX]", "×", found[0]), query)
    if query.isascii():
        return query
    query = re.sub(r"(?<=\d)×(?!\s?\d)", "x", query)
    return _NUMERAL.sub(lambda found: found[1] or " ", query)


def is_bigram(token: str) -> bool:
    """Whether a token is two of `CHARACTERS`."""
    return len(token) == 2 and is_unspaced(token)


def is_unspaced(token: str) -> bool:
    """Whether a token is part of a text without spaces, not a word."""
    return not token.isascii() and bool(_PART.fullmatch(token))


def is_thai(text: str) -> bool:
    """Whether a text has Thai words, which only the tokenizer `thai` can separate."""
    return not text.isascii() and bool(_THAI.search(text))


def is_grammar(token: str) -> bool:
    """Whether a token is hiragana only: nearly all such tokens are endings and particles."""
    return bool(_GRAMMAR.fullmatch(token))


def usual_signs(word: str) -> str:
    """Return a word with Latin letters of the usual width, digits 0 to 9 (CO₂, m²) and Greek
    letters without ancient accents, as in the analysis."""
    usual = word.translate(_USUAL)
    return _POWER.sub(lambda found: found[1] + "23"["²³".index(found[2])], usual)


def with_groups(text: str, sign: str) -> str:
    """Replace the no-break and narrow spaces inside numbers (10 000) by a sign."""
    if not any(space in text for space in _SPACES):
        return text
    return _GROUPS.sub(lambda number: re.sub(r"\s", sign, number[0]), text)


def join_signs(text: str) -> str:
    """Write USA for U.S.A., Tshirt for T-shirt, 10000 for 10,000, 16 GB for 16GB, like the
    filters."""

    def usual(found: re.Match[str]) -> str:
        return " " if found["unit"] is not None else re.sub(r"[.,'-]", "", found[0])

    return text if text.isalpha() else _SEPARATED.sub(usual, text)


def fold(word: str) -> str:
    """Remove accents from a word, and straighten its apostrophes."""
    if word.isascii():
        return word
    parts = unicodedata.normalize("NFKD", word.translate(APOSTROPHES))
    return "".join(char for char in parts if not unicodedata.combining(char))


# -- names and operators ---------------------------------------------------------------------------

SYMBOL_WORDS = {"cplusplus": "c++", "csharp": "c#", "fsharp": "f#", "dotnet": ".net"}
"""Words that the char filters write for symbols, and the symbols."""

OPERATORS = ("===", "!==", "==", "!=", "=>", "->", ":=", "&&", "||", "??")
"""Operators that are searched like words; longer ones before those that they contain."""

FLAG = "--"
"""Searched like an operator before a letter (`--dry-run`), unless it follows a word."""

SHORT_FLAG = "-"
FLAGS = (
    r"[A-Za-z]{1,3}|[A-Za-z]{0,3}\d{1,5}[A-Za-z]?|[b-df-hj-np-tv-xz]{4,6}|[A-Za-z]?[a-z]+[A-Z][A-Za-z]*"
    "|Wall|name|iname|type|exec|help|version|print|delete|maxdepth|mtime|perm|jar|classpath|recurse|force"
)
"""A pattern of the letters after a single hyphen in a command (rm -rf)."""

_OPERATOR_PREFIX = "op0"
"""Operators become `op0` and their code points, which no stemmer changes."""


def operator_word(operator: str) -> str:
    """Return the word that stands for an operator."""
    return _OPERATOR_PREFIX + "".join(f"{ord(character):03d}" for character in operator)


def synonym_word(token: str) -> str:
    """Return the word for a rule's result beside the original words; it has no `_` or sign."""
    return f"{_OPERATOR_PREFIX}x{blake2b(token.encode(), digest_size=8).hexdigest()}"


def readable(token: str) -> str | None:
    """Return a token of an unstemmed field as a person would write it; None for an operator."""
    if token.startswith(_OPERATOR_PREFIX):
        return None
    return SYMBOL_WORDS.get(token, token)
