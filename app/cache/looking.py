"""What one search sees in Redis, judged: good, due, older or nothing."""

import time
from dataclasses import dataclass

from app.cache.answer import Cached, Stored
from app.cache.background import Background
from app.cache.envelope import Envelope
from app.cache.errors import CacheAway, Unreadable
from app.cache.expiry import Expiry
from app.cache.flight import Flights
from app.cache.keys import Keys
from app.cache.link import Budget, Link
from app.cache.rest import Rest
from app.cache.serializers import Serializer
from app.cache.shelf import Shelf


@dataclass(frozen=True, slots=True)
class Means:
    """What every search of a process shares; `patience` in seconds."""

    link: Link
    keys: Keys
    shelf: Shelf
    serializer: Serializer
    expiry: Expiry
    flights: Flights
    background: Background
    engine: Rest
    patience: float


class Seen:
    """The latest look, and the older answer that any look came upon.

    `good` is fresh and of the current generation; `due` says that this search should have it made
    anew. `generation` is None when there is none yet; without Redis `reached` is False.
    """

    def __init__(self, digest: bytes, means: Means, budget: Budget) -> None:
        self.digest = digest
        self.means = means
        self.budget = budget
        self.times = 0
        self.reached = False
        self.generation: bytes | None = None
        self.good: Cached | None = None
        self.due = False
        self.older: Cached | None = None

    def look(self) -> None:
        """Ask Redis, in one round trip."""
        self.times += 1
        self.good = None
        try:
            look = self.means.shelf.look(self.digest, self.budget)
        except CacheAway:
            self.reached = False
            return
        self.reached = True
        self.generation = look.generation
        if look.envelope:
            self._judge(look.envelope)

    @property
    def older_is_current(self) -> bool:
        """It is only past its time; nothing was written since."""
        return self.older is not None and self.older.generation == self.generation

    def _judge(self, envelope: Envelope) -> None:
        age = max(time.time() - envelope.created, 0.0)
        good = envelope.generation == self.generation and age < envelope.ttl
        cached = Cached(
            "HIT" if good else "STALE",
            digest=self.digest,
            generation=envelope.generation,
            age=age,
            stored=Stored(envelope.payload, self.means.serializer, envelope.tagged),
        )
        try:
            cached.check()
        except Unreadable:
            return
        if good:
            self.good = cached
            self.due = self.means.expiry.due(age, envelope.ttl, envelope.took)
        else:
            self.older = cached
