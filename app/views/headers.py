"""Headers that every response carries."""

from flask import Flask, Response, request

from app.settings import Settings

_SAFETY = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "Referrer-Policy": "same-origin",
}


def register(app: Flask, settings: Settings) -> None:
    """Add the headers to whatever the views answer, errors included."""
    cors = {
        "Access-Control-Allow-Origin": settings.cors_origin,
        "Access-Control-Expose-Headers": "ETag, Retry-After, Server-Timing, X-Cache",
    }
    for_reads = {**_SAFETY, **cors} if settings.cors_origin else _SAFETY

    def add_headers(response: Response) -> Response:
        # Pages of other origins, such as the blog's own, may read answers but not write.
        headers = for_reads if request.method in {"GET", "HEAD"} else _SAFETY
        for name, value in headers.items():
            response.headers.setdefault(name, value)
        return response

    app.after_request(add_headers)
