"""How many of the posts that match are in each category and from each year. Pure.

The filters on categories do not narrow the counts of categories, nor those on days the counts of
years: the counts tell what another choice would find.
"""

from typing import Any

from analyzers.languages import Language
from app.search.answer import Facet, Facets
from app.search.clauses import bool_query
from app.search.filters import category_filter, day_filter, language_filter
from app.search.plan import Plan
from app.search.request import SearchRequest
from app.search.searches import matching

Json = dict[str, Any]

_CATEGORY_COUNTS: Json = {"terms": {"field": "categories", "size": 30}}
_YEAR_COUNTS: Json = {
    "date_histogram": {
        "field": "day",
        "calendar_interval": "year",
        "format": "yyyy",
        "min_doc_count": 1,
        "order": {"_key": "desc"},
    }
}


def facets_search(plan: Plan, needed: int) -> Json:
    """The counts for the posts that have so many of the words, without scores and hits."""
    return {
        "size": 0,
        "track_total_hits": False,
        "query": matching(plan, needed),
        "aggs": counts(plan.request, plan.language),
    }


def counts(request: SearchRequest, language: Language) -> Json:
    """The aggregations that count by category and by year; `language` is that of the index."""
    in_language = language_filter(request.lang, language)
    return {
        "categories": _among(in_language + day_filter(request), _CATEGORY_COUNTS),
        "years": _among(in_language + category_filter(request), _YEAR_COUNTS),
    }


def _among(filters: list[Json], counted: Json) -> Json:
    return {"filter": bool_query(filter=filters), "aggs": {"counts": counted}}


def read_facets(response: Json) -> Facets:
    """The counts of a response to `facets_search`."""
    aggregations = response["aggregations"]
    return {
        "categories": _values(aggregations["categories"]),
        "years": _values(aggregations["years"]),
    }


def _values(counted: Json) -> list[Facet]:
    return [
        {"value": str(bucket.get("key_as_string", bucket["key"])), "count": bucket["doc_count"]}
        for bucket in counted["counts"]["buckets"]
    ]
