"""The dogpile backend under the decorator: our envelope, our connection, our turns."""

import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import redis
from dogpile.cache.api import NO_VALUE, CacheBackend, CachedValue, CacheMutex, NoValueType
from dogpile.cache.region import value_version

from app.cache.envelope import Envelope, opened
from app.cache.errors import CacheAway, Unreadable
from app.cache.flight import Flights, Turn
from app.cache.keys import Keys
from app.cache.link import Link
from app.cache.serializers import Serializer


@dataclass(frozen=True, slots=True)
class Memory:
    """What a backend needs of the cache it belongs to."""

    link: Link
    keys: Keys
    serializer: Serializer
    flights: Flights
    patience: float


class Shared(CacheMutex):
    """One turn for each thread that asks, since dogpile keeps one mutex for all of them.

    dogpile releases what it failed to acquire; a turn knows that it was not held.
    """

    def __init__(self, memory: Memory, name: str) -> None:
        self._memory = memory
        self._flight = memory.flights.get(name)
        self._mine = threading.local()

    def acquire(self, wait: bool = True) -> bool:
        memory = self._memory
        turn = Turn(self._flight, memory.link, memory.link.budget(), memory.patience)
        self._mine.turn = turn
        return turn.acquire(wait)

    def release(self) -> None:
        self._mine.turn.release()

    def locked(self) -> bool:
        return self._flight.lock.locked()


class MemoryBackend(CacheBackend):
    """Values in envelopes; what Redis cannot give is not there, what it cannot take is not kept.

    Arguments: `memory`, and `seconds` that a value is kept.
    """

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        self._memory: Memory = arguments["memory"]
        self._seconds: float = arguments["seconds"]

    def get_mutex(self, key: str) -> CacheMutex:
        return Shared(self._memory, self._memory.keys.lock(self._memory.keys.digest(key)))

    def get(self, key: str) -> CachedValue | NoValueType:
        memory = self._memory
        try:
            data = memory.link.call(
                lambda client: client.get(memory.keys.memo(key)), memory.link.budget()
            )
            envelope = opened(data) if isinstance(data, bytes) else None
            if envelope is None or not self._ours(envelope, key):
                return NO_VALUE
            value = memory.serializer.loads(envelope.payload, envelope.tagged)
        except (CacheAway, redis.ResponseError, Unreadable):
            return NO_VALUE
        return CachedValue(value, {"ct": envelope.created, "v": value_version})

    def _ours(self, envelope: Envelope, key: str) -> bool:
        mine = envelope.serializer == self._memory.serializer.name
        return mine and envelope.digest == self._memory.keys.digest(key)

    def set(self, key: str, value: CachedValue | bytes) -> None:
        """Keep it.

        Raises:
            NotCarried: it would not come back as it is.
        """
        memory = self._memory
        payload, tagged = memory.serializer.dumps(value.payload)  # type: ignore[union-attr]
        envelope = Envelope(
            digest=memory.keys.digest(key),
            serializer=memory.serializer.name,
            generation=b"",
            created=time.time(),
            ttl=self._seconds,
            took=0.0,
            tagged=tagged,
            found=True,
            payload=payload,
        )
        name, data, lifetime = memory.keys.memo(key), envelope.seal(), int(self._seconds * 1000)
        with suppress(CacheAway, redis.ResponseError):
            memory.link.call(
                lambda client: client.set(name, data, px=lifetime), memory.link.budget()
            )

    def delete(self, key: str) -> None:
        memory = self._memory
        with suppress(CacheAway, redis.ResponseError):
            memory.link.call(
                lambda client: client.delete(memory.keys.memo(key)), memory.link.budget()
            )
