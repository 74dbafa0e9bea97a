"""The search service without HTTP: what views and commands call."""

import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from urllib.parse import urlencode

from elasticsearch import Elasticsearch

from analyzers.languages import LANGUAGES
from app.back_off import Admission
from app.cache import AnswerCache, CachedAnswer, Computed, Lookup
from app.elastic import answers_searches, responds, translated
from app.errors import BlogsearchError
from app.generation import Generation
from app.health import shared_checks
from app.insights.counts import Counts, Extent
from app.insights.search_log import SearchLog
from app.logs import add_time, note
from app.meaning import open_model
from app.rate_limit import RateLimiter
from app.search.answer import SHAPE, SearchAnswer
from app.search.blended import Answer
from app.search.blended import search as run_search
from app.search.pins import PinStore
from app.search.request import SearchRequest, SuggestRequest
from app.search.session import IndexedLanguages, Known
from app.search.similar import SimilarRequest, similar, stored_post_search
from app.search.suggest import suggest
from app.settings import Settings

EXTENSION = "blogsearch"
"""Where the Service is in `app.extensions`."""

_WARMED = 100  # queries


class Service:
    """The settings, the engine and the cache; lives as long as the application."""

    def __init__(self, settings: Settings, elastic: Elasticsearch, cache: AnswerCache) -> None:
        self.settings = settings
        self.elastic = elastic
        self.cache = cache
        self.counts = Counts(elastic, settings.index, settings.insights_days)
        self.search_log = SearchLog(cache.client, cache.keys, self.counts)
        self.rate_limiter = RateLimiter(cache.keys.rates, settings.rate_limit)
        language = LANGUAGES[settings.language]
        self.pins = PinStore(elastic, settings.index, language)
        self.known = Known(self.pins, open_model(settings))
        self.checks = shared_checks(elastic, cache, settings)
        self.languages = IndexedLanguages(elastic, settings.index, language)
        self.admission = Admission(
            lambda: responds(elastic),
            settings.max_computations,
            lambda: answers_searches(elastic, settings.index),
        )
        self.generation = Generation(elastic, cache, settings.index, self.pins, self.admission)

    def answer(
        self, request: SearchRequest, visitor: str = "", clients: Sequence[str] = ()
    ) -> CachedAnswer:
        """The answer to a search, from the cache if it can be.

        Args:
            visitor: whose search is counted for the insights; "": it is not.
            clients: whose request is counted for the rate limit, as `quotas` takes it; none: it is
                not.

        Raises:
            RateLimited: the client has sent too many requests.
            Unavailable: Elasticsearch cannot answer, or too many searches are running, and no
                answer of the present generation is cached.
        """
        lookup = self.look_up(cache_key(request), clients, "searches")
        answer = self.get_or_compute(lookup, lambda: self._compute(request))
        note(cache=answer.state)
        if visitor and request.page == 1 and not request.debug:
            found: Extent = "some" if answer.is_partial else "all" if answer.has_hits else "nothing"
            self.search_log.record(request.q, request_key(request), found, visitor)
        return answer

    def suggest(self, request: SuggestRequest, clients: Sequence[str] = ()) -> CachedAnswer:
        """The suggestions for what a visitor has typed so far; not counted as a search.

        Raises:
            RateLimited, Unavailable: as `answer` does.
        """

        def compute() -> Computed:
            body = suggest(self.elastic, self.settings.index, request, self.settings, self.known)
            # There are too many beginnings of words to keep them for a day.
            return Computed(body=body, has_hits=bool(body["suggestions"]), keep_stale=False)

        lookup = self.look_up(cache_key(request), clients, "suggestions")
        answer = self.get_or_compute(lookup, compute)
        note(cache=answer.state)
        return answer

    def similar(self, request: SimilarRequest, clients: Sequence[str] = ()) -> CachedAnswer:
        """Posts like the one that is named.

        Raises:
            RateLimited, Unavailable: as `answer` does.
        """

        def compute() -> Computed:
            body = similar(self.elastic, self.settings.index, request, self.settings, self.known)
            # Anybody can name addresses without end that no post has.
            return Computed(body=body, has_hits=body["known"], keep_stale=body["known"])

        lookup = self.look_up(cache_key(request), clients, "suggestions")
        answer = self.get_or_compute(lookup, compute)
        note(cache=answer.state)
        return answer

    def post(self, name: str, clients: Sequence[str], bucket: str) -> CachedAnswer:
        """The stored post with this oid or address, an empty body if there is none.

        Raises:
            RateLimited, Unavailable: as `answer` does.
        """

        def compute() -> Computed:
            search = stored_post_search(name)
            found = self.elastic.search(index=self.settings.index, **search)["hits"]["hits"]
            source = found[0]["_source"] if found else {}
            return Computed(body=source, has_hits=bool(source), keep_stale=False)

        lookup = self.look_up(f"{SHAPE} post&{urlencode([('name', name)])}", clients, bucket)
        return self.get_or_compute(lookup, compute)

    def get_or_compute(self, lookup: Lookup, compute: Callable[[], Computed]) -> CachedAnswer:
        """The answer that was looked up, or else what `compute` gets from Elasticsearch.

        Raises:
            Unavailable: as `answer` does.
        """

        def admitted() -> Computed:
            with self.admission.admit(), translated():
                computed = compute()
                unchanged = self.generation.unchanged(lookup.generation)
                return computed if unchanged else replace(computed, keep=False)

        return self.cache.answer(lookup, admitted, available=self.admission.available)

    def look_up(self, key: str, clients: Sequence[str] = (), bucket: str = "") -> Lookup:
        """What the cache has of the present generation of the index.

        The same round trip to Redis counts the request of the client.

        Raises:
            RateLimited: the client has sent too many requests.
        """
        quotas = self.rate_limiter.quotas(clients, bucket)
        lookup = self.cache.lookup(key, [quota.counter for quota in quotas])
        self.rate_limiter.check(quotas, lookup.counts)
        return self.generation.checked(lookup, lambda: self.cache.lookup(key))

    def count(self, clients: Sequence[str], bucket: str) -> None:
        """Count the request of a client that looks up nothing.

        Raises:
            RateLimited: the client has sent too many requests.
        """
        if quotas := self.rate_limiter.quotas(clients, bucket):
            counts = self.cache.count([quota.counter for quota in quotas])
            self.rate_limiter.check(quotas, counts)

    def warm(self, *, seconds: float = math.inf) -> int:
        """Answer the most frequent queries, so that visitors find the answers in the cache; how
        many were answered.

        A query whose answer is kept already costs one lookup. Ends after `seconds`, or when
        Elasticsearch cannot answer.
        """
        answered = 0
        ends = time.monotonic() + seconds
        with suppress(BlogsearchError):
            for request in self.counts.popular(_WARMED):
                if time.monotonic() >= ends:
                    break
                self.answer(request)
                answered += 1
        return answered

    def _compute(self, request: SearchRequest) -> Computed:
        started = time.perf_counter()
        try:
            answer: Answer = run_search(
                self.elastic, self.settings.index, request, self.settings, self.known
            )
        finally:
            add_time("engine", time.perf_counter() - started)
        note(engine_requests=len(answer.debug["requests"]))
        body = {**answer.body, "debug": answer.debug} if request.debug else answer.body
        # A crawler that follows the pages of every query would fill Redis for a day.
        return Computed(
            body=body,
            has_hits=bool(answer.body["count"]),
            is_partial=_is_partial(answer.body),
            keep_stale=request.page == 1 and not request.debug,
        )


def _is_partial(body: SearchAnswer) -> bool:
    """Whether posts were found, none of which has all words of the search."""
    lacking = body.get("tier") == "some words" or "dropped" in body
    return bool(body["count"]) and lacking


def cache_key(request: SearchRequest | SuggestRequest | SimilarRequest) -> str:
    """What an answer is cached under; another one for each shape of answers."""
    return f"{SHAPE} {request_key(request)}"


@lru_cache(maxsize=1024)  # popular searches come again and again
def request_key(request: SearchRequest | SuggestRequest | SimilarRequest) -> str:
    return request.key()
