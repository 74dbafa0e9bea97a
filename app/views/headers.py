"""Headers that every response carries, and CORS: which other origins may read answers."""

from flask import Flask, Response, g, request

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

_NOT_INDEXED = {"X-Robots-Tag": "noindex, nofollow"}
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
    # Whether a page of another origin may load an answer or a script at all.
    loadable = "cross-origin" if origins else "same-origin"
    safety = {**SAFETY, "Cross-Origin-Resource-Policy": loadable}

    def add_headers(response: Response) -> Response:
        path, headers = request.path, response.headers
        indexed = path == "/" and not request.query_string and response.status_code < 400
        added = dict(safety) if indexed else {**safety, **_NOT_INDEXED}
        for name in headers.keys():  # noqa: SIM118 -- iterating yields pairs
            added.pop(name, None)
        if standing := g.get("fields", {}).pop("standing", None):
            added |= standing
        if origins and path in _READABLE:
            added |= _cors(origins)
            if "*" not in origins:
                # For caches: another origin gets other headers, also if this one gets none.
                vary = headers.pop("Vary", "")
                added["Vary"] = f"{vary}, Origin" if vary else "Origin"
        headers.extend(added)
        return response

    app.after_request(add_headers)


def _cors(origins: frozenset[str]) -> dict[str, str]:
    """What tells a browser that a page of the request's origin may read the response."""
    origin = "*" if "*" in origins else request.headers.get("Origin")
    preflight = request.method == "OPTIONS"
    method = request.access_control_request_method if preflight else request.method
    if method not in {"GET", "HEAD"} or origin is None or origin not in origins:
        return {}
    return {"Access-Control-Allow-Origin": origin, **(_PREFLIGHT if preflight else _READ)}
