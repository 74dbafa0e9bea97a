"""Answers and generations as Redis has them: what is asked and written, one trip at a time."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import redis

from app.cache.envelope import Envelope, opened
from app.cache.errors import CacheAway, Unreadable
from app.cache.keys import Keys
from app.cache.link import Budget, Link

# Changes the generation only while it is the one we saw: a newer one is right, whatever we think.
_MOVE_ON = """
if redis.call("get", KEYS[1]) == ARGV[1] then redis.call("set", KEYS[1], ARGV[2]) end
return redis.call("get", KEYS[1])
"""


@dataclass(frozen=True, slots=True)
class Look:
    """What Redis had: the generation (None: there is none yet) and the answer, if one is ours."""

    generation: bytes | None
    envelope: Envelope | None

    @property
    def current(self) -> bool:
        """The answer belongs to the generation."""
        return self.envelope is not None and self.envelope.generation == self.generation


def named_generation(index: str, rules: str) -> bytes:
    """A generation that never was before; `index` and `rules` are there for people to read."""
    return f"{index or '-'} {rules or '-'} {secrets.token_hex(6)}".encode()


def index_of(generation: bytes) -> str:
    """The index that a generation is about, "" when that is not known."""
    index = generation.split(b" ", 1)[0].decode("utf-8", "replace")
    return "" if index == "-" else index


class Shelf:
    """Where the answers of one alias are kept, written by one serializer."""

    def __init__(self, link: Link, keys: Keys, serializer: str) -> None:
        self._link = link
        self._keys = keys
        self._serializer = serializer

    def look(self, digest: bytes, budget: Budget) -> Look:
        """The generation and the answer in one round trip.

        Raises:
            CacheAway: Redis cannot be asked.
        """
        wanted = (self._keys.generation, self._keys.answer(digest))

        def command(client: "redis.Redis") -> Look:
            values: list[Any] = client.mget(wanted)
            generation, data = values
            if not all(value is None or isinstance(value, bytes) for value in values):
                raise ValueError("MGET answered something else than values")
            return Look(generation, self._ours(data, digest))

        try:
            return self._link.call(command, budget)
        except redis.ResponseError as error:
            raise CacheAway(str(error)) from error

    def _ours(self, data: bytes | None, digest: bytes) -> Envelope | None:
        if data is None:
            return None
        try:
            envelope = opened(data)
        except Unreadable:
            return None
        mine = envelope.digest == digest and envelope.serializer == self._serializer
        return envelope if mine else None

    def put(self, envelope: Envelope, lifetime: float, budget: Budget) -> bool:
        """Keep an answer for `lifetime` seconds; False when Redis did not take it."""
        key, data = self._keys.answer(envelope.digest), envelope.seal()
        try:
            self._link.call(lambda client: client.set(key, data, px=int(lifetime * 1000)), budget)
        except (CacheAway, redis.ResponseError):
            return False
        return True

    def begin_generation(self, generation: bytes, budget: Budget) -> bool:
        """From now on this generation is the current one; False when Redis did not take it."""
        key = self._keys.generation
        try:
            self._link.call(lambda client: client.set(key, generation), budget)
        except (CacheAway, redis.ResponseError):
            return False
        return True

    def first_generation(self, budget: Budget) -> bytes | None:
        """The current generation, made now when there is none; None when Redis takes none."""
        key, fresh = self._keys.generation, named_generation("", "")

        def command(client: "redis.Redis") -> bytes | None:
            with client.pipeline(transaction=False) as pipeline:
                pipeline.set(key, fresh, nx=True)
                pipeline.get(key)
                found: bytes | None = pipeline.execute()[1]
                return found

        return self._generation(command, budget)

    def move_on(self, seen: bytes, index: str, budget: Budget) -> bytes | None:
        """A new generation for `index` unless `seen` is no longer the current one; the current."""
        fresh = named_generation(index, "")

        def command(client: "redis.Redis") -> bytes | None:
            found: bytes | None = client.eval(_MOVE_ON, 1, self._keys.generation, seen, fresh)
            return found

        return self._generation(command, budget)

    def _generation(
        self, command: Callable[["redis.Redis"], bytes | None], budget: Budget
    ) -> bytes | None:
        try:
            found = self._link.call(command, budget)
        except (CacheAway, redis.ResponseError):
            return None
        return found if isinstance(found, bytes) else None
