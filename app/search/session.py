"""Sends searches to Elasticsearch and keeps a record of them for `debug-search`."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from elasticsearch import ApiError, ConnectionTimeout, Elasticsearch
from elasticsearch.exceptions import HTTP_EXCEPTIONS

from app.elastic import ONE_COPY

Json = dict[str, Any]
T = TypeVar("T")

# Term statistics of all shards together, so that a hit's score does not depend on its shard. On an
# index of one shard Elasticsearch leaves the extra phase out.
_SEARCH_TYPE = "dfs_query_then_fetch"


@dataclass(slots=True)
class SearchSession:
    """The requests of one search, in their order: kind, Elasticsearch's own time and that until the
    response was read, in milliseconds, and the bodies.

    `timeout` is how many seconds Elasticsearch may work on a search. A search that it stops then is
    an error, as a part of the posts would be a wrong answer.

    Exceptions of the Elasticsearch client pass through; `app.elastic.translated` maps them.
    """

    client: Elasticsearch
    index: str
    timeout: float | None = None
    sent: list[Json] = field(default_factory=list)

    def send(self, kind: str, *bodies: Json) -> list[Json]:
        """Send searches of the index in one request; the response of each.

        Raises:
            ApiError: one of them failed, on every shard or on some.
            ConnectionTimeout: one of them took longer than `timeout`.
        """
        return self.send_with(None, kind, *bodies)[0]

    def send_with(
        self, beside: tuple[Json, Json] | None, kind: str, *bodies: Json
    ) -> tuple[list[Json], Json | None]:
        """As `send`, with one search of another index (header and body), which may fail: then its
        response is None."""
        header = {
            "index": self.index,
            "preference": ONE_COPY,
            "allow_partial_search_results": False,
        }
        limits = {"timeout": f"{self.timeout * 1000:.0f}ms"} if self.timeout else {}
        lines = [line for body in bodies for line in (header, {**body, **limits})]
        lines += beside or ()
        started = time.perf_counter()
        response = self.client.msearch(searches=lines, search_type=_SEARCH_TYPE)
        self._record(kind, started, response["took"], bodies)
        responses: list[Json] = response["responses"]
        other = responses.pop() if beside else None
        for part in responses:
            if "error" in part:
                error = HTTP_EXCEPTIONS.get(part["status"], ApiError)
                meta = replace(response.meta, status=part["status"])
                raise error(part["error"]["type"], meta, part)
            if part["timed_out"]:
                raise ConnectionTimeout("Elasticsearch stopped the search at its time limit")
        return responses, None if other is None or "error" in other else other

    def read(self, kind: str, call: Callable[[], T]) -> T:
        """The result of a request that is not a search; it counts as one of the session."""
        started = time.perf_counter()
        result = call()
        self._record(kind, started, None, ())
        return result

    def _record(
        self, kind: str, started: float, took_ms: int | None, bodies: tuple[Json, ...]
    ) -> None:
        total_ms = round((time.perf_counter() - started) * 1000, 1)
        took_ms = round(total_ms) if took_ms is None else took_ms
        self.sent.append(
            {"kind": kind, "took_ms": took_ms, "total_ms": total_ms, "bodies": list(bodies)}
        )

    def scores(self, body: Json) -> Json:
        """Send one search that reports what each named clause added to a hit's score."""
        response: Json = self.client.search(
            index=self.index,
            body=body,
            preference=ONE_COPY,
            search_type=_SEARCH_TYPE,
            include_named_queries_score=True,
            allow_partial_search_results=False,
        ).body
        return response

    def explain(self, *, bodies: bool = False) -> list[Json]:
        """The requests that were sent, with their bodies if asked for."""
        left_out = () if bodies else ("bodies",)
        return [
            {name: value for name, value in sent.items() if name not in left_out}
            for sent in self.sent
        ]
