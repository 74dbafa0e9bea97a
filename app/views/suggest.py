"""`GET /suggest`: suggestions while a visitor types, from the cache if they can be."""

from flask import Blueprint, Response, request

from app.search.request import SuggestRequest
from app.views import current_service
from app.views.search import cached_response

blueprint = Blueprint("suggest", __name__)


@blueprint.get("/suggest")
def suggest() -> Response:
    """Completed searches and titles for `q`; each leads to a post."""
    service = current_service()
    answer = service.suggest(SuggestRequest.parse(request.args))
    return cached_response(answer, service.settings)
