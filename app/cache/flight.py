"""Only one computes: a turn is held in this process by a lock, among all processes by Redis.

A turn is the mutex that `dogpile.lock.Lock` asks for. Threads of one process queue here and are
handed what the first of them computed, even when Redis is away; of each process only the first
thread asks Redis, where the turn is a key that goes by itself if its holder dies.
"""

import secrets
import threading
import time
from contextlib import suppress

import redis
from dogpile.util import NameRegistry

from app.cache.answer import Cached
from app.cache.errors import CacheAway
from app.cache.link import Budget, Link
from app.errors import Unavailable

# Seconds between looks at another process' turn: many computations are over after the first ones,
# and those that are not need their processor for something else.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.01, 0.05

# Deletes the turn only while it is ours: it may have run out and be someone else's.
_GIVE_BACK = """
if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end
return 0
"""


Outcome = Cached | Unavailable


class Flight:
    """What the threads of this process share while one answer is under way."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lock = threading.Lock()
        self.landed: Outcome | None = None
        self.landed_at = 0.0


class Flights:
    """The flights under way; one lives as long as someone waits for it."""

    def __init__(self) -> None:
        self._registry = NameRegistry(Flight)

    def get(self, name: str) -> Flight:
        flight: Flight = self._registry.get(name)
        return flight


class Turn:
    """One search's attempt at being the one that computes; `acquire` and `release` as dogpile has
    them.

    Waiting ends after `patience` seconds; who has waited so long computes without the turn.
    """

    def __init__(self, flight: Flight, link: Link, budget: Budget, patience: float) -> None:
        self._flight = flight
        self._link = link
        self._budget = budget
        self._patience = patience
        self._asked = time.monotonic()
        self._token = ""
        self._held = False

    def acquire(self, wait: bool = True) -> bool:
        """True when the turn is ours."""
        deadline = self._asked + self._patience if wait else 0.0
        timeout = max(deadline - time.monotonic(), 0.0)
        if not self._flight.lock.acquire(blocking=wait, timeout=timeout if wait else -1):
            return False
        self._held = True
        # Whoever queued behind a landed flight takes what it brought and needs no turn in Redis.
        if self.landed() is not None or self._among_processes(deadline):
            return True
        self.release()
        return False

    def _among_processes(self, deadline: float) -> bool:
        token = secrets.token_hex(8)
        lifetime = int(self._patience * 1000)

        def claim(client: "redis.Redis") -> bool:
            taken = client.set(self._flight.name, token, nx=True, px=lifetime)
            if taken is not True and taken is not None:
                raise ValueError("SET answered neither OK nor nothing")
            return taken is True

        budget, pause = self._budget, _FIRST_PAUSE
        while True:
            try:
                if self._link.call(claim, budget):
                    self._token = token
                    return True
            except (CacheAway, redis.ResponseError):
                return True  # no turns to be had there: the one in this process has to do
            if time.monotonic() + pause > deadline:
                return False
            time.sleep(pause)
            pause = min(pause * 1.5, _LONGEST_PAUSE)
            # Looking again is part of waiting, which has its own limit, and no fault of Redis.
            budget = self._link.budget()

    @property
    def held(self) -> bool:
        return self._held

    def landed(self) -> Outcome | None:
        """What another thread brought, or failed with, while we waited."""
        flight = self._flight
        return flight.landed if flight.landed_at > self._asked else None

    def land(self, outcome: Outcome) -> None:
        """Leave what came of it to those who wait; a failure too, or each would fail by itself."""
        if self._held:
            self._flight.landed = outcome
            self._flight.landed_at = time.monotonic()

    def release(self) -> None:
        """Give the turn back, if it is ours."""
        if self._token:
            token, self._token = self._token, ""
            with suppress(CacheAway, redis.ResponseError):  # it runs out by itself
                self._link.call(
                    lambda client: client.eval(_GIVE_BACK, 1, self._flight.name, token),
                    self._budget,
                )
        if self._held:
            self._held = False
            self._flight.lock.release()
