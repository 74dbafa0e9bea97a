"""What every strategy shares: the filters and the order a visitor chose, the page, the marks."""

from typing import Any

from analyzers.languages import Language
from app.search.request import SearchRequest
from app.search.scoring import FRAGMENT_SIZE, FRAGMENTS, MAX_ANALYZED_OFFSET
from app.search.snippets import MARK, UNMARK

Json = dict[str, Any]

NEWEST = {"pub_date": {"order": "desc", "missing": "_last"}}
"""Newest first; posts without a date last."""


def post_filters(request: SearchRequest, language: Language) -> list[Json]:
    """Filters on posts: categories (any of them), language and days (both included).

    Args:
        language: that of the index.
    """
    chosen = language_filter(request.lang, language)
    return category_filter(request) + chosen + day_filter(request)


def category_filter(request: SearchRequest) -> list[Json]:
    """A filter on the categories of posts (any of them), none if the request names none."""
    return [{"terms": {"categories": list(request.categories)}}] if request.categories else []


def day_filter(request: SearchRequest) -> list[Json]:
    """A filter on the days of posts (both included), none if the request names none."""
    days: dict[str, str] = {}
    if request.since:
        days["gte"] = request.since.isoformat()
    if request.until:
        # ||/d rounds a day up to its last millisecond.
        days["lte"] = f"{request.until.isoformat()}||/d"
    return [{"range": {"pub_date": days}}] if days else []


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
    """The part of a search that gives one page, in the order asked for, with an exact count."""
    found: Json = {
        "from": (request.page - 1) * request.size,
        "size": request.size,
        "track_total_hits": True,
        # Equal scores are ordered alike on every page and replica.
        "sort": ["_score", "oid"],
    }
    if request.sort == "newest":
        found |= {"sort": [NEWEST, "_score", "oid"], "track_scores": True}
    return found


def highlight_fields(*names: str, **query: Any) -> dict[str, Any]:
    """The `highlight` part of a search: title, text and code whole, the others in fragments.

    `app.search.snippets` cuts the text and the code. The highlighter would look for the sentences
    of a whole text to find two, which took half of the time of a search.
    """
    of_field: dict[str, dict[str, Any]] = {
        "title": {"number_of_fragments": 0},
        "text": {"number_of_fragments": 0, "no_match_size": FRAGMENT_SIZE},
        "code": {"number_of_fragments": 0},
        # Only whether a comment matches is of interest.
        "comments": {"number_of_fragments": 1, "fragment_size": 20},
    }
    fields = {name: of_field.get(name.partition(".")[0], {}) for name in names}
    return {
        "type": "unified",
        "pre_tags": [MARK],
        "post_tags": [UNMARK],
        "fragment_size": FRAGMENT_SIZE,
        "number_of_fragments": FRAGMENTS,
        "order": "score",
        "max_analyzed_offset": MAX_ANALYZED_OFFSET,
        "fields": fields,
        **query,
    }
