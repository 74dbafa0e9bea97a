"""The generation of the cache: what Elasticsearch says of the index and of the pinned results.

    generation.publish()                     # after a write, before it is acknowledged
    lookup = generation.checked(lookup, …)   # before a kept answer is served
    generation.unchanged(lookup.generation)  # after a search, before its answer is kept

A generation is the UUID of the index, and for each shard the number of its posts, the sum of their
sequence numbers as searches see them, and the number of the last write: docs/caching.md says why no
two states have the same. All searches name one preference, so that they are answered by the copy of
each shard that told the generation.

Redis has the generation whose answers are served. Whoever changes it reads it, asks Elasticsearch,
and replaces what was read: what another process found out meanwhile is newer, and stays. Every
process does so every few seconds, too, for what Redis was not told: it may have been away, be
another host's, or have lost or restored its data.
"""

import math
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from elasticsearch import ApiError, Elasticsearch, NotFoundError, TransportError
from elasticsearch.exceptions import HTTP_EXCEPTIONS

from app.back_off import Admission, start_thread
from app.cache import AnswerCache, Lookup
from app.cache.redis_client import RedisUnavailable
from app.elastic import ONE_COPY
from app.search.pins import PinStore

_LONGEST_WAIT = 1.0  # seconds that a search waits for an update
_TIMEOUT = 30.0  # seconds for a request of a write
_BACKGROUND_TIMEOUT = 3.0  # seconds for a request that searches wait for

_NUMBERS = {
    "size": 0,
    "track_total_hits": False,
    "aggs": {
        "numbers": {"stats": {"field": "_seq_no"}},
        "index": {"terms": {"field": "_index"}},
    },
}

Json = dict[str, Any]


class Intervals(NamedTuple):
    """Seconds after which a process asks again, in the background, and until which it takes Redis
    at its word; then a search waits."""

    ask: float = 2.0
    trust: float = 4.0


_INTERVALS = Intervals()


