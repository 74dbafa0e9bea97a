"""One log line and the metrics of every request, and its id."""

import logging
import random
import re
import time
from functools import cache

from flask import Flask, Response, g, request
from prometheus_client import Histogram

from app.logs import begin
from app.metrics import Metrics
from app.service import Service

HEADER = "X-Request-ID"

_SLOW = 1.0  # seconds; well above what an uncached search takes on a small machine
_VALID_ID = re.compile(r"[A-Za-z0-9._:/+=-]{1,128}")

log = logging.getLogger("blogsearch.requests")


def register(app: Flask, service: Service, metrics: Metrics) -> None:
    """Log and count every request of the application."""
    settings = service.settings

    @cache
    def histogram(endpoint: str, outcome: str) -> Histogram:
        return metrics.requests.labels(endpoint, outcome)

    def started() -> None:
        g.started = time.perf_counter()
        sent_id = request.headers.get(HEADER, "")
        # No secret. The proxy's id, so that its log and this one can be joined.
        valid = _VALID_ID.fullmatch(sent_id)
        request_id = sent_id if valid else f"{random.getrandbits(64):016x}"
        g.fields = begin(request_id=request_id, method=request.method, path=request.path)

    def ended(response: Response) -> Response:
        if "fields" not in g:  # the request was refused before `started`
            return response
        fields, status, seconds = g.fields, response.status_code, time.perf_counter() - g.started
        fields["status"] = status
        fields["total_ms"] = round(seconds * 1000, 2)
        outcome = (fields.get("cache", "").lower() or "ok") if status < 400 else str(status)
        histogram(request.endpoint or "none", outcome).observe(seconds)
        if "engine_ms" in fields:
            failed = fields.get("error", "ok")
            metrics.computations.labels(failed).observe(fields["engine_ms"] / 1000)
            metrics.engine_requests.inc(fields.get("engine_requests", 0))
        for result in ("accepted", "rejected"):
            if count := fields.get(result):
                metrics.documents.labels(result).inc(count)
        plan = fields.pop("plan", {})
        if settings.log_requests and log.isEnabledFor(logging.INFO):
            # What `log.info("request", extra=fields)` does, without looking for the calling line.
            record = logging.LogRecord(log.name, logging.INFO, __file__, 0, "request", None, None)
            record.__dict__.update(fields)
            log.handle(record)
        is_search = "cache" in fields or "engine_ms" in fields
        if is_search and seconds > _SLOW:
            shown = request.query_string.decode("utf-8", "replace")
            log.warning("slow search", extra={**fields, "query": shown, **plan})
        response.headers[HEADER] = fields["request_id"]
        return response

    app.before_request(started)
    app.after_request(ended)
