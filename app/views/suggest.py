"""`GET /suggest`: suggestions while a visitor types, from the cache if they can be."""

import time

from flask import Blueprint, Response, request

from app.search.request import SuggestRequest
from app.views import current_service
from app.views.search import cached_response, server_timing

blueprint = Blueprint("suggest", __name__)


@blueprint.get("/suggest")
def suggest() -> Response:
    """Completed searches and titles for `q`; each leads to a post."""
    started = time.perf_counter()
    service = current_service()
    answer = service.suggest(SuggestRequest.parse(request.args))
    response = cached_response(answer, service.settings)
    response.headers["Server-Timing"] = server_timing(answer, started)
    return response
