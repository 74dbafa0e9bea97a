"""One bulk request at a time, tried again with pauses until every item has an outcome."""

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from elasticsearch import ApiError, Elasticsearch, TransportError

from indexer.errors import IndexingError
from indexer.items import Item, Limits
from indexer.records import Reject
from indexer.refusals import Refusal, explain

_BUSY = {429, 502, 503, 504}
_ANSWER = ["errors", "items.*.status", "items.*.result", "items.*.error"]
_LONGEST = 5.0  # seconds between two tries
_CLOSED = 0.25  # the same while an index is being replaced: that is over in a moment
_NONE = Refusal("", "")


class NotTaken(IndexingError):
    """Elasticsearch went away, or stayed too busy or closed to writes for longer than we wait."""

    def __init__(self, message: str, remedy: str, blocked: bool) -> None:
        super().__init__(message, remedy)
        self.blocked = blocked

    def refusal(self) -> Refusal:
        """What to tell about a document that was to be sent."""
        return Refusal(self.message, self.remedy, for_now=True, blocked=self.blocked)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an item: HTTP status and "created", "updated", "deleted", "not_found"."""

    item: Item
    status: int
    result: str
    refusal: Refusal | None = None

    @property
    def accepted(self) -> bool:
        """It is in the index as sent (or gone, for a deletion of nothing)."""
        return self.refusal is None

    def reject(self) -> Reject:
        """What to tell about a refused one."""
        refusal = self.refusal or Refusal("was taken", "")
        return Reject(self.item.origin, self.item.oid, refusal.reason, refusal.remedy)


class Sender:
    """Sends one chunk until every item has an outcome; used by several threads at once.

    Args:
        wait: waits some seconds; true when it was woken up to give up.
    """

    def __init__(
        self,
        client: Elasticsearch,
        target: str,
        limits: Limits,
        wait: Callable[[float], bool] | None = None,
    ) -> None:
        # Our own retries: the client's have no pause in between.
        self._client = client.options(max_retries=0, request_timeout=limits.timeout)
        self._target = target
        self._limits = limits
        self._wait = wait or threading.Event().wait

    def send(self, chunk: list[Item]) -> list[Outcome]:
        """One outcome for each item, in their order.

        Raises:
            NotTaken: not within `limits.patience`; part of it may have been taken.
        """
        deadline = time.monotonic() + self._limits.patience
        outcomes: dict[int, Outcome] = {}
        waiting = list(enumerate(chunk))
        attempt = 0
        while waiting:
            waiting, refusal = self._once(waiting, outcomes)
            if not waiting:
                break
            longest = _CLOSED if refusal.blocked else _LONGEST
            pause = min(longest, 0.05 * 2**attempt) * random.uniform(0.5, 1)  # noqa: S311
            if time.monotonic() + pause > deadline or self._wait(pause):
                raise NotTaken(
                    f"Elasticsearch did not take {len(waiting)} documents within "
                    f"{self._limits.patience:.0f} seconds: {refusal.reason}.",
                    "`blogsearch doctor` tells more.",
                    refusal.blocked,
                )
            attempt += 1
        return [outcomes[number] for number in range(len(chunk))]

    def _once(
        self, waiting: list[tuple[int, Item]], outcomes: dict[int, Outcome]
    ) -> tuple[list[tuple[int, Item]], Refusal]:
        """One request; returns what is to be tried again, and why."""
        try:
            answer = self._client.bulk(
                index=self._target,
                operations=[item.payload for _, item in waiting],  # type: ignore[misc]
                require_alias=True,
                filter_path=_ANSWER,
            )
        except ApiError as error:
            if error.status_code in _BUSY:
                return waiting, Refusal(f"it answers {error.status_code}", "", for_now=True)
            if error.status_code not in {400, 413}:
                raise
            return self._halves(waiting, outcomes, error)
        except TransportError as error:
            return waiting, Refusal(str(error), "", for_now=True)
        again: list[tuple[int, Item]] = []
        refusal = _NONE
        for (number, item), entry in zip(waiting, answer["items"], strict=True):
            outcome = _outcome(item, next(iter(entry.values())))
            if outcome.refusal and outcome.refusal.for_now:
                again.append((number, item))
                refusal = outcome.refusal
            else:
                outcomes[number] = outcome
        return again, refusal

    def _halves(
        self, waiting: list[tuple[int, Item]], outcomes: dict[int, Outcome], error: ApiError
    ) -> tuple[list[tuple[int, Item]], Refusal]:
        """A request refused as a whole for one item's sake: halve it until that one is found."""
        if len(waiting) == 1:
            number, item = waiting[0]
            outcomes[number] = Outcome(item, error.status_code, "refused", explain(error.body))
            return [], _NONE
        middle = len(waiting) // 2
        first, refusal = self._once(waiting[:middle], outcomes)
        second, other = self._once(waiting[middle:], outcomes)
        return first + second, refusal if first else other


def _outcome(item: Item, entry: dict[str, Any]) -> Outcome:
    error = entry.get("error")
    refusal = explain({"error": error, "status": entry["status"]}) if error else None
    return Outcome(item, entry["status"], entry.get("result", "refused"), refusal)
