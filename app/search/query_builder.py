"""The query that finds and scores posts, made of clauses. Pure."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from elasticsearch.dsl import Search
from elasticsearch.dsl import query as q
from elasticsearch.dsl.query import Query

from analyzers.languages import Language
from app.search import scoring
from app.search.filters import page, post_filters
from app.search.highlighting import post_highlighting
from app.search.pins import NO_MATCH, MatchedPins
from app.search.query_parser import ParsedQuery
from app.search.request import SearchRequest
from app.search.spelling import Interpretation, TermVariant


@dataclass(frozen=True, slots=True)
class PlanInput:
    """What the query of a search is built from.

    `terms`: every term of the query in its order, with its variants. `required`: those that decide
    which posts match; `needed`: how many of them a post must have. `total`: the number of posts, 0
    if that is not known. `recency`: whether newer posts score a little more.
    """

    request: SearchRequest
    query: ParsedQuery
    terms: tuple[Interpretation, ...]
    required: tuple[Interpretation, ...]
    needed: int
    total: int
    recency: bool
    language: Language
    pins: MatchedPins = NO_MATCH


WORD = "word "
"""`WORD + key` names the clause that scores a term."""

HAS, IS = "has ", "is "
"""`HAS + key` names the clause that tells whether a post has a term; `IS + key + number` the one
that tells whether it has a certain variant of it."""

_MATCHED = "matched"
"""The aggregation that counts the posts that match by their words, if there are pinned ones."""


def hits_search(plan: PlanInput) -> Search:
    """The posts that match, with highlights, and how many of them have all terms or the phrase."""
    request, debug = plan.request, plan.request.debug
    should: list[Query] = []
    if plan.terms:
        should += words_clauses(plan.terms, plan.total, debug=debug)
        should += all_words_clauses(plan.required, plan.total, debug=debug)
        should += neighbour_clauses(plan.terms, debug=debug)
        should += phrase_clauses(plan.terms, debug=debug)
    if plan.recency and request.sort == "relevance":
        should.append(recency_clause(debug=debug))
    has = [has_term(one, named=True) for one in plan.required]
    filters: list[Query] = [q.Term(kind="post"), *post_filters(request)]
    if has:
        filters.append(q.Bool(should=has, minimum_should_match=plan.needed))
    query = q.Bool(
        must=[quoted_clause(text, debug=debug) for text in plan.query.quoted],
        should=should,
        filter=filters,
        must_not=[phrase_in(scoring.PHRASE_FIELDS, text) for text in plan.query.excluded],
    )
    search = page(Search().query(_pinned(query, plan) if plan.pins else query), request)
    if plan.pins.first:
        search.aggs.bucket(_MATCHED, "filter", filter=query)
    if len(has) > 1:
        search.aggs.bucket(
            "all_words", "filter", filter=q.Bool(filter=[has_term(one) for one in plan.required])
        )
    for one in plan.required:
        if one.likeliest.kind == "split":  # nobody knows yet whether any post has it
            search.aggs.bucket(HAS + one.term.key, "filter", filter=has_term(one))
    text = phrase_text(plan.terms)
    if text:
        phrase = phrase_in(["title.words", "text.words"], text)
        search.aggs.bucket("phrase", "filter", filter=phrase)
    search = search.source(["oid", "title", "url", "pub_date"])
    return search.extra(highlight=post_highlighting(plan.terms, plan.query.quoted))


def _pinned(query: Query, plan: PlanInput) -> Query:
    """The query with the pinned posts first, in their order, and without those that never come.

    Elasticsearch's own `pinned` query is a part of x-pack, which not every build has.
    """
    pins = plan.pins
    first = [
        q.ConstantScore(filter=q.Term(oid=oid), boost=pin_score(pins, oid)) for oid in pins.first
    ]
    must_not = [phrase_in(scoring.PHRASE_FIELDS, text) for text in plan.query.excluded]
    if pins.never:
        must_not.append(q.Terms(oid=list(pins.never)))
    return q.Bool(
        should=[query, *first],
        minimum_should_match=1,
        filter=[q.Term(kind="post"), *post_filters(plan.request)],
        must_not=must_not,
    )


def pin_score(pins: MatchedPins, oid: str) -> float:
    """What being pinned adds to the score of a post; 0 for other posts."""
    if oid not in pins.first:
        return 0.0
    return scoring.PINNED_SCORE * (len(pins.first) - pins.first.index(oid))


def count_matched(response: Mapping[str, Any]) -> int:
    """How many posts match by their words; pinned ones need not."""
    aggregation = response.get("aggregations", {}).get(_MATCHED)
    found = response["hits"]["total"]["value"] if aggregation is None else aggregation["doc_count"]
    return int(found)


def any_of(clauses: Iterable[Query], name: str = "") -> Query:
    """At least one of the clauses; their scores add up."""
    return q.Bool(should=list(clauses), minimum_should_match=1, **_named(name))


def _named(name: str) -> dict[str, Any]:
    return {"_name": name} if name else {}


def phrase_in(fields: Sequence[str], text: str, boost: float = 1.0) -> Query:
    """The words of the text side by side in any of the fields."""
    return q.MultiMatch(query=text, type="phrase", fields=list(fields), boost=boost)


def quoted_clause(text: str, *, debug: bool) -> Query:
    """A quoted phrase: exactly these words."""
    return q.Bool(
        must=[phrase_in(scoring.QUOTED_FIELDS, text, scoring.QUOTED_BOOST)],
        **_named(f'"{text}"' if debug else ""),
    )


# -- scoring ---------------------------------------------------------------------------------------


def best_fields(text: str, boost: float = 1.0, name: str = "") -> Query:
    """What the words of a text score: BM25 over all fields as one, stemmed and unstemmed, and once
    more in the title."""
    return any_of(
        [
            q.CombinedFields(query=text, fields=list(scoring.STEMMED_FIELDS), boost=boost),
            q.CombinedFields(query=text, fields=list(scoring.UNSTEMMED_FIELDS), boost=boost),
            q.Match("title.forms", {"query": text, "boost": boost * scoring.TITLE_BOOST}),
        ],
        name,
    )


def words_clauses(terms: Sequence[Interpretation], total: int, *, debug: bool) -> list[Query]:
    """What single words score. Terms that stand for themselves only share one clause, unless each
    one's score is to be reported."""
    found: list[Query] = []
    only_light = all(one.term.light for one in terms)
    for light, boost in ((False, 1.0), (True, 1.0 if only_light else scoring.LIGHT_BOOST)):
        plain = [one for one in terms if one.as_typed and one.term.light == light]
        if debug:
            found += [best_fields(text, boost, name) for name, text in _plain_words(plain)]
        elif plain:
            found.append(best_fields(" ".join(one.term.text for one in plain), boost))
    for one in terms:
        if not one.as_typed:
            variants = [_variant(variant, one, total) for variant in one.variants]
            found.append(q.DisMax(queries=variants, **_named(WORD + one.term.key if debug else "")))
    return found


