"""Sends bulk requests: several at a time, each retried with pauses until every item has an outcome.

Memory use is bounded: at most `workers` requests are in flight, and the reader of the source waits
for them. Each document is serialised once.
"""

import random
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from elasticsearch import ApiError, Elasticsearch, TransportError

from indexer.bulk.operations import BulkLimits, Operation, chunks
from indexer.bulk.refusals import DISK_FULL, RETRYABLE, Refusal, refusal_from
from indexer.errors import IndexingError
from indexer.records import Reject

_FILTER_PATH = ["errors", "items.*.status", "items.*.result", "items.*.error"]
_MAX_PAUSE = 5.0  # seconds between two attempts
_MAX_PAUSE_BLOCKED = 0.25  # seconds; a swap blocks writes only briefly
_NO_REFUSAL = Refusal("", "")


class BulkTimeout(IndexingError):
    """Elasticsearch was unavailable, overloaded or blocked for longer than `retry_for`."""

    def __init__(self, message: str, remedy: str, write_blocked: bool) -> None:
        super().__init__(message, remedy)
        self.write_blocked = write_blocked

    def refusal(self) -> Refusal:
        """The refusal of a document whose request failed so."""
        return Refusal(self.message, self.remedy, retryable=True, write_blocked=self.write_blocked)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one operation.

    `status` is an HTTP status; `result` is "created", "updated", "deleted", "not_found" or
    "refused", or "unknown" if no response to it came.
    """

    operation: Operation
    status: int
    result: str
    refusal: Refusal | None = None

    @property
    def accepted(self) -> bool:
        """Whether the index is as the operation wanted it."""
        return self.refusal is None

    def reject(self) -> Reject:
        """A refused operation as a Reject."""
        refusal, one = self.refusal or _NO_REFUSAL, self.operation
        oid = one.oid if one.kind == "post" else f"{one.routing}/{one.oid}"
        return Reject(one.origin, oid, refusal.reason, refusal.remedy)


def send_bulk(
    client: Elasticsearch,
    target: str,
    operations: Iterable[Operation],
    limits: BulkLimits | None = None,
) -> Iterator[list[Outcome]]:
    """Send operations to the alias `target`; yields the outcomes of each request, in order.

    Raises:
        BulkTimeout: a request was not accepted within `limits.retry_for` seconds.
    """
    limits = limits or BulkLimits()
    stop = threading.Event()
    sender = Sender(client, target, limits, stop.wait)
    in_flight: deque[Future[list[Outcome]]] = deque()
    with ThreadPoolExecutor(limits.workers, thread_name_prefix="bulk") as pool:
        try:
            for chunk in chunks(operations, limits):
                if len(in_flight) >= limits.workers:
                    yield in_flight.popleft().result()
                in_flight.append(pool.submit(sender.send, chunk))
            while in_flight:
                yield in_flight.popleft().result()
        finally:
            stop.set()
            for future in in_flight:
                future.cancel()


class Sender:
    """Sends one chunk and retries until every operation has an outcome; thread-safe.

    Args:
        wait: sleeps for some seconds; returns true to give up.
    """

    def __init__(
        self,
        client: Elasticsearch,
        target: str,
        limits: BulkLimits,
        wait: Callable[[float], bool] | None = None,
    ) -> None:
        # The client's own retries do not pause between attempts.
        self._client = client.options(max_retries=0, request_timeout=limits.timeout)
        self._target = target
        self._limits = limits
        self._wait = wait or threading.Event().wait

    def send(self, chunk: list[Operation]) -> list[Outcome]:
        """One outcome for each operation, in their order.

        Raises:
            BulkTimeout: not within `limits.retry_for`; some operations may have succeeded.
        """
        deadline = time.monotonic() + self._limits.retry_for
        outcomes: dict[int, Outcome] = {}
        remaining = list(enumerate(chunk))
        attempt = 0
        while remaining:
            remaining, refusal = self._attempt(remaining, outcomes)
            if not remaining:
                break
            longest = _MAX_PAUSE_BLOCKED if refusal.write_blocked else _MAX_PAUSE
            pause = min(longest, 0.05 * 2**attempt) * random.uniform(0.5, 1)  # noqa: S311
            if time.monotonic() + pause > deadline or self._wait(pause):
                raise BulkTimeout(
                    f"Elasticsearch did not accept {len(remaining)} documents within "
                    f"{self._limits.retry_for:.0f} seconds: {refusal.reason}.",
                    "Run `blogsearch doctor` for details.",
                    refusal.write_blocked,
                )
            attempt += 1
        return [outcomes[number] for number in range(len(chunk))]

    def _attempt(
        self, remaining: list[tuple[int, Operation]], outcomes: dict[int, Outcome]
    ) -> tuple[list[tuple[int, Operation]], Refusal]:
        """Send one request; returns the operations to retry, and why."""
        try:
            response = self._client.bulk(
                index=self._target,
                operations=[operation.payload for _, operation in remaining],  # type: ignore[misc]
                require_alias=True,
                filter_path=_FILTER_PATH,
            )
        except ApiError as error:
            if error.status_code in RETRYABLE:
                return remaining, Refusal(f"it responds {error.status_code}", "", retryable=True)
            if error.status_code not in {400, 413}:
                raise
            return self._halve(remaining, outcomes, error)
        except TransportError as error:
            return remaining, Refusal(str(error), "", retryable=True)
        retry: list[tuple[int, Operation]] = []
        refusal = _NO_REFUSAL
        for (number, operation), entry in zip(remaining, response["items"], strict=True):
            outcome = _outcome(operation, next(iter(entry.values())))
            if outcome.refusal and outcome.refusal.retryable:
                retry.append((number, operation))
                refusal = outcome.refusal
            else:
                outcomes[number] = outcome
        return retry, refusal

    def _halve(
        self,
        remaining: list[tuple[int, Operation]],
        outcomes: dict[int, Outcome],
        error: ApiError,
    ) -> tuple[list[tuple[int, Operation]], Refusal]:
        """Find the operation that makes Elasticsearch refuse a whole request, by bisection."""
        if len(remaining) == 1:
            number, operation = remaining[0]
            refusal = refusal_from(error.body)
            outcomes[number] = Outcome(operation, error.status_code, "refused", refusal)
            return [], _NO_REFUSAL
        middle = len(remaining) // 2
        first, refusal = self._attempt(remaining[:middle], outcomes)
        second, other = self._attempt(remaining[middle:], outcomes)
        return first + second, refusal if first else other


def retryable_refusal(error: ApiError | TransportError) -> Refusal:
    """Why a request failed that may succeed later; raises any other error again."""
    if isinstance(error, TransportError):
        return Refusal(str(error), "", retryable=True)
    refusal = refusal_from(error.body)
    if refusal.retryable or refusal is DISK_FULL:
        return refusal
    if error.status_code not in RETRYABLE:
        raise error
    return Refusal(f"it responds {error.status_code}", "", retryable=True)


def _outcome(operation: Operation, entry: dict[str, Any]) -> Outcome:
    error = entry.get("error")
    refusal = refusal_from({"error": error, "status": entry["status"]}) if error else None
    return Outcome(operation, entry["status"], entry.get("result", "refused"), refusal)
