"""Watches the index behind an alias; only this module holds what a process knows of it.

    watch.publish()                                  # after a write, before it is acknowledged
    lookup = watch.check(lookup, …)                  # before a kept answer is served
    session = watch.open_session(lookup.generation)  # before one is computed

Redis has the generation (`app.search.view`) whose answers are served. A process that changes it
reads it, asks Elasticsearch, and replaces only what it read: what another process wrote meanwhile
is newer, and stays. Every process also asks every few seconds, because Redis may lack the last
change: it may have been away, belong to another host, or have lost or restored its data.
"""

import math
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from elasticsearch import ApiError, Elasticsearch, TransportError

from analyzers.languages import Language, language_of
from app.cache import AnswerCache, Lookup, SingleFlight, open_cache
from app.cache.redis_client import RedisUnavailable
from app.engines.back_off import Admission, start_thread
from app.engines.elastic import NO_INDEX
from app.errors import NoIndex
from app.search.session import SearchSession, WordMemo
from app.search.view import IndexView, follow, languages_of, read_view
from app.settings import Settings

_LONGEST_WAIT = 1.0  # seconds that a search waits for a running update
_FIRST_WAIT = 0.25  # the same in a process that Elasticsearch has not answered yet
_TIMEOUT = 30.0  # seconds for a request on behalf of a write
_PATIENCE = 2.0  # the same for a command to Redis, which may be busy
_BACKGROUND_TIMEOUT = 3.0  # seconds for a request that searches wait for

_NOTHING = b"none|||"
"""The generation if there is no index."""


class Intervals(NamedTuple):
    """`ask`: update in the background after so many seconds. `trust`: if the last update is older,
    a search waits for a new one."""

    ask: float = 2.0
    trust: float = 4.0


_INTERVALS = Intervals()


