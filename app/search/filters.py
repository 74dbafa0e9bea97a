"""What every strategy shares: the filters and the order a visitor chose, the page, the marks."""

from typing import Any

from elasticsearch.dsl import Q, Search
from elasticsearch.dsl.query import Query

from app.search.relevance import FRAGMENT_SIZE, FRAGMENTS, MAX_ANALYZED_OFFSET
from app.search.render import MARK, UNMARK
from app.search.request import SearchRequest

NEWEST = {"pub_date": {"order": "desc", "missing": "_last"}}
"""Newest first; posts without a date last."""


def post_filters(request: SearchRequest) -> list[Query]:
    """Filters on posts: categories (any of them) and days (both ends included)."""
    chosen: list[Query] = []
    if request.categories:
        chosen.append(Q("terms", categories=list(request.categories)))
    days: dict[str, str] = {}
    if request.since:
        days["gte"] = request.since.isoformat()
    if request.until:
        # ||/d rounds a day up to its last millisecond.
        days["lte"] = f"{request.until.isoformat()}||/d"
    if days:
        chosen.append(Q("range", pub_date=days))
    return chosen


def page(search: Search, request: SearchRequest) -> Search:
    """One page of the answer, in the order asked for, with an exact count."""
    search = search.extra(
        from_=(request.page - 1) * request.size, size=request.size, track_total_hits=True
    )
    if request.sort == "newest":
        return search.sort(NEWEST, "_score").extra(track_scores=True)
    return search


def highlight_fields(*names: str, exact: bool = False, **query: Any) -> dict[str, Any]:
    """Marks for the fields named; the title whole, the others in fragments.

    With `exact`, what matches the unstemmed twins is marked too; that costs another analysis of
    every text shown.
    """
    fields: dict[str, Any] = {name: {} for name in names}
    for name in names:
        if name == "code":
            fields[name]["matched_fields"] = ["code.forms"]
        elif exact:
            fields[name]["matched_fields"] = [name, f"{name}.words"]
    if "title" in fields:
        fields["title"]["number_of_fragments"] = 0
    if "text" in fields:
        fields["text"]["no_match_size"] = FRAGMENT_SIZE
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
