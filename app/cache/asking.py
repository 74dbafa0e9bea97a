"""One search asking the cache: from the first look to an answer, by dogpile's rules.

`dogpile.lock.Lock` decides who computes and who waits. Its region is not used here: it knows a
value and no value, while a search has three things to tell apart: an answer, one past its time or
nearly so, and one of an older generation, which only counts when Elasticsearch is gone.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dogpile.lock import Lock, NeedRegenerationException

from app.cache.answer import Cached, Compute, Computed, State, Stored
from app.cache.background import Background
from app.cache.envelope import Envelope
from app.cache.errors import CacheAway, NotCarried, Unreadable
from app.cache.expiry import Expiry
from app.cache.flight import Turn
from app.cache.link import Budget
from app.cache.rest import Rest
from app.cache.serializers import Serializer
from app.cache.shelf import Shelf, index_of
from app.errors import Unavailable

logger = logging.getLogger(__name__)

# dogpile wants the moment a value was made; all we ever tell it is "good" or "to be made anew".
_GOOD, _DUE, _PATIENT = float("inf"), 1.0, 1.0

_lock: Callable[..., Any] = Lock  # which has no types


@dataclass(frozen=True, slots=True)
class Means:
    """What every search of a process shares."""

    shelf: Shelf
    serializer: Serializer
    expiry: Expiry
    background: Background
    engine: Rest


class Asking:
    """`answer()` is what a search gets; the other methods are steps on the way there."""

    def __init__(
        self, digest: bytes, compute: Compute, means: Means, turn: Turn, budget: Budget
    ) -> None:
        self._digest = digest
        self._compute = compute
        self._means = means
        self._turn = turn
        self._budget = budget
        self._looks = 0
        self._turned = False
        self._reached = False
        self._generation: bytes | None = None
        self._good: Cached | None = None
        self._older: Cached | None = None
        self._refresh_due = False

    def answer(self) -> Cached:
        """The answer: kept, computed, or an older one when there is no other.

        Raises:
            Unavailable: Elasticsearch cannot answer and nothing older was kept.
        """
        self._look()
        if self._good and not self._refresh_due:
            return self._good
        if self._older and self._means.engine.resting():
            return self._older
        later = self._refresh if self._refresh_due else None
        with _lock(self._turn, self._make, self._value, _PATIENT, later) as cached:
            answer: Cached = cached
            return answer

    def anew(self) -> Cached:
        """The answer computed now, whatever is kept, and kept instead.

        Raises:
            Unavailable: Elasticsearch cannot answer; an older answer is no help here.
        """
        self._look()
        self._older = None
        return self._computed()

    # -- looking ---------------------------------------------------------------------------------
    def _look(self) -> None:
        self._looks += 1
        self._good = None
        try:
            look = self._means.shelf.look(self._digest, self._budget)
        except CacheAway:
            self._reached = False
            return
        self._reached = True
        self._generation = look.generation
        if look.envelope:
            self._judge(look.envelope, current=look.envelope.generation == look.generation)

    def _judge(self, envelope: Envelope, current: bool) -> None:
        age = max(time.time() - envelope.created, 0.0)
        good = current and age < envelope.ttl
        stored = Stored(envelope.payload, self._means.serializer, envelope.tagged)
        cached = Cached(
            "HIT" if good else "STALE",
            digest=self._digest,
            generation=envelope.generation,
            age=age,
            stored=stored,
        )
        try:
            cached.check()
        except Unreadable:
            return
        if good:
            self._good = cached
            self._refresh_due = self._means.expiry.due(age, envelope.ttl, envelope.took)
        else:
            self._older = cached

    def _value(self) -> tuple[Cached, float]:
        """What dogpile is told there is; asked once before a turn is taken and once after."""
        if self._turned:
            landed = self._landed()
            if landed:
                return landed, _GOOD
            self._look()
            if self._good:
                return self._good, _GOOD
        self._turned = True
        if self._good:  # and due: it goes out now, and one of those who see it makes it anew
            return self._good, _DUE
        if self._older and self._older.generation == self._generation:
            return self._older, _DUE
        raise NeedRegenerationException

    def _landed(self) -> Cached | None:
        """What another thread computed for us, unless something was written in between."""
        landed = self._turn.landed()
        if isinstance(landed, Unavailable):
            if self._older:
                return self._older
            raise landed
        if landed and (not self._reached or landed.generation == self._generation):
            return landed.seen_as("HIT" if self._reached else "OFF")
        return None

    # -- computing -------------------------------------------------------------------------------
    def _make(self) -> tuple[Cached, float]:
        """dogpile's creator: called with the turn, or without it when patience ran out."""
        if self._older:
            if not self._turn.held:
                return self._older, _GOOD
            if self._looks == 1:  # another may have been done between our look and our turn
                self._look()
                if self._good:
                    return self._good, _GOOD
        return self._computed(), _GOOD

    def _computed(self) -> Cached:
        generation = self._generation
        if generation is None and self._reached:
            # Before the computation: what is written while it runs must count as newer.
            generation = self._means.shelf.first_generation(self._budget)
        began = time.monotonic()
        try:
            computed = self._compute()
        except Unavailable as error:
            self._turn.land(error)
            self._means.engine.begin(error.retry_after)
            if self._older:
                return self._older
            raise
        self._means.engine.end()
        cached = self._kept(computed, generation, time.monotonic() - began)
        self._turn.land(cached)
        return cached

    def _kept(self, computed: Computed, generation: bytes | None, took: float) -> Cached:
        state: State = "MISS" if self._reached else "OFF"
        plain = Cached(state, digest=self._digest, generation=b"", body=computed.body)
        if generation is None:
            return plain
        if computed.index and index_of(generation) != computed.index:
            # Nobody told Redis about a swap (it was away): no older answer may count any more.
            generation = self._means.shelf.move_on(generation, computed.index, self._budget)
            if generation is None:
                return plain
        try:
            payload, tagged = self._means.serializer.dumps(computed.body)
        except NotCarried:
            logger.exception("an answer cannot be kept")
            return plain
        self._put(computed, generation, took, payload, tagged)
        stored = Stored(payload, self._means.serializer, tagged)
        return Cached(
            state, digest=self._digest, generation=generation, stored=stored, body=computed.body
        )

    def _put(
        self, computed: Computed, generation: bytes, took: float, payload: bytes, tagged: bool
    ) -> None:
        envelope = Envelope(
            digest=self._digest,
            serializer=self._means.serializer.name,
            generation=generation,
            created=time.time(),
            ttl=self._means.expiry.fresh_for(computed.found),
            took=took,
            tagged=tagged,
            found=computed.found,
            payload=payload,
        )
        self._means.shelf.put(envelope, envelope.ttl + self._means.expiry.stale, self._budget)

    def _refresh(self, turn: Turn) -> None:
        """dogpile's runner for a good answer that is soon to expire: beside the search."""

        def job() -> None:
            self._budget.renew()  # the search that started this is over
            try:
                self._computed()
            finally:
                turn.release()

        if not self._means.background.run(job):
            turn.release()