class IndexWatch:
    """The view of an index, in this process and in Redis. Threads may share it."""

    def __init__(
        self,
        elastic: Elasticsearch,
        cache: AnswerCache,
        settings: Settings,
        admission: Admission,
        intervals: Intervals = _INTERVALS,
    ) -> None:
        self._elastic = elastic
        self._cache = cache
        # Searches do without Redis for a moment if it takes long. After a write without it, other
        # processes would serve older answers.
        patience = max(settings.cache_timeout, _PATIENCE)
        self._cache_of_writes = open_cache(replace(settings, cache_timeout=patience))
        self._settings = settings
        self._admission = admission
        self._intervals = intervals
        self._present: tuple[IndexView, WordMemo] | None = None
        self._following: SingleFlight[tuple[IndexView, WordMemo]] = SingleFlight()
        self._verified = -math.inf  # when the last update began that left Redis up to date
        self._updated = -math.inf  # when the last update began that Elasticsearch answered
        self._updating = threading.Lock()
        self._starting = threading.Lock()
        self._began = -math.inf  # when the last background update was started
        self._ended = threading.Event()  # whether it has ended
        self._ended.set()
        self._failed = -math.inf  # when it failed, if it did

    # -- writing -------------------------------------------------------------------------------

    def publish(self) -> None:
        """Let searches find what was written before this call, and serve no older answers.

        If Redis is away, kept answers are updated within seconds after it is back.

        Raises:
            ApiError, TransportError: Elasticsearch does not answer. Repeating a successful write
                publishes it.
        """
        patient = self._elastic.options(request_timeout=_TIMEOUT)
        patient.indices.refresh(index=self._settings.index, ignore_unavailable=True)
        if self._present or self._cache.client.redis:  # otherwise nobody needs it
            self._update(patient, self._cache_of_writes)

    def _update(self, client: Elasticsearch, cache: AnswerCache) -> None:
        """Bring this process, and Redis if it answers, to Elasticsearch's present generation.

        Raises:
            ApiError, TransportError: Elasticsearch does not answer.
        """
        called = time.monotonic()
        with self._updating:
            while self._verified < called:  # otherwise another thread has updated since this call
                began = time.monotonic()
                try:
                    seen = cache.read_generation()
                    asked = self._ask(client)
                    if seen != asked and not cache.replace_generation(seen, asked):
                        continue  # another process was quicker
                except RedisUnavailable:
                    self._verified = -math.inf
                    self._ask(client)
                    self._updated = began
                    return
                self._verified = self._updated = began

    def _ask(self, client: Elasticsearch) -> bytes:
        """Read the view from Elasticsearch, make it the present one, and return its generation."""
        former = self._present[0] if self._present else None
        try:
            view = read_view(client, self._settings.index, former)
        except NoIndex:
            self._present = None
            return _NOTHING
        self._set(view)
        return view.generation

    def _set(self, view: IndexView) -> tuple[IndexView, WordMemo]:
        present = self._present
        if present is None or present[0].generation != view.generation:
            present = self._present = view, WordMemo()
        return present

    # -- searching -----------------------------------------------------------------------------

    @property
    def languages(self) -> frozenset[str]:
        """The last known languages of the posts; keys of answers depend on them.

        If Elasticsearch does not answer a new process, these are the languages in Redis.
        """
        if not self._present:
            self._await_first()
        if present := self._present:
            return present[0].languages
        try:
            return languages_of(self._cache.read_generation() or _NOTHING)
        except RedisUnavailable:
            return frozenset()

    @property
    def language(self) -> Language:
        """The last known language of the index's analyzers, or else that of the settings."""
        present = self._present
        return present[0].language if present else language_of(self._settings.language)

    def check(self, lookup: Lookup, again: Callable[[], Lookup]) -> Lookup:
        """Return the lookup, without its answer if that may belong to an older generation.

        Redis is trusted for some seconds after an update. While Elasticsearch does not answer,
        Redis is trusted if it has the generation that this process has learned last. If this call
        had to wait for an update, `again` repeats the lookup.
        """
        if not lookup.reached:
            self._verified = -math.inf  # Redis may have missed writes meanwhile
            if self._present:
                self._update_after(time.monotonic() - self._updated)
            return lookup
        age = self._age() if lookup.generation else math.inf
        if self._present:
            self._update_after(age)
        elif age > self._intervals.trust:
            self._await_first()
            if lookup.generation is None:  # nothing is kept that could be served meanwhile
                self._await_view()
        if age < self._intervals.trust:
            return lookup
        if self._age() < self._intervals.trust:
            return again()
        kept, present = lookup.answer, self._present
        if kept is None or present is None:
            return lookup
        if present[0].generation != lookup.generation:
            return replace(lookup, answer=None)
        # Elasticsearch is slow: if a search still gets an answer from it, that is better.
        late = self._is_reachable()
        return replace(lookup, answer=replace(kept, state="STALE")) if late else lookup

    def open_session(self, generation: bytes | None) -> SearchSession:
        """Open a session with the view of this generation, which a search's lookup has read.

        Raises:
            NoIndex, OutdatedIndex: there is no index, or it has other fields.
            Unavailable: this is a new process, and Elasticsearch is known not to answer.
            ApiError, TransportError: Elasticsearch does not answer.
        """
        if not self._present and self._admission.available:
            self._await_first()
            self._await_view()
            if not self._present:
                self._admission.require()
        present = self._present
        if present is None or generation not in (None, present[0].generation):
            present, _ = self._following.run(generation, lambda: self._follow(generation))
        return self._session(*present)

    def reopen(self, outdated: SearchSession, generation: bytes | None) -> SearchSession:
        """Open a session with the present view, after the index has changed during a search.

        Redis gets the new generation, so that nobody gets an older answer after the new one.
        Raises as `open_session` does.
        """
        present = self._present
        if present and present[0].figures == outdated.figures:
            view = present[0]
        else:
            view = read_view(self._elastic, self._settings.index, present and present[0])
        return self._session(*self._announce(generation, view))

    def _session(self, view: IndexView, words: WordMemo) -> SearchSession:
        view.check_schema()
        settings = self._settings
        timeout = settings.elasticsearch_timeout
        return SearchSession(self._elastic, settings.index, view, words, timeout)

    def _follow(self, generation: bytes | None) -> tuple[IndexView, WordMemo]:
        """Read the view of this generation, or else of Elasticsearch's present one."""
        index = self._settings.index
        former = self._present[0] if self._present else None
        view = None
        if generation and former:
            view = follow(self._elastic, index, generation, former)
        return self._announce(generation, view or read_view(self._elastic, index, former))

    def _announce(self, seen: bytes | None, view: IndexView) -> tuple[IndexView, WordMemo]:
        """Make a view the present one before a search shows it, also in Redis, which had `seen`
        when the search looked up its answer."""
        self._set(view)
        if seen is not None and seen != view.generation:
            with suppress(RedisUnavailable):
                # Another process was quicker; what it has seen may be older.
                if not self._cache.replace_generation(seen, view.generation):
                    self._update(self._elastic, self._cache)
        if self._present is None:
            raise NoIndex(NO_INDEX)
        return self._present

    # -- updates in the background -------------------------------------------------------------

    def start(self) -> None:
        """Begin to read the view, so that the first search need not wait for it."""
        self._update_soon()

    def _age(self) -> float:
        return time.monotonic() - self._verified

    def _is_reachable(self) -> bool:
        failing = time.monotonic() - self._failed < self._intervals.trust
        return self._admission.available and not failing

    def _update_after(self, age: float) -> None:
        """Update in the background if the last update is old; wait a moment if it is too old."""
        if age > self._intervals.ask and self._admission.available:
            reachable, ended = self._is_reachable(), self._update_soon()
            if age > self._intervals.trust and reachable:
                ended.wait(_LONGEST_WAIT)

    def _await_first(self) -> None:
        """Wait a moment for the first update of a process: Elasticsearch may be hanging."""
        if self._admission.available:
            ended = self._update_soon()
            if not ended.wait(max(0.0, self._began + _FIRST_WAIT - time.monotonic())):
                self._admission.probe()

    def _await_view(self) -> None:
        """Wait for the end of an update, as long as Elasticsearch is available."""
        while self._admission.available and not self._ended.wait(0.1):
            pass

    def _update_soon(self) -> threading.Event:
        """Update in a thread, unless one is running; return the event that is set when it ends."""
        with self._starting:
            if self._ended.is_set():
                self._ended, self._began = threading.Event(), time.monotonic()
                if not start_thread(self._update_quietly):
                    self._ended.set()  # the next search tries again
            return self._ended

    def _update_quietly(self) -> None:
        try:
            hurried = self._elastic.options(request_timeout=_BACKGROUND_TIMEOUT)
            self._update(hurried, self._cache)
            self._failed = -math.inf
        except (ApiError, TransportError):
            self._failed = time.monotonic()
            self._admission.probe()
        finally:
            self._ended.set()
