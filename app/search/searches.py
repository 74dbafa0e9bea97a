"""The bodies of searches, made of the clauses, and what their responses say. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, chain, pairwise
from sys import intern
from typing import Any

from analyzers.chains import SPELLING, WORDS
from analyzers.languages import Language
from app.search import scoring
from app.search.answer import Facet, Facets
from app.search.clauses import (
    COMMENTS,
    HAS,
    PHRASE,
    Query,
    any_of,
    best_clauses,
    bool_query,
    category_filter,
    day_filters,
    excluded_clauses,
    has_term,
    has_terms,
    hidden_clauses,
    language_filter,
    match,
    match_in,
    name_query,
    operator_filters,
    phrase_in,
    pinned_clauses,
    post_filters,
    quoted_clauses,
    whole_title,
    words_clauses,
)
from app.search.plan import ALL, ANY, Plan
from app.search.query_parser import QueryTerm, apart, join_terms
from app.search.render import Marker
from app.search.request import SearchRequest
from app.search.session import Body, Response
from app.search.spelling import Option, TermStats, Word, WordFacts, as_typed
from app.search.translations import COLLAPSED, COUNTED, number

_SOURCE = [
    *("oid", "title", "url", "pub_date", "categories", "language", "image", "announced"),
    *(f"headings.{name}" for name in ("line", "code_line", "level", "id")),
]


# -- posts -----------------------------------------------------------------------------------------


def hits_search(plan: Plan) -> Body:
    """One page of the posts that match, with highlights."""
    by_relevance, marker = plan.request.sort == "relevance", Marker.of(plan)
    should = [query for _, query in words_clauses(plan)]
    # Without words every post is listed.
    has_words = bool(plan.terms or plan.query.quoted)
    if has_words and plan.has_comments and plan.request.comments:
        should.append(_comments(marker))
    by_words = bool_query(
        must=[query for _, query in quoted_clauses(plan)],
        should=should,
        filter=has_terms(plan, plan.needed, similar=True, named=True),
    )
    query = _limit_to_listed(by_words, plan)
    query["bool"]["filter"] = [
        *query["bool"].get("filter", ()),
        *post_filters(plan.request, plan.language),
    ]
    body: Body = {
        "query": query,
        **page(plan.request),
        "track_total_hits": _is_counted(plan),
        "_source": _SOURCE,
        "highlight": marker.highlighting("title", "text", "code.forms"),
        **(COLLAPSED if plan.has_translations else {}),
    }
    if by_relevance:
        ordering = [
            name_query(name, query) if name.startswith(PHRASE) else query
            for name, query in best_clauses(plan)
        ]
        body |= _rescore(ordering)
    return body


def _is_counted(plan: Plan) -> bool:
    """Whether the hits are counted where they are found. In an order by date that would look at all
    of them, those of a large page are asked for later, and translations count as one post."""
    by_relevance = plan.request.sort == "relevance"
    return by_relevance and not (plan.is_large or plan.has_translations)


def _comments(marker: Marker) -> Query:
    """The comments that match come with their post, and add nothing to its score."""
    field = "comments.comment"
    query = marker.query(field)
    query["bool"]["should"] += [
        {"prefix": {f"{field}.forms": {"value": text}}} for text in marker.begun_in_texts
    ]
    return comments_clause(query, marker.highlighting(field))


def comments_clause(query: Query, highlight: Body) -> Query:
    """The comments that match come with their post, and add nothing to its score."""
    inner_hits = {
        "name": COMMENTS,
        "size": scoring.COMMENTS,
        "_source": ["comments.oid", "comments.author", "comments.pub_date"],
        "highlight": highlight,
    }
    nested = {"path": "comments", "query": query, "score_mode": "none", "inner_hits": inner_hits}
    return {"nested": {**nested, "boost": 0}}


def scores_search(plan: Plan, ids: Sequence[str]) -> Body:
    """What each part of the query adds to the scores of these posts, by the names of the parts."""
    parts = [*quoted_clauses(plan), *words_clauses(plan, one_by_one=True), *whole_title(plan)]
    body: Body = {
        "query": bool_query(
            filter=[{"ids": {"values": list(ids)}}],
            should=[name_query(name, query) for name, query in parts],
        ),
        "size": len(ids),
        "track_total_hits": False,
        "_source": False,
    }
    is_last_rescored = plan.request.page * plan.request.size <= scoring.RESCORED
    if plan.request.sort == "relevance" and is_last_rescored:
        body |= _rescore([name_query(name, query) for name, query in best_clauses(plan)])
    return body


def _rescore(clauses: list[Query]) -> Body:
    rescore = {"rescore_query": bool_query(should=clauses), "score_mode": "total"}
    return {"rescore": {"window_size": scoring.RESCORED, "query": rescore}} if clauses else {}


def _match(plan: Plan, needed: int, *, similar: bool = False) -> Query:
    words = [phrase_in(scoring.QUOTED_FIELDS, text) for text in plan.query.quoted]
    words += has_terms(plan, needed, similar=similar)
    return bool_query(filter=[_limit_to_listed(bool_query(filter=words), plan)])


def _limit_to_listed(by_words: Query, plan: Plan) -> Query:
    """Those that match by their words or are pinned, without excluded words, and those whose title
    is the query, exclusions included; none that a rule of the blog hides."""
    allowed = any_of([by_words, *pinned_clauses(plan.pins)])
    if excluded := excluded_clauses(plan):
        allowed["bool"]["must_not"] = excluded
    listed = any_of([allowed, *[query for _, query in whole_title(plan)]])
    if operators := operator_filters(plan):
        listed["bool"]["filter"] = operators
    if hidden := hidden_clauses(plan):
        listed["bool"]["must_not"] = hidden
    return listed


# -- counts ----------------------------------------------------------------------------------------


_COUNTS = "counts"
"""The aggregation that counts the posts of each of several queries: one takes less time than one
for each of them."""


def _counts(plan: Plan) -> dict[str, Query]:
    """Queries for the posts that match: `ANY`, if `hits_search` does not count them; `ALL`, with
    every word, if that is not the same; `HAS + key`, with a term that was split."""
    number = len(plan.required)
    counted = {} if _is_counted(plan) else {ANY: _match(plan, plan.needed, similar=True)}
    # Posts that only have a similar word match, and do not have the word.
    least = 0 if any(term.similar for term in plan.required) else plan.needed
    if plan.pins.first:
        counted[ALL] = _match(replace(plan, pins=replace(plan.pins, first=())), number)
    elif least < number == len(plan.query.examined):
        counted[ALL] = _match(plan, number)
    for term in plan.required:
        if term.likeliest.kind == "split":
            counted[HAS + term.term.key] = has_term(term)
    chosen = post_filters(plan.request, plan.language)
    return {name: bool_query(filter=[query, *chosen]) for name, query in counted.items()}


def counts_searches(plan: Plan) -> list[Body]:
    """The search that counts what `hits_search` does not, if there is something."""
    counted = _counts(plan)
    return [_count_words(plan, counted)] if counted else []


def _count_words(plan: Plan, counted: dict[str, Query]) -> Body:
    of_each = COUNTED if plan.has_translations else {}
    counts = {_COUNTS: {"filters": {"filters": counted}, **of_each}}
    return {"size": 0, "track_total_hits": False, "aggs": counts}


def read_counts(*responses: Response) -> dict[str, int]:
    """What the responses to searches of hits and of counts say."""
    counts = {}
    for response in responses:
        if total := response["hits"].get("total"):
            counts[ANY] = total["value"]
        buckets = response.get("aggregations", {}).get(_COUNTS, {}).get("buckets", {})
        counts |= {name: number(bucket) for name, bucket in buckets.items()}
    return counts


# -- order, pages, and what another choice would find ----------------------------------------------

NEWEST = {"pub_date": {"order": "desc", "missing": "_last"}}

_CATEGORY_COUNTS: Body = {"terms": {"field": "categories", "size": 30}}
_YEAR_COUNTS: Body = {
    "date_histogram": {
        "field": "day",
        "calendar_interval": "year",
        "format": "yyyy",
        "min_doc_count": 1,
        "order": {"_key": "desc"},
    }
}


def facets_search(plan: Plan) -> Body:
    """The counts by category and year of the posts that match."""
    return {
        "size": 0,
        "track_total_hits": False,
        "query": _match(plan, plan.needed, similar=True),
        "aggs": facet_counts(plan.request, plan.language, translated=plan.has_translations),
    }


def page(request: SearchRequest) -> Body:
    """The part of a search that gives one page, in the order asked for."""
    part: Body = {"from": (request.page - 1) * request.size, "size": request.size}
    if request.sort == "newest":
        # Posts of one moment are ordered alike on every page and replica.
        part |= {"sort": [NEWEST, "_score", "oid"], "track_scores": True}
    return part


def facet_counts(request: SearchRequest, language: Language, *, translated: bool) -> Body:
    """Aggregations that count posts by category and by year.

    The filters on categories do not narrow the counts of categories, nor those on days the counts
    of years.
    """
    in_language, of_each = language_filter(request.lang, language), COUNTED if translated else {}
    return {
        "categories": _among(in_language + day_filters(request), _CATEGORY_COUNTS | of_each),
        "years": _among(in_language + category_filter(request), _YEAR_COUNTS | of_each),
    }


def _among(filters: list[Query], counted: Body) -> Body:
    among: Body = {"filter": filters} if filters else {}
    return {"filter": {"bool": among}, "aggs": {"counts": counted}}


def read_facets(response: Response) -> Facets:
    """What `facet_counts` has counted."""
    aggregations = response["aggregations"]
    return {
        "categories": _values(aggregations["categories"]),
        "years": _values(aggregations["years"]),
    }


def _values(counted: dict[str, Any]) -> list[Facet]:
    return [
        {"value": str(bucket.get("key_as_string", bucket["key"])), "count": number(bucket)}
        for bucket in counted["counts"]["buckets"]
    ]


# -- what the index knows of the terms -------------------------------------------------------------

_LOOKED_UP = 40
"""Terms, pieces of compound ones and neighbours as one: twelve words as people write them have
fewer."""
_CORRECTED, _OF_TWO_ERRORS = 80, 32
"""Letters of all words that the suggester gets, and of the first ones of them, which may have two
errors; further ones may have one, which takes a fifth of the time. Twelve words of a sentence have
fewer; those of twelve camelCase words took as long as 25 usual searches."""

_TERM = "term "
"""What the lookup counts besides: the posts of a term."""


def examined_words(plan: Plan) -> dict[str, tuple[QueryTerm, Word]]:
    """By the keys of terms: the terms to look up, and each as the word that it is in any query."""
    terms = examined_terms(plan)
    errors_of = _errors_of(terms)
    words = {}
    for term in terms:
        joined = "+" in term.key
        words[term.key] = (
            term,
            Word(term.text, joined, 0 if joined else errors_of.get(term.token, 0)),
        )
    return words


def lookup_search(plan: Plan, unknown: Iterable[tuple[QueryTerm, Word]]) -> Body:
    """Counts the posts of the plan and of each word, and asks for other spellings."""
    counted = _counts(plan)
    errors_of = {}
    for term, word in unknown:
        counted |= {f"{_TERM}{kind} {term.key}": query for kind, query in _count_term(term).items()}
        if word.errors:
            errors_of[term.token] = word.errors
    body = _count_words(plan, counted)
    if suggesters := _suggesters(errors_of):
        body["suggest"] = suggesters
    return body


def read_lookup(
    response: Response, unknown: Iterable[tuple[QueryTerm, Word]]
) -> dict[Word, WordFacts]:
    """What the response to `lookup_search` says of the words."""
    by_term: dict[str, dict[str, int]] = {}
    for name, posts in read_counts(response).items():
        if name.startswith(_TERM):
            kind, _, key = name.removeprefix(_TERM).partition(" ")
            by_term.setdefault(key, {})[kind] = posts
    entries = chain.from_iterable(response.get("suggest", {}).values())
    options = {
        entry["text"]: tuple(Option(intern(one["text"]), one["freq"]) for one in entry["options"])
        for entry in entries
    }
    return {
        word: WordFacts(TermStats(**by_term[term.key]), options.get(term.token, ()))
        for term, word in unknown
    }


def examined_terms(plan: Plan) -> list[QueryTerm]:
    """The terms to look up: the required ones, pieces of compound ones, neighbours as one."""
    terms = plan.query.examined
    pieces = [piece for term in terms for piece in (term, *apart(term, plan.language))]
    examined = [piece for piece in pieces if not piece.stop]
    examined += [
        join_terms(first, second, plan.language)
        for first, second in pairwise(terms)
        if first.joins(second)
    ]
    return examined[:_LOOKED_UP]


def _errors_of(terms: Sequence[QueryTerm]) -> dict[str, int]:
    """The words that the suggester gets, and how many errors each may have; one may be very
    long."""
    words = [term.token for term in terms if "+" not in term.key and term.correctable]
    tokens = dict.fromkeys(words)
    errors: dict[str, int] = {}
    has_long = False
    for token, letters in zip(tokens, accumulate(map(len, tokens)), strict=True):
        is_long = len(token) > scoring.LONG_IDENTIFIER
        if letters <= _CORRECTED and not (is_long and has_long):
            errors[token] = 2 if letters <= _OF_TWO_ERRORS and not is_long else 1
            has_long |= is_long
    return errors


def _suggesters(errors_of: Mapping[str, int]) -> Body:
    options = {
        "field": "spelling",
        "size": scoring.SUGGEST_SIZE,
        "max_inspections": scoring.SUGGEST_SIZE,
        # A word of more posts than this is taken as correct. Rare ones may be misspelled in a
        # post, and the first letter may be the wrong one.
        "suggest_mode": "always",
        "max_term_freq": scoring.RARE_POSTS,
        "prefix_length": 0,
        "min_word_length": 3,
    }
    suggesters: Body = {}
    for name, most in (("spelling", 2), ("spelling, one error", 1)):
        if text := " ".join([token for token, errors in errors_of.items() if errors == most]):
            suggesters[name] = {"text": text, "term": {**options, "max_edits": most}}
    return suggesters


def _count_term(term: QueryTerm) -> dict[str, Query]:
    if "+" in term.key:
        return {"words": {"term": {"spelling": {"value": term.token}}}}
    if len(term.pieces) > 1:
        return {"words": has_term(as_typed(term))}
    counted = {
        "words": match("spelling", term.text, operator="and", analyzer=SPELLING),
        "forms": match("all", term.text, operator="and"),
        "stems": match_in(scoring.IN_ANY_FORM, term.text, operator="and"),
        "titles": match("title.forms", term.text, operator="and", analyzer=WORDS),
    }
    if len(term.token) >= scoring.PREFIX_MIN and term.token.isalnum():
        counted["prefix"] = {"prefix": {"all": {"value": term.folded}}}
    return counted
