"""What it costs to mistype one word as another: slips of the hand, not edits alike."""

from app.search import relevance

_VOWELS = frozenset("aeiouy")
_ALIKE = frozenset(frozenset(pair) for pair in ("ck", "sz", "cs", "fv", "gj", "mn", "iy"))
"""Consonants that are heard or seen as one another."""
_KEYBOARD = ("qwertyuiop", "asdfghjkl", "zxcvbnm")


def _neighbours() -> frozenset[frozenset[str]]:
    # Each row of a keyboard is shifted right against the one above it.
    places = {
        key: (x + shift, y)
        for y, (row, shift) in enumerate(zip(_KEYBOARD, (0.0, 0.25, 0.75), strict=True))
        for x, key in enumerate(row)
    }
    return frozenset(
        frozenset((one, other))
        for one, (x, y) in places.items()
        for other, (there, row) in places.items()
        if one != other and abs(y - row) <= 1 and abs(x - there) <= 1
    )


_NEAR = _neighbours()


def cost(typed: str, meant: str) -> float:
    """How much it takes to mistype `meant` as `typed`: a weighted Damerau-Levenshtein distance."""
    before: list[float] = []
    row = [column * relevance.COST_LEFT_OUT for column in range(len(meant) + 1)]
    for i, letter in enumerate(typed, 1):
        last, row = row, [i * relevance.COST_ADDED]
        for j, wanted in enumerate(meant, 1):
            repeated = i > 1 and typed[i - 2] == letter
            best = min(
                last[j - 1] + _replaced(letter, wanted),
                last[j] + (relevance.COST_DOUBLED if repeated else relevance.COST_ADDED),
                row[j - 1] + relevance.COST_LEFT_OUT,
            )
            if i > 1 and j > 1 and letter == meant[j - 2] and typed[i - 2] == wanted != letter:
                best = min(best, before[j - 2] + relevance.COST_SWAPPED)
            row.append(best)
        before = last
    return row[-1]


def _replaced(letter: str, wanted: str) -> float:
    if letter == wanted:
        return 0.0
    pair = frozenset((letter, wanted))
    if pair <= _VOWELS or pair in _ALIKE:
        return relevance.COST_ALIKE
    return relevance.COST_NEAR_KEY if pair in _NEAR else relevance.COST_REPLACED
