"""`GET /suggest`: suggestions while a visitor types, from the cache if they can be."""

from functools import lru_cache

from flask import Blueprint, Response, request

from app.clients import limited_client
from app.search.request import SuggestRequest
from app.views import current_service
from app.views.search import cached_response, parameters_of

blueprint = Blueprint("suggest", __name__)


@blueprint.get("/suggest")
def suggest() -> Response:
    """Completed searches and titles for `q`; each leads to a post."""
    service = current_service()
    answer = service.suggest(parse(request.query_string), limited_client())
    return cached_response(answer, service.settings)


@lru_cache(maxsize=1024)
def parse(query_string: bytes) -> SuggestRequest:
    """The parameters of a request for suggestions; popular ones come again and again.

    Raises:
        BadRequest: parameters are invalid.
        UnicodeDecodeError: the query string is not UTF-8.
    """
    return SuggestRequest.parse(parameters_of(query_string))
