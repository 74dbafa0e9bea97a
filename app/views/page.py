"""`GET /`: the search page. It works without JavaScript; search.js adds results during typing."""

import logging
import math
import re
import time
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import orjson
from flask import Blueprint, Response, g, make_response, render_template, request
from markupsafe import Markup
from werkzeug.datastructures import MultiDict

from app.errors import BlogsearchError
from app.http.access import access
from app.messages import Messages, messages_for
from app.search.answer import SearchAnswer
from app.search.request import MAX_PAGE, MAX_QUERY, PARAMETERS, SearchRequest
from app.views import counted_visitor, current_service, default_language
from app.views.browse import EVERYTHING, Browse, browse
from app.views.responses import inline_style, own_style, set_error_headers
from app.views.search import (
    authorize_debug,
    in_visitors_language,
    markdown_response,
    prefers_markdown,
)

log = logging.getLogger(__name__)

blueprint = Blueprint("page", __name__)

# The form sends _FILTERS with a new query; not "typos", which is about a single query.
_KNOWN = frozenset(parameter.name for parameter in PARAMETERS)
_NARROWING = ("category", "since", "until", "year", "under")
_FILTERS = (*_NARROWING, "sort", "size", "lang", "debug-search")
_PAGES_SHOWN = 3  # page numbers before and after the current one


@blueprint.get("/", strict_slashes=False)  # no redirect of a URL without a path to its host
@access(with_query="searches")
def page() -> Response:
    """Show the search box and, with `q` in the URL, the answer."""
    started = time.perf_counter()
    args = _args()
    answer: SearchAnswer | None = None
    debug: dict[str, Any] | None = None
    start = Browse()
    if args.get("q", "").strip():
        service = current_service()
        # While a visitor types, the page requests the counts only after a pause. An explanation is
        # expensive enough without them.
        counts = args.get("facets") != "off" and "debug-search" not in args
        search = replace(SearchRequest.parse(args), facets=counts)
        search = in_visitors_language(search, request, service)
        if search.debug:
            authorize_debug(request, service)
            search = replace(search, debug_requests=True)
        result = service.answer(search, counted_visitor(request, service))
        if not search.debug and prefers_markdown(request, "text/html"):
            return markdown_response(result, request, service)
        answer = result.body
        if search.debug:
            total_ms = (time.perf_counter() - started) * 1000
            debug = {**answer["debug"], "cache": result.state.lower(), "total_ms": total_ms}
        if "facets" not in answer and (counts or not answer["hits"]):
            start = _browse()
    else:
        start = _browse(_filters(args))
    return _page(args, start, answer=answer, debug=debug)


@blueprint.errorhandler(BlogsearchError)
def _error_page(error: BlogsearchError) -> Response:
    start = _browse() if error.status < 429 else Browse()
    response = _page(_args(), start, error=error)
    set_error_headers(response, error)
    return response


@blueprint.errorhandler(Exception)
def _unexpected_error(error: Exception) -> Response:
    log.error("unexpected: %s", error, exc_info=error)
    return _error_page(BlogsearchError("An unexpected error occurred."))


def _page(
    args: "MultiDict[str, str]",
    start: Browse,
    *,
    answer: SearchAnswer | None = None,
    debug: dict[str, Any] | None = None,
    error: BlogsearchError | None = None,
) -> Response:
    # The counts of the answer itself, so that each choice has hits.
    facets = answer.get("facets") if answer else start.facets
    response = make_response(
        render_template(
            "search.html",
            messages=_messages(),
            typed=args.get("q", ""),
            args=args,
            filters=[(name, value) for name, value in args.items(multi=True) if name in _FILTERS],
            answer=answer,
            debug=debug,
            error=error,
            pages=_pages(answer) if answer else [],
            period=f"{args.get('since') or '…'} – {args.get('until') or '…'}",
            newest=start.newest,
            filtered=any(name in args for name in _NARROWING),
            facets=facets if not error else None,
            max_query=MAX_QUERY,
            counts_clicks=current_service().search_log.is_on,
        )
    )
    response.vary.update(("Accept", "Accept-Language"))
    response.headers["Cache-Control"] = "no-store" if debug else "no-cache"
    return response


def _args() -> "MultiDict[str, str]":
    """Return the parameters of a search, without empty ones, which forms send. Unknown ones are
    ignored: links to the page may have parameters of analytics tools."""
    try:
        given = list(request.args.items(multi=True))
    except UnicodeDecodeError:
        given = []  # the page shows that error
    return MultiDict(
        [
            (name, value)
            for name, value in given
            if name in _KNOWN and (value.strip() or name == "debug-search")
        ]
    )


def _filters(args: "MultiDict[str, str]") -> SearchRequest:
    """Read the filters in the URL of a page without a search."""
    names = (*_NARROWING, "lang")
    given = [(name, value) for name, value in args.items(multi=True) if name in names]
    return replace(SearchRequest.parse(MultiDict([("q", "none"), *given])), q="")


def _browse(filters: SearchRequest = EVERYTHING) -> Browse:
    """Return the page's content without a search; nothing if Elasticsearch is unavailable."""
    try:
        return browse(current_service(), filters)
    except BlogsearchError:
        return Browse()


def _pages(answer: SearchAnswer) -> list[int]:
    last = min(math.ceil(answer["count"] / answer["size"]), MAX_PAGE)
    current = answer["page"]
    return list(range(max(1, current - _PAGES_SHOWN), min(last, current + _PAGES_SHOWN) + 1))


def _messages() -> Messages:
    return messages_for(request.accept_languages, default_language())


@blueprint.app_context_processor
def _site() -> dict[str, Any]:
    """Give every template the name, the home page and the style sheet of the blog."""
    settings = current_service().settings
    site = {"name": settings.site_name, "url": settings.site_url, "style": own_style(settings)}
    return {"site": site}


@blueprint.app_template_global()
def link(**changes: Any) -> str:
    """Return the URL of the current search with other parameters; None removes one.

    The link leads to the first page unless `page` is among the changes.
    """
    changes = {"page": None, "typing": None, "facets": None} | changes
    if "encoded_args" not in g:  # a page has dozens of links
        given = _args().items(multi=True)
        g.encoded_args = [(name, urlencode([(name, value)])) for name, value in given]
    unchanged = [encoded for name, encoded in g.encoded_args if name not in changes]
    added = [
        (name, value)
        for name, values in changes.items()
        if values is not None
        for value in (values if isinstance(values, list) else [values])
    ]
    return "?" + "&".join([*unchanged, *([urlencode(added)] if added else [])])


@blueprint.app_template_filter()
def safe_highlight(fragment: str) -> Markup:
    """Return a highlight as markup; everything in it except our own `<mark>` is escaped already."""
    return Markup(fragment)  # noqa: S704 - app.search.render escapes, and a test holds it to that


@blueprint.app_template_filter()
def href(url: str | None) -> str:
    """Return the URL of a post or comment; "" if it is no web page, such as `javascript:`."""
    return url if url and re.match(r"https?://|/(?!/)", url, re.IGNORECASE) else ""


@blueprint.app_template_global()
def stylesheet(name: str = "search.css") -> Markup:
    """Return a style sheet to inline, so that no request delays the first paint."""
    return Markup(inline_style(name)[0])  # noqa: S704 - checked by the settings


@blueprint.app_template_global()
def readable_json(value: object) -> str:
    """Return indented JSON; by orjson, as Python's json takes half of the page's time."""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