def _plain_words(terms: Sequence[Interpretation]) -> list[tuple[str, str]]:
    """Name and text of each word; the words that a synonym rule takes for one are one."""
    found: list[tuple[str, str]] = []
    for one in terms:
        if one.phrase and found and one.phrase == found[-1][1]:
            continue
        found.append((WORD + one.term.key, one.phrase or one.term.text))
    return found


def _variant(variant: TermVariant, of: Interpretation, total: int) -> Query:
    boost = relative_boost(variant, of, total)
    if variant.kind == "prefix":
        return q.ConstantScore(
            filter=_prefix(variant), boost=boost * scoring.idf(variant.posts, total)
        )
    if variant.kind == "split":
        return phrase_in(scoring.PHRASE_FIELDS, variant.text, boost)
    return best_fields(variant.text, boost)


def relative_boost(variant: TermVariant, of: Interpretation, total: int) -> float:
    """The weight of a variant, without the advantage that BM25 gives to a rarer word."""
    likeliest = of.likeliest
    if not (variant.posts and likeliest.posts and total):
        return round(variant.weight, 4)
    ratio = scoring.idf(likeliest.posts, total) / scoring.idf(variant.posts, total)
    return round(variant.weight * ratio, 4)


def _prefix(variant: TermVariant) -> Query:
    return q.Prefix("all.forms", {"value": variant.text})


def all_words_clauses(terms: Sequence[Interpretation], total: int, *, debug: bool) -> list[Query]:
    """What a post scores that has every term, and more if its title has them."""
    return [
        q.Bool(
            must=[_lookup(field, one, boost / len(terms), total) for one in terms],
            **_named(name if debug else ""),
        )
        for field, (boost, name) in scoring.ALL_WORDS.items()
        if terms
    ]


