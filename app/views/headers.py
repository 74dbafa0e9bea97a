"""Headers that every response carries, and CORS: which other origins may read answers."""

from flask import Flask, Response, request

from app.settings import Settings

SAFETY = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cross-Origin-Opener-Policy": "same-origin",
}

_NOT_INDEXED = ("X-Robots-Tag", "noindex, nofollow")
"""For crawlers: pages of results link to others without end. Only the start page is indexed."""

_READABLE = {"/search", "/suggest", "/openapi.json"}
"""The paths that pages of other origins may read; all others are closed to them."""

_READ = {
    "Access-Control-Expose-Headers": "ETag, Retry-After, Server-Timing, X-Cache, X-Request-Id, "
    "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset",
}
_PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, HEAD",
    # A GET with other headers than these is refused, above all one with Authorization: a page of
    # the blog must never contain a token.
    "Access-Control-Allow-Headers": "Content-Type, If-None-Match, X-Request-Id",
    "Access-Control-Max-Age": "7200",  # seconds; Chromium allows no more
}


def register(app: Flask, settings: Settings) -> None:
    """Add the headers to whatever the views answer, errors included."""
    origins = settings.allowed_origins
    safety = _safety(origins)

    def add_headers(response: Response) -> Response:
        present = {name.lower() for name, _ in response.headers}
        response.headers.extend(
            [(name, value) for name, value in safety.items() if name.lower() not in present]
        )
        if request.path != "/" or request.query_string or response.status_code >= 400:
            response.headers.setdefault(*_NOT_INDEXED)
        if origins and request.path in _READABLE:
            _add_cors(response, origins)
        return response

    app.after_request(add_headers)


def _safety(origins: frozenset[str]) -> dict[str, str]:
    # Whether a page of another origin may load an answer or a script at all.
    loadable = "cross-origin" if origins else "same-origin"
    return {**SAFETY, "Cross-Origin-Resource-Policy": loadable}


def constant_headers(path: str, origins: frozenset[str]) -> list[tuple[str, str]] | None:
    """What `register` adds to the response to a GET of a path other than `/`; None if that depends
    on the request."""
    if origins and "*" not in origins and path in _READABLE:
        return None
    anyone = {"Access-Control-Allow-Origin": "*", **_READ} if origins else {}
    return [*_safety(origins).items(), _NOT_INDEXED, *(anyone.items() if path in _READABLE else ())]


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
