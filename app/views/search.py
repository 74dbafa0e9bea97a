"""`GET /search`, `/suggest` and `/similar`: answers as JSON, from the cache if they can be."""

import time
from dataclasses import replace
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl

from flask import Blueprint, Response, g, request
from werkzeug.datastructures import MultiDict

from app.cache import CachedAnswer
from app.http.access import READING, access, check_token, counted_clients
from app.search.request import SearchRequest, SuggestRequest
from app.search.similar import SimilarRequest
from app.search.view import preferred_language, primary_languages
from app.service import Service
from app.views import base_url, counted_visitor, current_service
from app.views.markdown import answer_markdown

MARKDOWN = "text/markdown"

blueprint = Blueprint("search", __name__)
suggestions = Blueprint("suggest", __name__)


@blueprint.get("/search")
@access("searches", in_lookup=True, origins=READING)
def search() -> Response:
    """Answer `q`; with `debug-search`, with an explanation."""
    service = current_service()
    wanted = _parse_search(request.query_string)
    if depends := depends_on_language(wanted, service):
        wanted = in_visitors_language(wanted)
    if wanted.debug:
        authorize_debug(service)
    answer = service.answer(wanted, counted_visitor(), counted_clients())
    markdown = not wanted.debug and prefers_markdown("application/json")
    response = markdown_response(answer) if markdown else cached_response(answer)
    response.vary.add("Accept")
    if depends:
        response.vary.add("Accept-Language")
    return response


@suggestions.get("/suggest")
@access("suggestions", in_lookup=True, origins=READING)
def suggest() -> Response:
    """Completed searches and titles for `q`; each leads to a post."""
    wanted = _parse_suggest(request.query_string)
    return cached_response(current_service().suggest(wanted, counted_clients()))


@suggestions.get("/similar")
@access("suggestions", in_lookup=True, origins=READING)
def similar() -> Response:
    """Posts like the one at `url`, or with `oid`; posts with the words of an unknown address."""
    wanted = SimilarRequest.parse(request.args)
    return cached_response(current_service().similar(wanted, counted_clients()))


def authorize_debug(service: Service) -> None:
    """Check that the current request may use `debug-search`; raises as `check_token` does."""
    if service.settings.debug_search == "token":
        check_token("debugger", service)


# Popular searches come again and again.
@lru_cache(maxsize=1024)
def _parse_search(query_string: bytes) -> SearchRequest:
    return SearchRequest.parse(_parameters(query_string))


@lru_cache(maxsize=1024)
def _parse_suggest(query_string: bytes) -> SuggestRequest:
    return SuggestRequest.parse(_parameters(query_string))


def _parameters(query_string: bytes) -> MultiDict[str, str]:
    """The parameters as werkzeug has them in `request.args`.

    Raises:
        UnicodeDecodeError: the query string is not UTF-8.
    """
    pairs = parse_qsl(query_string.decode(), keep_blank_values=True, errors="werkzeug.url_quote")
    return MultiDict(pairs)


def depends_on_language(wanted: SearchRequest, service: Service) -> bool:
    """Whether the answer depends on the visitor's language: posts are in several."""
    return not wanted.lang and len(primary_languages(service.watch.languages)) > 1


def in_visitors_language(wanted: SearchRequest) -> SearchRequest:
    """The search with a preference for posts in a language that the browser accepts."""
    languages = current_service().watch.languages
    return replace(wanted, prefer=preferred_language(languages, request.accept_languages))


def prefers_markdown(other: str) -> bool:
    """Whether the client wants Markdown rather than `other`: by q-values, then by what it names,
    then by the order."""
    sent = request.headers.get("Accept", "").lower()

    def rank(name: str) -> tuple[float, bool, int]:
        at = sent.find(name)
        return request.accept_mimetypes.quality(name), at >= 0, -at

    return "markdown" in sent and rank(MARKDOWN) > rank(other)


def markdown_response(answer: CachedAnswer) -> Response:
    """An answer as Markdown, made of the kept one."""
    body: Any = answer.body
    response = cached_response(answer, answer_markdown(body, base_url()), MARKDOWN)
    response.vary.update(("Accept", "Accept-Language"))
    return response


def cached_response(
    answer: CachedAnswer, text: str = "", mimetype: str = "application/json"
) -> Response:
    """The response that this client gets: 304, or 200 with the body.

    Args:
        text: another form of the answer, with an ETag of its own.
    """
    if text:
        answer = replace(answer, payload=text.encode())
    total = (time.perf_counter() - g.started) * 1000
    headers = {
        # Weak, because a proxy may compress the answer (RFC 9110, 8.8.3.3).
        "ETag": f'W/"{answer.etag}"',
        "Cache-Control": "no-cache",  # a browser asks each time whether it is still the same
        "X-Cache": answer.state,
        "Server-Timing": f'cache;desc="{answer.state.lower()}", total;dur={total:.1f}',
    }
    response = Response(answer.payload, 200, headers, mimetype=mimetype)
    if "If-None-Match" in request.headers:
        response.make_conditional(request)
    return response
