"""One search asking the cache: from the first look to an answer, by dogpile's rules.

`dogpile.lock.Lock` decides who computes and who waits. Its region is not used here: it knows a
value and no value, while a search has three things to tell apart: an answer, one past its time or
nearly so, and one of an older generation, which only counts when Elasticsearch is gone.
"""

from collections.abc import Callable
from typing import Any

from dogpile.lock import Lock, NeedRegenerationException

from app.cache.answer import Cached, Compute
from app.cache.flight import Turn
from app.cache.keeping import computed
from app.cache.looking import Means, Seen
from app.errors import Unavailable

# dogpile wants the moment a value was made; all we ever tell it is "good" or "to be made anew".
_GOOD, _DUE, _EXPIRES = float("inf"), 1.0, 1.0

_lock: Callable[..., Any] = Lock  # which has no types


def answer(digest: bytes, compute: Compute, means: Means) -> Cached:
    """The answer: kept, computed, or an older one when there is no other.

    Raises:
        Unavailable: Elasticsearch cannot answer and nothing older was kept.
    """
    seen = Seen(digest, means, means.link.budget())
    seen.look()
    if seen.good and not seen.due:
        return seen.good
    if seen.older and means.engine.resting():
        return seen.older
    return _Asking(seen, compute).answer()


def answer_anew(digest: bytes, compute: Compute, means: Means) -> Cached:
    """The answer computed now, whatever is kept, and kept instead.

    Raises:
        Unavailable: Elasticsearch cannot answer; an older answer is no help here.
    """
    seen = Seen(digest, means, means.link.budget())
    seen.look()
    seen.older = None
    return computed(seen, compute)


class _Asking:
    """A search that is not answered by the first look."""

    def __init__(self, seen: Seen, compute: Compute) -> None:
        self._seen = seen
        self._compute = compute
        means = seen.means
        flight = means.flights.get(means.keys.lock(seen.digest))
        self._turn = Turn(flight, means.link, seen.budget, means.patience)
        self._turned = False
        # Whether Elasticsearch is back is not for a visitor with an older answer to wait for.
        self._beside = bool(seen.older) and means.engine.failed

    def answer(self) -> Cached:
        later = self._refresh if self._seen.due or self._beside else None
        with _lock(self._turn, self._make, self._value, _EXPIRES, later) as cached:
            found: Cached = cached
            return found

    def _value(self) -> tuple[Cached, float]:
        """What dogpile is told there is; asked once before a turn is taken and once after."""
        seen = self._seen
        if self._turned:
            landed = self._landed()
            if landed:
                return landed, _GOOD
            seen.look()
            if seen.good:
                return seen.good, _GOOD
        self._turned = True
        if seen.good:  # and due: it goes out now, and one of those who see it makes it anew
            return seen.good, _DUE
        if seen.older and (seen.older_is_current or self._beside):
            return seen.older, _DUE
        raise NeedRegenerationException

    def _landed(self) -> Cached | None:
        """What another thread computed for us, unless something was written in between."""
        seen, landed = self._seen, self._turn.landed()
        if isinstance(landed, Unavailable):
            if seen.older:
                return seen.older
            raise landed
        if landed and (not seen.reached or landed.generation == (seen.generation or b"")):
            return landed.seen_as("HIT" if seen.reached else "OFF")
        return None

    def _make(self) -> tuple[Cached, float]:
        """dogpile's creator: called with the turn, or without it when patience ran out."""
        seen = self._seen
        if seen.older:
            if not self._turn.held:
                return seen.older, _GOOD
            if seen.times == 1:  # another may have been done between our look and our turn
                seen.look()
                if seen.good:
                    return seen.good, _GOOD
        return computed(seen, self._compute, self._turn), _GOOD

    def _refresh(self, turn: Turn) -> None:
        """dogpile's runner for a good answer that is soon to expire: beside the search."""

        def job() -> None:
            self._seen.budget.renew()  # the search that started this is over
            try:
                computed(self._seen, self._compute, turn)
            finally:
                turn.release()

        if not self._seen.means.background.run(job):
            turn.release()