def _lookup(field: str, one: Interpretation, boost: float, total: int) -> Query:
    """A term in a field that scores nothing but its inverse document frequency."""
    clauses: list[Query] = []
    for variant in one.variants:
        worth = boost * relative_boost(variant, one, total)
        if variant.kind == "prefix":
            prefix_field = field if field == "title.lookup" else "all.forms"
            clause: Query = q.ConstantScore(
                filter=q.Prefix(prefix_field, {"value": variant.text}),
                boost=worth * scoring.idf(variant.posts, total) * scoring.LOOKUP_SHARE,
            )
        elif variant.kind == "split" and field == "title.lookup":
            clause = phrase_in(["title.words"], variant.text, worth)
        elif variant.kind == "split":
            clause = phrase_in(scoring.PHRASE_FIELDS, variant.text, worth)
        else:
            clause = q.Match(field, {"query": variant.text, "operator": "and", "boost": worth})
        clauses.append(clause)
    if one.phrase:
        clauses.append(q.Match(field, {"query": one.phrase, "operator": "and", "boost": boost}))
    return clauses[0] if len(clauses) == 1 else q.DisMax(queries=clauses)


def neighbour_clauses(terms: Sequence[Interpretation], *, debug: bool) -> list[Query]:
    """Neighbouring terms of the query that stand close together in the text."""
    texts = [one.likeliest.text for one in terms if not one.term.stop]
    pairs = list(dict.fromkeys(pairwise(texts)))[: scoring.NEIGHBOUR_PAIRS]
    return [
        q.MatchPhrase(
            "text.words",
            {
                "query": f"{first} {second}",
                "slop": scoring.NEIGHBOURS_SLOP,
                "boost": scoring.NEIGHBOURS_BOOST,
                **_named(f"{first} near {second}" if debug else ""),
            },
        )
        for first, second in pairs
    ]


def phrase_text(terms: Sequence[Interpretation]) -> str:
    """The whole query in its likeliest reading; "" if that is a single word."""
    return " ".join(one.likeliest.text for one in terms) if len(terms) > 1 else ""


def phrase_clauses(terms: Sequence[Interpretation], *, debug: bool) -> list[Query]:
    """The whole query side by side in the title or the text."""
    text = phrase_text(terms)
    if not text:
        return []
    return [
        q.MatchPhrase(
            field,
            {
                "query": text,
                "boost": scoring.PHRASE_BOOST,
                **_named(f"phrase in {field.removesuffix('.words')}" if debug else ""),
            },
        )
        for field in ("title.words", "text.words")
    ]


def recency_clause(*, debug: bool) -> Query:
    """A little for newer posts: half of it is left after the pivot."""
    return q.DistanceFeature(
        field="pub_date",
        origin="now",
        pivot=scoring.RECENCY_PIVOT,
        boost=scoring.RECENCY_BOOST,
        **_named("recency" if debug else ""),
    )


# -- matching --------------------------------------------------------------------------------------


def has_term(one: Interpretation, *, named: bool = False) -> Query:
    """Whether a post has a term in any of its variants, unscored."""
    several = named and not one.as_typed
    clauses = [
        q.Bool(filter=[_has(variant, one)], **_named(f"{IS}{one.term.key} {number}"))
        if several
        else _has(variant, one)
        for number, variant in enumerate(one.variants)
    ]
    if one.phrase:
        clauses.append(_in_any_form(one.phrase))
    return any_of(clauses, HAS + one.term.key if named else "")


def _has(variant: TermVariant, one: Interpretation) -> Query:
    if variant.kind == "prefix":
        return _prefix(variant)
    glued = variant.kind == "typed" and len(one.term.pieces) > 1
    if glued or variant.kind == "split":
        return phrase_in(scoring.PHRASE_FIELDS, variant.text)
    if one.term.stop:  # the stemmed field has none
        return q.Match("all.forms", {"query": variant.text, "operator": "and"})
    return _in_any_form(variant.text)


def _in_any_form(text: str) -> Query:
    """Posts with the words in any inflection or by a synonym. `all.words` has the words of a phrase
    that a synonym rule contracts to one, and camelCase words as a whole."""
    return q.MultiMatch(query=text, operator="and", fields=["all", "all.forms", "all.words"])


def terms_needed(terms: int, request: SearchRequest) -> int:
    """How many terms a post must have: both of two, half of more; all where the order is by date,
    which would put posts with few of them first."""
    if terms < 3 or request.sort == "newest":
        return terms
    return math.ceil(terms / 2)
