"""Headers that every response carries, and CORS: which other origins may read answers."""

from flask import Flask, Response, request

from app.settings import Settings

_SAFETY = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "Referrer-Policy": "same-origin",
}

_READABLE = {"/search", "/suggest", "/openapi.json"}
"""The paths that pages of other origins may read; all others are closed to them."""

_READ = {
    "Access-Control-Expose-Headers": "ETag, Retry-After, Server-Timing, X-Cache, X-Request-Id, "
    "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset",
}
_PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, HEAD",
    # A GET with other headers than these is refused, above all one with Authorization: a token has
    # no place in a page of the blog.
    "Access-Control-Allow-Headers": "Content-Type, If-None-Match, X-Request-Id",
    "Access-Control-Max-Age": "7200",  # seconds; Chromium allows no more
}


def register(app: Flask, settings: Settings) -> None:
    """Add the headers to whatever the views answer, errors included."""
    origins = settings.allowed_origins

    def add_headers(response: Response) -> Response:
        for name, value in _SAFETY.items():
            response.headers.setdefault(name, value)
        if origins and request.path in _READABLE:
            _add_cors(response, origins)
        return response

    app.after_request(add_headers)


def _add_cors(response: Response, origins: frozenset[str]) -> None:
    allowed: str | None = "*"
    if "*" not in origins:
        allowed = request.headers.get("Origin")
        # For caches: another origin gets other headers, also if this one gets none.
        response.vary.add("Origin")
        if allowed not in origins:
            return
    preflight = request.method == "OPTIONS"
    method = request.access_control_request_method if preflight else request.method
    if method in {"GET", "HEAD"} and allowed:
        response.headers["Access-Control-Allow-Origin"] = allowed
        response.headers.update(_PREFLIGHT if preflight else _READ)
