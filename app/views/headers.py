"""Headers that every answer carries."""

from flask import Flask, Response, request

from app.service import current_service

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


def register(app: Flask) -> None:
    """Add the headers to whatever the views answer, errors included."""
    app.after_request(_safety)
    app.after_request(_other_origins)


def _safety(response: Response) -> Response:
    response.headers.setdefault("X-Content-Type-Options", "nosniff")
    response.headers.setdefault("Content-Security-Policy", _POLICY)
    response.headers.setdefault("Referrer-Policy", "same-origin")
    return response


def _other_origins(response: Response) -> Response:
    """Let the blog's own pages, which stand elsewhere, read answers; writes stay same-origin."""
    origin = current_service().settings.cors_origin
    if origin and request.method in {"GET", "HEAD"}:
        response.headers.setdefault("Access-Control-Allow-Origin", origin)
        response.headers.setdefault(
            "Access-Control-Expose-Headers", "ETag, Retry-After, Server-Timing, X-Cache"
        )
    return response
