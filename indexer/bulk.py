"""Documents to Elasticsearch: bulk requests by size, several at a time, patient when it is busy.

Memory stays flat: at most `workers` requests are under way, and what reads the source waits for
them. A document is serialised once; of a chunk nothing is kept but its bytes and what a report
needs.
"""

import random
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal

import orjson
from elasticsearch import ApiError, Elasticsearch, TransportError

from indexer.errors import IndexingError
from indexer.records import Document, Origin, Reject
from indexer.refusals import Refusal, explain

_BUSY = {429, 502, 503, 504}
_ANSWER = ["errors", "items.*.status", "items.*.result", "items.*.error"]


class NotTaken(IndexingError):
    """Elasticsearch went away, or stayed too busy or write-blocked for longer than we wait."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much at a time, and how long to wait.

    Args:
        workers: requests under way at the same time.
        chunk_bytes: size of a request; one bigger document goes alone.
        patience: seconds to keep trying what is refused for the moment (429, a write block) or
            while Elasticsearch does not answer.
        timeout: seconds one request may take.
    """

    workers: int = 4
    chunk_bytes: int = 1_000_000
    chunk_documents: int = 500
    patience: float = 60.0
    timeout: float = 120.0


@dataclass(frozen=True, slots=True)
class Item:
    """One line pair of a bulk request; `payload` ends with a newline."""

    id: str
    kind: Literal["post", "comment"]
    routing: str
    origin: Origin
    payload: bytes

    @property
    def oid(self) -> str:
        """The oid as the source gave it."""
        return self.id.split(":", 1)[1] if self.kind == "post" else self.id.rsplit(":", 1)[1]


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


def to_index(document: Document, version_type: str = "external_gte") -> Item:
    """An item that writes a document under its own version.

    Raises:
        TypeError: it cannot be serialised (orjson's `JSONEncodeError`).
    """
    head = _head("index", document, version_type)
    payload = orjson.dumps(head) + b"\n" + orjson.dumps(document.source) + b"\n"
    return Item(document.id, document.kind, document.routing, document.origin, payload)


def to_delete(document: Document, version_type: str = "external_gte") -> Item:
    """An item that deletes a document under the version given, whatever its source."""
    payload = orjson.dumps(_head("delete", document, version_type)) + b"\n"
    return Item(document.id, document.kind, document.routing, document.origin, payload)


def send(
    client: Elasticsearch, target: str, items: Iterable[Item], limits: Limits | None = None
) -> Iterator[list[Outcome]]:
    """Send items to the alias `target`; yields the outcomes of request after request, in order.

    Raises:
        NotTaken: Elasticsearch did not take a request within `limits.patience`.
    """
    limits = limits or Limits()
    stop = threading.Event()
    sender = _Sender(client.options(request_timeout=limits.timeout), target, limits, stop.wait)
    under_way: deque[Future[list[Outcome]]] = deque()
    with ThreadPoolExecutor(limits.workers, thread_name_prefix="bulk") as pool:
        try:
            for chunk in chunks(items, limits):
                if len(under_way) >= limits.workers:
                    yield under_way.popleft().result()
                under_way.append(pool.submit(sender.send, chunk))
            while under_way:
                yield under_way.popleft().result()
        finally:
            stop.set()
            for future in under_way:
                future.cancel()


def send_in_order(
    client: Elasticsearch, target: str, items: Sequence[Item], limits: Limits
) -> Iterator[Outcome]:
    """Send a few items one request after the other, so that the later of two same ids wins."""
    sender = _Sender(
        client.options(request_timeout=limits.timeout), target, limits, threading.Event().wait
    )
    for chunk in chunks(items, limits):
        yield from sender.send(chunk)


def chunks(items: Iterable[Item], limits: Limits) -> Iterator[list[Item]]:
    """Cut by size and number."""
    chunk: list[Item] = []
    size = 0
    for item in items:
        full = size + len(item.payload) > limits.chunk_bytes or len(chunk) >= limits.chunk_documents
        if chunk and full:
            yield chunk
            chunk, size = [], 0
        chunk.append(item)
        size += len(item.payload)
    if chunk:
        yield chunk


class _Sender:
    """Sends one chunk until every item has an outcome; used by several threads at once."""

    def __init__(
        self,
        client: Elasticsearch,
        target: str,
        limits: Limits,
        wait: Callable[[float], bool],
    ) -> None:
        # Our own retries: the client's have no pause in between.
        self._client = client.options(max_retries=0)
        self._target = target
        self._limits = limits
        self._wait = wait

    def send(self, chunk: list[Item]) -> list[Outcome]:
        deadline = time.monotonic() + self._limits.patience
        outcomes: dict[int, Outcome] = {}
        waiting = list(enumerate(chunk))
        attempt = 0
        while waiting:
            waiting, reason = self._once(waiting, outcomes)
            if not waiting:
                break
            pause = min(5.0, 0.05 * 2**attempt) * random.uniform(0.5, 1)  # noqa: S311
            if time.monotonic() + pause > deadline or self._wait(pause):
                raise NotTaken(
                    f"Elasticsearch did not take {len(waiting)} documents within "
                    f"{self._limits.patience:.0f} seconds: {reason}.",
                    "`blogsearch doctor` tells more.",
                )
            attempt += 1
        return [outcomes[number] for number in range(len(chunk))]

    def _once(
        self, waiting: list[tuple[int, Item]], outcomes: dict[int, Outcome]
    ) -> tuple[list[tuple[int, Item]], str]:
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
                return waiting, f"it answers {error.status_code}"
            if error.status_code not in {400, 413}:
                raise
            return self._halves(waiting, outcomes, error)
        except TransportError as error:
            return waiting, str(error)
        again: list[tuple[int, Item]] = []
        reason = ""
        for (number, item), entry in zip(waiting, answer["items"], strict=True):
            outcome = _outcome(item, next(iter(entry.values())))
            if outcome.refusal and outcome.refusal.for_now:
                again.append((number, item))
                reason = outcome.refusal.reason
            else:
                outcomes[number] = outcome
        return again, reason

    def _halves(
        self, waiting: list[tuple[int, Item]], outcomes: dict[int, Outcome], error: ApiError
    ) -> tuple[list[tuple[int, Item]], str]:
        """A request refused as a whole for one item's sake: halve it until that one is found."""
        if len(waiting) == 1:
            number, item = waiting[0]
            outcomes[number] = Outcome(item, error.status_code, "refused", explain(error.body))
            return [], ""
        middle = len(waiting) // 2
        first, reason = self._once(waiting[:middle], outcomes)
        second, other = self._once(waiting[middle:], outcomes)
        return first + second, reason or other


def _head(action: str, document: Document, version_type: str) -> dict[str, Any]:
    return {
        action: {
            "_id": document.id,
            "routing": document.routing,
            "version": document.version,
            "version_type": version_type,
        }
    }


def _outcome(item: Item, entry: dict[str, Any]) -> Outcome:
    error = entry.get("error")
    refusal = explain({"error": error, "status": entry["status"]}) if error else None
    return Outcome(item, entry["status"], entry.get("result", "refused"), refusal)
