"""The search service without HTTP: what views and commands call."""

import math
import time
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qsl

from elasticsearch import Elasticsearch
from werkzeug.datastructures import MultiDict

from analyzers.languages import LANGUAGES
from app.admission import Admission
from app.cache import AnswerCache, CachedAnswer, Computed, Lookup, fresh
from app.elastic import responds, translated
from app.errors import BlogsearchError, StillComputing, Unavailable
from app.indexed_languages import IndexedLanguages
from app.insights.search_log import SearchLog
from app.insights.visitors import Visitor
from app.logs import note, timed
from app.pins.store import PinStore
from app.search import Answer
from app.search import search as run_search
from app.search.request import SearchRequest, SuggestRequest
from app.search.suggest import suggest
from app.settings import Settings
from indexer.errors import Locked
from indexer.generations import prune
from indexer.lock import Lock

EXTENSION = "blogsearch"
"""Where the Service is in `app.extensions`."""

_WARM_AFTER_SWAP = 20.0  # seconds; the command that swapped waits for it
_PRUNE_TIMEOUT = 120.0  # seconds for a request to Elasticsearch


@dataclass(frozen=True, slots=True)
class Warmed:
    """How many queries were answered, and how many could not be."""

    answered: int
    failed: int


@dataclass(frozen=True, slots=True)
class AfterSwap:
    """What `Service.after_swap` did: `deleted` generations, and a `warning` if some remain."""

    warmed: Warmed
    deleted: list[str]
    warning: str = ""


