"""The search page's content without a search: the newest posts, counts by category and year."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from flask import request

from app.cache import Computed
from app.search.answer import SHAPE, BrowseAnswer, Facets
from app.search.clauses import bool_query, post_filters
from app.search.found import read_facets
from app.search.render import plain
from app.search.request import SearchRequest
from app.search.searches import COLLAPSED, NEWEST, facet_counts
from app.search.session import Body, SearchSession
from app.search.translations import with_translations
from app.service import Service
from app.views.search import in_visitors_language

_NEWEST = 5
_NEWEST_CHOSEN = 20  # posts of a category or of some days

EVERYTHING = SearchRequest("")


@dataclass(frozen=True, slots=True)
class Browse:
    """The newest posts, with title, url, pub_date and language, and the counts.

    Posts without a date are included only if filters were chosen.
    """

    newest: Sequence[Mapping[str, Any]] = ()
    facets: Facets | None = None


def browse(service: Service, filters: SearchRequest = EVERYTHING) -> Browse:
    """Return the newest posts that pass the filters and the counts, from the cache if possible.

    Raises:
        Unavailable: Elasticsearch cannot answer, and no older answer is kept.
    """
    filters = in_visitors_language(filters, request, service)
    # The key of a search begins with its query, so that no search can have this key.
    key = f"{SHAPE} browse&{urlencode([*filters.parameters(), ('prefer', filters.prefer)])}"
    answer = service.get_or_compute(key, lambda session: _compute(session, filters)).body
    return Browse(answer["newest"], answer["facets"])


def _compute(session: SearchSession, filters: SearchRequest) -> Computed:
    language, translated = session.view.language, session.view.has_translations
    chosen = post_filters(filters, language)
    body: Body = {
        "query": {"match_all": {}},
        # For the hits only: each count has its own filters.
        "post_filter": bool_query(filter=chosen),
        "size": _NEWEST_CHOSEN if chosen else _NEWEST,
        "track_total_hits": False,
        "sort": [NEWEST],
        "_source": ["title", "url", "pub_date", "language"],
        "aggs": facet_counts(filters, language, translated=translated),
        **(COLLAPSED if translated else {}),
    }
    (response,) = session.send("browse", body)
    hits = response["hits"]["hits"]
    if translated:
        hits = with_translations(session, body, hits, filters.prefer)
    posts: list[Any] = [hit["_source"] for hit in hits]
    posts = [post for post in posts if chosen or post.get("pub_date")]
    answer: BrowseAnswer = {
        "newest": [post | {"title": plain(post["title"])} for post in posts],
        "facets": read_facets(response),
    }
    # Filters have too many combinations to keep all answers for a day.
    return Computed(
        body=answer,
        has_hits=response["hits"]["hits"] != [],
        keep_stale=replace(filters, prefer="") == EVERYTHING,
    )
