"""Cuts the snippets of a hit out of a marked text. Pure."""

import re
from collections.abc import Sequence
from itertools import combinations_with_replacement

from app.search.scoring import FRAGMENT_SIZE, LONGEST_SNIPPET

# Private-use characters, which a stored text has no reason to contain.
MARK, UNMARK = "\ue000", "\ue001"

_MARKED = re.compile(f"{MARK}([^{UNMARK}]*){UNMARK}")
_SPACE = re.compile(r"\s")
_STOPS = ("\n", ". ", "! ", "? ")
_STOP = re.compile(r"\n|[.!?] ")
_BEFORE = FRAGMENT_SIZE * 3 // 4
"""Characters of its sentence that may come before the first mark of a part."""
_AROUND = 40
"""Characters before and after a word that is only shown because the other snippets lack it."""
_MOST_PARTS = 500
"""Parts of one text that are compared: bounds the time for a text of many thousand marks."""
_COMPARED = 40
"""Parts with different words, every two of which are compared."""
_SAME_WORD = 5
"""Marked words that begin with the same letters count as one: `index`, `indexes`, `indexing`."""

_AFTER = re.compile(rf"(?=\n)|.{{{_AROUND}}}\S*(?=\s)")

Part = tuple[int, str, frozenset[str]]
"""Where a part of a text begins, the part, and its marked words."""


def snippets(texts: Sequence[str], shown: str = "") -> list[str]:
    """Two snippets at most, which show as many different marked words of the texts as there are.

    The first ones are the sentences, or parts of long ones, that show most together; words that
    neither of them has are shown in a few words around them. Words that are marked in `shown` (the
    title) count less. Without a mark, the beginning of the first text. What is cut off is replaced
    by an ellipsis.
    """
    parts = [part for text in texts for part in _parts(text)]
    if not parts:
        return [_cut(texts[0], 0, _end(texts[0], 0, 0))] if texts and texts[0].strip() else []
    in_title = words_of(shown)
    different: dict[frozenset[str], Part] = {}
    for part in parts:
        different.setdefault(part[2], part)

    def shows(pair: tuple[Part, Part]) -> tuple[int, int, int, int]:
        first, second = pair
        both = first[2] | second[2]
        return len(both - in_title), len(both), max(len(first[2]), len(second[2])), -first[0]

    likely = sorted(different.values(), key=lambda part: -len(part[2]))[:_COMPARED]
    pair = max(combinations_with_replacement(likely, 2), key=shows)
    chosen = sorted(dict.fromkeys(pair), key=lambda part: (-len(part[2]), parts.index(part)))
    if len(chosen) == 1:
        chosen += [part for part in _parts(texts[0]) if part != chosen[0]][:1]
    found = [part for _, part, _ in chosen]
    missing = frozenset().union(*different) - chosen[0][2] - chosen[-1][2] - in_title
    if missing:
        found[1:] = [" ".join([*found[1:], *_around(texts, missing)])]
    return found


def words_of(marked: str) -> frozenset[str]:
    """The marked words of a text, of which inflections count as one."""
    return frozenset(word[:_SAME_WORD].casefold() for word in _MARKED.findall(marked))


def _parts(text: str) -> list[Part]:
    parts: list[Part] = []
    at, end = text.find(MARK), 0
    while at >= 0 and len(parts) < _MOST_PARTS:
        begin = max(end, _begin(text, at))
        end = _end(text, begin, text.find(UNMARK, at) + 1)
        parts.append((begin, _cut(text, begin, end), words_of(text[begin:end])))
        at = text.find(MARK, end)
    return parts


def _around(texts: Sequence[str], words: frozenset[str]) -> list[str]:
    """The first place of each of these marked words, with a few words around it."""
    left, found = set(words), []
    for text in texts:
        for mark in _MARKED.finditer(text):
            word = mark[1][:_SAME_WORD].casefold()
            if word in left:
                left.remove(word)
                first = max(0, mark.start() - _AROUND)
                line = text.rfind("\n", first, mark.start())
                space = _SPACE.search(text, first, mark.start()) if first and line < 0 else None
                begin = line + 1 if line >= 0 else space.end() if space else first
                last = min(len(text), mark.end() + 2 * _AROUND)
                stop = _AFTER.search(text, mark.end(), last)
                found.append(_cut(text, begin, stop.end() if stop else last))
    return found


def _cut(text: str, begin: int, end: int) -> str:
    """A part of a text, with an ellipsis where it ends inside a sentence."""
    part = text[begin:end]
    before = text[max(0, begin - 2) : begin].rstrip(" ")[-1:]
    after = text[end : end + 2].lstrip(" ")[:1]
    starts = not before or before in "\n.!?"
    ends = not after or "\n" in (after, part[-1:]) or part.rstrip()[-1:] in (".", "!", "?")
    return ("" if starts else "… ") + part.strip() + ("" if ends else " …")


def _begin(text: str, mark: int) -> int:
    """Where a part with this mark begins: with its sentence, or in a long one with a word."""
    first = max(0, mark - _BEFORE)
    begin = 0
    for stop in _STOPS:
        found = text.rfind(stop, first, mark)
        if found >= 0:
            begin = max(begin, found + len(stop))
    if begin or not first:
        return begin
    space = _SPACE.search(text, mark - FRAGMENT_SIZE // 2, mark)
    return space.end() if space else mark


def _end(text: str, begin: int, marked_to: int) -> int:
    """Where it ends: with its sentence, or with a word after `FRAGMENT_SIZE` characters."""
    limit = max(begin + FRAGMENT_SIZE, marked_to)
    if marked_to and (stop := _STOP.search(text, marked_to, limit)):
        return stop.start() + 1
    if limit >= len(text):
        return len(text)
    space = _SPACE.search(text, limit, begin + LONGEST_SNIPPET)
    return space.start() if space else max(marked_to, begin + LONGEST_SNIPPET)
