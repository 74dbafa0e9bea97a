"""`GET /search`: the answer as JSON, from the cache where it may be."""

import time

from flask import Blueprint, Response, request

from app.cache import Cached, Computed
from app.elastic import translated
from app.search import Answer
from app.search import search as run_search
from app.search.request import SearchRequest
from app.service import Service, current_service

blueprint = Blueprint("search", __name__)


def cached_answer(service: Service, wanted: SearchRequest) -> Cached:
    """The finished answer to a request, computed only when the cache has none.

    Raises:
        Unavailable: Elasticsearch cannot answer and no older answer was kept.
    """

    def compute() -> Computed:
        answer = _ask(service, wanted)
        return Computed(body=answer.body, index=answer.index, found=bool(answer.body["count"]))

    return service.cache.get_or_compute(wanted.key(), compute)


def _ask(service: Service, wanted: SearchRequest) -> Answer:
    with translated():
        return run_search(service.elastic, service.settings.index, wanted, service.settings)


@blueprint.get("/search")
def search() -> Response:
    """Answer `q`; with `debug-search`, computed anew and with how it came about."""
    started = time.perf_counter()
    service = current_service()
    wanted = SearchRequest.parse(request.args)
    response = _debugged(service, wanted) if wanted.debug else _plain(service, wanted)
    total = (time.perf_counter() - started) * 1000
    timing = f"total;dur={total:.1f}"
    response.headers.add("Server-Timing", timing)
    return response
