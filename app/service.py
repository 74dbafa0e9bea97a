"""The search service without HTTP: what views and commands call."""

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
"""Where the Service is in `app.extensions`."""

_WARMED = 100  # queries
_POPULAR, _POPULAR_DAYS = 8, 30
_POPULAR_KEPT = 300.0  # seconds


class Service:
    """The settings, the engine and the cache; lives as long as the application."""

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
        """The answer to a search, from the cache if it can be.

        Args:
            visitor: whose search is counted for the insights; "": it is not.
            clients: whose request is counted for the rate limit, as `quotas` takes it; none: it is
                not.
            assistant: the name of the program that asks for somebody; counted apart.

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
        """The suggestions for what a visitor has typed so far; not counted as a search.

        Raises:
            RateLimited, Unavailable: as `answer` does.
        """

        def compute(session: SearchSession) -> Computed:
            body = suggest(session, request, session.view.language)
            # There are too many beginnings of words to keep them for a day.
            return Computed(body=body, has_hits=bool(body["suggestions"]), keep_stale=False)

        return self.get_or_compute(cache_key(request), compute, clients, "suggestions")

    def similar(self, request: SimilarRequest, clients: Sequence[str] = ()) -> CachedAnswer:
        """Posts like the one that is named.

        Raises:
            RateLimited, Unavailable: as `answer` does.
        """

        def compute(session: SearchSession) -> Computed:
            body = similar(session, request, self.model)
            # Anybody can name addresses without end that no post has.
            return Computed(body=body, has_hits=body["known"], keep_stale=body["known"])

        return self.get_or_compute(cache_key(request), compute, clients, "suggestions")

    def post(self, name: str) -> Mapping[str, Any]:
        """The texts of the post with this oid or address, nothing if there is none.

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
        """The answer that the cache has under a key, or else what `compute` gets from
        Elasticsearch. The look-up counts the request of the client in the same trip to Redis.

        Computed once more if the index has changed since the look-up, as what is known of its words
        and rules may be of before. Kept if it has not.

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
                with suppress(BadRequestError):  # perhaps the index has other fields since then
                    computed = compute(session)
                    if session.is_current:
                        is_same = session.view.generation == lookup.generation
                        return replace(computed, keep=is_same and bool(session.figures))
                return replace(compute(self.watch.reopen(session, lookup.generation)), keep=False)

        answer = self.cache.answer(lookup, admitted, available=self.admission.available)
        if bucket:
            note(cache=answer.state)
        return answer

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

    def _read_popular(self) -> list[str]:
        """Searches that many visitors have sent; `popular` keeps them.

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
    """Whether posts were found, none of which has all words of the search."""
    lacking = body.get("tier") == "some words" or "dropped" in body
    return bool(body["count"]) and lacking


def cache_key(request: SearchRequest | SuggestRequest | SimilarRequest) -> str:
    """What an answer is cached under; another one for each shape of answers."""
    return f"{SHAPE} {request_key(request)}"


@lru_cache(maxsize=1024)  # popular searches come again and again
def request_key(request: SearchRequest | SuggestRequest | SimilarRequest) -> str:
    return request.key()
