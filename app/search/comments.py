"""The comments that match, shown with their post. Pure but for `found`."""

from collections.abc import Mapping, Sequence
from typing import Any

from app.search import scoring
from app.search.highlighting import has_prefix, highlight_fields, highlight_queries
from app.search.query_builder import PlanInput
from app.search.render import highlights
from app.search.session import SearchSession

Json = dict[str, Any]


def found(
    session: SearchSession, plan: PlanInput, hits: Sequence[Json]
) -> Mapping[str, Sequence[Json]]:
    """The best comments of each post that has a term in a comment, by the oid of the post.

    No request is sent if no hit has one.
    """
    posts = [hit["_source"]["oid"] for hit in hits if "comments" in highlights(hit)]
    if not posts:
        return {}
    response = session.send("comments", comments_search(plan, posts))[0]
    return {
        hit["fields"]["post_oid"][0]: hit["inner_hits"]["comments"]["hits"]["hits"]
        for hit in response["hits"]["hits"]
    }


def comments_search(plan: PlanInput, posts: Sequence[str]) -> Json:
    """The comments of these posts that have a term, grouped by post."""
    matching = highlight_queries(plan.terms, plan.query.quoted, ["comment"])["comment"]
    inner_hits = {
        "name": "comments",
        "size": scoring.COMMENTS,
        "_source": ["oid", "author", "pub_date"],
        "highlight": highlight_fields("comment", prefixes=has_prefix(plan.terms)),
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
