"""Parses rule files: Solr's synonym syntax, one rule per line, with a finding per invalid line.

Files are untrusted input: their size, the length of lines and terms, and the number of rules are
limited. Terms are split into words as by the index's chain, but without a server.
"""

import itertools
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from analyzers.errors import Finding, InvalidLine, shorten
from analyzers.signs import APOSTROPHES, CHARACTERS, OPERATORS, join_signs

SUFFIX = ".synonyms"
MAX_RULES = 100_000  # with invalid lines, over all files; docs/synonyms.md has the cost of more
MAX_BYTES = 32 * 1024 * 1024  # per file; 200,000 rules are about 5 MiB
MAX_LINE = 64 * 1024  # bytes
MAX_LEFT = 1000  # terms on the left side of a contraction
MAX_EQUIVALENTS = 100  # also on the right side: the filter stores every pair
MAX_WORDS = 10  # per term; the filter looks ahead by the longest term at every token
MAX_CHARS = 200  # per term; the standard tokenizer splits tokens at 255

_FEWER = "Keep the rules for words that your posts and readers use."
_HEAD = 64 * 1024  # bytes at the start of a file that show its format and its language

Words = tuple[str, ...]
"""A term as a sequence of words."""

# Removed, as no text has them. Joiners are visible in the letters beside them.
_INVISIBLE = re.compile(
    "[\x01-\x08\x0a-\x1f\x7f-\x9f\xad\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
)
# Between two words of a term, neither an operator nor escaped.
_SIGN = re.compile(
    r"(?<=[^\s,\\])(?<!=>)[ ]*"
    r"((?<!-)-++>|[→⇒;\t]|(?<!\|)\|(?!\|)|(?<![=!<>:+*/~-])=(?![=~>]))"
    r"[ ]*(?=[^\s,])(?!=>)"
)
_VERSION = re.compile(r"(?<![^\W_])(?:v\d+(?![^\W_])|[^\W\d_]*\d+\.\d[\w.]*)")
# The standard tokenizer makes a token of each emoji (UAX #29), and Chinese, Japanese and Korean
# words are pairs of characters.
SINGLE_CHARACTER_WORD = f"\u2600-\u27bf\U0001f000-\U0001faff{CHARACTERS}"
_LETTER = rf"(?:[^\W_{SINGLE_CHARACTER_WORD}]|[\u0300-\u036f\u200c\u200d])"
# `+` and `#` belong to the word before them, a leading dot to the word after it: C++, C#, .NET.
# Compiled at its first use: a search without rules does not wait for it.
_WORD = (
    rf"[{SINGLE_CHARACTER_WORD}]"
    r"|(?<![\w,])\d+(?:,\d+)+(?![\w,])"
    rf"|(?:(?<!\S)\.)?{_LETTER}+(?:'{_LETTER}+)*(?:\+\+?|#)*(?!{_LETTER})"
    rf"|{_LETTER}+"
)


