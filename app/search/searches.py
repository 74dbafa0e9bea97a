"""Builds the bodies of searches from clauses; `app.search.found` reads the responses. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from analyzers.chains import SPELLING, WORDS
from analyzers.languages import Language
from app.search import scoring
from app.search.clauses import (
    COMMENTS,
    PHRASE,
    Query,
    any_of,
    best_clauses,
    bool_query,
    category_filter,
    day_filters,
    excluded_clauses,
    has_name,
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
    under_filter,
    whole_title,
    words_clauses,
)
from app.search.plan import ALL, ANY, Plan
from app.search.query_parser import QueryTerm
from app.search.render import Marker
from app.search.request import SearchRequest
from app.search.session import Body
from app.search.spelling import Word, interpret_as_typed

KEY: Final = "translation_key"
COLLAPSED: Body = {"collapse": {"field": KEY}}
"""The part of a search that keeps one hit of each set of translations: the best, or the first."""
COUNTED: Body = {"aggs": {"posts": {"cardinality": {"field": KEY}}}}
"""The part of an aggregation that counts all translations of a post once; read by `found`."""

_SOURCE = [
    *("oid", "title", "url", "pub_date", "categories", "language", "image", "announced"),
    *(f"headings.{name}" for name in ("line", "code_line", "level", "id")),
]


# -- posts -----------------------------------------------------------------------------------------


def hits_search(plan: Plan) -> Body:
    """Return the search for one page of matching posts, with highlights."""
    by_relevance, marker = plan.request.sort == "relevance", Marker.of(plan)
    should = [query for _, query in words_clauses(plan)]
    # Without words every post matches.
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
    """Whether the search for hits also counts them. In an order by date that would have to visit
    all hits, a large page is requested later, and translations count as one post."""
    by_relevance = plan.request.sort == "relevance"
    return by_relevance and not (plan.is_large or plan.has_translations)


def _comments(marker: Marker) -> Query:
    """Return the matching comments with their post, without a score."""
    field = "comments.comment"
    query = marker.query(field)
    query["bool"]["should"] += [
        {"prefix": {f"{field}.forms": {"value": text}}} for text in marker.begun_in_texts
    ]
    return comments_clause(query, marker.highlighting(field))


def comments_clause(query: Query, highlight: Body) -> Query:
    """Return the comments that match `query` as inner hits of their post, without a score."""
    inner_hits = {
        "name": COMMENTS,
        "size": scoring.COMMENTS,
        "_source": ["comments.oid", "comments.author", "comments.pub_date"],
        "highlight": highlight,
    }
    nested = {"path": "comments", "query": query, "score_mode": "none", "inner_hits": inner_hits}
    return {"nested": {**nested, "boost": 0}}


def scores_search(plan: Plan, ids: Sequence[str]) -> Body:
    """Return the search that scores these posts by each named part of the query."""
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


def _matching_posts(plan: Plan, needed: int, *, similar: bool = False) -> Query:
    """Match the posts of a plan, without scores."""
    words = [phrase_in(scoring.QUOTED_FIELDS, text) for text in plan.query.quoted]
    words += has_terms(plan, needed, similar=similar)
    return bool_query(filter=[_limit_to_listed(bool_query(filter=words), plan)])


def _limit_to_listed(by_words: Query, plan: Plan) -> Query:
    """Match posts that match `by_words` or are pinned, without excluded words, and posts whose
    title is the query, exclusions included; no post that a pin rule hides."""
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


COUNTS = "counts"
"""The aggregation that counts posts for several queries: faster than one for each query."""


def _counts(plan: Plan) -> dict[str, Query]:
    """Return named queries to count: `ANY`, all matching posts, if `hits_search` does not count
    them; `ALL`, those with every word, if that may differ; `has_name`, those with a split term."""
    number = len(plan.required)
    counted = {} if _is_counted(plan) else {ANY: _matching_posts(plan, plan.needed, similar=True)}
    # Posts that only have a similar word match, but do not have the word.
    least = 0 if any(term.similar for term in plan.required) else plan.needed
    if plan.pins.first:
        counted[ALL] = _matching_posts(replace(plan, pins=replace(plan.pins, first=())), number)
    elif least < number == len(plan.query.examined):
        counted[ALL] = _matching_posts(plan, number)
    for term in plan.required:
        if term.likeliest.is_split:
            counted[has_name(term.typed)] = has_term(term)
    chosen = post_filters(plan.request, plan.language)
    return {name: bool_query(filter=[query, *chosen]) for name, query in counted.items()}


def counts_searches(plan: Plan) -> list[Body]:
    """Return the search that counts what `hits_search` does not, if there is anything to count."""
    counted = _counts(plan)
    return [_count_words(plan, counted)] if counted else []


def _count_words(plan: Plan, counted: dict[str, Query]) -> Body:
    of_each = COUNTED if plan.has_translations else {}
    counts = {COUNTS: {"filters": {"filters": counted}, **of_each}}
    return {"size": 0, "track_total_hits": False, "aggs": counts}


# -- order, pages and facets -----------------------------------------------------------------------

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
    """Return the search that counts matching posts by category and year."""
    return {
        "size": 0,
        "track_total_hits": False,
        "query": _matching_posts(plan, plan.needed, similar=True),
        "aggs": facet_counts(plan.request, plan.language, translated=plan.has_translations),
    }


def page(request: SearchRequest) -> Body:
    """Return the part of a search for one page in the requested order."""
    part: Body = {"from": (request.page - 1) * request.size, "size": request.size}
    if request.sort == "newest":
        # Posts of the same time have the same order on every page and replica.
        part |= {"sort": [NEWEST, "_score", "oid"], "track_scores": True}
    return part


def facet_counts(request: SearchRequest, language: Language, *, translated: bool) -> Body:
    """Return aggregations that count posts by category and by year.

    Filters on categories do not apply to the counts of categories, nor filters on days to the
    counts of years.
    """
    chosen = language_filter(request.lang, language) + under_filter(request.under)
    of_each = COUNTED if translated else {}
    return {
        "categories": _among(chosen + day_filters(request), _CATEGORY_COUNTS | of_each),
        "years": _among(chosen + category_filter(request), _YEAR_COUNTS | of_each),
    }


def _among(filters: list[Query], counted: Body) -> Body:
    among: Body = {"filter": filters} if filters else {}
    return {"filter": {"bool": among}, "aggs": {"counts": counted}}


# -- the lookup of terms ---------------------------------------------------------------------------


def count_name(kind: str, term: QueryTerm) -> str:
    """Return the name of a count of posts with a term; `kind` is a field of `TermStats`."""
    return f"term {kind} {term.key}"


def lookup_search(plan: Plan, unknown: Iterable[tuple[QueryTerm, Word]]) -> Body:
    """Return the search that counts the posts of the plan and of each word, and suggests other
    spellings."""
    counted = _counts(plan)
    errors_of = {}
    for term, word in unknown:
        counted |= {count_name(kind, term): query for kind, query in _count_term(term).items()}
        if word.errors:
            errors_of[term.token] = word.errors
    body = _count_words(plan, counted)
    if suggesters := _suggesters(errors_of):
        body["suggest"] = suggesters
    return body


def _suggesters(errors_of: Mapping[str, int]) -> Body:
    options = {
        "field": "spelling",
        "size": scoring.SUGGEST_SIZE,
        "max_inspections": scoring.SUGGEST_SIZE,
        # Words in more posts than `max_term_freq` are taken as correct. Rarer ones may be errors in
        # a post, and the first letter may be wrong, too.
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
    """Return the queries to count posts by, named by the fields of `TermStats`."""
    if term.is_joined:
        return {"stems": match_in(scoring.IN_ANY_FORM, term.token, operator="and")}
    if len(term.pieces) > 1:
        return {"words": has_term(interpret_as_typed(term))}
    counted = {
        "words": match("spelling", term.text, operator="and", analyzer=SPELLING),
        "forms": match("all", term.text, operator="and"),
        "stems": match_in(scoring.IN_ANY_FORM, term.text, operator="and"),
        "titles": match("title.forms", term.text, operator="and", analyzer=WORDS),
    }
    if len(term.token) >= scoring.PREFIX_MIN and term.token.isalnum():
        counted["prefix"] = {"prefix": {"all": {"value": term.folded}}}
    return counted
