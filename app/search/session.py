"""Sends searches to Elasticsearch and keeps a record of them for `debug-search`."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from elasticsearch import ApiError, ConnectionTimeout, Elasticsearch
from elasticsearch.exceptions import HTTP_EXCEPTIONS

from app.errors import OutdatedIndex
from indexer import SCHEMA

Json = dict[str, Any]

# Term statistics of all shards together, so that a hit's score does not depend on its shard. On an
# index of one shard Elasticsearch leaves the extra phase out.
_SEARCH_TYPE = "dfs_query_then_fetch"
_NODE_LOST = 502
"""The status of a search whose node was lost between two phases."""


@dataclass(frozen=True, slots=True)
class SentRequest:
    """One request that was sent: its kind and bodies, and times in milliseconds.

    `took_ms` is Elasticsearch's own time, `total_ms` that until the response was read, and
    `started_ms` the time between the start of the search and that of the request.
    """

    kind: str
    took_ms: int
    started_ms: float
    total_ms: float
    bodies: tuple[Json, ...]


@dataclass(slots=True)
class SearchSession:
    """The requests of one search, in their order.

    `timeout` is how many seconds Elasticsearch may work on a search. A search that it stops then is
    an error, as a part of the posts would be a wrong answer.

    Exceptions of the Elasticsearch client pass through; `app.elastic.translated` maps them.
    """

    client: Elasticsearch
    index: str
    timeout: float | None = None
    sent: list[SentRequest] = field(default_factory=list)
    _began: float = field(default_factory=time.perf_counter)

    def send(self, kind: str, *bodies: Json) -> list[Json]:
        """Send searches in one request; the response of each.

        Raises:
            ApiError: one of them failed, on every shard or on some.
            ConnectionTimeout: one of them took longer than `timeout`.
        """
        header = {"index": self.index, "allow_partial_search_results": False}
        limits = {"timeout": f"{self.timeout * 1000:.0f}ms"} if self.timeout else {}
        lines = [line for body in bodies for line in (header, {**body, **limits})]
        started = time.perf_counter()
        response = self.client.msearch(searches=lines, search_type=_SEARCH_TYPE)
        if any(one["status"] == _NODE_LOST for one in response["responses"]):
            # Elasticsearch does not try another copy then; the next search goes there.
            response = self.client.msearch(searches=lines, search_type=_SEARCH_TYPE)
        total_ms = (time.perf_counter() - started) * 1000
        started_ms = (started - self._began) * 1000
        self.sent.append(SentRequest(kind, response["took"], started_ms, total_ms, bodies))
        found: Sequence[Json] = response["responses"]
        for one in found:
            if "error" in one:
                error = HTTP_EXCEPTIONS.get(one["status"], ApiError)
                meta = replace(response.meta, status=one["status"])
                raise error(one["error"]["type"], meta, one)
            if one["timed_out"]:
                raise ConnectionTimeout("Elasticsearch stopped the search at its time limit")
        return list(found)

    def scores(self, body: Json) -> Json:
        """Send one search that reports what each named clause added to a hit's score."""
        response: Json = self.client.search(
            index=self.index,
            body=body,
            search_type=_SEARCH_TYPE,
            include_named_queries_score=True,
            allow_partial_search_results=False,
        ).body
        return response

    def explain(self, *, bodies: bool = False) -> list[Json]:
        """The requests that were sent, with their bodies if asked for."""
        return [
            {
                "kind": sent.kind,
                "took_ms": sent.took_ms,
                "started_ms": round(sent.started_ms, 1),
                "total_ms": round(sent.total_ms, 1),
            }
            | ({"bodies": list(sent.bodies)} if bodies else {})
            for sent in self.sent
        ]

    def require_schema(self) -> None:
        """Check that the index has the fields of this version.

        Raises:
            OutdatedIndex: it has those of another version.
        """
        found = self.index_meta().get("schema")
        if found != SCHEMA:
            raise OutdatedIndex(
                f"The index was built by another version (schema {found}, needed is {SCHEMA}). "
                "Build it again with `blogsearch reindex SOURCE`."
            )

    def index_meta(self) -> Json:
        """What the index says of itself: `rules`, `language` and `schema`; sends no search."""
        mappings = self.client.indices.get_mapping(index=self.index).body
        for index in mappings.values():
            found: Json = index["mappings"].get("_meta", {}).get("blogsearch", {})
            return found
        return {}
