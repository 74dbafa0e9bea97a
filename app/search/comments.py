"""The comments that match, shown with their post. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from app.search import scoring
from app.search.highlighting import highlight_queries, highlighting
from app.search.query_builder import IN_COMMENT, Plan, begin_in

Json = dict[str, Any]


def commented(hits: Sequence[Json]) -> list[str]:
    """The oids of the posts that have a term in a comment."""
    fields = ("comments", "comments.words")
    return [
        hit["_source"]["oid"]
        for hit in hits
        if any(field in hit.get("highlight", {}) for field in fields)
        or IN_COMMENT in hit.get("matched_queries", ())
    ]


def read_comments(response: Json) -> Mapping[str, Sequence[Json]]:
    """The comments of a response to `comments_search`, by the oid of their post."""
    return {
        hit["fields"]["post_oid"][0]: hit["inner_hits"]["comments"]["hits"]["hits"]
        for hit in response["hits"]["hits"]
    }


def comments_search(plan: Plan, posts: Sequence[str]) -> Json:
    """The comments of these posts that have a term, grouped by post."""
    matching = highlight_queries(plan.terms, plan.query.quoted, ["comment"])["comment"]
    matching["bool"]["should"] += begin_in("comment.words", plan.terms)
    inner_hits = {
        "name": "comments",
        "size": scoring.COMMENTS,
        "_source": ["oid", "author", "pub_date"],
        "highlight": highlighting(plan.terms, plan.query.quoted, ["comment"]),
    }
    return {
        "query": {
            "bool": {
                "must": [matching],
                "filter": [{"terms": {"post_oid": list(posts)}}],
            }
        },
        "collapse": {"field": "post_oid", "inner_hits": inner_hits},
        "_source": False,
        "size": len(posts),
        "track_total_hits": False,
    }
