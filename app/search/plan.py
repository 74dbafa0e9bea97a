"""What the query of a search is built from: its terms, each with what it may stand for. Pure.

A search has one plan for the query as typed, and another one if the index knows a term by another
spelling, in two words or as one with its neighbour.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from analyzers.languages import Language
from analyzers.rules.compile import Phrases
from analyzers.signs import is_bigram
from app.search import scoring
from app.search.pins import NO_MATCH, MatchedPins
from app.search.query_parser import (
    MAX_TERMS,
    ParsedQuery,
    QueryTerm,
    apart,
    join_terms,
    make_query,
    parse_query,
)
from app.search.request import SearchRequest
from app.search.spelling import (
    Facts,
    Interpretation,
    TermStats,
    TermVariant,
    as_typed,
    characters,
    interpret,
    mark_phrases,
)

ANY, ALL = "some words", "all words"
"""What posts are counted by: `searches.read_counts`."""

_UNCOUNTED = TermStats(words=1)


@dataclass(frozen=True)
class Plan:
    """One understanding of a query.

    `terms`: every term of the query in its order, with its variants. `required`: the significant
    ones, of which a post must have `needed`. `recency`: whether newer posts score a little more.
    `vector`: the meaning of the query, empty if it does not count. `popularity`: that of a usual
    post, 0 if no post has one. `has_comments`: whether any post has. `has_translations`: whether
    some posts are translations of others. `phrases`: those of the index.
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
        """The terms that say something."""
        return tuple([term for term in self.terms if not term.term.light])

    @cached_property
    def without_stop_words(self) -> tuple[Interpretation, ...]:
        """The terms that the stemmed fields have."""
        return tuple([term for term in self.terms if not term.term.stop])

    @cached_property
    def share(self) -> float:
        """The factor for clauses on the word as typed and on neighbours: 1 for short queries,
        smaller for long ones."""
        words = sum([term.term.is_word for term in self.terms])
        return round(min(1.0, scoring.FEW_WORDS / max(words, 1)), 4)

    @cached_property
    def is_large(self) -> bool:
        """Whether the hits cost so much that they are asked for once, when the words are known."""
        pieces = sum(len(term.term.pieces) for term in self.terms)
        return pieces * self.request.size > scoring.LARGE_PAGE

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The query in the spelling that is the likeliest, and with one of its terms in another
        one; none if it has neither letter nor digit."""
        if not any(map(str.isalnum, self.request.q)):
            return ()
        likeliest = [term.likeliest for term in self.terms]
        readings = [likeliest]
        for place, term in enumerate(self.terms):
            readings += [
                [*likeliest[:place], variant, *likeliest[place + 1 :]]
                for variant in term.variants[1:]
                if variant.kind in ("typed", "spelling")
            ]
        return tuple(dict.fromkeys(self.written(variants) for variants in readings))

    def written(self, variants: Sequence[TermVariant]) -> str:
        """The query with a variant of each term in place of what was typed."""
        q = self.request.q
        text, end = "", 0
        for term, variant in zip(self.terms, variants, strict=True):
            start, typed_end = term.term.start, term.term.end
            text += q[end:start]
            if variant.kind in ("spelling", "split"):
                text += variant.readable
            elif "+" in term.term.key:
                text += term.term.text
            else:
                text += q[start:typed_end]
            end = typed_end
        return text + q[end:]


def _count_needed(terms: int, request: SearchRequest) -> int:
    """How many terms a post must have: any of them; all where the order is by date, which would put
    posts with few of them first."""
    return terms if request.sort == "newest" else min(terms, 1)


# -- as typed --------------------------------------------------------------------------------------


def plan_typed(
    request: SearchRequest, language: Language, phrases: Phrases, *, recency: bool
) -> Plan:
    """The query as typed; `phrases` are those of the index."""
    query = parse_query(request.q, language)
    terms = mark_phrases([as_typed(term) for term in query.terms], phrases)
    if request.typing:
        terms = tuple(_begun(term, request.q) for term in terms)
    examined = {term.key for term in query.examined}
    required = tuple(term for term in terms if term.term.key in examined)
    needed = _count_needed(len(required), request)
    return Plan(request, query, terms, required, needed, recency, language, phrases=phrases)


def _begun(term: Interpretation, q: str) -> Interpretation:
    """The term as the beginning of a word if the query ends with it."""
    if term.term.end < len(q) or len(term.term.pieces) > 1 or not term.term.token.isalnum():
        return term
    begun = TermVariant(term.term.text, kind="begun")
    return replace(term, variants=(begun,), reason="being typed", phrase="")


# -- as it is meant --------------------------------------------------------------------------------


def plan_corrected(plan: Plan, facts: Facts, phrases: Phrases) -> Plan:
    """The plan with the terms interpreted by what is known of them; itself if it is right as it is.

    Terms that no post has, in any variant, are not required any more.
    """
    if not facts:
        return plan
    stats = {key: known.stats for key, known in facts.items()}
    plan = _without_unknown_flags(plan, stats)
    query, terms = plan.query, plan.terms
    if plan.request.typos:
        if not plan.request.typing:
            query = _resegment(plan.query, stats, plan.language)
        interpreted = _interpret(query, facts, plan.language)
        if terms and terms[-1].begun and _may_go_on(terms[-1].term, stats):
            interpreted[-1] = terms[-1]
        terms = mark_phrases(interpreted, phrases)
    examined = {term.key for term in query.examined}
    required = tuple(
        term for term in terms if term.term.key in examined and _matches_some(term, stats)
    )
    if not required and not query.quoted:
        return plan
    as_written = query == plan.query and all(
        (term.as_typed or term.begun) and not term.similar for term in terms
    )
    if as_written and len(required) == len(plan.required):
        return plan
    needed = _count_needed(len(required), plan.request)
    return replace(plan, query=query, terms=terms, required=required, needed=needed)


def _without_unknown_flags(plan: Plan, stats: Mapping[str, TermStats]) -> Plan:
    """What looks like the flag of a command excludes a word if no post has it."""

    def is_kept(term: QueryTerm) -> bool:
        return not term.is_short_flag or stats.get(term.key, _UNCOUNTED).known

    query = plan.query
    out = [term.pieces[1] for term in query.terms if not is_kept(term)]
    if not out:
        return plan
    terms = [term for term in query.terms if is_kept(term)]
    kept = make_query(terms, query.quoted, (*query.excluded, *out), query.quoted_at)
    required = tuple([term for term in plan.required if is_kept(term.term)])
    return replace(
        plan,
        query=replace(
            kept,
            in_title=query.in_title,
            categories=query.categories,
            other_categories=query.other_categories,
        ),
        terms=tuple([term for term in plan.terms if is_kept(term.term)]),
        required=required,
        needed=_count_needed(len(required), plan.request),
    )


def _interpret(query: ParsedQuery, facts: Facts, language: Language) -> list[Interpretation]:
    """What each term may stand for; of several doubtful ones the likeliest variants only."""
    terms: list[Interpretation] = []
    for term in query.terms:
        known = facts.get(term.key)
        if known is None:
            terms.append(as_typed(term))
        elif is_bigram(term.token) and not known.stats.known:
            terms.append(characters(term))
        elif not term.correctable or "+" in term.key:
            terms.append(as_typed(term, known.stats.posts))
        else:
            terms.append(interpret(term, known, language, last=term == query.terms[-1]))
    doubtful = sum(not term.as_typed or bool(term.similar) for term in terms)
    if doubtful < 2:
        return terms
    return [_with_variants(term, max(1, scoring.ALL_VARIANTS // doubtful)) for term in terms]


def _with_variants(term: Interpretation, most: int) -> Interpretation:
    """The term with so many variants at most. The splits of a word are equally likely, so it has
    all of them or none."""
    term = replace(term, similar=term.similar[:most])
    if len(term.variants) <= most:
        return term
    variants = tuple(variant for variant in term.variants if variant.kind != "split")[:most]
    return replace(term, variants=variants) if variants else as_typed(term.term)


def _may_go_on(begun: QueryTerm, stats: Mapping[str, TermStats]) -> bool:
    posts = stats.get(begun.key, _UNCOUNTED)
    return posts.known or bool(posts.prefix) or len(begun.token) < scoring.PREFIX_MIN


def _matches_some(term: Interpretation, stats: Mapping[str, TermStats]) -> bool:
    """Whether a post may have the term: it does, it has variants, or that was not counted."""
    return not term.as_typed or bool(term.phrase) or stats.get(term.term.key, _UNCOUNTED).known


# -- written apart, and as one ---------------------------------------------------------------------


def _resegment(
    query: ParsedQuery, stats: Mapping[str, TermStats], language: Language
) -> ParsedQuery:
    """The query with two terms joined if only the joined word is in the index, and with compound
    terms split that no post has; `xyz42` only if a post has `xyz`."""
    terms: list[QueryTerm] = []
    left = list(query.terms)
    while left:
        term = left.pop(0)
        both = stats.get(f"{term.key}+{left[0].key}") if left else None
        if both and both.words and not (_is_known(term, stats) and _is_known(left[0], stats)):
            terms.append(join_terms(term, left.pop(0), language))
        elif term.key in stats and not stats[term.key].known:
            pieces = apart(term, language)
            is_split = pieces and (len(term.pieces) > 1 or _is_known(pieces[0], stats))
            terms.extend(pieces if is_split else (term,))
        else:
            terms.append(term)
    if terms == list(query.terms):
        return query
    kept = make_query(terms[:MAX_TERMS], query.quoted, query.excluded, query.quoted_at)
    return replace(kept, in_title=query.in_title, categories=query.categories)


def _is_known(term: QueryTerm, stats: Mapping[str, TermStats]) -> bool:
    return term.key in stats and stats[term.key].known
