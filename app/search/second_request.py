"""The second request: the query with every term in the variants that it may stand for. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from analyzers.bigrams import is_bigram
from analyzers.languages import Language
from analyzers.rules.compile import Phrases
from app.search import scoring
from app.search.first_request import FirstResponse
from app.search.query_builder import ANY, HAS, Plan, terms_needed
from app.search.query_parser import MAX_TERMS, ParsedQuery, QueryTerm, apart, joined
from app.search.spelling import (
    Interpretation,
    TermStats,
    as_typed,
    characters,
    interpret,
    mark_phrases,
)

_UNCOUNTED = TermStats(words=1)


def plan_second(plan: Plan, first: FirstResponse, phrases: Phrases) -> Plan | None:
    """The plan with the terms interpreted, None if the first request has answered the search.

    Terms that no post has, in any variant, are not required any more.
    """
    if not first.stats:
        return None
    query, terms = plan.query, plan.terms
    if plan.request.typing:
        terms = mark_phrases(_typing_interpretations(plan, first), phrases)
    elif plan.request.typos:
        query = _resegmented(plan.query, first.stats, plan.language)
        compounds = _compounds(plan, query, first)
        terms = mark_phrases(_interpretations(query, compounds, first, plan.language), phrases)
    examined = {term.key for term in query.examined}
    required = tuple(
        term for term in terms if term.term.key in examined and _matches_some(term, first.stats)
    )
    if not required and not query.quoted:
        return None
    as_written = query == plan.query and all(
        (term.as_typed or term.begun) and not term.compound for term in terms
    )
    relaxed = plan.needed > 1 and not first.matched[ANY]
    if as_written and len(required) == len(plan.required) and not relaxed:
        return None
    needed = terms_needed(len(required), plan.request)
    return replace(
        plan, query=query, terms=terms, required=required, needed=needed, total=first.total
    )


def _interpretations(
    query: ParsedQuery, compounds: Mapping[str, str], first: FirstResponse, language: Language
) -> list[Interpretation]:
    """The terms interpreted; those that posts write with their neighbour as one are not
    corrected."""
    supported = _supported(first)
    last = query.terms[-1] if query.terms else None
    return _bounded(
        [
            _in_compound(term, compounds[term.key])
            if term.key in compounds
            else _interpreted(term, term == last, first, supported, language)
            for term in query.terms
        ]
    )


def _in_compound(term: QueryTerm, compound: str) -> Interpretation:
    reason = f"posts write it and its neighbour as {compound}"
    return replace(as_typed(term, reason=reason), compound=compound)


def _typing_interpretations(plan: Plan, first: FirstResponse) -> list[Interpretation]:
    """The terms of a query that is being typed; the last one stays the beginning of a word as long
    as a word of the index begins with it."""
    interpretations = _interpretations(plan.query, {}, first, plan.language)
    if plan.terms and plan.terms[-1].begun:
        term = plan.terms[-1].term
        stats = first.stats.get(term.key, _UNCOUNTED)
        if stats.known or stats.prefix or len(term.token) < scoring.PREFIX_MIN:
            interpretations[-1] = plan.terms[-1]
    return interpretations if plan.request.typos else list(plan.terms)


def _bounded(terms: Sequence[Interpretation]) -> list[Interpretation]:
    """The terms, the likeliest variants of each, so that all of them together are not too many.

    The splits of a word are equally likely, so it has all of them or none. A single doubtful term
    has all its variants.
    """
    doubtful = sum(not term.as_typed for term in terms)
    if doubtful < 2:
        return list(terms)
    return [_with_variants(term, max(1, scoring.ALL_VARIANTS // doubtful)) for term in terms]


def _with_variants(term: Interpretation, most: int) -> Interpretation:
    """The term with so many variants at most; without its splits if they are more."""
    if len(term.variants) <= most:
        return term
    variants = tuple(variant for variant in term.variants if variant.kind != "split")[:most]
    return replace(term, variants=variants) if variants else as_typed(term.term)


def without_doubtful(plan: Plan) -> Plan | None:
    """The plan without doubtful corrections, for when no post has most of the words with them: a
    corrected term that no post has beside others was probably not meant, unless it is a long word
    with one error. None if there are none, no other terms, or so many that it makes no difference.
    """
    if plan.is_large or len(plan.required) > scoring.DOUBTED_WORDS:
        return None
    sure = tuple(
        term
        for term in plan.required
        if term.likeliest.kind == "typed"
        or scoring.surely_misspelled(term.term.token, term.likeliest.cost)
    )
    if not sure or len(sure) == len(plan.required):
        return None
    left_out = {term.term.key for term in plan.required if term not in sure}
    terms = tuple(as_typed(term.term) if term.term.key in left_out else term for term in plan.terms)
    return replace(plan, terms=terms, required=sure, needed=1)


def _matches_some(term: Interpretation, stats: Mapping[str, TermStats]) -> bool:
    """Whether a post may have the term: it does, it has variants, or that was not counted."""
    return not term.as_typed or bool(term.phrase) or stats.get(term.term.key, _UNCOUNTED).known


def _interpreted(
    term: QueryTerm,
    last: bool,
    first: FirstResponse,
    supported: frozenset[str],
    language: Language,
) -> Interpretation:
    stats = first.stats.get(term.key)
    if stats is None:
        return as_typed(term)
    posts = max(stats.words, stats.forms)
    if is_bigram(term.token) and not stats.known:
        return characters(term)
    if not term.correctable or "+" in term.key:
        return as_typed(term, posts)
    options = first.options.get(term.token, [])
    together = term.key in supported
    return interpret(term, stats, options, language, last=last, supported=together)


def _supported(first: FirstResponse) -> frozenset[str]:
    """The terms that one of the first hits has together with another term."""
    supported: set[str] = set()
    for hit in first.hits["hits"]["hits"]:
        matched = [name for name in hit.get("matched_queries", ()) if name.startswith(HAS)]
        if len(matched) > 1:
            supported.update(name.removeprefix(HAS) for name in matched)
    return frozenset(supported)


def _resegmented(
    query: ParsedQuery, stats: Mapping[str, TermStats], language: Language
) -> ParsedQuery:
    """The query with two terms joined if only the joined word is in the index, and with compound
    terms split that no post has."""
    terms: list[QueryTerm] = []
    left = list(query.terms)
    while left:
        term = left.pop(0)
        both = joined(term, left[0], language) if left else None
        if both and _only_joined(term, left[0], both, stats):
            left.pop(0)
            terms.append(both)
        elif term.key in stats and not stats[term.key].known:
            terms.extend(_split(term, stats, language) or (term,))
        else:
            terms.append(term)
    return replace(query, terms=tuple(terms[:MAX_TERMS]))


def _split(
    term: QueryTerm, stats: Mapping[str, TermStats], language: Language
) -> tuple[QueryTerm, ...]:
    """The pieces of a term; none for `xyz42` if no post has `xyz`."""
    pieces = apart(term, language)
    is_compound = len(term.pieces) > 1
    return pieces if pieces and (is_compound or _is_known(pieces[0], stats)) else ()


def _is_known(term: QueryTerm, stats: Mapping[str, TermStats]) -> bool:
    return term.key in stats and stats[term.key].known


def _only_joined(
    first: QueryTerm, second: QueryTerm, both: QueryTerm, stats: Mapping[str, TermStats]
) -> bool:
    if both.key not in stats or not stats[both.key].words:
        return False
    return not (stats[first.key].known and stats[second.key].known)


def _compounds(plan: Plan, query: ParsedQuery, first: FirstResponse) -> dict[str, str]:
    """The word that posts write two neighbouring terms as (`keyboard` for `key board`), by the keys
    of both. None for terms that a synonym rule treats as one: it finds the word anyway."""
    by_rule = {term.term.key for term in plan.terms if term.phrase}
    compounds: dict[str, str] = {}
    for pair in pairwise(query.terms):
        keys = {term.key for term in pair}
        both = joined(*pair, plan.language)
        if both.key not in first.stats or keys & (by_rule | compounds.keys()):
            continue
        posts = first.stats[both.key]
        # A stem may be the same by accident if a word is misspelled: `digital govement`,
        # `digitalgov`.
        are_known = all(_is_known(term, first.stats) for term in pair)
        if max(posts.words, posts.stems if are_known else 0) > posts.apart:
            compounds |= dict.fromkeys(keys, both.text)
    return compounds
