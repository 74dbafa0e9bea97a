"""Plans a search: interprets each term of the query by what is known of it. Pure.

QueryTerm         a word of the query                              app.search.query_parser
Word, WordFacts   the word as it is looked up, and what was found  app.search.spelling
Interpretation    the word with its TermVariants                   app.search.spelling
Plan              the whole query, as one value
Understanding     makes plans: the first one from what is known; another one if a word that was
                  looked up has another spelling, is two words, or is one with its neighbour
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate, chain, pairwise
from typing import TYPE_CHECKING

from analyzers.languages import Language
from analyzers.rules.compile import Phrases
from analyzers.signs import SHORT_FLAG, is_bigram
from app.search import scoring
from app.search.pins import NO_MATCH, MatchedPins, match_rules, words_of
from app.search.query_parser import (
    MAX_TERMS,
    ParsedQuery,
    QueryTerm,
    apart,
    join_terms,
    parse_query,
)
from app.search.request import SearchRequest
from app.search.spelling import (
    Facts,
    Interpretation,
    TermStats,
    TermVariant,
    Word,
    interpret,
    interpret_as_typed,
    interpret_characters,
    mark_phrases,
)

if TYPE_CHECKING:
    from analyzers.meaning import Model
    from app.search.session import SearchSession

ANY, ALL = "some words", "all words"
"""The names of counts in `found.read_counts`."""

_UNCOUNTED = TermStats(words=1)


@dataclass(frozen=True)
class Plan:
    """One understanding of a query.

    `terms`: every term of the query in order, with its variants. `required`: the significant ones,
    of which a post must have `needed`. `recency`: whether newer posts score a little more.
    `vector`: the meaning of the query, empty if unused. `popularity`: that of a usual post, 0 if no
    post has one. `has_comments`: whether any post has comments. `has_translations`: whether some
    posts are translations of others. `phrases`: the phrases that the index contracts.
    """

    request: SearchRequest
    query: ParsedQuery
    terms: tuple[Interpretation, ...]
    required: tuple[Interpretation, ...]
    needed: int
    recency: bool
    language: Language
    pins: MatchedPins = NO_MATCH
    vector: tuple[float, ...] = ()
    popularity: float = 0.0
    has_comments: bool = True
    has_translations: bool = False
    phrases: Phrases = field(default=Phrases(), compare=False)

    @cached_property
    def significant(self) -> tuple[Interpretation, ...]:
        """The terms that are neither stop words nor function words."""
        return tuple([term for term in self.terms if not term.typed.light])

    @cached_property
    def without_stop_words(self) -> tuple[Interpretation, ...]:
        """The terms that the stemmed fields contain."""
        return tuple([term for term in self.terms if not term.typed.stop])

    @cached_property
    def share(self) -> float:
        """The factor for clauses on the word as typed and on neighbours: 1 for short queries,
        smaller for long ones."""
        words = sum([term.typed.is_word for term in self.terms])
        return round(min(1.0, scoring.FEW_WORDS / max(words, 1)), 4)

    @cached_property
    def is_large(self) -> bool:
        """Whether the hits cost so much that they are requested once, when the words are known."""
        pieces = sum(len(term.typed.pieces) for term in self.terms)
        return pieces * self.request.size > scoring.LARGE_PAGE

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The query in its likeliest spelling, then with one term at a time in another spelling;
        empty if the query has neither letters nor digits."""
        if not any(map(str.isalnum, self.request.q)):
            return ()
        likeliest = [term.likeliest for term in self.terms]
        readings = [likeliest]
        for place, term in enumerate(self.terms):
            readings += [
                [*likeliest[:place], variant, *likeliest[place + 1 :]]
                for variant in term.variants[1:]
                if variant.is_word
            ]
        return tuple(dict.fromkeys(self.written(variants) for variants in readings))

    def written(self, variants: Sequence[TermVariant]) -> str:
        """Return the query with each term replaced by the given variant."""
        q = self.request.q
        text, end = "", 0
        for term, variant in zip(self.terms, variants, strict=True):
            start, typed_end = term.typed.start, term.typed.end
            text += q[end:start]
            if variant.kind == "spelling" or variant.is_split:
                text += variant.readable
            elif term.typed.is_joined:
                text += term.typed.text
            else:
                text += q[start:typed_end]
            end = typed_end
        return text + q[end:]


