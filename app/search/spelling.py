"""What else the visitor may have meant: alternatives to a word, with the weight each deserves.

Elasticsearch's term suggester knows which words of the index are one or two edits away. How likely
each of them became what was typed is judged here, by what people do when they mistype: they leave
letters out and swap neighbours more often than they add or replace letters at will.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from analyzers.chains import readable
from analyzers.languages import ENGLISH
from app.search import relevance
from app.search.inflection import akin, stem
from app.search.slips import cost


@dataclass(frozen=True, slots=True)
class Known:
    """What the index knows of a word: in how many documents it stands as typed, in either spelling
    or behind a synonym (`forms`), in any inflection (`stems`), as typed in a title, and as the
    beginning of a word."""

    words: int = 0
    forms: int = 0
    stems: int = 0
    titles: int = 0
    begins: int = 0

    @property
    def anywhere(self) -> bool:
        """Whether any document has the word in any form."""
        return bool(self.words or self.forms or self.stems)


@dataclass(frozen=True, slots=True)
class Alternative:
    """A word of the index that may have been meant.

    `freq` is the number of documents with it, `score` the suggester's similarity (0 to 1), `cost`
    our own (0: the same), `weight` what a match of it counts against the likeliest reading (1).
    """

    text: str
    freq: int
    score: float
    cost: float
    weight: float

    def explain(self) -> dict[str, Any]:
        return {
            "text": readable(self.text) or self.text,
            "freq": self.freq,
            "score": round(self.score, 4),
            "cost": round(self.cost, 3),
            "weight": round(self.weight, 4),
        }


@dataclass(frozen=True, slots=True)
class Reading:
    """How one word is read: as typed, with the weight of that, and as its alternatives."""

    typed_weight: float
    alternatives: tuple[Alternative, ...]
    why: str

    def cut(self, most: int) -> "Reading":
        """With only so many alternatives, the likeliest; at least one, where there are any."""
        return replace(self, alternatives=self.alternatives[: max(1, most)])

    @property
    def mended(self) -> bool:
        return any(other.weight > self.typed_weight for other in self.alternatives)


def read(typed: str, known: Known, options: Iterable[Mapping[str, Any]]) -> Reading:
    """How to read a word, given what the index knows of it and the suggester's options.

    Args:
        typed: the word, lower-case.
        known: how many documents have it.
        options: `text`, `freq` and `score` of each, as Elasticsearch's term suggester gives them.
    """
    candidates = _candidates(typed, options)
    if not known.words and not known.forms:
        return _unknown(typed, known, candidates)
    return _misspelt_in_a_post(typed, known, candidates)


def _candidates(typed: str, options: Iterable[Mapping[str, Any]]) -> list[Alternative]:
    """The options that may be meant, likeliest first; `weight` is their log-likelihood as yet."""
    found = []
    for option in options:
        text = option["text"]
        paid = cost(typed, text)
        most = relevance.STOP_COST if text in ENGLISH.stop_words else relevance.max_cost(len(typed))
        if readable(text) and text != typed and not text.isdigit() and paid <= most:
            found.append(Alternative(text, option["freq"], option["score"], paid, 0.0))
    # crowd, crowds and crowded speak for one another: the word is as frequent as all of them.
    families = Counter[str]()
    for one in found:
        families[stem(one.text)] += one.freq
    likely = (replace(one, weight=_likelihood(one, families[stem(one.text)])) for one in found)
    return sorted(likely, key=lambda one: (-one.weight, one.text))


def _likelihood(one: Alternative, frequency: int) -> float:
    return relevance.FREQ_POWER * math.log(frequency) - relevance.COST_RATE * one.cost


def _weighed(
    candidates: list[Alternative], best: float, documents: int = 0
) -> tuple[Alternative, ...]:
    """The candidates with their log-likelihoods made weights, the likeliest `best`.

    An unlikely one is kept only while the likelier, and the `documents` that are found anyway,
    leave room on the first page, and where it is not so frequent that it would be most of them.
    """
    kept: list[Alternative] = []
    for one in candidates[: relevance.MAX_ALTERNATIVES]:
        weight = best * math.exp(one.weight - candidates[0].weight)
        if akin(one.text, candidates[0].text):
            weight = max(weight, best * relevance.KIN)
        likely = weight >= best * relevance.MIN_WEIGHT
        fits = likely or documents + one.freq <= relevance.MOST_UNLIKELY
        room = documents < relevance.ENOUGH and fits
        if weight >= (relevance.MIN_UNLIKELY if room else relevance.MIN_WEIGHT):
            kept.append(replace(one, weight=weight))
        documents += one.freq
    return tuple(kept)


def _unknown(typed: str, known: Known, candidates: list[Alternative]) -> Reading:
    if known.stems:
        return _known_by_stem(typed, candidates)
    if not candidates:
        return Reading(1.0, _split(typed), "unknown, and nothing like it is known")
    if not known.begins:
        return Reading(relevance.UNKNOWN_TYPED, _weighed(candidates, 1.0), "unknown")
    # Perhaps it is not yet typed to its end, which is likelier than two typos in it.
    dearer = max(0.0, candidates[0].cost - relevance.BEGINNING_COST)
    best = math.exp(-relevance.COST_RATE * dearer)
    alternatives = _weighed(candidates, best, known.begins)
    return Reading(relevance.UNKNOWN_TYPED, alternatives, "unknown, but words begin so")


def _known_by_stem(typed: str, candidates: list[Alternative]) -> Reading:
    """The inflection stands nowhere, but its word does: nothing needs to be mended.

    The nearest inflection goes first, and what is only a little unlike the word comes behind. But
    stems are alike by accident too (`utills`, `utils`), and that is a typo like any other.
    """
    near = [one for one in candidates if one.cost <= relevance.MAX_COST_KNOWN_BY_STEM]
    if any(stem(one.text) == stem(typed) and not akin(one.text, typed) for one in near):
        return Reading(relevance.UNKNOWN_TYPED, _weighed(near, 1.0), "a typo by its ending")
    same = [one for one in candidates if akin(one.text, typed)]
    unlike = [one for one in near if one not in same]
    weighed = (*_weighed(same, relevance.INFLECTED), *_weighed(unlike, relevance.UNLIKE_STEM))
    return Reading(1.0, weighed, "known by its stem")


def _split(typed: str) -> tuple[Alternative, ...]:
    """Two words written as one; only those that stand side by side in a post will match."""
    least = relevance.SPLIT_MIN_PART
    return tuple(
        Alternative(f"{typed[:cut]} {typed[cut:]}", 0, 0.0, 1.0, relevance.SPLIT)
        for cut in range(least, len(typed) - least + 1)
        if len(typed) <= relevance.SPLIT_MAX_LENGTH
    )


def _misspelt_in_a_post(typed: str, known: Known, candidates: list[Alternative]) -> Reading:
    """A word that posts have may still be a typo: rare, and a hair's breadth from a common one."""
    if known.titles:
        # Titles are read before they are published; a rare word in one is meant.
        return Reading(1.0, (), "known from a title")
    posts = max(known.words, known.forms)
    others = [one for one in candidates if not akin(one.text, typed)]
    likely = [one for one in others if relevance.surely_meant(posts, one.freq, one.cost)]
    if likely and len(typed) >= relevance.RARE_MIN_LENGTH:
        return Reading(relevance.RARE_TYPED, _weighed(likely, 1.0), "rare, and like a common word")
    # Its own inflections are among its posts anyway, and no reason for a second request.
    likely = [one for one in candidates if relevance.maybe_meant(posts, one.freq, one.cost)]
    if set(likely) & set(others) and len(typed) >= relevance.MAYBE_MIN_LENGTH:
        return Reading(1.0, _weighed(likely, relevance.MAYBE), "rare, and like another word")
    return Reading(1.0, (), "known")
