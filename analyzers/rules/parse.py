"""Parses rule files: Solr's synonym syntax, one rule per line, with a finding per invalid line.

Files are untrusted input. They are read in bounded pieces; size, line length, words per term and
the number of rules are limited, and anything but a regular file is refused without opening it.
Terms are split into words where the chain of the index splits them, but without a server.
"""

import itertools
import re
import stat
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from analyzers.bigrams import CHARACTERS
from analyzers.findings import Finding, InvalidLine, Severity, shortened
from analyzers.rules.formats import CONVERTIBLE, foreign_format
from analyzers.symbols import OPERATORS

SUFFIX = ".synonyms"
MAX_RULES = 100_000  # and invalid lines, over all files; docs/synonyms.md has what more would cost
MAX_LISTED = 100  # errors; further ones are counted
MAX_BYTES = 32 * 1024 * 1024  # per file; 200,000 rules are about 5 MiB
MAX_LINE = 64 * 1024  # bytes
MAX_LEFT = 1000  # terms on the left side of a contraction
MAX_EQUIVALENTS = 100  # also on the right side: the filter stores every pair
MAX_WORDS = 10  # per term; the filter looks ahead by the longest term at every token
MAX_CHARS = 200  # per term; the standard tokenizer splits tokens at 255

_FEWER = "Keep the rules for words that your posts and readers use."
_HEAD = 64 * 1024  # bytes from the start of a file that tell its format and its language

Words = tuple[str, ...]
"""A term as the words that it consists of."""

_ARROW = re.compile(r"(?<!\\)((?:\\\\)*)=>")
# Between two words of a term, not an operator, and not escaped.
_SIGN = re.compile(
    r"(?<=[^\s,\\])(?<!=>)[ ]*"
    r"(-+>|[→⇒;\t]|(?<!\|)\|(?!\|)|(?<![=!<>:+*/~-])=(?![=~>]))"
    r"[ ]*(?=[^\s,])(?!=>)"
)
_VERSION = re.compile(r"(?<![^\W_])(?:v\d+(?![^\W_])|[^\W\d_]*\d+\.\d[\w.]*)")
_APOSTROPHES = str.maketrans(dict.fromkeys("’‘ʼ＇", "'"))
# The standard tokenizer makes a token of each emoji (UAX #29), and Chinese, Japanese and Korean
# words are pairs of characters.
SINGLE_CHARACTER_WORD = f"\u2600-\u27bf\U0001f000-\U0001faff{CHARACTERS}"
_LETTER = rf"(?:[^\W_{SINGLE_CHARACTER_WORD}]|[\u0300-\u036f\u200c\u200d])"
# `+` and `#` belong to the word before them, a leading dot to the word after it: C++, C#, .NET.
# Compiled when it is first used: a search without rules does not wait for it.
_WORD = (
    rf"[{SINGLE_CHARACTER_WORD}]"
    r"|(?<![\w,])\d+(?:,\d+)+(?![\w,])"
    rf"|(?:(?<!\S)\.)?{_LETTER}+(?:'{_LETTER}+)*(?:\+\+?|#)*(?!{_LETTER})"
    rf"|{_LETTER}+"
)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a file.

    `file` is the file's name, `line` counts from 1. Terms are normalised: NFC, lower case,
    straight apostrophes, single spaces, escapes resolved. Equivalents (`a, b`) are all in `left`;
    a contraction (`a, b => c`) has terms in both.
    """

    file: str
    line: int
    left: tuple[str, ...]
    right: tuple[str, ...] = ()

    def __hash__(self) -> int:
        return hash((self.file, self.line))  # there may be a thousand terms

    def __str__(self) -> str:
        arrow = f" => {', '.join(self.right)}" if self.right else ""
        return ", ".join(self.left) + arrow

    @property
    def is_contraction(self) -> bool:
        return bool(self.right)

    @property
    def terms(self) -> tuple[str, ...]:
        """The terms of both sides."""
        return self.left + self.right

    @property
    def place(self) -> str:
        """File and line as in `tech.synonyms:12`."""
        return f"{self.file}:{self.line}"

    def finding(self, severity: Severity, code: str, message: str, remedy: str) -> Finding:
        """A finding about this rule."""
        return Finding(self.file, self.line, severity, code, message, remedy)


@dataclass(frozen=True, slots=True)
class Parsed:
    """The rules of files in order, an error for each line that is not a rule, and how many further
    errors there are."""

    rules: tuple[Rule, ...]
    errors: tuple[Finding, ...] = ()
    unlisted: int = 0


def rule_files(folder: Path, without: Collection[str] = (), language: str = "") -> list[Path]:
    """The rule files of a folder in the order of their names.

    Hidden files are left out: files being written have hidden names.

    Args:
        folder: none are found where there is no folder.
        without: names to leave out, with or without `.synonyms`.
        language: leave out files that are only for other languages; "": none of them.
    """
    left_out = {name.removesuffix(SUFFIX) for name in without}
    paths = (path for path in folder.glob(f"*{SUFFIX}") if not path.name.startswith("."))
    return sorted(
        (path for path in paths if path.stem not in left_out and is_for(path, language)),
        key=lambda path: path.name,
    )


def is_for(path: Path, language: str) -> bool:
    """Whether a rule file is for a language: it names the language, or none at all."""
    named = languages_of(path)
    return not named or not language or language in named


def languages_of(path: Path) -> frozenset[str]:
    """The languages in the comments `# language: english, german` near the start of a rule file.

    Empty for a file that cannot be read.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return frozenset()
        with path.open("rb") as handle:
            head = handle.read(_HEAD).decode("utf-8", "ignore")
    except OSError:
        return frozenset()
    lists = re.findall(r"^\s*#\s*language:\s*([\w ,]+?)\s*$", head, re.MULTILINE)
    return frozenset(name for names in lists for name in re.split(r"[\s,]+", names))


