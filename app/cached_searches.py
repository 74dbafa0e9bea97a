"""WSGI middleware that answers cached searches before Flask does.

Flask's share of a cached answer (contexts, routing, hooks, response objects) is larger than all
that remains. So a search whose answer is fresh in Redis is answered here. Every request that needs
a decision goes to the application: conditional, with debug, other methods, further pages, errors,
an answer that is to be computed or refreshed, or depends on the visitor.
"""

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from app.errors import ServiceError
from app.insights.visitors import visitor_of
from app.logs import note
from app.observe import HEADER, Observer
from app.service import Service
from app.views.headers import constant_headers
from app.views.search import (
    ENDPOINT,
    LOOKUP,
    PATH,
    answer_headers,
    depends_on_language,
    parse,
    server_timing,
)

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


class CachedSearches:
    """Answers `GET /search` where the answer is fresh in the cache.

    It must not be used with a rate limit, which it does not count.
    """

    def __init__(self, app: "WSGIApplication", service: Service, observer: Observer) -> None:
        self._app = app
        self._service = service
        self._observer = observer
        self._constant = constant_headers(PATH, service.settings.allowed_origins)
        self._usable = service.cache.configured and not service.cache.content_encoding

    def __call__(
        self, environ: "WSGIEnvironment", start_response: "StartResponse"
    ) -> Iterable[bytes]:
        if (
            environ["PATH_INFO"] == PATH
            and environ["REQUEST_METHOD"] == "GET"
            and "HTTP_IF_NONE_MATCH" not in environ
            and self._constant is not None
            and self._usable
        ):
            answered = self._answer(environ, start_response)
            if answered is not None:
                return answered
        return self._app(environ, start_response)

    def _answer(
        self, environ: "WSGIEnvironment", start_response: "StartResponse"
    ) -> Iterable[bytes] | None:
        started = time.perf_counter()
        query = environ["QUERY_STRING"].encode("latin-1")
        try:
            wanted, key = parse(query)
        except (ServiceError, UnicodeDecodeError):
            return None
        if wanted.debug or wanted.page > 1 or depends_on_language(wanted, self._service):
            return None
        fields = self._observer.begin("GET", PATH, environ.get("HTTP_X_REQUEST_ID", ""))
        answer, lookup = self._service.fresh_answer(key, visitor_of(environ))
        if answer is None:
            environ[LOOKUP] = lookup
            return None
        note(cache=answer.state)
        payload = answer.json()
        self._observer.end(fields, started, ENDPOINT, 200, query)
        start_response(
            "200 OK",
            [
                ("Content-Type", "application/json"),
                ("Content-Length", str(len(payload))),
                *answer_headers(answer, self._service.settings),
                ("Server-Timing", server_timing(answer, started)),
                *(self._constant or ()),
                (HEADER, fields["request_id"]),
            ],
        )
        return [payload]
