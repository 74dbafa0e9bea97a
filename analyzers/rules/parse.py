"""Reads rule files: Solr syntax, a line at a time, with every complaint at its line.

Nothing that stands in a file may hang or drown a process: a file is read in bounded pieces, and
size, line length, words and number of rules have limits. A pipe or a device is refused before it
is opened.
"""

import re
import stat
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from analyzers.findings import Finding, error
from analyzers.rules.words import normalise, words

MAX_BYTES = 32 * 1024 * 1024  # of one file; 200,000 rules are about 5 MiB
MAX_LINE = 64 * 1024  # bytes
MAX_SIDES = 1000  # on the left of a contraction
MAX_EQUIVALENTS = 100  # also on the right of a contraction: the filter pairs all with all
MAX_WORDS = 10  # of one side; the filter looks ahead by the longest side for every token
MAX_CHARS = 200  # of one side; the standard tokenizer cuts tokens at 255

_ARROW = re.compile(r"(?<!\\)((?:\\\\)*)=>")
_INVISIBLE = {"\u200b", "\u2060", "\ufeff", "\u00ad"}


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule as it stands in a file.

    `file` is the file's name, `line` counts from 1. The sides are normalised: NFC, lower case,
    straight apostrophes, single spaces, escapes resolved. An equivalent (`a, b`) has all its sides
    in `left` and none in `right`; a contraction (`a, b => c`) has both.
    """

    file: str
    line: int
    left: tuple[str, ...]
    right: tuple[str, ...]
    kind: Literal["equivalent", "contraction"]

    def __str__(self) -> str:
        arrow = f" => {', '.join(self.right)}" if self.right else ""
        return ", ".join(self.left) + arrow

    @property
    def place(self) -> str:
        """`tech.synonyms:12`, as editors and people write it."""
        return f"{self.file}:{self.line}"


class _Complaint(Exception):
    """Why a line is no rule: code, message, remedy."""


def read_file(path: Path) -> Iterator[Rule | Finding]:
    """The rules of one file in order, and a finding for every line that is none.

    Ends after the finding when the file as a whole cannot be used.
    """
    name = path.name
    try:
        refused = refusal(path)
        if refused is not None:
            yield error(name, 0, *refused)
            return
        with path.open("rb") as handle:
            number = 0
            while raw := handle.readline(MAX_LINE + 1):
                number += 1
                try:
                    rule = _rule(name, number, raw)
                except _Complaint as complaint:
                    code, message, remedy = complaint.args
                    yield error(name, number, code, message, remedy)
                    if code in {"encoding", "binary", "line_too_long"}:
                        return  # what follows would only repeat it
                else:
                    if rule is not None:
                        yield rule
    except OSError as problem:
        message = f"cannot be read: {problem.strerror or problem}."
        yield error(name, 0, "unreadable", message, "Check the path and its permissions.")


def refusal(path: Path) -> tuple[str, str, str] | None:
    """Why a file is not even opened: code, message, remedy; None when it may be.

    Raises:
        OSError: when it is not there.
    """
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        return "not_a_file", "is not a regular file.", "Name a text file."
    if status.st_size > MAX_BYTES:
        size, limit = status.st_size / 2**20, MAX_BYTES // 2**20
        message = f"is {size:,.1f} MiB large; the limit is {limit} MiB."
        return "too_large", message, "Keep what your posts and their readers really write."
    return None


def _rule(name: str, number: int, raw: bytes) -> Rule | None:
    text = _text(raw, first=number == 1)
    if not text or text.startswith("#"):
        return None
    hands = _hands(text)
    lists = [_sides(hand, name_of) for hand, name_of in zip(hands, ("left", "right"), strict=False)]
    if len(hands) == 1:
        if len(lists[0]) < 2:
            raise _Complaint(
                "one_sided", f"`{_shown(text)}` has only one side.", "Write `a, b` or `a => b`."
            )
        if len(lists[0]) > MAX_EQUIVALENTS:
            raise _Complaint(
                "too_many_sides",
                f"{len(lists[0]):,} equivalents on one line; the limit is {MAX_EQUIVALENTS}.",
                "Contract them to one word: `a, b, c => a`.",
            )
        return Rule(name, number, lists[0], (), "equivalent")
    if len(lists[1]) > MAX_EQUIVALENTS:
        raise _Complaint(
            "too_many_sides",
            f"{len(lists[1]):,} words on the right; the limit is {MAX_EQUIVALENTS}.",
            "Contract to one word: `a, b => c`.",
        )
    return Rule(name, number, lists[0], lists[1], "contraction")


def _text(raw: bytes, *, first: bool) -> str:
    if first and raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise _Complaint("encoding", "is UTF-16, not UTF-8.", "Save the file as UTF-8.")
    if b"\0" in raw:
        raise _Complaint("binary", "holds a nul byte: not a text file.", "Save it as UTF-8 text.")
    if len(raw) > MAX_LINE:
        raise _Complaint(
            "line_too_long", f"is longer than {MAX_LINE:,} bytes.", "Give every rule its own line."
        )
    try:
        text = raw.removeprefix(b"\xef\xbb\xbf" if first else b"").decode()
    except UnicodeDecodeError as problem:
        raise _Complaint(
            "encoding",
            f"is not UTF-8 (byte 0x{raw[problem.start]:02x} at column {problem.start + 1}).",
            "Save the file as UTF-8.",
        ) from None
    text = text.removesuffix("\n").removesuffix("\r")
    hidden = "" if text.isprintable() else next(filter(_hidden, text), "")
    if hidden:
        shown = f"U+{ord(hidden):04X} {unicodedata.name(hidden, 'control character')}"
        raise _Complaint(
            "control_character",
            f"holds {shown}, which nobody can see.",
            "Delete it: type the line anew.",
        )
    return text.strip()


def _hidden(char: str) -> bool:
    if char.isascii():
        return not (char.isprintable() or char == "\t")
    return (
        char in _INVISIBLE
        or unicodedata.category(char) in {"Cc", "Zl", "Zp"}
        or unicodedata.bidirectional(char) in _BIDI
        or char in "\u200e\u200f\u061c"
    )


_BIDI = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


def _hands(text: str) -> list[str]:
    hands = _ARROW.sub(lambda found: found[1] + "\0", text).split("\0")
    if len(hands) > 2:
        raise _Complaint(
            "several_arrows",
            f"`{_shown(text)}` has more than one `=>`.",
            "Write one rule a line; a `=>` that is meant literally is written `\\=>`.",
        )
    return hands


def _sides(hand: str, name_of: str) -> tuple[str, ...]:
    sides = [normalise(side) for side in _split(hand)]
    if len(sides) > MAX_SIDES:
        raise _Complaint(
            "too_many_sides",
            f"{len(sides):,} words or phrases on the {name_of}; the limit is {MAX_SIDES:,}.",
            "Split the rule into several lines.",
        )
    for side in sides:
        _check_side(side, name_of)
    return tuple(sides)


def _check_side(side: str, name_of: str) -> None:
    if not side:
        raise _Complaint(
            "empty_side",
            f"nothing stands between two commas or beside the arrow (on the {name_of}).",
            "Remove the comma, or write the missing word; a literal comma is written `\\,`.",
        )
    if " # " in f"{side} ":
        raise _Complaint(
            "comment_behind_rule",
            f"`{_shown(side)}` looks like a word with a comment behind it.",
            "Give the comment a line of its own.",
        )
    several = len(words(side)) if len(side) <= MAX_CHARS else len(side.split())
    if len(side) > MAX_CHARS or several > MAX_WORDS:
        raise _Complaint(
            "side_too_long",
            f"`{_shown(side)}` has {several:,} words and {len(side):,} characters; "
            f"the limits are {MAX_WORDS} and {MAX_CHARS}.",
            "Nobody searches for that; keep the words that matter.",
        )


def _split(hand: str) -> Iterator[str]:
    """Cuts at bare commas and takes the escapes off, as Solr does: `\\x` is x, whatever x is."""
    side: list[str] = []
    chars = iter(hand)
    for char in chars:
        if char == ",":
            yield "".join(side)
            side = []
        elif char != "\\":
            side.append(char)
        else:
            escaped = next(chars, None)
            if escaped is None:
                raise _Complaint(
                    "open_escape", "ends in a lone backslash.", "Write `\\\\` for a backslash."
                )
            side.append(escaped)
    yield "".join(side)


def _shown(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:59]}…"
