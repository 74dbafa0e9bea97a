"""Bulk requests to Elasticsearch: their operations, and sending them until each has an outcome.

`send_bulk` sends a stream, several requests at a time. Its memory use is bounded: at most `workers`
requests are in flight, and the reader of the source waits for them. `send_chunk` sends one request.
Each document is serialised once.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import orjson
from elasticsearch import ApiError, Elasticsearch, TransportError

from indexer.errors import IndexingError, VerificationFailed
from indexer.records import Document, Origin, batches
from indexer.refusals import Refusal, refusal_from
from indexer.retry import Retry, is_temporary, remaining

_FILTER_PATH = ["errors", "items.*.status", "items.*.result", "items.*.error"]


class BulkTimeout(IndexingError):
    """Elasticsearch was unavailable, overloaded or blocked for longer than `limits.retry`."""


@dataclass(frozen=True, slots=True)
class BulkLimits:
    """Sizes and time limits of bulk requests.

    Args:
        workers: number of concurrent requests.
        chunk_bytes: maximum size of a request; a larger document is sent alone.
        chunk_documents: maximum number of documents in a request.
        retry: how long a request is repeated after a temporary refusal (429) or
            while Elasticsearch does not respond.
        timeout: seconds a single request may take.
    """

    workers: int = 4
    chunk_bytes: int = 1_000_000
    chunk_documents: int = 500
    retry: Retry = Retry(total=60.0)  # noqa: RUF009 - frozen
    timeout: float = 120.0


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of a bulk request; `payload` is its NDJSON, ending with a newline.

    `comments` is the number of comments of the post that is written.
    """

    oid: str
    origin: Origin
    payload: bytes
    comments: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one operation.

    `status` is an HTTP status; `result` is "created", "updated", "deleted", "not_found", "noop" or
    "refused".
    """

    operation: Operation
    status: int
    result: str
    refusal: Refusal | None = None

    @property
    def accepted(self) -> bool:
        """Whether the index is as the operation wanted it."""
        return self.refusal is None


def index_operation(document: Document, **condition: Any) -> Operation:
    """Write a post.

    Args:
        condition: `if_seq_no` and `if_primary_term`, if it must be as it was read, or
            `op_type="create"`, if it must not be there.

    Raises:
        TypeError: the document cannot be serialised (orjson's `JSONEncodeError`).
    """
    return _operation("index", document, condition, document.source)


def update_operation(document: Document, **condition: int) -> Operation:
    """Replace those fields of a post that the document has, under the same conditions."""
    return _operation("update", document, condition, {"doc": document.source})


def delete_operation(document: Document, **condition: int) -> Operation:
    """Delete a post, under the same conditions; the source of the document is ignored."""
    return _operation("delete", document, condition)


def _operation(
    name: str, document: Document, condition: Mapping[str, Any], *body: Mapping[str, Any]
) -> Operation:
    lines = ({name: {"_id": document.oid, **condition}}, *body)
    payload = b"".join(orjson.dumps(line) + b"\n" for line in lines)
    return Operation(document.oid, document.origin, payload, document.counts.comments)


def chunks(operations: Iterable[Operation], limits: BulkLimits) -> Iterator[list[Operation]]:
    """Divide operations into requests, keeping their order."""
    chunk: list[Operation] = []
    size = 0
    for operation in operations:
        too_large = size + len(operation.payload) > limits.chunk_bytes
        if chunk and (too_large or len(chunk) >= limits.chunk_documents):
            yield chunk
            chunk, size = [], 0
        chunk.append(operation)
        size += len(operation.payload)
    if chunk:
        yield chunk


def send_bulk(
    client: Elasticsearch,
    target: str,
    operations: Iterable[Operation],
    limits: BulkLimits | None = None,
    *,
    require_alias: bool = True,
) -> Iterator[list[Outcome]]:
    """Send operations to the alias `target`; yields the outcomes of each request, in order.

    Args:
        require_alias: as for `send_chunk`.

    Raises:
        BulkTimeout: a request was not accepted within the time of `limits.retry`.
    """
    limits = limits or BulkLimits()
    stop = threading.Event()
    send = partial(
        send_chunk, client, target, limits=limits, require_alias=require_alias, wait=stop.wait
    )
    in_flight: deque[Future[list[Outcome]]] = deque()
    with ThreadPoolExecutor(limits.workers, thread_name_prefix="bulk") as pool:
        try:
            for chunk in chunks(operations, limits):
                if len(in_flight) >= limits.workers:
                    yield in_flight.popleft().result()
                in_flight.append(pool.submit(send, chunk))
            while in_flight:
                yield in_flight.popleft().result()
        finally:
            stop.set()
            for future in in_flight:
                future.cancel()


def send_all(
    client: Elasticsearch,
    target: str,
    operations: Iterable[Operation],
    *,
    require_alias: bool = True,
) -> Iterator[list[Outcome]]:
    """`send_bulk`, where nothing may be refused.

    Raises:
        VerificationFailed: something was.
    """
    for outcomes in send_bulk(client, target, operations, require_alias=require_alias):
        for outcome in outcomes:
            if outcome.refusal:
                raise VerificationFailed(
                    f"{outcome.operation.oid} cannot be written to {target}: "
                    f"{outcome.refusal.reason}; nothing was swapped.",
                    outcome.refusal.remedy,
                )
        yield outcomes


def send_chunk(
    client: Elasticsearch,
    target: str,
    chunk: Sequence[Operation],
    limits: BulkLimits,
    *,
    require_alias: bool = True,
    wait: Callable[[float], object] | None = None,
) -> list[Outcome]:
    """Send one request, and again what was refused for the moment; an outcome for each operation.

    Args:
        require_alias: refuse to create an index of the name `target`.
        wait: as for `Retry.attempts`.

    Raises:
        BulkTimeout: not within the time of `limits.retry`; some operations may have succeeded.
    """
    outcomes: dict[int, Outcome] = {}
    refusal: Refusal | None = None
    for _ in limits.retry.attempts(wait):
        seconds = max(min(limits.timeout, remaining()), 0.001)
        limited = client.options(max_retries=0, request_timeout=seconds)
        send = partial(limited.bulk, index=target, require_alias=require_alias)
        pending = {
            number: operation for number, operation in enumerate(chunk) if number not in outcomes
        }
        refusal = _attempt(send, pending, outcomes)
        if len(outcomes) == len(chunk):
            return [outcomes[number] for number in range(len(chunk))]
    reason = refusal.reason if refusal else ""
    raise BulkTimeout(
        f"Elasticsearch did not accept {len(chunk) - len(outcomes)} documents in time: {reason}.",
        "Run `blogsearch doctor` for details.",
    )


def _attempt(
    send: Callable[..., Any], pending: Mapping[int, Operation], outcomes: dict[int, Outcome]
) -> Refusal | None:
    """Send operations, and add those that need not be sent again to `outcomes`.

    Returns:
        Why one of the rest must be sent again; None if nothing is left.
    """
    payloads = [operation.payload for operation in pending.values()]
    try:
        response = send(operations=payloads, filter_path=_FILTER_PATH)
    except (ApiError, TransportError) as error:
        if is_temporary(error):
            reason = f"it responds {error.status_code}" if isinstance(error, ApiError) else error
            return Refusal(str(reason), "", retryable=True)
        if not isinstance(error, ApiError) or error.status_code not in {400, 413}:
            raise
        if len(pending) == 1:
            ((number, operation),) = pending.items()
            outcomes[number] = Outcome(
                operation, error.status_code, "refused", refusal_from(error.body)
            )
            return None
        # Bisection finds the operation that makes Elasticsearch refuse the whole request.
        refusal = None
        for half in batches(pending, (len(pending) + 1) // 2):
            refused = _attempt(send, {number: pending[number] for number in half}, outcomes)
            refusal = refused or refusal
        return refusal
    refusal = None
    for (number, operation), item in zip(pending.items(), response["items"], strict=True):
        ((_, result),) = item.items()
        status = result["status"]
        refused = refusal_from(result) if "error" in result else None
        if refused and refused.retryable:
            refusal = refused
        else:
            outcomes[number] = Outcome(operation, status, result.get("result", "refused"), refused)
    return refusal
