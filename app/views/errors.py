"""Every error in one shape: `{"error": {"code", "message", "details"}}`; never a traceback."""

import logging

from flask import Flask, Response, jsonify
from werkzeug.exceptions import HTTPException

from app.errors import ServiceError, Unauthorized, Unavailable

log = logging.getLogger(__name__)


def register(app: Flask) -> None:
    """Answer every exception of the application in our own shape."""
    app.register_error_handler(ServiceError, _ours)
    app.register_error_handler(HTTPException, _of_http)
    app.register_error_handler(Exception, _unforeseen)


def _ours(error: ServiceError) -> Response:
    if error.status >= 500:
        log.error("%s: %s", error.code, error.message)
    response = jsonify(error.body())
    response.status_code = error.status
    response.headers["Cache-Control"] = "no-store"
    if isinstance(error, Unavailable):
        response.headers["Retry-After"] = str(error.retry_after)
    if isinstance(error, Unauthorized):
        response.headers["WWW-Authenticate"] = 'Bearer realm="blogsearch"'
    return response


def _of_http(error: HTTPException) -> Response:
    """404, 405, 413 and the like, which Werkzeug raises before a view of ours is reached."""
    code = (error.name or "error").lower().replace(" ", "_")
    body = {"code": code, "message": error.description or error.name, "details": []}
    response = jsonify({"error": body})
    response.status_code = error.code or 500
    for name, value in error.get_headers():
        if name.lower() not in {"content-type", "content-length"}:
            response.headers[name] = value
    return response


def _unforeseen(error: Exception) -> Response:
    log.error("unforeseen: %s", error, exc_info=error)
    return _ours(ServiceError("Something went wrong here; the log of the service has more."))
