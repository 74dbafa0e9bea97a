"""Interprets query terms: the weighted variants that a word may stand for. Pure.

Elasticsearch's term suggester lists the words of the index within two edits. Their likelihood
follows from how people mistype: they omit letters and swap neighbours more often than they add or
replace letters.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple

from analyzers.languages import ADJACENT_KEYS, Language
from analyzers.rules.compile import Phrases
from analyzers.signs import readable
from app.search import scoring
from app.search.query_parser import QueryTerm


class Option(NamedTuple):
    """A spelling from the term suggester, and the number of posts that have it."""

    text: str
    posts: int


Options = Sequence[Option]


def edit_cost(typed: str, meant: str, language: Language) -> float:
    """Return the cost of typing `typed` for `meant`: a weighted Damerau-Levenshtein distance."""
    return edit_costs(typed, meant, language)[-1]


def edit_costs(typed: str, meant: str, language: Language) -> list[float]:
    """Return the cost of typing `typed` for each prefix of `meant`, from "" to all of it."""
    before: list[float] = []
    row = [column * scoring.COST_LEFT_OUT for column in range(len(meant) + 1)]
    for i, letter in enumerate(typed, 1):
        last, row = row, [i * scoring.COST_ADDED]
        former = typed[i - 2] if i > 1 else ""
        added = scoring.COST_DOUBLED if former == letter else scoring.COST_ADDED
        for j, wanted in enumerate(meant, 1):
            best = last[j - 1]
            if letter != wanted:
                best += _cost_of_replacing(letter, wanted, language)
                if former == wanted and j > 1 and letter == meant[j - 2]:
                    best = min(best, before[j - 2] + scoring.COST_SWAPPED)
            row.append(min(best, last[j] + added, row[-1] + scoring.COST_LEFT_OUT))
        before = last
    return row


@lru_cache(maxsize=4096)
def _cost_of_replacing(letter: str, wanted: str, language: Language) -> float:
    if language.letters_alike(letter, wanted):
        return scoring.COST_ALIKE
    if letter + wanted in ADJACENT_KEYS:
        return scoring.COST_NEAR_KEY
    return scoring.COST_REPLACED


@dataclass(frozen=True, slots=True)
class TermStats:
    """The number of posts with a word: as typed (`words`), as typed or by a synonym (`forms`), in
    any inflection (`stems`), in a title, and as the beginning of a longer word."""

    words: int = 0
    forms: int = 0
    stems: int = 0
    titles: int = 0
    prefix: int = 0

    @property
    def posts(self) -> int:
        """The number of posts with the word itself."""
        return max(self.words, self.forms)

    @property
    def known(self) -> bool:
        """Whether any post has the word in any form."""
        return bool(self.words or self.forms or self.stems)


@dataclass(frozen=True, slots=True)
class Word:
    """A word to look up in the index; `joined`: it is made of two terms of a query.

    `errors`: the maximum number of edits in suggested spellings, 0 for no suggestions.
    """

    text: str
    joined: bool
    errors: int


@dataclass(frozen=True, slots=True)
class WordFacts:
    """The counts of a word in the index, and the spellings that the suggester offers for it."""

    stats: TermStats
    options: tuple[Option, ...] = ()


Facts = Mapping[str, WordFacts]
"""Facts by the keys of terms."""


VariantKind = Literal[
    "typed", "spelling", "prefix", "split", "split as typed", "begun", "character"
]


@dataclass(frozen=True, slots=True)
class TermVariant:
    """One text that a term may stand for.

    `kind`: as typed, another spelling, all words that begin with it, two words in any inflection
    or as typed, the word being typed and all that begin with it, or one of two characters.
    `weight` is the likelihood relative to the likeliest variant, `cost` the cost of the edits.
    """

    text: str
    weight: float = 1.0
    kind: VariantKind = "typed"
    posts: int = field(default=0, compare=False)
    cost: float = field(default=0.0, compare=False)

    @property
    def is_word(self) -> bool:
        """Whether it is a whole single word: neither a prefix, a split nor a character."""
        return self.kind in ("typed", "spelling")

    @property
    def is_beginning(self) -> bool:
        """Whether it stands for all words that begin with it."""
        return self.kind in ("begun", "prefix")

    @property
    def is_split(self) -> bool:
        """Whether it is two words for one that is typed."""
        return self.kind in ("split", "split as typed")

    @property
    def readable(self) -> str:
        return readable(self.text) or self.text


@dataclass(frozen=True)
class Interpretation:
    """A term with its variants, the likeliest first, and a short reason.

    Posts with `similar` words rank below, and do not count as having the term. `phrase` is the
    phrase with this term that a synonym rule contracts (`machine learning`).
    """

    typed: QueryTerm
    variants: tuple[TermVariant, ...]
    reason: str = field(compare=False)
    similar: tuple[TermVariant, ...] = ()
    phrase: str = ""

    @cached_property
    def likeliest(self) -> TermVariant:
        """The variant to search for in phrases."""
        return self.variants[0]

    @cached_property
    def as_typed(self) -> bool:
        """Whether the term stands for nothing but itself."""
        return len(self.variants) == 1 and self.likeliest.kind == "typed"

    @cached_property
    def begun(self) -> bool:
        """Whether it is being typed."""
        return self.likeliest.kind == "begun"

    @property
    def may_go_on(self) -> bool:
        """Whether it may be the beginning of a word."""
        return any(variant.is_beginning for variant in self.variants)

    def doubtful(self, *, alone: bool) -> bool:
        """Whether the likeliest spelling has many edits for so short a word: perhaps the word is
        right, but in no post (`grey`, grep). `alone`: it is the only word."""
        far = scoring.FAR if alone else scoring.FAR_BESIDE_OTHERS
        likeliest = self.likeliest
        return likeliest.kind == "spelling" and likeliest.cost >= far * len(self.typed.token)

    @property
    def tokens(self) -> tuple[str, ...]:
        """The tokens of the likeliest variant for the synonym rules."""
        return self.typed.pieces if self.likeliest.kind == "typed" else (self.likeliest.text,)


def interpret_as_typed(term: QueryTerm, posts: int = 0, reason: str = "as typed") -> Interpretation:
    """Interpret a term only as typed."""
    return Interpretation(term, (TermVariant(term.text, posts=posts),), reason)


def mark_phrases(terms: Sequence[Interpretation], phrases: Phrases) -> tuple[Interpretation, ...]:
    """Return the terms, with the whole phrase for those that a synonym rule of the index contracts
    (`machine learning => ml`)."""
    marked = list(terms)
    pieces = [(place, piece) for place, term in enumerate(marked) for piece in term.tokens]
    for start, end, _ in phrases.places([piece for _, piece in pieces]):
        places = sorted({place for place, _ in pieces[start:end]})
        if len(places) > 1:
            phrase = " ".join(marked[place].likeliest.text for place in places)
            for place in places:
                marked[place] = replace(marked[place], phrase=phrase)
    return tuple(marked)


def interpret_characters(term: QueryTerm) -> Interpretation:
    """Interpret two neighbouring characters that no post has as either one: one may be an error."""
    variants = tuple(TermVariant(text, kind="character") for text in term.token)
    return Interpretation(term, variants, "no post has both characters side by side")


def interpret(
    term: QueryTerm, facts: WordFacts, language: Language, *, last: bool
) -> Interpretation:
    """Interpret a term. `last`: it is the last one, which may be unfinished."""
    stats, options = facts.stats, facts.options
    if stats.forms and not stats.words and (accented := _add_accents(term, options, language)):
        variants = (TermVariant(term.text, posts=stats.forms), *accented)
        return Interpretation(term, variants, "posts have it with accents")
    if stats.posts and stats.titles:  # titles are proofread
        return interpret_as_typed(term, stats.posts, "a title has it")
    candidates = _candidates(term.token, options, language)
    if stats.posts:
        return _interpret_known(term, stats.posts, candidates, language)
    if stats.stems:
        return _interpret_by_stem(term, stats.stems, candidates, language)
    return _interpret_unknown(term, stats.prefix, candidates, language, last=last)


def _interpret_known(
    term: QueryTerm, posts: int, candidates: Sequence[TermVariant], language: Language
) -> Interpretation:
    """Interpret a word that posts have. A rare one may be a typo for a more frequent word, which
    becomes `similar`. Its inflections match anyway."""
    similar = [
        variant
        for variant in candidates
        if variant.cost <= scoring.RARE_COST
        and variant.posts >= posts * scoring.RARE_RATIO
        and not language.akin(variant.text, term.token)
    ]
    is_short = len(term.token) < scoring.RARE_MIN_LENGTH
    if not similar or is_short or posts > scoring.RARE_POSTS:
        return interpret_as_typed(term, posts, "posts have it")
    typed = interpret_as_typed(term, posts, "rare, and close to another word")
    return replace(typed, similar=_weigh(similar))


def _interpret_by_stem(
    term: QueryTerm, posts: int, candidates: Sequence[TermVariant], language: Language
) -> Interpretation:
    """Interpret an inflection that no post has; the nearest inflection weighs most."""
    near = []
    for variant in candidates:
        if language.akin(variant.text, term.token):
            near.append(replace(variant, cost=variant.cost - scoring.COST_ANOTHER_WORD))
        elif variant.cost <= scoring.COST_REPLACED:
            near.append(variant)
    typed = TermVariant(term.text, posts=posts)
    variants = (typed, *_weigh(sorted(near, key=_likelihood)))
    return Interpretation(term, variants, "posts have another inflection")


def _interpret_unknown(
    term: QueryTerm, begun: int, candidates: list[TermVariant], language: Language, *, last: bool
) -> Interpretation:
    """Interpret a word that no post has: misspelled, unfinished, or two words written as one."""
    if begun and len(term.token) >= scoring.PREFIX_MIN:
        cost = scoring.COST_UNFINISHED_LAST if last else scoring.COST_UNFINISHED
        prefix = TermVariant(term.folded, kind="prefix", posts=begun, cost=cost)
        candidates = sorted([*candidates, prefix], key=_likelihood)
    # Leaving out a space is as likely as leaving out a letter.
    is_split = all(variant.cost > scoring.COST_LEFT_OUT for variant in candidates)
    splits = _splits(term.token, language) if is_split else ()
    if candidates:
        return Interpretation(term, (*_weigh(candidates), *splits), "no post has it")
    variants = splits or interpret_as_typed(term).variants
    return Interpretation(term, variants, "no post has it or a word like it")


def _add_accents(term: QueryTerm, options: Options, language: Language) -> list[TermVariant]:
    """Return spellings with accents: `données` for `donnees`, because stemmers need the accents."""
    return [
        TermVariant(option.text, 1.0, "spelling", option.posts)
        for option in options
        if option.text != term.token and language.fold(option.text) == term.folded
    ]


def _candidates(typed: str, options: Options, language: Language) -> list[TermVariant]:
    candidates = []
    # With two errors, three letters can become any word.
    most_cost = 1.0 if len(typed) < 4 else 1.7 if len(typed) < 8 else 2.0
    for option in options:
        text = option.text
        if text == typed or text.isdigit() or not readable(text):
            continue
        is_stop_word = text in language.stop_words
        most = scoring.COST_LEFT_OUT if is_stop_word else most_cost
        cost = edit_cost(typed, text, language)
        if cost <= most:
            candidates.append(TermVariant(text, 1.0, "spelling", option.posts, cost))
    return sorted(candidates, key=_likelihood)


def _likelihood(variant: TermVariant) -> tuple[float, int, str]:
    """Return a sort key: the lowest cost first, then the most frequent word."""
    return variant.cost, -variant.posts, variant.text


def _weigh(candidates: Sequence[TermVariant]) -> tuple[TermVariant, ...]:
    weighted = [
        replace(variant, weight=math.exp(scoring.COST_RATE * (candidates[0].cost - variant.cost)))
        for variant in candidates[: scoring.MAX_VARIANTS]
    ]
    return tuple(variant for variant in weighted if variant.weight >= scoring.MIN_WEIGHT)


def _splits(typed: str, language: Language) -> tuple[TermVariant, ...]:
    """Return the splits of a word in two; only posts with both parts side by side will match."""
    least = scoring.SPLIT_MIN_PART
    if len(typed) > scoring.SPLIT_MAX_LENGTH or not typed.isalpha():
        return ()
    parts = [(typed[:cut], typed[cut:]) for cut in range(least, len(typed) - least + 1)]
    # Stemmed fields have no stop words: `in side` would match any side.
    kinds: list[VariantKind] = [
        "split" if language.stop_words.isdisjoint(pair) else "split as typed" for pair in parts
    ]
    return tuple(
        TermVariant(" ".join(pair), scoring.SPLIT, kind)
        for pair, kind in zip(parts, kinds, strict=True)
    )
