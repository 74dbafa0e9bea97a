"""WSGI middleware that sends cached answers before Flask sees the request.

Flask's share of a cached answer (contexts, routing, hooks, response objects) is larger than all
that remains. So a search or a request for suggestions whose answer is fresh in Redis is answered
here. Every request that needs a decision goes to the application: conditional, with debug, other
methods, further pages, errors, an answer that is to be computed or refreshed, or depends on the
visitor.
"""

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from app.cache import CachedAnswer, Lookup
from app.errors import BlogsearchError
from app.insights.visitors import visitor_of
from app.logs import note
from app.observe import BEGUN, HEADER, Observer
from app.service import Service
from app.views import search, suggest
from app.views.headers import constant_headers
from app.views.search import LOOKUP, answer_headers, depends_on_language, server_timing

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

_ENDPOINTS = {search.PATH: search.ENDPOINT, suggest.PATH: suggest.ENDPOINT}


class CachedAnswers:
    """Answers `GET /search` and `GET /suggest` where the answer is fresh in the cache.

    It must not be used with a rate limit, which it does not count.
    """

    def __init__(self, app: "WSGIApplication", service: Service, observer: Observer) -> None:
        self._app = app
        self._service = service
        self._observer = observer
        origins = service.settings.allowed_origins
        usable = service.cache.configured and not service.cache.content_encoding
        self._headers = {
            path: headers
            for path in _ENDPOINTS
            if usable and (headers := constant_headers(path, origins)) is not None
        }

    def __call__(
        self, environ: "WSGIEnvironment", start_response: "StartResponse"
    ) -> Iterable[bytes]:
        if (
            environ["PATH_INFO"] in self._headers
            and environ["REQUEST_METHOD"] == "GET"
            and "HTTP_IF_NONE_MATCH" not in environ
        ):
            answered = self._answer(environ, start_response)
            if answered is not None:
                return answered
        return self._app(environ, start_response)

    def _answer(
        self, environ: "WSGIEnvironment", start_response: "StartResponse"
    ) -> Iterable[bytes] | None:
        started = time.perf_counter()
        path = environ["PATH_INFO"]
        query = environ["QUERY_STRING"].encode("latin-1")
        try:
            key = self._key(path, query)
        except (BlogsearchError, UnicodeDecodeError):
            return None
        if key is None:
            return None
        fields = self._observer.begin("GET", path, environ.get("HTTP_X_REQUEST_ID", ""))
        answer, lookup = self._look_up(key, environ)
        if answer is None:
            environ[LOOKUP], environ[BEGUN] = lookup, (fields, started)
            return None
        note(cache=answer.state)
        payload = answer.json()
        self._observer.end(fields, started, _ENDPOINTS[path], 200, query)
        start_response(
            "200 OK",
            [
                ("Content-Type", "application/json"),
                ("Content-Length", str(len(payload))),
                *answer_headers(answer, self._service.settings),
                ("Server-Timing", server_timing(answer, started)),
                *self._headers[path],
                (HEADER, fields["request_id"]),
            ],
        )
        return [payload]

    def _key(self, path: str, query: bytes) -> str | None:
        """The key of the answer; None if Flask has to answer."""
        if path == suggest.PATH:
            return suggest.parse(query)[1]
        wanted, key = search.parse(query)
        if wanted.debug or wanted.page > 1 or depends_on_language(wanted, self._service):
            return None
        return key

    def _look_up(self, key: str, environ: "WSGIEnvironment") -> tuple[CachedAnswer | None, Lookup]:
        if environ["PATH_INFO"] == suggest.PATH:
            return self._service.fresh_suggestions(key)
        return self._service.fresh_answer(key, visitor_of(environ))
