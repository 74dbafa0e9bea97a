"""Parses rule files: Solr's synonym syntax, one rule per line, with a finding per invalid line.

Files are untrusted input. They are read in bounded pieces; size, line length, words per term and
the number of rules are limited, and anything but a regular file is refused without opening it.
Terms are split into words where the chain of the index splits them, but without a server.
"""

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
    for path in files:
        for item in parse_file(path):
            if len(rules) + count >= MAX_RULES:
                message = f"more than {MAX_RULES:,} rules in all files together."
                remedy = "Keep the rules for words that your posts and readers use."
                errors.append(
                    Finding(path.name, item.line, "error", "too_many_rules", message, remedy)
                )
                return Parsed(tuple(rules), tuple(errors), max(0, count - MAX_LISTED))
            if isinstance(item, Rule):
                rules.append(item)
                continue
            count += 1
            if count <= MAX_LISTED:
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
                    if code in {"encoding", "binary", "line_too_long"}:
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
        return "too_large", message, "Keep the rules for words that your posts and readers use."
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
        sign = found[1]
        shown, literal = f"`{sign}`", f" A literal `{sign}` is written `\\{sign}`."
        if sign == "\t":
            shown, literal = "a tab", ""
        raise InvalidLine(
            "sign",
            f"`{shortened(text)}` has {shown} at column {found.start(1) + 1}.",
            "Write `,` between equivalent terms, `=>` before what replaces the others." + literal,
        )
    sides = _ARROW.sub(lambda arrow: arrow[1] + "\0", text).split("\0")
    if len(sides) > 2:
        raise InvalidLine(
            "multiple_arrows",
            f"`{shortened(text)}` has more than one `=>`.",
            "Write one rule per line; a literal `=>` is written `\\=>`.",
        )
    contract = "Contract to one word: `a, b => c`."
    if len(sides) == 2:
        left = _parse_side(sides[0], "left", MAX_LEFT, "Split the rule into several lines.")
        return Rule(name, number, left, _parse_side(sides[1], "right", MAX_EQUIVALENTS, contract))
    terms = _parse_side(sides[0], "line", MAX_EQUIVALENTS, contract)
    if len(terms) < 2:
        message = f"`{shortened(text)}` is a single term."
        raise InvalidLine("single_term", message, "Write `a, b` or `a => b`.")
    return Rule(name, number, terms)


def _decode(raw: bytes, *, first: bool) -> str:
    if first and raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InvalidLine("encoding", "is UTF-16, not UTF-8.", "Save the file as UTF-8.")
    if b"\0" in raw:
        raise InvalidLine("binary", "has a NUL byte: not a text file.", "Save it as UTF-8 text.")
    if len(raw) > MAX_LINE:
        message = f"is longer than {MAX_LINE:,} bytes."
        raise InvalidLine("line_too_long", message, "Write one rule per line.")
    try:
        text = raw.removeprefix(b"\xef\xbb\xbf" if first else b"").decode()
    except UnicodeDecodeError as problem:
        raise InvalidLine(
            "encoding",
            f"is not UTF-8 (byte 0x{raw[problem.start]:02x} at column {problem.start + 1}).",
            "Save the file as UTF-8.",
        ) from None
    text = text.removesuffix("\n").removesuffix("\r")
    invisible = "" if text.isprintable() else next(filter(_is_invisible, text), "")
    if invisible:
        name = unicodedata.name(invisible, "control character")
        message = f"has an invisible character, U+{ord(invisible):04X} {name}."
        raise InvalidLine("invisible_character", message, "Delete it, or retype the line.")
    return text


def _is_invisible(char: str) -> bool:
    """Joiners are visible in the letters beside them."""
    return unicodedata.category(char) in {"Cc", "Cf", "Zl", "Zp"} and char not in "\t\u200c\u200d"


def _parse_side(side: str, name: str, limit: int, remedy: str) -> tuple[str, ...]:
    """The terms of one side, or of a line without `=>`; `remedy` is for more than the limit."""
    terms = [normalise(term) for term in _split_at_commas(side)]
    if len(terms) > limit:
        message = f"{len(terms):,} terms on the {name}; the limit is {limit:,}."
        raise InvalidLine("too_many_terms", message, remedy)
    for term in terms:
        _check_term(term, name)
    return tuple(terms)


def _check_term(term: str, side: str) -> None:
    if not term:
        raise InvalidLine(
            "empty_term",
            f"a term is missing on the {side}.",
            "Remove the comma or arrow, or add the term; a literal comma is written `\\,`.",
        )
    if " # " in f"{term} ":
        raise InvalidLine(
            "trailing_comment",
            f"`{shortened(term)}` contains a comment.",
            "Put the comment on a line of its own.",
        )
    count = len(words(term)) if len(term) <= MAX_CHARS else len(term.split())
    if len(term) > MAX_CHARS or count > MAX_WORDS:
        raise InvalidLine(
            "term_too_long",
            f"`{shortened(term)}` has {count:,} words and {len(term):,} characters; "
            f"the limits are {MAX_WORDS} and {MAX_CHARS}.",
            "Shorten it to the words that people search for.",
        )
    if not re.search(_WORD, term) and not any(sign in OPERATORS for sign in term.split()):
        raise InvalidLine(
            "no_tokens",
            f"no word is left of `{shortened(term)}`: letters, digits and operators are kept.",
            "Remove the line, or write it in words.",
        )
    if version := _VERSION.search(term):
        raise InvalidLine(
            "version",
            f"`{shortened(term)}` has a version (`{version[0]}`): posts are found by its parts, "
            "so it cannot be in a rule.",
            "Remove the line, or leave the number out.",
        )


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
                message = "ends in a single backslash."
                raise InvalidLine("trailing_backslash", message, "Write `\\\\` for a backslash.")
            term.append(escaped)
    yield "".join(term)