def _count_needed(terms: int, query: ParsedQuery, request: SearchRequest) -> int:
    """Return how many terms a post must have: one, or none beside a quoted phrase; in an order by
    date all, because posts with few of them might come first."""
    return terms if request.sort == "newest" else min(terms, 0 if query.quoted else 1)


# -- with what is known of the words ---------------------------------------------------------------


class Understanding:
    """Interprets a query by what is known of its words: first by what earlier searches have
    learned, then also by the lookup of the new words.

        understanding = Understanding(request, session, model, recency=True)
        plan = understanding.plan()
        understanding.learn(facts)  # of the `new` words
        plan = understanding.plan()

    `words` are all examined words, `facts` what is known of them.
    """

    def __init__(
        self,
        request: SearchRequest,
        session: "SearchSession",
        model: "Model | None",
        *,
        recency: bool,
    ) -> None:
        view = session.view
        typed = plan_typed(request, view.language, view.phrases, recency=recency)
        self.words = examined_words(typed)
        self.facts = session.words.recall(self.words)
        self.new = {key: word for key, word in self.words.items() if key not in self.facts}
        self._session = session
        self._model = model if model and model.name == view.model else None
        self._typed = replace(
            typed,
            pins=self._pins(typed),
            popularity=view.popularity,
            has_comments=view.has_comments,
            has_translations=view.has_translations,
        )

    def learn(self, facts: Facts) -> None:
        """Add the facts about the new words, also for later searches."""
        self.facts |= facts
        if self._session.is_current:
            self._session.words.learn(self.words, facts)

    def plan(self) -> Plan:
        """Return the plan by the present facts. Pins for the query as typed win over others."""
        typed = self._typed
        plan = plan_corrected(typed, self.facts)
        if plan is not typed and not plan.pins:
            plan = replace(plan, pins=self._pins(plan))
        if self._model and _has_meaning(typed):
            # The parts of a split word mean something else, and perhaps no post has them.
            texts = (
                term.typed.text if term.likeliest.is_split else term.likeliest.text
                for term in plan.terms
            )
            plan = replace(plan, vector=self._model.vector(" ".join(texts)))
        return plan

    def _pins(self, plan: Plan) -> MatchedPins:
        """Return the pin rules for a plan. In an order by date no post is put first."""
        rules = self._session.view.pins
        if not rules:
            return NO_MATCH
        pins = match_rules(rules, words_of(plan.terms, plan.query, plan.language))
        return pins if plan.request.sort == "relevance" else replace(pins, first=())


def _has_meaning(typed: Plan) -> bool:
    """Whether the meaning of a query is used: for questions, which have function words, and for
    longer texts, but not while the query is being typed."""
    is_question = any(term.typed.light for term in typed.terms)
    least = scoring.MEANING_WORDS_OF_QUESTION if is_question else scoring.MEANING_WORDS
    return len(typed.required) >= least and not typed.request.typing


# -- as typed --------------------------------------------------------------------------------------


def plan_typed(
    request: SearchRequest, language: Language, phrases: Phrases, *, recency: bool
) -> Plan:
    """Plan the query as typed; `phrases` are the phrases that the index contracts."""
    query = parse_query(request.q, language)
    terms = mark_phrases([interpret_as_typed(term) for term in query.terms], phrases)
    if request.typing:
        terms = tuple(_as_beginning(term, request.q) for term in terms)
    examined = {term.key for term in query.examined}
    required = tuple(term for term in terms if term.typed.key in examined)
    needed = _count_needed(len(required), query, request)
    return Plan(request, query, terms, required, needed, recency, language, phrases=phrases)


def _as_beginning(term: Interpretation, q: str) -> Interpretation:
    """Return the term as the beginning of a word if the query ends with it. It may contain an
    apostrophe, or the vowel signs of Hindi."""
    if term.typed.end < len(q) or len(term.typed.pieces) > 1 or not term.typed.token[0].isalnum():
        return term
    begun = TermVariant(term.typed.text, kind="begun")
    return replace(term, variants=(begun,), reason="being typed", phrase="")


