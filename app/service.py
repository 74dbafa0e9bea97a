"""Implements the search service without HTTP, for views and commands."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

from elasticsearch import BadRequestError, Elasticsearch

from app.cache import AnswerCache, CachedAnswer, Computed
from app.engines.back_off import Admission
from app.engines.elastic import answers_searches, responds, translate_errors
from app.engines.meaning import open_model
from app.errors import BlogsearchError
from app.http.logs import add_time, note
from app.http.rate_limit import RateLimiter
from app.index.health import shared_checks
from app.index.watch import IndexWatch
from app.insights.counts import Counts, Extent
from app.insights.search_log import SearchLog
from app.search.answer import SHAPE, SearchAnswer
from app.search.blended import search as run_search
from app.search.pins import PinStore
from app.search.request import SearchRequest, SuggestRequest
from app.search.session import SearchSession
from app.search.similar import SimilarRequest, similar, stored_post
from app.search.suggest import suggest
from app.settings import Settings

EXTENSION = "blogsearch"
"""The key of the Service in `app.extensions`."""

_WARMED = 100  # queries
_POPULAR, _POPULAR_DAYS = 8, 30
_POPULAR_KEPT = 300.0  # seconds


class Service:
    """The settings, the engines and everything built on them; lives as long as the application."""

    def __init__(self, settings: Settings, elastic: Elasticsearch, cache: AnswerCache) -> None:
        self.settings = settings
        self.elastic = elastic
        self.cache = cache
        self.counts = Counts(elastic, settings.index, settings.insights_days)
        self.search_log = SearchLog(cache.client, cache.keys, self.counts)
        self.rate_limiter = RateLimiter(cache.keys.rates, settings.rate_limit)
        self.pins = PinStore(elastic, settings.index)
        self.model = open_model(settings)
        self.checks = shared_checks(elastic, cache, settings)
        self.admission = Admission(
            lambda: responds(elastic),
            settings.max_computations,
            lambda: answers_searches(elastic, settings.index),
        )
        self.watch = IndexWatch(elastic, cache, settings, self.admission)
        self.popular = cache.memoize(seconds=_POPULAR_KEPT)(self._read_popular)

    def answer(
        self,
        request: SearchRequest,
        visitor: str = "",
        clients: Sequence[str] = (),
        assistant: str = "",
    ) -> CachedAnswer:
        """Return the answer to a search, from the cache if possible.

        Args:
            visitor: the visitor to count the search for in the insights; "": it is not counted.
            clients: the clients to count the request for in the rate limit, as for `quotas`; none:
                it is not counted.
            assistant: the name of the program that asks for somebody; counted separately.

        Raises:
            RateLimited: the client has sent too many requests.
            Unavailable: Elasticsearch cannot answer, or too many searches are running, and no
                answer of the present generation is cached.
        """
        compute = partial(self._compute, request=request)
        answer = self.get_or_compute(cache_key(request), compute, clients, "searches")
        if (visitor or assistant) and request.page == 1 and not request.debug:
            found: Extent = "some" if answer.is_partial else "all" if answer.has_hits else "nothing"
            self.search_log.record(request.q, request_key(request), found, visitor, assistant)
        return answer

    def suggest(self, request: SuggestRequest, clients: Sequence[str] = ()) -> CachedAnswer:
        """Return the suggestions for what a visitor has typed so far; not counted as a search.

        Raises:
            RateLimited, Unavailable: as `answer` does.
        """

        def compute(session: SearchSession) -> Computed:
            body = suggest(session, request, session.view.language)
            # There are too many beginnings of words to keep all for a day.
            return Computed(body=body, has_hits=bool(body["suggestions"]), keep_stale=False)

        return self.get_or_compute(cache_key(request), compute, clients, "suggestions")

    def similar(self, request: SimilarRequest, clients: Sequence[str] = ()) -> CachedAnswer:
        """Return posts similar to a given one.

        Raises:
            RateLimited, Unavailable: as `answer` does.
        """

        def compute(session: SearchSession) -> Computed:
            body = similar(session, request, self.model)
            # There is no limit to addresses that no post has.
            return Computed(body=body, has_hits=body["known"], keep_stale=body["known"])

        return self.get_or_compute(cache_key(request), compute, clients, "suggestions")

    def post(self, name: str) -> Mapping[str, Any]:
        """Return the post with this oid or address, with plain texts; {} if there is none.

        Raises:
            Unavailable: as `answer` does.
        """

        def compute(session: SearchSession) -> Computed:
            body = stored_post(session, name)
            return Computed(body=body, has_hits=bool(body), keep_stale=bool(body))

        post: Mapping[str, Any] = self.get_or_compute(f"{SHAPE} post&{name}", compute).body
        return post

    def get_or_compute(
        self,
        key: str,
        compute: Callable[[SearchSession], Computed],
        clients: Sequence[str] = (),
        bucket: str = "",
    ) -> CachedAnswer:
        """Return the answer that is cached under a key, or else compute it. The lookup also counts
        the request of the client, in the same round trip to Redis.

        If the index has changed since the lookup, the answer is computed again, because what was
        known of its words and rules may be outdated. Otherwise it is kept.

        Raises:
            RateLimited, Unavailable: as `answer` does.
        """
        quotas = self.rate_limiter.quotas(clients, bucket)
        looked_up = self.cache.lookup(key, [quota.counter for quota in quotas])
        self.rate_limiter.check(quotas, looked_up.counts)
        lookup = self.watch.check(looked_up, lambda: self.cache.lookup(key))

        def admitted() -> Computed:
            with self.admission.admit(), translate_errors():
                session = self.watch.open_session(lookup.generation)
                with suppress(BadRequestError):  # perhaps the index now has other fields
                    computed = compute(session)
                    if session.is_current:
                        is_same = session.view.generation == lookup.generation
                        return replace(computed, keep=is_same and bool(session.figures))
                session = self.watch.reopen(session, lookup.generation)
                computed = compute(session)
                if not session.is_current:  # nobody may get an older answer after this one
                    self.watch.reopen(session, lookup.generation)
                return replace(computed, keep=False)

        answer = self.cache.answer(lookup, admitted, available=self.admission.available)
        if bucket:
            note(cache=answer.state)
        return answer

    def count(self, clients: Sequence[str], bucket: str) -> None:
        """Count a client's request that needs no lookup.

        Raises:
            RateLimited: the client has sent too many requests.
        """
        if quotas := self.rate_limiter.quotas(clients, bucket):
            counts = self.cache.count([quota.counter for quota in quotas])
            self.rate_limiter.check(quotas, counts)

    def warm(self, *, seconds: float = math.inf) -> int:
        """Answer the most frequent queries, so that visitors get them from the cache; return how
        many were answered.

        A query that is already cached costs one lookup. Ends after `seconds`, or when Elasticsearch
        cannot answer.
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

    def _read_popular(self) -> list[str]:
        """Return searches that many visitors have sent; `popular` keeps them.

        Raises:
            Unavailable: Elasticsearch is known to be unavailable.
        """
        if not self.settings.insights_days:
            return []
        self.admission.require()
        searched = self.counts.report(_POPULAR_DAYS).searched
        return [row.query for row in searched if row.is_public][:_POPULAR]

    def _compute(self, session: SearchSession, request: SearchRequest) -> Computed:
        started = time.perf_counter()
        try:
            answer = run_search(session, request, self.settings, self.model)
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
    """Whether posts were found, but none with all words of the search."""
    lacking = body.get("tier") == "some words" or "dropped" in body
    return bool(body["count"]) and lacking


def cache_key(request: SearchRequest | SuggestRequest | SimilarRequest) -> str:
    """Return the cache key of an answer; it contains the version of the answer's shape."""
    return f"{SHAPE} {request_key(request)}"


@lru_cache(maxsize=1024)  # popular searches are repeated
def request_key(request: SearchRequest | SuggestRequest | SimilarRequest) -> str:
    return request.key()
