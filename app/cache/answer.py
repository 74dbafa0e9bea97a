"""What goes into the cache and what comes out of it."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any, Literal

from app.cache.coding import accepts
from app.cache.serializers import Serializer, render

State = Literal["HIT", "MISS", "STALE", "OFF"]


@dataclass(frozen=True, slots=True)
class Computed:
    """A fresh answer: the JSON body, the concrete index that gave it ("" when unknown), and
    whether it found anything."""

    body: dict[str, Any]
    index: str
    found: bool


Compute = Callable[[], Computed]


@dataclass(frozen=True, slots=True)
class Stored:
    """A body as Redis has it."""

    payload: bytes
    serializer: Serializer
    tagged: bool

    def body(self) -> dict[str, Any]:
        body: dict[str, Any] = self.serializer.loads(self.payload, self.tagged)
        return body

    @property
    def finished(self) -> bool:
        """The bytes (uncompressed) can be sent as they are."""
        return self.serializer.form.finished and not self.tagged


class Cached:
    """An answer, and where it came from.

    `state`: HIT from Redis; MISS computed now; STALE from Redis, older than it should be; OFF
    computed now because Redis could not be asked. `age` is in seconds. `generation` and `digest`
    say what it answers; `generation` is empty when Redis is away.
    """

    def __init__(
        self,
        state: State,
        *,
        digest: bytes,
        generation: bytes,
        age: float = 0.0,
        stored: Stored | None = None,
        body: dict[str, Any] | None = None,
    ) -> None:
        self.state: State = state
        self.digest = digest
        self.generation = generation
        self.age = age
        self._stored = stored
        self._body = body

    @cached_property
    def body(self) -> dict[str, Any]:
        """The answer as a dict; decoded when first asked for."""
        if self._body is not None:
            return self._body
        if self._stored is None:
            raise AssertionError("neither stored nor computed")
        return self._stored.body()

    def check(self) -> None:
        """Make sure that what is stored can be read; a finished response is sent unread.

        Raises:
            Unreadable: it cannot.
        """
        if self._stored and not self._stored.finished:
            _ = self.body

    def seen_as(self, state: State) -> "Cached":
        """The same answer for someone to whom it came in another way."""
        return Cached(
            state,
            digest=self.digest,
            generation=self.generation,
            age=self.age,
            stored=self._stored,
            body=self._body,
        )

    @cached_property
    def etag(self) -> str:
        """`W/"…"`, a weak validator made of the generation, the request and the answer.

        Weak, because one answer goes out in several codings, and a strong validator would have to
        differ between them (RFC 9110, 8.8.3.3). Of the answer too, because within one generation
        it may be computed anew and differ, and because without Redis there is no generation.
        """
        content = self._stored.payload if self._stored else render(self.body)
        mark = zlib.crc32(content).to_bytes(4, "big")
        return f'W/"{blake2b(self.generation + self.digest + mark, digest_size=12).hexdigest()}"'

    def payload(self, accept_encoding: str = "") -> tuple[bytes, str | None]:
        """The bytes to send and their Content-Encoding, None for none.

        A finished response goes out as it is stored, compressed too, where the client takes that.
        """
        stored = self._stored
        if stored is None or not stored.finished:
            return render(self.body), None
        coding = stored.serializer.coding
        if coding and accepts(accept_encoding, coding):
            return stored.payload, coding
        return stored.serializer.unpack(stored.payload), None
