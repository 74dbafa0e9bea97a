"""What a visitor chose beside the words: filters, order and page, and what another choice would
find. Pure."""

from typing import Any

from analyzers.languages import Language
from app.search.answer import Facet, Facets
from app.search.request import SearchRequest

Json = dict[str, Any]

NEWEST = {"pub_date": {"order": "desc", "missing": "_last"}}

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


def post_filters(request: SearchRequest, language: Language) -> list[Json]:
    """Filters on posts: categories (any of them), language, days (both included) and years.

    Args:
        language: that of the index.
    """
    chosen = language_filter(request.lang, language)
    return _category_filter(request) + chosen + _day_filters(request)


def _category_filter(request: SearchRequest) -> list[Json]:
    return [{"terms": {"categories": list(request.categories)}}] if request.categories else []


def _day_filters(request: SearchRequest) -> list[Json]:
    days: dict[str, str] = {}
    if request.since:
        days["gte"] = request.since.isoformat()
    if request.until:
        days["lte"] = request.until.isoformat()
    filters: list[Json] = [{"range": {"day": days}}] if days else []
    if request.years:
        years: list[Json] = [
            {"range": {"day": {"gte": f"{year}-01-01", "lte": f"{year}-12-31"}}}
            for year in request.years
        ]
        filters.append({"bool": {"should": years}})
    return filters


def language_filter(lang: str, language: Language) -> list[Json]:
    """A filter on the language of posts, none for ""; `pt` finds `pt-br` too.

    A post that names no language is in `language`, that of the index.
    """
    if not lang:
        return []
    clauses: list[Json] = [{"term": {"language": lang}}, {"prefix": {"language": f"{lang}-"}}]
    if lang == language.code:
        clauses.append({"bool": {"must_not": {"exists": {"field": "language"}}}})
    return [{"bool": {"should": clauses}}]


def page(request: SearchRequest) -> Json:
    """The part of a search that gives one page, in the order asked for."""
    part: Json = {"from": (request.page - 1) * request.size, "size": request.size}
    if request.sort == "newest":
        # Posts of one moment are ordered alike on every page and replica.
        part |= {"sort": [NEWEST, "_score", "oid"], "track_scores": True}
    return part


def facet_counts(request: SearchRequest, language: Language) -> Json:
    """Aggregations that count posts by category and by year.

    The filters on categories do not narrow the counts of categories, nor those on days the counts
    of years.
    """
    in_language = language_filter(request.lang, language)
    return {
        "categories": _among(in_language + _day_filters(request), _CATEGORY_COUNTS),
        "years": _among(in_language + _category_filter(request), _YEAR_COUNTS),
    }


def _among(filters: list[Json], counted: Json) -> Json:
    among: Json = {"filter": filters} if filters else {}
    return {"filter": {"bool": among}, "aggs": {"counts": counted}}


def read_facets(response: Json) -> Facets:
    """What `facet_counts` has counted."""
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