class Service:
    """The settings, the engine and the cache; lives as long as the application."""

    def __init__(self, settings: Settings, elastic: Elasticsearch, cache: AnswerCache) -> None:
        self.settings = settings
        self.elastic = elastic
        self.cache = cache
        self.search_log = SearchLog(cache.client, cache.keys, days=settings.insights_days)
        language = LANGUAGES[settings.language]
        self.pins = PinStore(elastic, settings.index, language)
        self.languages = IndexedLanguages(elastic, settings.index, language)
        self.admission = Admission(lambda: responds(elastic), settings.max_computations)

    def answer(
        self,
        request: SearchRequest,
        key: str,
        visitor: Visitor | None = None,
        lookup: Lookup | None = None,
    ) -> CachedAnswer:
        """The answer to a search, from the cache if it can be; counted if there is a visitor.

        `key` is `request.key()`, and `lookup` what the cache has for it, which a caller may have at
        hand.

        Raises:
            Unavailable: Elasticsearch cannot answer, or too many searches are running, and no
                older answer is kept.
        """
        started = time.perf_counter()
        answer = self._beyond_the_end(request) or self._get_or_compute(request, key, lookup)
        note(cache=answer.state)
        self.search_log.record(
            answer.state,
            key if request.page == 1 else "",
            found=answer.found,
            seconds=time.perf_counter() - started,
            visitor=visitor,
        )
        return answer

    def fresh_answer(
        self, key: str, visitor: Visitor | None = None
    ) -> tuple[CachedAnswer | None, Lookup]:
        """The answer to a search if it is fresh in the cache, counted as by `answer`, else None;
        and what the cache has, for `answer`."""
        started = time.perf_counter()
        lookup = self.cache.lookup(key)
        answer = fresh(lookup)
        if answer:
            self.search_log.record(
                answer.state,
                key,
                found=answer.found,
                seconds=time.perf_counter() - started,
                visitor=visitor,
            )
        return answer, lookup

    def _beyond_the_end(self, request: SearchRequest) -> CachedAnswer | None:
        """The answer to a page after the last one, made of the first page; None for other pages.

        It is not kept, so that far pages cost neither Elasticsearch nor Redis anything.
        """
        if request.page == 1:
            return None
        first_request = replace(request, page=1)
        first = self._get_or_compute(first_request, first_request.key())
        body = first.body
        if (request.page - 1) * request.size < body["count"]:
            return None
        return first.with_body({**body, "page": request.page, "hits": []})

    def explain(self, request: SearchRequest) -> tuple[CachedAnswer, dict[str, Any]]:
        """The answer, computed now and kept, and how it came about.

        A kept answer would be explained by what is in the index some minutes later.

        Raises:
            Unavailable: Elasticsearch cannot answer.
        """
        debug: dict[str, Any] = {}
        answer = self.cache.get_or_compute(
            request.key(), lambda: self._compute(request, debug), force_refresh=True
        )
        note(cache=answer.state)
        self.search_log.record(answer.state)
        return answer, debug

    def look_up(self, request: SearchRequest) -> dict[str, Any]:
        """The body of an answer that no visitor asked for; not counted as a search.

        Raises:
            Unavailable: as `answer` does.
        """
        return self._get_or_compute(request, request.key()).body

    def suggest(
        self, request: SuggestRequest, key: str, lookup: Lookup | None = None
    ) -> CachedAnswer:
        """The suggestions for what a visitor has typed so far; not counted as a search.

        `key` and `lookup` are as for `answer`.

        Raises:
            Unavailable: as `answer` does.
        """
        answer = self.cache.get_or_compute(
            key,
            lambda: self._compute_suggestions(request),
            available=self.admission.available,
            lookup=lookup,
        )
        note(cache=answer.state)
        return answer

    def fresh_suggestions(self, key: str) -> tuple[CachedAnswer | None, Lookup]:
        """The suggestions if they are fresh in the cache, else None; and what the cache has for
        them, for `suggest`."""
        lookup = self.cache.lookup(key)
        return fresh(lookup), lookup

    def _compute_suggestions(self, request: SuggestRequest) -> Computed:
        with self.admission.admit(), translated():
            body, index = suggest(
                self.elastic, self.settings.index, request, self.settings, self.pins.current()
            )
        # As for later pages: there are too many beginnings of words to keep them for a day.
        return Computed(body=body, index=index, found=bool(body["suggestions"]), keep_stale=False)

    def warm(self, *, at_most: int = 100, seconds: float = math.inf) -> Warmed:
        """Answer the most frequent queries, so that visitors find the answers in the cache.

        A query whose answer is kept already costs one lookup. Ends after `seconds`, and with the
        first query that Elasticsearch cannot answer.
        """
        answered = failed = 0
        ends = time.monotonic() + seconds
        for query, _ in self.search_log.popular(at_most):
            if time.monotonic() >= ends:
                break
            try:
                self._warm(query)
            except StillComputing:
                continue
            except Unavailable:
                return Warmed(answered, failed + 1)
            except BlogsearchError:
                failed += 1  # counted by a version that had other parameters, or refused
            else:
                answered += 1
        return Warmed(answered, failed)

    def after_swap(self) -> AfterSwap:
        """Warm the cache and delete old generations.

        Nothing is deleted while another process builds; that process deletes them. Elasticsearch
        may fail here; the swap counts nevertheless.
        """
        warmed = self.warm(seconds=_WARM_AFTER_SWAP)
        client, alias = self.elastic.options(request_timeout=_PRUNE_TIMEOUT), self.settings.index
        try:
            with translated(), Lock(client, alias, "prune"):
                return AfterSwap(warmed, prune(client, alias))
        except Locked:
            return AfterSwap(warmed, [])
        except BlogsearchError as error:
            warning = f"Old indices may remain; `blogsearch prune` deletes them. {error}"
            return AfterSwap(warmed, [], warning)

    def _warm(self, query: str) -> None:
        args = MultiDict(parse_qsl(query))
        prefer = args.pop("prefer", "")
        request = replace(SearchRequest.parse(args), prefer=prefer)
        self._get_or_compute(request, request.key())

    def _get_or_compute(
        self, request: SearchRequest, key: str, lookup: Lookup | None = None
    ) -> CachedAnswer:
        return self.cache.get_or_compute(
            key,
            lambda: self._compute(request),
            available=self.admission.available,
            lookup=lookup,
        )

    def _compute(self, request: SearchRequest, debug: dict[str, Any] | None = None) -> Computed:
        with self.admission.admit(), timed("engine"), translated():
            answer: Answer = run_search(
                self.elastic, self.settings.index, request, self.settings, self.pins.current()
            )
        note(engine_requests=len(answer.debug["requests"]), plan=_plan(answer))
        if debug is not None:
            debug.update(answer.debug)
        # A crawler that follows the pages of every query would fill Redis for a day.
        return Computed(
            body=answer.body,
            index=answer.index,
            found=bool(answer.body["count"]),
            keep_stale=request.page == 1,
        )


def _plan(answer: Answer) -> dict[str, str]:
    """How a search was answered, for the log line of a slow one."""
    sent = [f"{one['kind']} {one['took_ms']} ms" for one in answer.debug["requests"]]
    return {"tier": str(answer.body.get("tier")), "sent": ", ".join(sent)}
