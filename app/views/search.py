"""`GET /search`: the answer as JSON, from the cache where it may be."""

import time
from typing import Any

from flask import Blueprint, Response, jsonify, request

from app.cache import http
from app.cache.through import searched
from app.search import Answer
from app.search.request import SearchRequest
from app.service import Service, current_service

blueprint = Blueprint("search", __name__)


@blueprint.get("/search")
def search() -> Response:
    """Answer `q`; with `debug-search`, computed anew and with how it came about."""
    started = time.perf_counter()
    service = current_service()
    wanted = SearchRequest.parse(request.args)
    response = _explained(service, wanted) if wanted.debug else _plain(service, wanted)
    total = (time.perf_counter() - started) * 1000
    cache = response.headers["X-Cache"].lower()
    response.headers["Server-Timing"] = f'cache;desc="{cache}", total;dur={total:.1f}'
    return response


def _plain(service: Service, wanted: SearchRequest) -> Response:
    cached = searched(service.cache, service.elastic, service.settings, wanted)
    if wanted.page == 1:
        service.cache.record(wanted.key())
    settings = service.settings
    reply = http.reply(
        cached, request.headers, settings.cache_max_age, int(settings.cache_stale_ttl)
    )
    return Response(reply.body, reply.status, dict(reply.headers))


def _explained(service: Service, wanted: SearchRequest) -> Response:
    """Computed anew, because a kept answer would explain a search of some minutes ago."""
    debug: dict[str, Any] = {}

    def explain(answer: Answer) -> None:
        debug.update(answer.debug)

    cached = searched(
        service.cache, service.elastic, service.settings, wanted, anew=True, each=explain
    )
    response = jsonify({**cached.body, "debug": {**debug, "cache": cached.state.lower()}})
    response.headers["X-Cache"] = cached.state
    response.headers["Cache-Control"] = "no-store"
    return response