# -- as corrected ----------------------------------------------------------------------------------


def plan_corrected(plan: Plan, facts: Facts) -> Plan:
    """Return the plan with its terms interpreted by the facts; the same plan if nothing changes.

    Terms that no post has in any variant are no longer required.
    """
    if not facts:
        return plan
    stats = {key: known.stats for key, known in facts.items()}
    plan = _without_unknown_flags(plan, stats)
    query, terms = plan.query, plan.terms
    if plan.request.typos:
        query = _resegment(plan, stats)
        ruled = {term.typed.key for term in terms if term.phrase}
        interpreted = _interpret(query, facts, plan.language, ruled)
        if interpreted and plan.request.typing:
            last = _as_beginning(interpret_as_typed(query.terms[-1]), plan.request.q)
            if last.begun and _has_more(last.typed, stats):
                interpreted[-1] = last
        terms = mark_phrases(interpreted, plan.phrases)
    examined = {term.key for term in query.examined}
    required = tuple(
        term for term in terms if term.typed.key in examined and _matches_some(term, stats)
    )
    if not required and not query.quoted:
        return plan
    as_written = query == plan.query and all(
        (term.as_typed or term.begun) and not term.similar for term in terms
    )
    if as_written and len(required) == len(plan.required):
        return plan
    needed = _count_needed(len(required), query, plan.request)
    return replace(plan, query=query, terms=terms, required=required, needed=needed)


def _without_unknown_flags(plan: Plan, stats: Mapping[str, TermStats]) -> Plan:
    """Treat a term like `-x` as an exclusion if no post contains it."""

    def is_kept(term: QueryTerm) -> bool:
        return not term.is_short_flag or stats.get(term.key, _UNCOUNTED).known

    query = plan.query
    out = [term.text.removeprefix(SHORT_FLAG) for term in query.terms if not is_kept(term)]
    if not out:
        return plan
    terms = [term for term in query.terms if is_kept(term)]
    required = tuple([term for term in plan.required if is_kept(term.typed)])
    return replace(
        plan,
        query=replace(query.with_terms(terms), excluded=(*query.excluded, *out)),
        terms=tuple([term for term in plan.terms if is_kept(term.typed)]),
        required=required,
        needed=_count_needed(len(required), query, plan.request),
    )


