"""Words side by side: phrases in any reading, and quoted text. Pure."""

import math
from collections.abc import Mapping, Sequence

from app.search import relevance
from app.search.clauses import (
    EXACT_FIELDS,
    STEMMED,
    Clause,
    Sought,
    constant,
    either,
    match,
    of_comments,
)


def phrase_clauses(words: Sequence[Sought], gains: Mapping[str, float]) -> list[Clause]:
    """The words side by side, in their order, each in any of its readings, in any of the fields."""
    kept = [sought for sought in words if not sought.word.stop]
    if not 2 <= len(words) <= relevance.PHRASE_WORDS or not kept:
        return []
    most = _readings_each([len(sought.spellings) for sought in words])
    found = []
    for field, gain in gains.items():
        every = kept if field in STEMMED else words
        if len(every) < 2:
            continue
        # Stop words leave a gap behind in a stemmed field.
        gaps = len(words) - len(every)
        rules = [_readings(sought, most) for sought in every]
        ordered = {"all_of": {"ordered": True, "max_gaps": gaps, "intervals": rules}}
        found.append(constant({"intervals": {field: ordered}}, gain, f"phrase in {field}"))
    return found


def _readings_each(counts: Sequence[int]) -> int:
    """How many spellings of each word a phrase may have, so that not too many ways come of it."""
    most = max(counts)
    while most > 1 and math.prod(min(count, most) for count in counts) > relevance.PHRASE_READINGS:
        most -= 1
    return most


def _readings(sought: Sought, most: int) -> Clause:
    """A word in its likeliest readings, as a rule of an `intervals` query."""
    likeliest = sorted(sought.spellings, key=lambda spelling: -spelling.weight)[:most]
    rules: list[Clause] = [
        {"match": {"query": spelling.text, "ordered": True, "max_gaps": 0}}
        for spelling in likeliest
    ]
    return rules[0] if len(rules) == 1 else {"any_of": {"intervals": rules}}


def quoted_clause(text: str) -> Clause:
    """Exactly these words side by side, unstemmed, wherever in the post."""
    gains = relevance.QUOTED_GAINS
    found = [constant(match(field, text), gains[field]) for field in EXACT_FIELDS]
    found.append(of_comments(constant(match("comment.words", text), gains["comment.words"])))
    return either(found, f'"{text}"')
