"""Common parts of all responses: security headers, and errors in one shape,
`{"error": {"code", "message", "details"}}`, never a traceback.
"""

import base64
import hashlib
import logging
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import rcssmin  # type: ignore[import-untyped]
from flask import Flask, Request, Response, current_app, request
from werkzeug.exceptions import HTTPException

from app.errors import BadRequest, BlogsearchError, ErrorAnswer, Unauthorized
from app.http.logs import note
from app.settings import Settings

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment


def content_policy(styles: str = "") -> str:
    """Return a Content-Security-Policy that also allows these inline styles."""
    return (
        f"default-src 'none'; script-src 'self'; style-src 'self'{styles}; "
        f"img-src 'self' data:; connect-src 'self'; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    )


_SAFETY = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": content_policy(),
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cross-Origin-Opener-Policy": "same-origin",
}

_NOT_INDEXED = {"X-Robots-Tag": "noindex, nofollow"}
"""For crawlers: only the start page may be indexed, as result pages link to others without end."""

_STYLESHEETS = ("search.css", "debug.css")
_MOST_DETAILS = 20
_STATIC = Path(__file__).parent.parent / "static"

Headers = list[tuple[str, str]]

log = logging.getLogger(__name__)


def register(app: Flask) -> None:
    """Register the error handlers, which answer every exception in one shape."""
    app.register_error_handler(BlogsearchError, error_response)
    app.register_error_handler(HTTPException, http_error)
    app.register_error_handler(Exception, unexpected_error)
    app.before_request(lambda: check_query_string(request))


def safety_headers(
    environ: "WSGIEnvironment", status: int, headers: Headers, settings: Settings
) -> Headers:
    """Return the headers that a response lacks for the safety of visitors, and for crawlers."""
    there = {name for name, _ in headers}
    # This decides whether a page of another origin may load an answer or a script at all.
    loadable = "cross-origin" if settings.allowed_origins else "same-origin"
    added = {**_SAFETY, "Cross-Origin-Resource-Policy": loadable}
    if any(name == "Content-Type" and kind.startswith("text/html") for name, kind in headers):
        names = (*_STYLESHEETS, own_style(settings))
        hashes = "".join(f" {inline_style(name)[1]}" for name in names if name)
        added["Content-Security-Policy"] = content_policy(hashes)
    if environ["PATH_INFO"] != "/" or environ.get("QUERY_STRING") or status >= 400:
        added |= _NOT_INDEXED
    return [(name, value) for name, value in added.items() if name not in there]


def own_style(settings: Settings) -> str:
    """Return the path of the style sheet in the settings, "" without one."""
    return str(Path(settings.site_style).resolve()) if settings.site_style else ""


@cache
def inline_style(name: str) -> tuple[str, str]:
    """Return a style sheet, and the hash source that allows it inline in the policy."""
    path = _STATIC / name
    text = rcssmin.cssmin(path.read_text("utf-8"))
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return text, f"'sha256-{digest}'"


def made_once(name: str, content_type: str, make: Callable[[], str]) -> Response:
    """Return a response that is always the same; its body is made once per process.

    Below the path of a proxy its links differ, so that it is made each time.
    """
    kept: dict[str, bytes] = current_app.extensions.setdefault("blogsearch-made-once", {})
    body = make().encode() if request.script_root or name not in kept else kept[name]
    if not request.script_root:
        kept[name] = body
    response = Response(body, content_type=content_type)
    response.headers["Cache-Control"] = "no-cache"
    response.set_etag(hashlib.sha256(body).hexdigest()[:16], weak=True)
    response.make_conditional(request)
    return response


# -- errors ------------------------------------------------------------------------------------


def check_query_string(request: Request) -> None:
    """Check that the query string is UTF-8; otherwise its first use raises UnicodeDecodeError."""
    try:
        request.query_string.decode()
    except UnicodeDecodeError:
        raise BadRequest("The query string is not UTF-8. Percent-encode it as UTF-8.") from None


def set_error_headers(response: Response, error: BlogsearchError) -> None:
    """Set the status and headers of an error response with any body; add it to the log line."""
    note(error=error.code, reason=str(error))
    if error.status >= 500 and error.retry_after is None:
        log.error("%s: %s", error.code, error)
    response.status_code = error.status
    response.headers["Cache-Control"] = "no-store"
    if error.retry_after is not None:
        response.headers["Retry-After"] = str(error.retry_after)
    if isinstance(error, Unauthorized):
        response.headers["WWW-Authenticate"] = 'Bearer realm="blogsearch"'


def error_response(error: BlogsearchError) -> Response:
    """Return the JSON response for an error of the tree in `app.errors`."""
    response = _json(error.code, str(error), error.details)
    set_error_headers(response, error)
    return response


def _json(code: str, message: str, details: list[Mapping[str, Any]]) -> Response:
    body: ErrorAnswer = {
        "error": {"code": code, "message": message, "details": details[:_MOST_DETAILS]}
    }
    return Response(orjson.dumps(body), mimetype="application/json")


def http_error(error: HTTPException) -> Response:
    """Return the response for 404, 405, 413 and so on, which are raised outside of our views."""
    code = (error.name or "error").lower().replace(" ", "_")
    message = error.description or error.name
    response = _json(code, message, [])
    response.status_code = error.code or 500
    for name, value in error.get_headers():
        if name.lower() not in {"content-type", "content-length"}:
            response.headers[name] = value
    return response


def unexpected_error(error: Exception) -> Response:
    log.error("unexpected: %s", error, exc_info=error)
    return error_response(
        BlogsearchError("An unexpected error occurred; the log of the service has the details.")
    )
