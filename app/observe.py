"""One log line and the metrics of every request, and its id."""

import logging
import random
import re
import time
from functools import cache
from typing import Any

from flask import Flask, Response, g, request
from prometheus_client import Histogram

from app.logs import begin
from app.metrics import Metrics
from app.service import Service

HEADER = "X-Request-ID"
BEGUN = "blogsearch.begun"
"""The key of a WSGI environment that has the fields and the start of a request that a middleware
has begun to answer."""

_SLOW = 1.0  # seconds; well above what an uncached search takes on a small machine
_VALID_ID = re.compile(r"[A-Za-z0-9._:/+=-]{1,128}")

log = logging.getLogger("blogsearch.requests")


class Observer:
    """Logs and counts requests, whoever answers them."""

    def __init__(self, service: Service, metrics: Metrics) -> None:
        self._service = service
        self._metrics = metrics
        self._requests = cache(self._histogram)
        self._available: dict[str, bool] = {}

    def begin(self, method: str, path: str, sent_id: str) -> dict[str, Any]:
        """The fields of a request's log line; `sent_id` is its X-Request-ID, "" for none."""
        return begin(
            # No secret. The proxy's id, so that its log and this one can be joined.
            request_id=sent_id
            if _VALID_ID.fullmatch(sent_id)
            else f"{random.getrandbits(64):016x}",
            method=method,
            path=path,
        )

    def end(
        self, fields: dict[str, Any], started: float, endpoint: str, status: int, query: bytes
    ) -> None:
        """Log and count the request; `started` is of `time.perf_counter()`."""
        seconds = time.perf_counter() - started
        fields["status"] = status
        fields["total_ms"] = round(seconds * 1000, 2)
        outcome = (fields.get("cache", "").lower() or "ok") if status < 400 else str(status)
        self._requests(endpoint, outcome).observe(seconds)
        if "engine_ms" in fields:
            failed = fields.get("error", "ok")
            self._metrics.computations.labels(failed).observe(fields["engine_ms"] / 1000)
            self._metrics.engine_requests.inc(fields.get("engine_requests", 0))
        self._set_available("elasticsearch", self._service.admission.available)
        self._set_available("redis", self._service.cache.client.breaker.closed)
        for result in ("accepted", "rejected"):
            if count := fields.get(result):
                self._metrics.documents.labels(result).inc(count)
        plan = fields.pop("plan", {})
        if self._service.settings.log_requests:
            _log_line(fields)
        is_search = "cache" in fields or "engine_ms" in fields
        if is_search and seconds > _SLOW:
            shown = query.decode("utf-8", "replace")
            log.warning("slow search", extra={**fields, "query": shown, **plan})

    def _histogram(self, endpoint: str, outcome: str) -> Histogram:
        return self._metrics.requests.labels(endpoint, outcome)

    def _set_available(self, engine: str, available: bool) -> None:
        # Only a change is written: the figure is in a file that all processes share.
        if self._available.get(engine) is not available:
            self._available[engine] = available
            self._metrics.available.labels(engine).set(available)


def _log_line(fields: dict[str, Any]) -> None:
    """What `log.info("request", extra=fields)` does, without looking for the calling line."""
    if log.isEnabledFor(logging.INFO):
        record = logging.LogRecord(log.name, logging.INFO, __file__, 0, "request", None, None)
        record.__dict__.update(fields)
        log.handle(record)


def register(app: Flask, observer: Observer) -> None:
    """Log and count every request of the application."""

    def started() -> None:
        if BEGUN in request.environ:
            g.fields, g.started = request.environ[BEGUN]
            return
        g.started = time.perf_counter()
        g.fields = observer.begin(request.method, request.path, request.headers.get(HEADER, ""))

    def ended(response: Response) -> Response:
        if "fields" not in g:  # the request was refused before `started`
            return response
        endpoint = request.endpoint or "none"
        observer.end(g.fields, g.started, endpoint, response.status_code, request.query_string)
        response.headers[HEADER] = g.fields["request_id"]
        return response

    app.before_request(started)
    app.after_request(ended)
