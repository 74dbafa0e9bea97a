"""What every strategy shares: the filters and the order a visitor chose, the page, the marks."""

from typing import Any

from elasticsearch.dsl import Q, Search
from elasticsearch.dsl.query import Query

from app.search.render import MARK, UNMARK
from app.search.request import SearchRequest
from app.search.scoring import FRAGMENT_SIZE, FRAGMENTS, MAX_ANALYZED_OFFSET

NEWEST = {"pub_date": {"order": "desc", "missing": "_last"}}
"""Newest first; posts without a date last."""


def post_filters(request: SearchRequest) -> list[Query]:
    """Filters on posts: categories (any of them), language and days (both included)."""
    chosen: list[Query] = []
    if request.categories:
        chosen.append(Q("terms", categories=list(request.categories)))
    chosen += language_filter(request.lang)
    days: dict[str, str] = {}
    if request.since:
        days["gte"] = request.since.isoformat()
    if request.until:
        # ||/d rounds a day up to its last millisecond.
        days["lte"] = f"{request.until.isoformat()}||/d"
    if days:
        chosen.append(Q("range", pub_date=days))
    return chosen


def language_filter(lang: str) -> list[Query]:
    """A filter on the language of posts, none for ""; `pt` finds `pt-br` too."""
    return [Q("term", language=lang) | Q("prefix", language=f"{lang}-")] if lang else []


def page(search: Search, request: SearchRequest) -> Search:
    """One page of the answer, in the order asked for, with an exact count."""
    search = search.extra(
        from_=(request.page - 1) * request.size, size=request.size, track_total_hits=True
    )
    if request.sort == "newest":
        return search.sort(NEWEST, "_score", "oid").extra(track_scores=True)
    # Equal scores are ordered alike on every page and replica.
    return search.sort("_score", "oid")


def highlight_fields(*names: str, **query: Any) -> dict[str, Any]:
    """The `highlight` part of a search: the title whole, the other fields in fragments."""
    of_field: dict[str, dict[str, Any]] = {
        "title": {"number_of_fragments": 0},
        "text": {"no_match_size": FRAGMENT_SIZE},
        # Only whether a comment matches is of interest.
        "comments": {"number_of_fragments": 1, "fragment_size": 20},
    }
    fields = {name: of_field.get(name.removesuffix(".words"), {}) for name in names}
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