def parse_files(files: Sequence[Path]) -> Parsed:
    """The rules of all files in order, and the errors in them. Reading stops after `MAX_RULES`."""
    rules: list[Rule] = []
    errors: list[Finding] = []
    count = 0
    for item in itertools.chain.from_iterable(map(parse_file, files)):
        if len(rules) + count == MAX_RULES:
            message = f"more than {MAX_RULES:,} rules in all files together."
            errors.append(Finding(item.file, item.line, "error", "too_many_rules", message, _FEWER))
            break
        if isinstance(item, Rule):
            rules.append(item)
        elif (count := count + 1) <= MAX_LISTED:
            errors.append(item)
    return Parsed(tuple(rules), tuple(errors), max(0, count - MAX_LISTED))


def parse_file(path: Path) -> Iterator[Rule | Finding]:
    """The rules of one file in order, and a finding for every line that is not a rule.

    Ends after the finding when the rest of the file cannot be read either.
    """
    name = path.name
    try:
        refused = refusal(path)
        if refused is not None:
            yield Finding(name, 0, "error", *refused)
            return
        with path.open("rb") as handle:
            if foreign := foreign_format(handle.read(_HEAD).decode("utf-8-sig", "ignore")):
                yield Finding(name, 0, "error", *_is_foreign(foreign, name))
                return
            handle.seek(0)
            number = 0
            while raw := handle.readline(MAX_LINE + 1):
                number += 1
                try:
                    rule = _parse_line(name, number, raw)
                except InvalidLine as invalid:
                    code, message, remedy = invalid.args
                    yield Finding(name, number, "error", code, message, remedy)
                    if code in {"encoding", "line_too_long"}:
                        return  # every further line would have the same problem
                else:
                    if rule is not None:
                        yield rule
    except OSError as problem:
        message = f"cannot be read: {problem.strerror or problem}."
        yield Finding(
            name, 0, "error", "unreadable", message, "Check the path and its permissions."
        )


def refusal(path: Path) -> tuple[str, str, str] | None:
    """Code, message and remedy when the file must not be opened; None when it may be.

    Raises:
        OSError: the file does not exist or its folder is not accessible.
    """
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        return "not_a_file", "is not a regular file.", "Name a text file."
    if status.st_size > MAX_BYTES:
        size, limit = status.st_size / 2**20, MAX_BYTES // 2**20
        message = f"has {size:,.1f} MiB; the limit is {limit} MiB."
        return "too_large", message, _FEWER
    return None


def normalise(term: str) -> str:
    """A term as rules are compared: NFC, lower case, straight apostrophes, single spaces."""
    text = unicodedata.normalize("NFC", term).translate(_APOSTROPHES).lower()
    return " ".join(text.split())


def words(term: str) -> Words:
    """The words of a normalised, non-empty term; at least one."""
    return tuple(re.findall(_WORD, term)) or tuple(term.split())


def folded(word: str) -> str:
    """A word without accents and with straight apostrophes."""
    if word.isascii():
        return word
    parts = unicodedata.normalize("NFKD", word.translate(_APOSTROPHES))
    return "".join(char for char in parts if not unicodedata.combining(char))


def _is_foreign(name: str, file: str) -> tuple[str, str, str]:
    remedy = "A rule file has one rule per line: `a, b` or `a => b`."
    if name in CONVERTIBLE:
        remedy = f"`blogsearch synonyms convert {file} > my{SUFFIX}` makes rules of it."
    return "foreign_format", f"is {name}, not a rule file.", remedy


