"""One log line and the metrics of every request, and its id."""

import logging
import re
import secrets
import time

from flask import Flask, Response, g, request

from app.logs import begin
from app.metrics import Metrics
from app.service import EXTENSION, Service

_VALID_ID = re.compile(r"[A-Za-z0-9._:/+=-]{1,128}")
_HEADER = "X-Request-ID"

log = logging.getLogger("blogsearch.requests")


def register(app: Flask, metrics: Metrics) -> None:
    """Log and count every request of the application."""
    service: Service = app.extensions[EXTENSION]

    def started() -> None:
        g.started = time.perf_counter()
        sent = request.headers.get(_HEADER, "")
        # The proxy's id, so that its log and this one can be joined.
        g.fields = begin(
            request_id=sent if _VALID_ID.fullmatch(sent) else secrets.token_hex(8),
            method=request.method,
            path=request.path,
        )

    def ended(response: Response) -> Response:
        if "fields" not in g:  # the request was refused before `started`
            return response
        seconds = time.perf_counter() - g.started
        fields = g.fields
        fields["status"] = response.status_code
        fields["total_ms"] = round(seconds * 1000, 2)
        cache = fields.get("cache", "").lower()
        outcome = (cache or "ok") if response.status_code < 400 else str(response.status_code)
        metrics.requests.labels(request.endpoint or "none", outcome).observe(seconds)
        if "engine_ms" in fields:
            failed = fields.get("error", "ok")
            metrics.computations.labels(failed).observe(fields["engine_ms"] / 1000)
            metrics.engine_requests.inc(fields.get("engine_requests", 0))
        metrics.available.labels("elasticsearch").set(service.admission.available)
        metrics.available.labels("redis").set(service.cache.client.breaker.closed)
        response.headers[_HEADER] = fields["request_id"]
        if service.settings.log_requests:
            log.info("request", extra=fields)
        if seconds > service.settings.slow_search and "cache" in fields:
            log.warning(
                "slow search",
                extra={**fields, "query": request.query_string.decode("utf-8", "replace")},
            )
        return response

    app.before_request(started)
    app.after_request(ended)
