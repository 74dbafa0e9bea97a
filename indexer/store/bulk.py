"""Sends bulk requests to Elasticsearch until each operation has an outcome."""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from elasticsearch import ApiError, Elasticsearch, TransportError
from msgspec.json import Encoder

from indexer.errors import IndexingError
from indexer.posts.records import Post
from indexer.runs.refusals import Refusal, refusal_from
from indexer.store.retry import Retry, is_temporary, remaining

_encode_lines = Encoder().encode_lines
_FILTER_PATH = ["errors", "items.*.status", "items.*.result", "items.*.error"]


@dataclass(frozen=True, slots=True)
class BulkLimits:
    """The sizes and time limits of bulk requests."""

    workers: int = 4  # concurrent requests
    chunk_bytes: int = 1_000_000  # per request; a larger document is sent alone
    chunk_documents: int = 500
    retry: Retry = Retry(total=60.0)  # noqa: RUF009 - frozen
    timeout: float = 120.0  # seconds per request


Ready = Callable[[], object]
"""Returns once the index exists, or raises the error that prevented its creation."""


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of a bulk request, as NDJSON."""

    oid: str
    payload: bytes


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of an operation: Elasticsearch's `result`, or "refused"."""

    operation: Operation
    result: str
    refusal: Refusal | None = None


def operation(
    action: Literal["index", "update", "delete"],
    oid: str,
    content: Post | Mapping[str, Any] | None = None,
    **condition: Any,
) -> Operation:
    """Return an operation that writes a post, updates it by `{"doc": …}`, or deletes it;
    `if_seq_no` and `if_primary_term` require that it is unchanged."""
    line = {action: {"_id": oid, **condition}}
    return Operation(oid, _encode_lines([line] if content is None else [line, content]))


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
    alias: str,
    operations: Iterable[Operation],
    limits: BulkLimits | None = None,
    ready: Ready | None = None,
) -> Iterator[list[Outcome]]:
    """Send operations to an alias once it is `ready`; yield the outcomes of each request, in order.

    At most `limits.workers` requests are in flight: the reader of the source waits for them.

    Raises:
        IndexingError: a request was not accepted within the time of `limits.retry`.
    """
    limits = limits or BulkLimits()
    stop = threading.Event()
    send = partial(_send_chunk, client, alias, limits=limits, wait=stop.wait)
    in_flight: deque[Future[list[Outcome]]] = deque()
    with ThreadPoolExecutor(limits.workers, thread_name_prefix="bulk") as pool:
        try:
            for chunk in chunks(operations, limits):
                if ready:
                    ready()
                if len(in_flight) >= limits.workers:
                    yield in_flight.popleft().result()
                in_flight.append(pool.submit(send, chunk))
            while in_flight:
                yield in_flight.popleft().result()
        finally:
            stop.set()
            for future in in_flight:
                future.cancel()


def _send_chunk(
    client: Elasticsearch,
    alias: str,
    chunk: Sequence[Operation],
    limits: BulkLimits,
    wait: Callable[[float], object],
) -> list[Outcome]:
    """Send a request, and repeat temporarily refused operations until `wait` returns True."""
    outcomes: dict[str, Outcome] = {}
    pending, reason = list(chunk), ""
    for _ in limits.retry.attempts(wait):
        sent, pending = send_once(client, alias, pending, limits.timeout), []
        for outcome in sent:
            if outcome.refusal and outcome.refusal.retryable:
                pending.append(outcome.operation)
                reason = outcome.refusal.reason
            else:
                outcomes[outcome.operation.oid] = outcome
        if not pending:
            return [outcomes[operation.oid] for operation in chunk]
    raise IndexingError(
        f"Elasticsearch did not accept {len(pending)} documents in time: {reason}.",
        "Run `blogsearch doctor` for details.",
    )


def send_once(
    client: Elasticsearch, alias: str, operations: Sequence[Operation], timeout: float
) -> list[Outcome]:
    """Send one request to an alias and return its outcomes; no index of that name is created.

    If Elasticsearch does not answer, every operation has a `retryable` refusal, whether it was
    executed or not.
    """
    limited = client.options(max_retries=0, request_timeout=max(min(timeout, remaining()), 0.001))
    payloads: list[Any] = [operation.payload for operation in operations]
    try:
        response = limited.bulk(
            index=alias, require_alias=True, operations=payloads, filter_path=_FILTER_PATH
        )
    except (ApiError, TransportError) as error:
        if is_temporary(error):
            reason = f"it responds {error.status_code}" if isinstance(error, ApiError) else error
            again = Refusal(str(reason), "Send it again.", retryable=True)
            return [Outcome(operation, "refused", again) for operation in operations]
        if not isinstance(error, ApiError) or error.status_code not in {400, 413}:
            raise
        # The whole request is refused, such as for its size: a document too large is sent alone.
        return [Outcome(operation, "refused", refusal_from(error.body)) for operation in operations]
    outcomes = []
    for operation, item in zip(operations, response["items"], strict=True):
        ((_, result),) = item.items()
        refusal = refusal_from(result) if "error" in result else None
        outcomes.append(Outcome(operation, result.get("result", "refused"), refusal))
    return outcomes
