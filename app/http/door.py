"""The middleware for all requests: log line, metrics, and response headers.

It answers requests of views with `access(in_lookup=True)` itself, before Flask, whose contexts,
routing and signals take as long as a cached answer.
"""

import logging
import random
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException

from app.errors import BlogsearchError
from app.http.access import READING, Access, allow_origins, check_token
from app.http.clients import Request, client_names
from app.http.logs import begin, elapsed
from app.http.metrics import METRICS, Metrics
from app.service import Service
from app.views.responses import (
    check_query_string,
    error_response,
    http_error,
    safety_headers,
    unexpected_error,
)

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

_ID_HEADER = "X-Request-ID"
_VALID_ID = re.compile(r"[A-Za-z0-9._:/+=-]{1,128}")
_HEARTBEATS = {"operations.alive", "operations.ready"}  # monitors ask every few seconds
_SLOW = 1.0  # seconds; well above what an uncached search takes on a small machine
_ROUTE = "blogsearch.route"

log = logging.getLogger("blogsearch.requests")


class _Route(NamedTuple):
    """The route of a request; "none" for a URL without a route, with the default access."""

    endpoint: str = "none"
    access: Access = Access()
    view: Any = None


class Door:
    """WSGI middleware around a Flask application whose routes are registered."""

    def __init__(self, app: Flask, service: Service) -> None:
        self._flask = app.wsgi_app
        self._service = service
        self._metrics: Metrics = app.extensions[METRICS]
        views = app.view_functions
        self._routes = {
            name: _Route(name, view.access, view)
            for name, view in views.items()
            if hasattr(view, "access")
        }
        self._answered = {
            rule.rule: self._routes[rule.endpoint]
            for rule in app.url_map.iter_rules()
            if rule.endpoint in self._routes and self._routes[rule.endpoint].access.in_lookup
        }
        app.before_request(self._check)

    def __call__(
        self, environ: "WSGIEnvironment", start_response: "StartResponse"
    ) -> Iterable[bytes]:
        sent_id = environ.get("HTTP_X_REQUEST_ID", "")
        # Not secret. The proxy's id is kept, so that its log and this one can be joined.
        request_id = sent_id if _VALID_ID.fullmatch(sent_id) else f"{random.getrandbits(64):016x}"
        method, path = environ["REQUEST_METHOD"], _text(environ["PATH_INFO"])
        fields = begin(request_id=request_id, method=method, path=path)

        def start(
            status: str, headers: list[tuple[str, str]], exc_info: Any = None
        ) -> Callable[[bytes], object]:
            route: _Route = environ.get(_ROUTE, _Route())
            if self._service.settings.allowed_origins and route.access.origins:
                origins = self._service.settings.allowed_origins
                allow_origins(environ, headers, origins, route.access.origins)
            headers += safety_headers(environ, int(status[:3]), headers, self._service.settings)
            headers.append((_ID_HEADER, request_id))
            self._record(environ, fields, int(status[:3]), route.endpoint)
            return start_response(status, headers, exc_info)

        answered = self._answered.get(f"/{path.lstrip('/')}")  # as Werkzeug finds a route
        if answered and method in READING:
            environ[_ROUTE] = answered
            return self._answer(Request(environ), answered)(environ, start)
        return self._flask(environ, start)

    def _answer(self, request: Request, route: _Route) -> Response:
        try:
            try:
                check_query_string(request)
                answer: Response = route.view(request, self._service)
                return answer
            finally:
                if not request.is_counted:  # it is invalid, and nothing was looked up
                    self._service.count(client_names(request), route.access.bucket)
        except BlogsearchError as error:
            return error_response(error)
        except HTTPException as error:
            return http_error(error)
        except Exception as error:  # noqa: BLE001 -- as Flask does
            return unexpected_error(error)

    def _check(self) -> None:
        """Count a request that Flask answers for its rate limit, and check its token."""
        endpoint = request.endpoint or "none"
        route = self._routes.get(endpoint, _Route(endpoint))
        request.environ[_ROUTE] = route
        declared = route.access
        has_query = declared.with_query and b"q=" in request.query_string
        if bucket := declared.with_query if has_query else declared.bucket:
            self._service.count(client_names(request), bucket)
        if declared.only_for:
            check_token(request, declared.only_for, self._service)

    def _record(
        self, environ: "WSGIEnvironment", fields: dict[str, Any], status: int, endpoint: str
    ) -> None:
        seconds = elapsed()
        fields["status"] = status
        fields["total_ms"] = round(seconds * 1000, 2)
        outcome = (fields.get("cache", "").lower() or "ok") if status < 400 else str(status)
        self._metrics.requests.labels(endpoint, outcome).observe(seconds)
        if endpoint not in _HEARTBEATS or status >= 400:
            log.info("request", extra=fields)
        is_search = "cache" in fields or "engine_ms" in fields
        if is_search and seconds > _SLOW:
            query = _text(environ.get("QUERY_STRING", ""))
            log.warning("slow search", extra={**fields, "query": query})


def _text(of_environ: str) -> str:
    """Decode a WSGI string, which has the bytes as Latin-1, as UTF-8."""
    return of_environ.encode("latin-1").decode("utf-8", "replace")
