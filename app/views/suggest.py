"""`GET /suggest`: suggestions while a visitor types, from the cache if they can be."""

from functools import lru_cache

from flask import Blueprint, Response, g, request

from app.search.request import SuggestRequest
from app.views import current_service
from app.views.search import LOOKUP, cached_response, parameters_of, server_timing

PATH, ENDPOINT = "/suggest", "suggest.suggest"

blueprint = Blueprint("suggest", __name__)


@blueprint.get(PATH)
def suggest() -> Response:
    """Completed searches and titles for `q`; each leads to a post."""
    service = current_service()
    wanted, key = parse(request.query_string)
    answer = service.suggest(wanted, key, request.environ.get(LOOKUP))
    response = cached_response(answer, service.settings)
    response.headers["Server-Timing"] = server_timing(answer, g.started)
    return response


@lru_cache(maxsize=1024)
def parse(query_string: bytes) -> tuple[SuggestRequest, str]:
    """The parameters of a request for suggestions, parsed, and the key of their answer.

    Kept by the query string, as those of a search are.

    Raises:
        BadRequest: parameters are invalid.
        UnicodeDecodeError: the query string is not UTF-8.
    """
    wanted = SuggestRequest.parse(parameters_of(query_string))
    return wanted, wanted.key()
