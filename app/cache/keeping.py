"""A fresh answer: computed, handed to those who wait for it, and kept."""

import logging
import time

from app.cache.answer import Cached, Compute, Computed, State, Stored
from app.cache.envelope import Envelope
from app.cache.errors import NotCarried
from app.cache.flight import Turn
from app.cache.looking import Seen
from app.cache.shelf import index_of
from app.errors import Unavailable

logger = logging.getLogger(__name__)


def computed(seen: Seen, compute: Compute, turn: Turn | None = None) -> Cached:
    """Compute and keep; with a turn, whoever waits for it is told.

    Raises:
        Unavailable: Elasticsearch cannot answer and no older answer was seen.
    """
    generation = seen.generation
    if generation is None and seen.reached:
        # Before the computation: what is written while it runs must count as newer.
        generation = seen.means.shelf.first_generation(seen.budget)
    began = time.monotonic()
    try:
        answer = compute()
    except Unavailable as error:
        if turn:
            turn.land(error)
        seen.means.engine.begin(error.retry_after)
        if seen.older:
            return seen.older
        raise
    seen.means.engine.end()
    cached = _kept(seen, answer, generation, time.monotonic() - began)
    if turn:
        turn.land(cached)
    return cached


def _kept(seen: Seen, answer: Computed, generation: bytes | None, took: float) -> Cached:
    state: State = "MISS" if seen.reached else "OFF"
    passing = Cached(state, digest=seen.digest, generation=generation or b"", body=answer.body)
    if generation is None:
        return passing
    if answer.index and index_of(generation) != answer.index:
        # Nobody told Redis about a swap (it was away): no older answer may count any more.
        generation = seen.means.shelf.move_on(generation, answer.index, seen.budget)
        if generation is None:
            return passing
    serializer = seen.means.serializer
    try:
        payload, tagged = serializer.dumps(answer.body)
    except NotCarried:
        logger.exception("an answer cannot be kept")
        return passing
    stored = Stored(payload, serializer, tagged)
    _put(seen, answer, stored, generation, took)
    return Cached(state, digest=seen.digest, generation=generation, stored=stored, body=answer.body)


def _put(seen: Seen, answer: Computed, stored: Stored, generation: bytes, took: float) -> None:
    envelope = Envelope(
        digest=seen.digest,
        serializer=stored.serializer.name,
        generation=generation,
        created=time.time(),
        ttl=seen.means.expiry.fresh_for(answer.found),
        took=took,
        tagged=stored.tagged,
        found=answer.found,
        payload=stored.payload,
    )
    seen.means.shelf.put(envelope, envelope.ttl + seen.means.expiry.stale, seen.budget)