def _interpret(
    query: ParsedQuery, facts: Facts, language: Language, ruled: Collection[str]
) -> list[Interpretation]:
    """Interpret each term; several uncertain ones keep only their likeliest variants. The terms
    of a rule's phrase, whose keys are in `ruled`, are not corrected."""
    terms: list[Interpretation] = []
    for term in query.terms:
        known = facts.get(term.key)
        if known is None:
            terms.append(interpret_as_typed(term))
        elif is_bigram(term.token) and not known.stats.known:
            terms.append(interpret_characters(term))
        elif not term.correctable or term.is_joined or term.key in ruled:
            terms.append(interpret_as_typed(term, known.stats.posts))
        else:
            terms.append(interpret(term, known, language, last=term == query.terms[-1]))
    doubtful = sum(not term.as_typed or bool(term.similar) for term in terms)
    if doubtful < 2:
        return terms
    return [_with_variants(term, max(1, scoring.ALL_VARIANTS // doubtful)) for term in terms]


def _with_variants(term: Interpretation, most: int) -> Interpretation:
    """Return the term with at most `most` variants. The splits of a word are equally likely, so it
    keeps all of them or none."""
    term = replace(term, similar=term.similar[:most])
    if len(term.variants) <= most:
        return term
    variants = tuple(variant for variant in term.variants if not variant.is_split)[:most]
    return replace(term, variants=variants) if variants else interpret_as_typed(term.typed)


def _has_more(begun: QueryTerm, stats: Mapping[str, TermStats]) -> bool:
    """Whether posts have the term or words that begin with it, or it is too short for a count."""
    posts = stats.get(begun.key, _UNCOUNTED)
    return posts.known or bool(posts.prefix) or len(begun.token) < scoring.PREFIX_MIN


def _matches_some(term: Interpretation, stats: Mapping[str, TermStats]) -> bool:
    """Whether posts may have the term: some do, it has variants, or it was not counted."""
    return not term.as_typed or bool(term.phrase) or stats.get(term.typed.key, _UNCOUNTED).known


# -- splitting and joining terms -------------------------------------------------------------------


def _resegment(plan: Plan, stats: Mapping[str, TermStats]) -> ParsedQuery:
    """Join two terms if only the joined word is in the index, and split compound terms that no post
    has: `xyz42` only if a post has `xyz`, `h264` and `gpt4o` only if posts have both parts. While
    the query is being typed, its last word may be unfinished."""
    query, language, typing = plan.query, plan.language, plan.request.typing
    terms: list[QueryTerm] = []
    left = list(query.terms)
    while left:
        term = left.pop(0)
        unfinished = typing and len(left) == 1 and _has_more(left[0], stats)
        both = stats.get(term.key_with(left[0])) if left and not unfinished else None
        if both and both.known and not (_is_known(term, stats) and _is_known(left[0], stats)):
            terms.append(join_terms(term, left.pop(0), language))
        elif (
            term.key in stats
            and not stats[term.key].known
            and not (typing and _has_more(term, stats))
        ):
            pieces = apart(term, language)
            is_number = len(pieces) == 2 and len(pieces[0].text) > 1 and pieces[1].text.isdigit()
            known = all(_is_known(piece, stats) for piece in pieces[: 1 if is_number else None])
            if pieces and (len(term.pieces) > 1 or known):
                left = [*pieces, *left]
            else:
                terms.append(term)
        else:
            terms.append(term)
    return query if terms == list(query.terms) else query.with_terms(terms[:MAX_TERMS])


def _is_known(term: QueryTerm, stats: Mapping[str, TermStats]) -> bool:
    return term.key in stats and stats[term.key].known


# -- the words to look up --------------------------------------------------------------------------

Examined = Mapping[str, tuple[QueryTerm, Word]]
"""The terms to look up by key, each with its word, which is the same in every query."""

_LOOKED_UP = 40
"""The maximum number of terms, pieces of compound ones and joined neighbours. Twelve words as
people write them have fewer."""
_CORRECTED, _OF_TWO_ERRORS = 80, 32
"""The maximum number of letters of all words for the suggester, and of the first words among them,
which may have two errors; the others may have one, which takes a fifth of the time. Twelve words of
a sentence have fewer letters; twelve camelCase words took as long as 25 usual searches."""


def examined_words(plan: Plan) -> Examined:
    """Return what to look up for a query as typed: the examined terms, the pieces of compound ones,
    and neighbours joined into one."""
    terms = plan.query.examined
    with_pieces = [(term, apart(term, plan.language)) for term in terms]
    examined = [one for term, pieces in with_pieces for one in (term, *pieces) if not one.stop]
    compounds = [pieces for term, pieces in with_pieces if len(term.pieces) > 1]
    examined += [
        join_terms(first, second, plan.language)
        for first, second in chain.from_iterable(map(pairwise, (terms, *compounds)))
        if first.joins(second)
    ]
    examined = examined[:_LOOKED_UP]
    errors_of = _errors_of(examined)

    def word(term: QueryTerm) -> Word:
        errors = 0 if term.is_joined else errors_of.get(term.token, 0)
        return Word(term.text, term.is_joined, errors)

    return {term.key: (term, word(term)) for term in examined}


def _errors_of(terms: Sequence[QueryTerm]) -> dict[str, int]:
    """Return the words for the suggester, and how many errors each may have. Only one of them may
    be very long."""
    words = [term.token for term in terms if not term.is_joined and term.correctable]
    tokens = dict.fromkeys(words)
    errors: dict[str, int] = {}
    has_long = False
    for token, letters in zip(tokens, accumulate(map(len, tokens)), strict=True):
        is_long = len(token) > scoring.LONG_IDENTIFIER
        if letters <= _CORRECTED and not (is_long and has_long):
            errors[token] = 2 if letters <= _OF_TWO_ERRORS and not is_long else 1
            has_long |= is_long
    return errors
