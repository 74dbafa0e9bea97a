"""What the search page offers without a search: the newest posts, the categories, the years."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.cache import Computed
from app.elastic import translated
from app.search.render import plain
from app.service import Service

_KEY = "browse"  # the key of a search always has parameters, so no search has this one
_NEWEST = 5
_CATEGORIES = 30
_YEARS = 40


_SEARCH = {
    "query": {"term": {"kind": "post"}},
    "size": _NEWEST,
    "track_total_hits": False,
    "sort": [{"pub_date": {"order": "desc", "missing": "_last"}}],
    "_source": ["title", "url", "pub_date"],
    "aggs": {
        "categories": {"terms": {"field": "categories", "size": _CATEGORIES}},
        "years": {
            "date_histogram": {
                "field": "pub_date",
                "calendar_interval": "year",
                "format": "yyyy",
                "min_doc_count": 1,
                "order": {"_key": "desc"},
            }
        },
    },
}


@dataclass(frozen=True, slots=True)
class Browse:
    """`newest`: posts with title, url and pub_date. `categories`: the most frequent first.
    `years`: the last first."""

    newest: Sequence[Mapping[str, Any]] = ()
    categories: Sequence[str] = ()
    years: Sequence[str] = ()


def browse(service: Service) -> Browse:
    """The newest posts, the categories and the years, from the cache if they can be.

    Raises:
        Unavailable: Elasticsearch cannot answer, and no older answer is kept.
    """
    found = service.cache.get_or_compute(_KEY, lambda: _compute(service)).body
    return Browse(found["newest"], found["categories"], found["years"])


def _compute(service: Service) -> Computed:
    index, timeout = service.settings.index, service.settings.elasticsearch_timeout
    with translated():
        client = service.elastic.options(request_timeout=timeout)
        response = client.search(index=index, body=_SEARCH).body
    hits = response["hits"]["hits"]
    aggregations = response["aggregations"]
    body = {
        "newest": [{**hit["_source"], "title": plain(hit["_source"]["title"])} for hit in hits],
        "categories": [bucket["key"] for bucket in aggregations["categories"]["buckets"]],
        "years": [bucket["key_as_string"] for bucket in aggregations["years"]["buckets"]],
    }
    return Computed(body=body, index=hits[0]["_index"] if hits else "", found=bool(hits))