def _parse_line(name: str, number: int, raw: bytes) -> Rule | None:
    line = _decode(raw, first=number == 1)
    text = line.strip()
    if not text or text.startswith("#"):
        return None
    if found := _SIGN.search(line):
        sign = "a tab" if found[1] == "\t" else f"`{found[1]}`"
        place = f"at column {found.start(1) + 1}"
        raise _invalid("sign", f"`{shortened(text)}` has {sign} {place}.")
    sides = _ARROW.sub(lambda arrow: arrow[1] + "\0", text).split("\0")
    if len(sides) > 2:
        raise _invalid("multiple_arrows", f"`{shortened(text)}` has more than one `=>`.")
    if len(sides) == 2:
        left, right = _terms(sides[0], "left", MAX_LEFT), _terms(sides[1], "right", MAX_EQUIVALENTS)
        return Rule(name, number, left, right)
    terms = _terms(sides[0], "line", MAX_EQUIVALENTS)
    if len(terms) < 2:
        raise _invalid("single_term", f"`{shortened(text)}` is a single term.")
    return Rule(name, number, terms)


def _decode(raw: bytes, *, first: bool) -> str:
    if b"\0" in raw:
        raise _invalid("encoding", "has a NUL byte: it is UTF-16, or no text.")
    if len(raw) > MAX_LINE:
        raise _invalid("line_too_long", f"is longer than {MAX_LINE:,} bytes.")
    try:
        text = raw.removeprefix(b"\xef\xbb\xbf" if first else b"").decode()
    except UnicodeDecodeError as problem:
        place = f"byte 0x{raw[problem.start]:02x} at column {problem.start + 1}"
        raise _invalid("encoding", f"is not UTF-8 ({place}).") from None
    text = text.removesuffix("\n").removesuffix("\r")
    invisible = "" if text.isprintable() else next(filter(_is_invisible, text), "")
    if invisible:
        name = f"U+{ord(invisible):04X} {unicodedata.name(invisible, 'control character')}"
        raise _invalid("invisible_character", f"has an invisible character, {name}.")
    return text


def _is_invisible(char: str) -> bool:
    """Joiners are visible in the letters beside them."""
    return unicodedata.category(char) in {"Cc", "Cf", "Zl", "Zp"} and char not in "\t\u200c\u200d"


def _terms(side: str, name: str, limit: int) -> tuple[str, ...]:
    """The terms of one side, or of a line without `=>`."""
    terms = tuple(normalise(term) for term in _split_at_commas(side))
    if len(terms) > limit:
        raise _invalid("too_many_terms", f"{len(terms):,} terms on the {name}; at most {limit:,}.")
    for term in terms:
        _check_term(term, name)
    return terms


def _check_term(term: str, side: str) -> None:
    shown = f"`{shortened(term)}`"
    if not term:
        raise _invalid("empty_term", f"a term is missing on the {side}.")
    if " # " in f"{term} ":
        raise _invalid("trailing_comment", f"{shown} contains a comment.")
    count = len(words(term)) if len(term) <= MAX_CHARS else len(term.split())
    if len(term) > MAX_CHARS or count > MAX_WORDS:
        size = f"{count:,} words and {len(term):,} characters"
        limits = f"{MAX_WORDS} and {MAX_CHARS}"
        raise _invalid("term_too_long", f"{shown} has {size}; the limits are {limits}.")
    if not re.search(_WORD, term) and not any(sign in OPERATORS for sign in term.split()):
        raise _invalid("no_tokens", f"no letter, digit or operator is in {shown}.")
    if version := _VERSION.search(term):
        reason = "posts are found by its parts, so it cannot be in a rule"
        raise _invalid("version", f"{shown} has a version (`{version[0]}`): {reason}.")


def _invalid(code: str, message: str) -> InvalidLine:
    return InvalidLine(code, message, _REMEDIES[code])


_REMEDIES = {
    "encoding": "Save the file as UTF-8.",
    "line_too_long": "Write one rule per line.",
    "invisible_character": "Delete it, or retype the line.",
    "sign": "Write `,` between equivalents, `=>` before a result, `\\` before a literal sign.",
    "multiple_arrows": "Write one rule per line; a literal `=>` is written `\\=>`.",
    "single_term": "Write `a, b` or `a => b`.",
    "too_many_terms": "Contract them to one word, `a, b => c`, on several lines.",
    "empty_term": "Remove the comma or arrow, or add the term; a literal comma is written `\\,`.",
    "trailing_comment": "Put the comment on a line of its own.",
    "trailing_backslash": "Write `\\\\` for a backslash.",
    "term_too_long": "Shorten it to the words that people search for.",
    "no_tokens": "Remove the line, or write it in words.",
    "version": "Remove the line, or leave the number out.",
}


def _split_at_commas(side: str) -> Iterator[str]:
    """Splits at unescaped commas and removes escapes as Solr does: `\\x` is x, whatever x is."""
    term: list[str] = []
    chars = iter(side)
    for char in chars:
        if char == ",":
            yield "".join(term)
            term = []
        elif char != "\\":
            term.append(char)
        else:
            escaped = next(chars, None)
            if escaped is None:
                raise _invalid("trailing_backslash", "ends in a single backslash.")
            term.append(escaped)
    yield "".join(term)
