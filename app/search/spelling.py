"""What a query term may stand for: the weighted variants of a word. Pure.

Elasticsearch's term suggester lists the words of the index within two edits. How likely each of
them is meant follows from how people mistype: they leave letters out and swap neighbours more often
than they add or replace letters.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

from analyzers.languages import Language
from analyzers.rules.compile import Phrases
from analyzers.symbols import readable
from app.search import scoring
from app.search.query_parser import QueryTerm


def edit_cost(typed: str, meant: str, language: Language) -> float:
    """How much it takes to mistype `meant` as `typed`: a weighted Damerau-Levenshtein distance."""
    before: list[float] = []
    row = [column * scoring.COST_LEFT_OUT for column in range(len(meant) + 1)]
    for i, letter in enumerate(typed, 1):
        last, row = row, [i * scoring.COST_ADDED]
        for j, wanted in enumerate(meant, 1):
            repeated = i > 1 and typed[i - 2] == letter
            best = min(
                last[j - 1] + (0 if letter == wanted else _replaced(letter, wanted, language)),
                last[j] + (scoring.COST_DOUBLED if repeated else scoring.COST_ADDED),
                row[j - 1] + scoring.COST_LEFT_OUT,
            )
            if i > 1 and j > 1 and letter == meant[j - 2] and typed[i - 2] == wanted != letter:
                best = min(best, before[j - 2] + scoring.COST_SWAPPED)
            row.append(best)
        before = last
    return row[-1]


@lru_cache(maxsize=4096)
def _replaced(letter: str, wanted: str, language: Language) -> float:
    if language.letters_alike(letter, wanted):
        return scoring.COST_ALIKE
    return (
        scoring.COST_NEAR_KEY if language.keys_adjacent(letter, wanted) else scoring.COST_REPLACED
    )


@dataclass(frozen=True, slots=True)
class TermStats:
    """How many posts have a word: as typed (`words`), as typed or by a synonym (`forms`), in
    any inflection (`stems`), in a title, and as the beginning of a longer word; of two words
    written as one, how many have them side by side (`apart`)."""

    words: int = 0
    forms: int = 0
    stems: int = 0
    titles: int = 0
    prefix: int = 0
    apart: int = 0

    @property
    def known(self) -> bool:
        """Whether any post has the word in any form."""
        return bool(self.words or self.forms or self.stems)


VariantKind = Literal["typed", "spelling", "prefix", "split", "begun", "character"]


@dataclass(frozen=True, slots=True)
class TermVariant:
    """One text that a term may stand for.

    `kind`: the text as typed, another spelling, all words that begin with it, or the term split
    into two words; `begun` is a term that is being typed: it and all words that begin with it.
    `weight` is its likelihood relative to the likeliest variant (1). `posts` have
    it, 0 if that was not counted. `score` is the suggester's similarity and `cost` the edit cost.
    """

    text: str
    weight: float = 1.0
    kind: VariantKind = "typed"
    posts: int = 0
    score: float = 0.0
    cost: float = 0.0


@dataclass(frozen=True, slots=True)
class Interpretation:
    """A term with its variants, the likeliest first, and the reason in a few words.

    `phrase` has the words that a synonym rule treats as one together with it, "" for none: a
    post with "ML" has both words of `machine learning`. `compound` is the word that posts write it
    and its neighbour as, "" for none: `keyboard` for both words of `key board`.
    """

    term: QueryTerm
    variants: tuple[TermVariant, ...]
    reason: str
    phrase: str = ""
    compound: str = ""

    @property
    def as_typed(self) -> bool:
        """Whether the term stands for nothing but itself."""
        return len(self.variants) == 1 and self.variants[0].kind == "typed"

    @property
    def doubtful(self) -> bool:
        """Whether no post has the term, and the likeliest spelling is far for so short a word: it
        may be a word that posts do not have (`grey`, grep), not a misspelled one."""
        meant = self.likeliest
        return meant.kind == "spelling" and scoring.is_far(self.term.token, meant.cost)

    @property
    def begun(self) -> bool:
        """Whether the term is being typed and may be the beginning of a longer word."""
        return self.likeliest.kind == "begun"

    @property
    def likeliest(self) -> TermVariant:
        return self.variants[0]

    @property
    def tokens(self) -> tuple[str, ...]:
        """What the likeliest variant is to the synonym rules."""
        return self.term.pieces if self.likeliest.kind == "typed" else (self.likeliest.text,)


def as_typed(term: QueryTerm, posts: int = 0, reason: str = "as typed") -> Interpretation:
    """The term as it was typed and nothing else."""
    return Interpretation(term, (TermVariant(term.text, posts=posts),), reason)


def mark_phrases(terms: Sequence[Interpretation], phrases: Phrases) -> tuple[Interpretation, ...]:
    """The terms; those that a rule of the index contracts together (`machine learning => ml`) with
    the whole phrase."""
    marked = list(terms)
    pieces = [(place, piece) for place, term in enumerate(marked) for piece in term.tokens]
    for start, end in phrases.places([piece for _, piece in pieces]):
        places = sorted({place for place, _ in pieces[start:end]})
        if len(places) > 1:
            phrase = " ".join(marked[place].likeliest.text for place in places)
            for place in places:
                marked[place] = replace(marked[place], phrase=phrase)
    return tuple(marked)


def characters(term: QueryTerm) -> Interpretation:
    """Two neighbouring characters that no post has, as either of them: one may be mistyped."""
    variants = [TermVariant(text, kind="character") for text in term.token]
    return Interpretation(term, tuple(variants), "no post has both characters side by side")


def interpret(
    term: QueryTerm,
    stats: TermStats,
    options: Iterable[Mapping[str, Any]],
    language: Language,
    *,
    last: bool,
    supported: bool,
) -> Interpretation:
    """What a term may stand for.

    Args:
        stats: how many posts have it.
        options: `text`, `freq` and `score` of each, as the term suggester returns them.
        last: whether it is the last term, which may be not yet typed to its end.
        supported: whether a post has it together with another term of the query.
    """
    typed = term.token
    accented = _accented(term, options, language) if stats.forms and not stats.words else []
    if accented:
        variants = (TermVariant(term.text, posts=stats.forms), *accented)
        return Interpretation(term, variants, "posts have it with accents")
    if (stats.words or stats.forms) and (stats.titles or supported):
        # A word in a title is taken as correct: titles are proofread.
        why = "a title has it" if stats.titles else "a post has it with another word of the query"
        return as_typed(term, max(stats.words, stats.forms), why)
    candidates = _candidates(typed, options, language)
    if stats.words or stats.forms:
        return _known(term, stats, candidates, language)
    if stats.stems:
        return _known_by_stem(term, stats, candidates, language)
    if stats.prefix and len(typed) >= scoring.PREFIX_MIN:
        cost = scoring.COST_UNFINISHED_LAST if last else scoring.COST_UNFINISHED
        prefix = TermVariant(term.folded, kind="prefix", posts=stats.prefix, cost=cost)
        likelihood = _log_likelihood(prefix, stats.prefix)
        candidates.append(replace(prefix, weight=likelihood))
        candidates.sort(key=lambda variant: (-variant.weight, variant.text))
    # A space that is left out is as likely as a letter.
    splits = (
        _splits(typed)
        if all(variant.cost > scoring.COST_LEFT_OUT for variant in candidates)
        else ()
    )
    if candidates:
        return Interpretation(term, (*_weighted(candidates), *splits), "no post has it")
    return Interpretation(
        term, splits or as_typed(term).variants, "no post has it or a word like it"
    )


def _known(
    term: QueryTerm, stats: TermStats, candidates: list[TermVariant], language: Language
) -> Interpretation:
    """A word that posts have may still be a typo: a rare one that is close to a common one."""
    posts = max(stats.words, stats.forms)
    typed = TermVariant(term.text, posts=posts)
    other_words = [variant for variant in candidates if not language.akin(variant.text, term.token)]
    likely = [
        variant
        for variant in other_words
        if scoring.surely_meant(posts, variant.posts, variant.cost)
    ]
    if likely and len(term.token) >= scoring.RARE_MIN_LENGTH:
        typed = replace(typed, weight=scoring.RARE_TYPED)
        return Interpretation(term, (*_weighted(likely), typed), "rare, and close to a common word")
    # Its own inflections are among its posts anyway, and no reason for a second request.
    likely = [
        variant for variant in candidates if scoring.maybe_meant(posts, variant.posts, variant.cost)
    ]
    if set(likely) & set(other_words) and len(term.token) >= scoring.MAYBE_MIN_LENGTH:
        weighted = _weighted(likely, scoring.MAYBE)
        return Interpretation(term, (typed, *weighted), "rare, and close to another word")
    return as_typed(term, posts, "posts have it")


def _known_by_stem(
    term: QueryTerm, stats: TermStats, candidates: list[TermVariant], language: Language
) -> Interpretation:
    """No post has this inflection, but the word itself is known: the nearest inflection counts
    more than others. A stem may be the same by accident (`utills`, `utils`): that is a typo."""
    typed = TermVariant(term.text, posts=stats.stems)
    near = [variant for variant in candidates if variant.cost <= scoring.COST_REPLACED]
    if any(
        language.stem(variant.text) == language.stem(term.token)
        and not language.akin(variant.text, term.token)
        for variant in near
    ):
        return Interpretation(term, (*_weighted(near), typed), "only a word of the same stem")
    same = [variant for variant in candidates if language.akin(variant.text, term.token)]
    unlike = [variant for variant in near if variant not in same]
    variants = (
        typed,
        *_weighted(same),
        *_weighted(unlike, scoring.UNLIKE_STEM),
    )
    return Interpretation(term, variants, "posts have another inflection")


def _accented(
    term: QueryTerm, options: Iterable[Mapping[str, Any]], language: Language
) -> list[TermVariant]:
    """The same word as posts write it: `données` for `donnees`. Its stem is not found otherwise, as
    stemmers need the accents."""
    return [
        TermVariant(option["text"], 1.0, "spelling", option["freq"], option["score"])
        for option in options
        if option["text"] != term.token and language.fold(option["text"]) == term.folded
    ]


def _candidates(
    typed: str, options: Iterable[Mapping[str, Any]], language: Language
) -> list[TermVariant]:
    """The options that may be meant, likeliest first; `weight` is a log-likelihood as yet."""
    candidates = []
    for option in options:
        text = option["text"]
        cost = edit_cost(typed, text, language)
        most = (
            scoring.COST_LEFT_OUT if text in language.stop_words else scoring.max_cost(len(typed))
        )
        if readable(text) and text != typed and not text.isdigit() and cost <= most:
            candidates.append(
                TermVariant(text, 0.0, "spelling", option["freq"], option["score"], cost)
            )
    # crowd, crowds and crowded count as one word: each is as frequent as all of them.
    families = Counter[str]()
    for variant in candidates:
        families[language.stem(variant.text)] += variant.posts
    likely = [
        replace(variant, weight=_log_likelihood(variant, families[language.stem(variant.text)]))
        for variant in candidates
    ]
    return sorted(likely, key=lambda variant: (-variant.weight, variant.text))


def _log_likelihood(variant: TermVariant, posts: int) -> float:
    return scoring.FREQUENCY_POWER * math.log(posts) - scoring.COST_RATE * variant.cost


def _weighted(candidates: Sequence[TermVariant], best: float = 1.0) -> tuple[TermVariant, ...]:
    """The likeliest candidates, their log-likelihoods turned into weights; the first has `best`."""
    weights = [best * math.exp(variant.weight - candidates[0].weight) for variant in candidates]
    likely = zip(candidates[: scoring.MAX_VARIANTS], weights, strict=False)
    return tuple(
        replace(variant, weight=weight)
        for variant, weight in likely
        if weight >= best * scoring.MIN_WEIGHT
    )


def _splits(typed: str) -> tuple[TermVariant, ...]:
    """Two words written as one; only posts that have them side by side will match."""
    least = scoring.SPLIT_MIN_PART
    if len(typed) > scoring.SPLIT_MAX_LENGTH or not typed.isalpha():
        return ()
    return tuple(
        TermVariant(f"{typed[:cut]} {typed[cut:]}", scoring.SPLIT, "split")
        for cut in range(least, len(typed) - least + 1)
    )