class Generation:
    """The generation of an alias in Elasticsearch and in Redis. Threads may share it."""

    def __init__(
        self,
        elastic: Elasticsearch,
        cache: AnswerCache,
        alias: str,
        pins: PinStore,
        admission: Admission,
        intervals: Intervals = _INTERVALS,
    ) -> None:
        self._elastic = elastic
        self._cache = cache
        self._alias = alias
        self._pins = pins
        self._admission = admission
        self._intervals = intervals
        self._shards = 0  # of the index, when it was asked last
        self._asked: bytes | None = None  # what Elasticsearch said last
        self._verified = -math.inf  # when the update began after which Redis had that
        self._updating = threading.Lock()
        self._starting = threading.Lock()
        self._ended = threading.Event()  # the update in the background, if there is one
        self._ended.set()
        self._failed = -math.inf  # when Elasticsearch did not tell it, unless it has since then

    # -- writing -------------------------------------------------------------------------------

    def publish(self) -> None:
        """Let searches find what was written before this call, and serve no answer from before it.

        If Redis is away that follows within seconds of its return.

        Raises:
            ApiError, TransportError: Elasticsearch does not answer. Sent again, a write that has
                succeeded is published, too.
        """
        patient = self._elastic.options(request_timeout=_TIMEOUT)
        patient.indices.refresh(index=self._alias, ignore_unavailable=True)
        self._update(patient)

    def _update(self, client: Elasticsearch) -> None:
        """Let Redis have what Elasticsearch says now, if there is a Redis that answers.

        Raises:
            ApiError, TransportError: Elasticsearch does not answer.
        """
        called = time.monotonic()
        if self._cache.client.redis is None:
            return
        with self._updating:
            while self._verified < called:  # else another thread began after this call
                began = time.monotonic()
                try:
                    seen = self._cache.read_generation()
                    asked = self._ask(client)
                    if seen == asked or self._cache.replace_generation(seen, asked):
                        self._verified = began
                except RedisUnavailable:
                    self._verified = -math.inf
                    return

    # -- searching -----------------------------------------------------------------------------

    def checked(self, lookup: Lookup, again: Callable[[], Lookup]) -> Lookup:
        """The lookup, or another one if its generation had to be found out first.

        Its answer is left out if it may be of a former generation. Redis can be taken at its word
        if it was so some seconds ago, and while Elasticsearch does not answer, if it has what this
        process was told last. `again` looks up once more.
        """
        if not lookup.reached:
            self._verified = -math.inf  # it may have missed what was written meanwhile
            return lookup
        if lookup.generation and self._age() < self._intervals.trust:
            if self._age() > self._intervals.ask:
                self._update_soon()
            return lookup
        failing = time.monotonic() - self._failed < self._intervals.trust
        reachable = self._admission.available and not failing
        if self._admission.available:
            update_ended = self._update_soon()
            if reachable:
                update_ended.wait(_LONGEST_WAIT)
                if self._age() < self._intervals.trust:
                    return again()
        kept = lookup.answer
        if kept is None or self._asked not in (None, lookup.generation):
            return replace(lookup, answer=None)
        # Elasticsearch takes long: what a search gets from it nevertheless is the better answer.
        return replace(lookup, answer=replace(kept, state="STALE")) if reachable else lookup

    def _age(self) -> float:
        return time.monotonic() - self._verified

    def unchanged(self, generation: bytes | None) -> bool:
        """Whether the index is still of a generation that was looked up before a search.

        If not, Redis is told of the present one: nobody gets a former answer after this new one.
        """
        if generation is None:
            return False
        try:
            # What searches see tells it sooner, and the rest within seconds.
            figures = self._shards and self._read_figures(self._elastic, self._shards)[1]
            if figures == generation.partition(b"|")[0].decode():
                return True
            asked = self._ask(self._elastic)
            if asked != generation:
                self._cache.replace_generation(generation, asked)
        except (ApiError, TransportError, RedisUnavailable):
            return False
        return asked == generation

    def _update_soon(self) -> threading.Event:
        """Update in another thread, unless one does; what is set when that has ended."""
        with self._starting:
            if self._ended.is_set():
                self._ended = threading.Event()
                if not start_thread(self._update_quietly):
                    self._ended.set()  # the next search tries again
            return self._ended

    def _update_quietly(self) -> None:
        try:
            self._update(self._elastic.options(request_timeout=_BACKGROUND_TIMEOUT))
            self._failed = -math.inf
        except (ApiError, TransportError):
            self._failed = time.monotonic()
            self._admission.probe()
        finally:
            self._ended.set()

    # -- Elasticsearch -------------------------------------------------------------------------

    def _ask(self, client: Elasticsearch) -> bytes:
        """What Elasticsearch says now.

        Raises:
            ApiError, TransportError: it does not answer.
        """
        while True:
            indices = _read_indices(client, self._alias)
            shards = max((len(numbers) for _, numbers in indices.values()), default=0)
            try:
                names, figures = self._read_figures(client, shards)
            except NotFoundError:
                continue  # deleted after a swap
            if names <= indices.keys():  # else there was a swap in between
                rest = [f"{uuid}:{','.join(numbers)}" for uuid, numbers in indices.values()]
                self._shards = shards
                self._asked = f"{figures}|{' '.join(rest)}".encode()
                return self._asked

    def _read_figures(self, client: Elasticsearch, shards: int) -> tuple[set[str], str]:
        """The names of the indices that have posts, and what searches see, as text: these names,
        each shard, and the version of the pinned results."""
        searches: list[Json] = []
        for shard in range(shards):
            copy = ONE_COPY if shards == 1 else f"_shards:{shard}|{ONE_COPY}"
            where = {"index": self._alias, "preference": copy}
            searches += [{**where, "allow_partial_search_results": False}, _NUMBERS]
        response = client.msearch(searches=[*searches, *self._pins.version_search()])
        for part in response["responses"]:
            if "error" in part:
                meta = replace(response.meta, status=part["status"])
                error = HTTP_EXCEPTIONS.get(part["status"], ApiError)
                raise error(part["error"]["type"], meta, part)
        *parts, pins = response["responses"]
        names: set[str] = set()
        figures = []
        for found in (part["aggregations"] for part in parts):
            names |= {bucket["key"] for bucket in found["index"]["buckets"]}
            figures.append(f"{found['numbers']['count']}:{found['numbers']['sum']:.0f}")
        hits = pins["hits"]["hits"]
        version = f"{hits[0]['_seq_no']}.{hits[0]['_primary_term']}" if hits else "none"
        return names, " ".join([",".join(sorted(names)), *figures, f"pins:{version}"])


def _read_indices(client: Elasticsearch, alias: str) -> dict[str, tuple[str, list[str]]]:
    """The indices behind an alias, usually one: the UUID of each, and by shard the greatest
    sequence number of a write, refreshed or not."""
    try:
        stats = client.indices.stats(
            index=alias,
            metric="docs",
            level="shards",
            filter_path="indices.*.uuid,indices.*.shards.*.seq_no.max_seq_no",
        )
    except NotFoundError:
        return {}
    indices = {}
    for name, index in sorted(stats.get("indices", {}).items()):
        shards = [copies for _, copies in sorted(index["shards"].items())]
        numbers = [max(copy["seq_no"]["max_seq_no"] for copy in copies) for copies in shards]
        indices[name] = index["uuid"], [str(number) for number in numbers]
    return indices