_FORMATS = (
    ("WordNet's Prolog", r"s\(\d+,\d+,'(?:[^'\n]|'')+',\w,\d+(?:,\d+)?\)\."),
    ("Prolog", r":-|[a-z]\w*\(.*\)\s*(?::-.*|\.)$"),
    ("JSON", r"[\[{]\s*(?:[\"\[{\]}]|$)"),
    ("HTML", r"(?i)<(?:!doctype html|html|head|body)\b"),
    ("XML", r"<(?!.*=>).*>$"),
    ("YAML", r"---$|-\s|[^,=]+:(?:\s[^,=]*)?$"),
    ("CSV", r"\"[^\"]*\"\s*[,;\t]|(?i:id|words?|terms?)[,;\t](?i:words?|terms?|synonyms?)\b"),
)
"""Beginnings of the first line that is no comment, by format."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of a file.

    `file` is the file's name; `line` counts from 1. Terms are normalised. Equivalents (`a, b`) are
    all in `left`; a contraction (`a, b => c`) has terms in both.
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
    def terms(self) -> tuple[str, ...]:
        """The terms of both sides."""
        return self.left + self.right

    @property
    def place(self) -> str:
        """The file and line, such as `tech.synonyms:12`."""
        return f"{self.file}:{self.line}"

    def error(self, code: str, message: str, remedy: str) -> Finding:
        """Return an error in this rule."""
        return Finding(self.file, self.line, "error", code, message, remedy)


def rule_files(folder: Path, language: str = "") -> list[Path]:
    """Return a folder's rule files for a language, or all of them, in the order of their names.

    Hidden files are being written, and left out.
    """
    files = [path for path in folder.glob(f"[!.]*{SUFFIX}") if is_for(path, language)]
    return sorted(files, key=lambda path: path.name)


def is_for(path: Path, language: str) -> bool:
    """Whether a rule file is for a language: `# language: english, german` comments near its start
    name it, or there are none. A file that cannot be read is for all."""
    try:
        head = _head(path) if language and path.is_file() else ""
    except OSError:
        return True
    lists = re.findall(r"^[ \t]*+#[ \t]*+language:([\w \t,]*+)\r?$", head, re.MULTILINE)
    named = {name for names in lists for name in re.split(r"[\s,]+", names) if name}
    return not named or language in named


def parse_files(files: Sequence[Path]) -> tuple[list[Rule], list[Finding]]:
    """Return the rules of all files, in order, and the errors in them. Stop after `MAX_RULES`."""
    rules: list[Rule] = []
    errors: list[Finding] = []
    for item in itertools.chain.from_iterable(map(parse_file, files)):
        if len(rules) + len(errors) == MAX_RULES:
            message = f"more than {MAX_RULES:,} rules in all files together."
            errors.append(Finding(item.file, item.line, "error", "too_many_rules", message, _FEWER))
            break
        if isinstance(item, Rule):
            rules.append(item)
        else:
            errors.append(item)
    return rules, errors


def parse_file(path: Path) -> Iterator[Rule | Finding]:
    """Yield the rules of a file, in order, and a finding for every line that is not a rule.

    Ends with the finding if the rest of the file cannot be read either.
    """
    name = path.name
    number = 0
    try:
        _check_file(path)
        with path.open("rb") as handle:
            while raw := handle.readline(MAX_LINE + 1):
                number += 1
                text = _decode(raw)
                try:
                    rule = _parse_line(name, number, text)
                except InvalidLine as invalid:
                    yield Finding(name, number, "error", *invalid.args)
                else:
                    if rule is not None:
                        yield rule
    except InvalidLine as invalid:
        yield Finding(name, number, "error", *invalid.args)
    except OSError as problem:
        yield unreadable(path, problem)


def unreadable(path: Path, problem: OSError) -> Finding:
    """Return the finding for a file that the system cannot read."""
    message = f"cannot be read: {problem.strerror or problem}."
    remedy = "Check the path and its permissions."
    return Finding(path.name, 0, "error", "unreadable", message, remedy)


def _check_file(path: Path) -> None:
    size = path.stat().st_size
    if not path.is_file():  # opening a pipe would block
        raise InvalidLine("not_a_file", "is not a regular file.", "Name a text file.")
    if size > MAX_BYTES:
        message = f"has {size / 2**20:,.1f} MiB; the limit is {MAX_BYTES // 2**20} MiB."
        raise InvalidLine("too_large", message, _FEWER)
    if foreign := _foreign_format(_head(path)):
        remedy = "A rule file has one rule per line: `a, b` or `a => b`."
        raise InvalidLine("foreign_format", f"is {foreign}, not a rule file.", remedy)


def _head(path: Path) -> str:
    with path.open("rb") as handle:
        return handle.read(_HEAD).decode("utf-8-sig", "ignore")


def _foreign_format(head: str) -> str:
    """Return the name of the format in which a text begins; "" for a rule file."""
    lines = (line.strip() for line in head.splitlines())
    first = next((line for line in lines if line and line[0] not in "#%"), "")
    return next((name for name, pattern in _FORMATS if re.match(pattern, first)), "")


def split_unescaped(separator: str, text: str) -> list[str]:
    """Split a text at separators (a pattern) that are not escaped by a backslash."""
    if "\\" not in text:
        return re.split(separator, text)
    return re.sub(rf"(?<!\\)((?:\\\\)*)(?:{separator})", r"\1\0", text).split("\0")


def unescape(term: str) -> str:
    r"""Remove backslashes from a term, as Solr does: `\x` is x for any x."""
    return re.sub(r"\\(.)", r"\1", term) if "\\" in term else term


def normalise(term: str) -> str:
    """Normalise a term: NFC, lower case, straight apostrophes, single spaces, and `join_signs`."""
    text = join_signs(unicodedata.normalize("NFC", term).translate(APOSTROPHES)).lower()
    return " ".join(text.split())


def words(term: str) -> Words:
    """Return the words of a normalised, non-empty term; at least one."""
    return tuple(re.findall(_WORD, term)) or tuple(term.split())


def _parse_line(name: str, number: int, line: str) -> Rule | None:
    line = _INVISIBLE.sub("", line)
    text = line.strip()
    if not text or text.startswith("#"):
        return None
    if found := _SIGN.search(line):
        sign = "a tab" if found[1] == "\t" else f"`{found[1]}`"
        place = f"at column {found.start(1) + 1}"
        raise _invalid("sign", f"`{shorten(text)}` has {sign} {place}.")
    sides = split_unescaped("=>", text)
    if len(sides) > 2:
        raise _invalid("multiple_arrows", f"`{shorten(text)}` has more than one `=>`.")
    if len(sides) == 2:
        left, right = _terms(sides[0], "left", MAX_LEFT), _terms(sides[1], "right", MAX_EQUIVALENTS)
        return Rule(name, number, left, right)
    terms = _terms(sides[0], "line", MAX_EQUIVALENTS)
    if len(terms) < 2:
        raise _invalid("single_term", f"`{shorten(text)}` is a single term.")
    return Rule(name, number, terms)


def _decode(raw: bytes) -> str:
    """Decode a line; an error here would occur in every further line, too."""
    if len(raw) > MAX_LINE:
        raise _invalid("line_too_long", f"is longer than {MAX_LINE:,} bytes.")
    text = raw.removeprefix(b"\xef\xbb\xbf").decode(errors="replace")
    if "\0" in text or "\ufffd" in text:
        raise _invalid("encoding", "is not UTF-8.")
    return text.removesuffix("\n").removesuffix("\r")


def _terms(side: str, name: str, limit: int) -> tuple[str, ...]:
    """Return the terms of one side, or of a line without `=>`."""
    written = split_unescaped(",", side)
    for term in written:
        if len(term.strip()) > 10 * MAX_CHARS:
            _check_term(term.strip(), name)
    terms = tuple(normalise(unescape(term)) for term in written)
    if len(terms) > limit:
        raise _invalid("too_many_terms", f"{len(terms):,} terms on the {name}; at most {limit:,}.")
    for term in terms:
        _check_term(term, name)
    return terms


def _check_term(term: str, side: str) -> None:
    shown = f"`{shorten(term)}`"
    if not term:
        raise _invalid("empty_term", f"a term is missing on the {side}.")
    if " # " in f"{term} ":
        raise _invalid("trailing_comment", f"{shown} contains a comment.")
    if len(term) > MAX_CHARS or len(words(term)) > MAX_WORDS:
        limit = f"longer than {MAX_WORDS} words or {MAX_CHARS} characters"
        raise _invalid("term_too_long", f"{shown} is {limit}.")
    if not re.search(_WORD, term) and not any(sign in OPERATORS for sign in term.split()):
        raise _invalid("no_tokens", f"{shown} has no letter, digit or operator.")
    if version := _VERSION.search(term):
        reason = "posts are found by its parts, so it cannot be in a rule"
        raise _invalid("version", f"{shown} has a version (`{version[0]}`): {reason}.")


def _invalid(code: str, message: str) -> InvalidLine:
    return InvalidLine(code, message, _REMEDIES[code])


_REMEDIES = {
    "encoding": "Save the file as UTF-8.",
    "line_too_long": "Write one rule per line.",
    "sign": "Write `,` between equivalents, `=>` before a result, `\\` before a literal sign.",
    "multiple_arrows": "Write one rule per line; a literal `=>` is written `\\=>`.",
    "single_term": "Write `a, b` or `a => b`.",
    "too_many_terms": "Contract them to one word, `a, b => c`, on several lines.",
    "empty_term": "Remove the comma or arrow, or add the term; a literal comma is written `\\,`.",
    "trailing_comment": "Put the comment on a line of its own.",
    "term_too_long": "Shorten it to the words that people search for.",
    "no_tokens": "Remove the line, or write it in words.",
    "version": "Remove the line, or leave the number out.",
}
