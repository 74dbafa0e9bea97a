"""Sends searches to Elasticsearch and records them for `debug-search`; and what a process knows of
the index besides its posts: its synonym rules, the pinned results, and the languages of the posts.

Every first request of a search also tells the name of the index behind the alias and the version of
the pinned results; what differs from what is known is read then.
"""

import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from elasticsearch import ApiError, ConnectionTimeout, Elasticsearch, TransportError
from elasticsearch.exceptions import HTTP_EXCEPTIONS

from analyzers.chains import SYNONYMS
from analyzers.languages import Language
from analyzers.rules.compile import Phrases
from app.back_off import start_thread
from app.elastic import ONE_COPY
from app.errors import OutdatedIndex
from app.search.pins import PinRule, PinStore
from indexer import SCHEMA
from indexer.errors import other_schema

if TYPE_CHECKING:
    from werkzeug.datastructures import LanguageAccept

    from analyzers.meaning import Model

Json = dict[str, Any]

# Term statistics of all shards together, so that a hit's score does not depend on its shard. On an
# index of one shard Elasticsearch leaves the extra phase out.
_SEARCH_TYPE = "dfs_query_then_fetch"
_RULES = f"index.analysis.filter.{SYNONYMS}.synonyms"


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
        total_ms = round((time.perf_counter() - started) * 1000, 1)
        took_ms = response["took"]
        self.sent.append(
            {"kind": kind, "took_ms": took_ms, "total_ms": total_ms, "bodies": list(bodies)}
        )
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


# -- what a process knows of an index --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class IndexRules:
    """The synonym rules of the index `name`: their digest, and the phrases that they contract.

    `model` names the model of the vectors of its passages, "" without vectors. `popularity` is that
    of a usual post, 0 if no post has one.
    """

    name: str = ""
    digest: str = ""
    phrases: Phrases = field(default_factory=Phrases)
    model: str = ""
    popularity: float = 0.0


class Known:
    """Shared by the searches of a process. Threads may replace its values at any time, so a search
    takes each of them once."""

    def __init__(self, store: PinStore | None = None, model: "Model | None" = None) -> None:
        self.model = model
        self.rules = IndexRules()
        self._store = store

    @property
    def pins(self) -> Sequence[PinRule]:
        """The pinned results as they were read last."""
        return self._store.current if self._store else ()

    def version_search(self) -> tuple[Json, Json] | None:
        """The header and body of a search for the version of the pinned results."""
        return self._store.version_search() if self._store else None

    def update(self, session: SearchSession, index: str, version: Json | None) -> bool:
        """Read what has changed; whether anything has.

        `index` is the name of the index that answered, `version` the response to `version_search`.

        Raises:
            OutdatedIndex: the index has the fields of another version.
        """
        changed = False
        # Written, too, when posts became popular: `PinStore.touch`.
        is_new = self._store and version and not self._store.is_current(version)
        if is_new or not self.rules.name or index not in ("", self.rules.name):
            rules = read_index_rules(session)
            changed = rules != self.rules
            self.rules = rules
        if is_new and self._store and version:
            self._store.read(version)
            changed = True
        return changed


def read_index_rules(session: SearchSession) -> IndexRules:
    """The rules of the index that a session searches.

    Raises:
        OutdatedIndex: the index has the fields of another version.
    """
    nothing: Json = {}
    bodies: Json = session.client.indices.get(
        index=session.index,
        features=["mappings", "settings"],
        filter_path=["*.mappings._meta.blogsearch", f"*.settings.{_RULES}"],
    ).body
    name, body = next(iter(bodies.items()), ("", nothing))
    meta = body.get("mappings", {}).get("_meta", {}).get("blogsearch", {})
    if meta.get("schema") != SCHEMA:
        raise OutdatedIndex(str(other_schema(meta.get("schema"))))
    filters = body.get("settings", {}).get("index", {}).get("analysis", {}).get("filter", {})
    lines = filters.get(SYNONYMS, {}).get("synonyms", [])
    phrases = Phrases.of([lines] if isinstance(lines, str) else lines)
    popularity = _usual_popularity(session)
    return IndexRules(name, meta.get("rules", ""), phrases, meta.get("model", ""), popularity)


def _usual_popularity(session: SearchSession) -> float:
    """The median of the posts that have one; 0 if none has."""
    usual: Json = {"percentiles": {"field": "popularity", "percents": [50], "keyed": False}}
    above: Json = {"filter": {"range": {"popularity": {"gt": 0}}}, "aggs": {"usual": usual}}
    response = session.client.search(
        index=session.index, size=0, track_total_hits=False, aggs={"above": above}
    ).body
    return float(response["aggregations"]["above"]["usual"]["values"][0]["value"] or 0.0)


# -- the languages of the posts --------------------------------------------------------------------

_REFRESHED_AFTER = 60.0  # seconds
_MOST = 100  # languages that are told apart


class IndexedLanguages:
    """The languages of the posts behind an alias, counted again every minute in the background.

    Only the first search of a process waits for them. A post that names no language is in that of
    the index.
    """

    def __init__(self, elastic: Elasticsearch, alias: str, language: Language) -> None:
        self._elastic = elastic
        self._alias = alias
        self._default = language.code
        self._tags: frozenset[str] = frozenset()
        self._refreshed = float("-inf")
        self._lock = threading.Lock()

    def several(self) -> bool:
        """Whether posts are in more than one language."""
        with self._lock:
            former, now = self._refreshed, time.monotonic()
            due = now - former > _REFRESHED_AFTER
            if due:
                self._refreshed = now
            if former == float("-inf"):
                self._refresh_quietly()
            elif due:
                start_thread(self._refresh_quietly)
        return len({tag.partition("-")[0] for tag in self._tags}) > 1

    def preferred(self, accepted: "LanguageAccept") -> str:
        """The best language of an Accept-Language header that posts are in; "" if there is none.

        Nothing but languages of posts is returned: as a part of cache keys the header itself would
        give nearly every visitor answers of their own.
        """
        primary = {tag.partition("-")[0] for tag in self._tags}
        for name, quality in accepted:  # the best first
            tag = name.lower()
            if quality and tag in self._tags:
                return tag
            if quality and (language := tag.partition("-")[0]) in primary:
                return language
        return ""

    def refresh(self) -> None:
        """Count the languages now.

        Raises:
            ApiError, TransportError: Elasticsearch cannot answer; what was known stays.
        """
        counts = self._elastic.search(
            index=self._alias,
            size=0,
            aggs={
                "named": {"terms": {"field": "language", "size": _MOST}},
                "unnamed": {"missing": {"field": "language"}},
            },
            allow_partial_search_results=False,
        )["aggregations"]
        tags = {bucket["key"] for bucket in counts["named"]["buckets"]}
        if counts["unnamed"]["doc_count"]:
            tags.add(self._default)
        self._tags = frozenset(tags)

    def _refresh_quietly(self) -> None:
        with suppress(ApiError, TransportError):  # the next try is in a minute
            self.refresh()
