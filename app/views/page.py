"""`GET /`: the search page. It works without JavaScript; search.js adds results as one types."""

import base64
import hashlib
import math
import time
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, Response, current_app, make_response, render_template, request
from markupsafe import Markup, escape
from werkzeug.datastructures import MultiDict

from app.browse import Browse, browse
from app.errors import ServiceError
from app.insights.visitors import visitor_of
from app.search.request import MAX_PAGE, SearchRequest
from app.views import current_service
from app.views.errors import set_error_headers

blueprint = Blueprint("page", __name__)

_FILTERS = ("category", "since", "until", "sort", "size", "debug-search")
_PAGES_SHOWN = 3  # page numbers before and after the current one


@blueprint.get("/")
def page() -> Response:
    """The search box; with `q` in the URL, also the answer or what went wrong."""
    started = time.perf_counter()
    args = _args()
    answer, error = None, None
    if args.get("q", "").strip():
        try:
            search = SearchRequest.parse(args)
            answer = (
                current_service().answer(search, search.key(), visitor_of(request.environ)).body
            )
        except ServiceError as failure:
            error = failure
    start = _browse() if error is None or error.status < 500 else Browse()
    response = make_response(
        render_template(
            "search.html",
            typed=request.args.get("q", ""),
            args=args,
            filters=[(name, value) for name, value in args.items(multi=True) if name in _FILTERS],
            answer=answer,
            error=error,
            pages=_pages(answer) if answer else [],
            period=_period(args),
            newest=start.newest,
            categories=start.categories,
            years=start.years,
            seconds=time.perf_counter() - started,
        )
    )
    response.headers["Cache-Control"] = "no-cache"
    if error:
        set_error_headers(response, error)
    return response


def _args() -> "MultiDict[str, str]":
    """The parameters; a form also sends the fields that were left empty."""
    given = request.args.items(multi=True)
    return MultiDict(
        [(name, value) for name, value in given if value.strip() or name == "debug-search"]
    )


def _browse() -> Browse:
    """What the page offers without a search; nothing when Elasticsearch is unavailable."""
    try:
        return browse(current_service())
    except ServiceError:
        return Browse()


def _pages(answer: dict[str, Any]) -> list[int]:
    """The page numbers around the current one."""
    last = min(math.ceil(answer["count"] / answer["size"]), MAX_PAGE)
    current = answer["page"]
    return list(range(max(1, current - _PAGES_SHOWN), min(last, current + _PAGES_SHOWN) + 1))


def _period(args: "MultiDict[str, str]") -> str:
    """The days between `since` and `until`, as a visitor reads them."""
    since, until = args.get("since", ""), args.get("until", "")
    if since[:4] == until[:4] and since.endswith("-01-01") and until.endswith("-12-31"):
        return since[:4]
    return f"{since or '…'} – {until or 'today'}"


@blueprint.app_template_global()
def link(**changes: Any) -> str:
    """The URL of the current search with other parameters; None removes one.

    A change leads to the first page, unless it is the page that changes.
    """
    changes.setdefault("page", None)
    kept = [(name, value) for name, value in _args().items(multi=True) if name not in changes]
    added = [
        (name, value)
        for name, values in changes.items()
        if values is not None
        for value in (values if isinstance(values, list) else [values])
    ]
    return "?" + urlencode([*kept, *added])


@blueprint.app_template_filter()
def safe_highlight(fragment: str) -> Markup:
    """A highlight of an answer, in which everything but our own `<mark>` is escaped."""
    return Markup(fragment)  # noqa: S704 - app.search.render escapes, and a test holds it to that


@blueprint.app_template_filter()
def day(stamp: str | None) -> Markup:
    """A date of an answer as a `<time>`: 18 April 2020. Empty when there is none."""
    if not stamp:
        return Markup()
    found = datetime.fromisoformat(stamp)
    text = f"{found.day} {found:%B %Y}"
    return Markup('<time datetime="{}">{}</time>').format(escape(stamp[:10]), text)


@cache
def _stylesheet(path: Path) -> tuple[str, str]:
    """The style sheet, and the source expression by which the policy allows it inline."""
    text = path.read_text()
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return text, f"'sha256-{digest}'"


@blueprint.app_template_global()
def stylesheet() -> Markup:
    """The style sheet of the pages, inline: no request delays the first paint."""
    return Markup(_stylesheet(_stylesheet_path())[0])  # noqa: S704 - a file of this package


@blueprint.after_app_request
def _allow_stylesheet(response: Response) -> Response:
    if response.mimetype == "text/html":
        hashed = _stylesheet(_stylesheet_path())[1]
        policy = (
            f"default-src 'none'; script-src 'self'; style-src {hashed}; img-src 'self' data:; "
            "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        )
        response.headers.setdefault("Content-Security-Policy", policy)
    return response


def _stylesheet_path() -> Path:
    return Path(current_app.static_folder or "") / "search.css"
