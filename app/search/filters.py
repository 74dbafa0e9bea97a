"""What every strategy shares: the filters and the order a visitor chose, the page."""

from typing import Any

from analyzers.languages import Language
from app.search.request import SearchRequest

Json = dict[str, Any]

NEWEST = {"pub_date": {"order": "desc", "missing": "_last"}}
"""Newest first; posts without a date last."""


def post_filters(request: SearchRequest, language: Language) -> list[Json]:
    """Filters on posts: categories (any of them), language, days (both included) and years.

    Args:
        language: that of the index.
    """
    chosen = language_filter(request.lang, language)
    return category_filter(request) + chosen + day_filter(request)


def category_filter(request: SearchRequest) -> list[Json]:
    """A filter on the categories of posts (any of them), none if the request names none."""
    return [{"terms": {"categories": list(request.categories)}}] if request.categories else []


def day_filter(request: SearchRequest) -> list[Json]:
    """Filters on the days of posts (both included) and on their years (any of them)."""
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
