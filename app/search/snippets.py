"""Cuts the snippets of a hit out of a marked text. Pure."""

import re

from app.search.scoring import FRAGMENT_SIZE, FRAGMENTS, LONGEST_SNIPPET

# Private-use characters, which a stored text has no reason to contain.
MARK, UNMARK = "\ue000", "\ue001"

_MARKED = re.compile(f"{MARK}([^{UNMARK}]*)")
_SPACE = re.compile(r"\s")
_STOPS = ("\n", ". ", "! ", "? ")
_STOP = re.compile(r"\n|[.!?] ")
_BEFORE = FRAGMENT_SIZE * 3 // 4
"""Characters of its sentence that may come before the first mark of a part."""
_MAX_PARTS = 10
"""Parts of one text that are compared; later ones are hardly better."""
_SAME_WORD = 5
"""Marked words that begin with the same letters count as one: `index`, `indexes`, `indexing`."""


def snippets(text: str) -> list[str]:
    """The sentences, or parts of long ones, with most of the marked words, at most `FRAGMENTS`.

    The best one is first. The beginning of the text if nothing is marked.
    """
    at = text.find(MARK)
    if at < 0:
        return [text[: _end(text, 0, 0)]]
    parts: list[tuple[int, int, str]] = []
    end = 0
    while at >= 0 and len(parts) < _MAX_PARTS:
        begin = max(end, _begin(text, at))
        end = _end(text, begin, text.find(UNMARK, at) + 1)
        part = text[begin:end]
        words = 1
        if part.count(MARK) > 1:
            words = len({word[:_SAME_WORD].casefold() for word in _MARKED.findall(part)})
        parts.append((-words, begin, part))
        at = text.find(MARK, end)
    return [part.strip() for _, _, part in sorted(parts)[:FRAGMENTS]]


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
