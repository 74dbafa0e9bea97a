"""`GET /search`, `/suggest` and `/similar`: answers as JSON, from the cache if possible."""

from dataclasses import replace
from functools import lru_cache
from urllib.parse import parse_qsl

import flask
from flask import Blueprint, Response
from werkzeug.datastructures import LanguageAccept, MultiDict

from app.cache import CachedAnswer
from app.http.access import READING, access, check_token
from app.http.clients import Request, counted_clients
from app.http.logs import elapsed
from app.search.request import SearchRequest, SuggestRequest
from app.search.similar import SimilarRequest
from app.service import Service
from app.views import base_url, counted_visitor
from app.views.markdown import answer_markdown

MARKDOWN = "text/markdown"

blueprint = Blueprint("search", __name__)
suggestions = Blueprint("suggest", __name__)


@blueprint.get("/search")
@access("searches", in_lookup=True, origins=READING)
def search(request: Request, service: Service) -> Response:
    """Answer `q`; with `debug-search`, explain the answer."""
    wanted = _parse_search(request.query_string)
    depends = depends_on_language(wanted, service)
    wanted = in_visitors_language(wanted, request, service)
    if wanted.debug:
        authorize_debug(request, service)
    visitor = counted_visitor(request, service)
    answer = service.answer(wanted, visitor, counted_clients(request))
    if not wanted.debug and prefers_markdown(request, "application/json"):
        return markdown_response(answer, request, service)
    response = cached_response(answer, request)
    response.headers["Vary"] = "Accept, Accept-Language" if depends else "Accept"
    return response


@suggestions.get("/suggest")
@access("suggestions", in_lookup=True, origins=READING)
def suggest(request: Request, service: Service) -> Response:
    """Return completed searches and titles for `q`; each has at least one post."""
    wanted = parse_suggest(request.query_string)
    return cached_response(service.suggest(wanted, counted_clients(request)), request)


@suggestions.get("/similar")
@access("suggestions", in_lookup=True, origins=READING)
def similar(request: Request, service: Service) -> Response:
    """Return posts similar to the one with `url` or `oid`, or with an unknown URL's words."""
    wanted = SimilarRequest.parse(request.args)
    return cached_response(service.similar(wanted, counted_clients(request)), request)


def authorize_debug(request: flask.Request, service: Service) -> None:
    """Check that a request may use `debug-search`; raises as `check_token` does."""
    if service.settings.debug_search == "token":
        check_token(request, "debugger", service)


# Cached, as popular searches are repeated.
@lru_cache(maxsize=1024)
def _parse_search(query_string: bytes) -> SearchRequest:
    return SearchRequest.parse(_parameters(query_string))


@lru_cache(maxsize=1024)
def parse_suggest(query_string: bytes) -> SuggestRequest:
    return SuggestRequest.parse(_parameters(query_string))


def _parameters(query_string: bytes) -> MultiDict[str, str]:
    """Parse the parameters as Werkzeug does for `request.args`.

    Raises:
        UnicodeDecodeError: the query string is not UTF-8.
    """
    pairs = parse_qsl(query_string.decode(), keep_blank_values=True, errors="werkzeug.url_quote")
    return MultiDict(pairs)


def depends_on_language(wanted: SearchRequest, service: Service) -> bool:
    """Whether the answer depends on the visitor's language, as the posts are in several."""
    return not wanted.lang and len(_primary_languages(service.watch.languages)) > 1


def in_visitors_language(
    wanted: SearchRequest, request: flask.Request, service: Service
) -> SearchRequest:
    """Add a preference for posts in a language that the browser accepts, if the answer depends on
    it."""
    if not depends_on_language(wanted, service):
        return wanted
    languages = service.watch.languages
    return replace(wanted, prefer=_preferred_language(languages, request.accept_languages))


def _preferred_language(languages: frozenset[str], accepted: LanguageAccept) -> str:
    """Return the most preferred language in Accept-Language that posts have; "" if there is none.

    Only languages of posts are returned: with the header itself in cache keys, nearly every visitor
    would get separate entries.
    """
    primary = _primary_languages(languages)
    for name, quality in accepted:  # the best first
        tag = name.lower()
        if quality and tag in languages:
            return tag
        if quality and (language := tag.partition("-")[0]) in primary:
            return language
    return ""


def _primary_languages(languages: frozenset[str]) -> set[str]:
    """Return the languages without their countries, such as `pt` for `pt-br`."""
    return {tag.partition("-")[0] for tag in languages}


def prefers_markdown(request: flask.Request, other: str) -> bool:
    """Whether the client prefers Markdown to `other`: by q-value, then whether it names the type,
    then by order."""
    sent = request.headers.get("Accept", "").lower()

    def rank(name: str) -> tuple[float, bool, int]:
        at = sent.find(name)
        return request.accept_mimetypes.quality(name), at >= 0, -at

    return "markdown" in sent and rank(MARKDOWN) > rank(other)


def markdown_response(answer: CachedAnswer, request: flask.Request, service: Service) -> Response:
    """Return a cached answer as Markdown."""
    text = answer_markdown(answer.body, base_url(request, service))
    response = cached_response(answer, request, text, MARKDOWN)
    response.vary.update(("Accept", "Accept-Language"))
    return response


def cached_response(
    answer: CachedAnswer,
    request: flask.Request,
    text: str = "",
    mimetype: str = "application/json",
) -> Response:
    """Return the response for this client: 304, or 200 with the body.

    Args:
        text: another form of the answer, with its own ETag.
    """
    if text:
        answer = replace(answer, payload=text.encode())
    headers = {
        # Weak, because a proxy may compress the answer (RFC 9110, 8.8.3.3).
        "ETag": f'W/"{answer.etag}"',
        "Cache-Control": "no-cache",  # a browser revalidates it each time
        "X-Cache": answer.state,
        "Server-Timing": f'cache;desc="{answer.state.lower()}", total;dur={elapsed() * 1000:.1f}',
    }
    response = Response(answer.payload, 200, headers, mimetype=mimetype)
    if "If-None-Match" in request.headers:
        response.make_conditional(request)
    return response
