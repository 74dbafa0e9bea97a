"""Every error in one shape: `{"error": {"code", "message", "details"}}`; never a traceback."""

import logging
from collections.abc import Mapping
from typing import Any

from flask import Flask, Response, jsonify, request
from werkzeug.exceptions import HTTPException

from app.errors import BadRequest, BlogsearchError, ErrorAnswer, Unauthorized
from app.logs import note

log = logging.getLogger(__name__)


def register(app: Flask) -> None:
    """Answer every exception of the application in this shape."""
    app.register_error_handler(BlogsearchError, error_response)
    app.register_error_handler(HTTPException, http_error)
    app.register_error_handler(Exception, _unexpected_error)
    app.before_request(_check_query_string)


def _check_query_string() -> None:
    """Werkzeug raises UnicodeDecodeError wherever the parameters are read first."""
    try:
        request.query_string.decode()
    except UnicodeDecodeError:
        raise BadRequest("The query string is not UTF-8. Percent-encode it as UTF-8.") from None


def set_error_headers(response: Response, error: BlogsearchError) -> None:
    """Status and headers of an error, whatever its body is; the request's log line names it."""
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
    """The JSON response for an error of the tree in `app.errors`."""
    response = jsonify(_body(error.code, str(error), error.details))
    set_error_headers(response, error)
    return response


def _body(code: str, message: str, details: list[Mapping[str, Any]]) -> ErrorAnswer:
    return {"error": {"code": code, "message": message, "details": details}}


def http_error(error: HTTPException) -> Response:
    """The response for 404, 405, 413 and the like, which are raised before a view is reached."""
    code = (error.name or "error").lower().replace(" ", "_")
    message = error.description or error.name
    response = jsonify(_body(code, message, []))
    response.status_code = error.code or 500
    for name, value in error.get_headers():
        if name.lower() not in {"content-type", "content-length"}:
            response.headers[name] = value
    return response


def _unexpected_error(error: Exception) -> Response:
    log.error("unexpected: %s", error, exc_info=error)
    return error_response(
        BlogsearchError("An unexpected error occurred; the log of the service has the details.")
    )
