"""Cutting into requests, and retries while Elasticsearch is busy, closed or away."""

import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from elastic_transport import ApiResponseMeta, ConnectionTimeout, HttpHeaders, NodeConfig
from elasticsearch import ApiError
from hypothesis import given
from hypothesis import strategies as st

from indexer.errors import IndexingError
from indexer.runs.refusals import refusal_from
from indexer.store.bulk import BulkLimits, Operation, Outcome, chunks, operation, send_bulk
from indexer.store.retry import Retry

SWAPPING = {"type": "cluster_block_exception", "reason": "blocked by: [FORBIDDEN/8/index write"}
FULL = {
    "type": "cluster_block_exception",
    "reason": "blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, "
    "index has read-only-allow-delete block]",
}
READ_ONLY = {
    "type": "cluster_block_exception",
    "reason": "blocked by: [FORBIDDEN/5/index read-only (api)]",
}
BUSY = {"type": "es_rejected_execution_exception", "reason": "rejected execution"}


def item(number: int, size: int = 10) -> Operation:
    return operation("index", str(number), {"oid": "x" * size})


def api_error(status: int) -> ApiError:
    meta = ApiResponseMeta(status, "1.1", HttpHeaders(), 0.0, NodeConfig("http", "localhost", 9200))
    error = {"type": "x", "reason": f"status {status}"}
    return ApiError(f"status {status}", meta, {"error": error, "status": status})


Answer = Callable[[list[str]], dict[str, Any]]


class Engine:
    """In place of a client: answers bulk requests from a script, then takes everything."""

    def __init__(self, *script: Answer | Exception) -> None:
        self._script = list(script)
        self._lock = threading.Lock()
        self.requests: list[list[str]] = []

    def options(self, **_: Any) -> "Engine":
        return self

    def bulk(self, *, operations: list[bytes], require_alias: bool, **_: Any) -> dict[str, Any]:
        assert require_alias
        ids = [json.loads(operation.split(b"\n")[0])["index"]["_id"] for operation in operations]
        with self._lock:
            self.requests.append(ids)
            step = self._script.pop(0) if self._script else taken
        if isinstance(step, Exception):
            raise step
        return step(ids)


def taken(ids: list[str]) -> dict[str, Any]:
    return answered(*({"status": 201, "result": "created"} for _ in ids))(ids)


def answered(*entries: dict[str, Any]) -> Answer:
    return lambda _: {"items": [{"index": entry} for entry in entries]}


def send(engine: Engine, *operations: Operation, total: float = 60.0) -> list[Outcome]:
    limits = BulkLimits(retry=Retry(total=total, first_pause=0.001, longest_pause=0.001))
    outcomes = send_bulk(engine, "blog", operations, limits)  # type: ignore[arg-type]
    return [outcome for chunk in outcomes for outcome in chunk]


@given(
    sizes=st.lists(st.integers(1, 400), max_size=40),
    chunk_bytes=st.integers(1, 2000),
    documents=st.integers(1, 10),
)
def test_chunks_keep_the_order_and_the_limits(
    sizes: list[int], chunk_bytes: int, documents: int
) -> None:
    items = [item(number, size) for number, size in enumerate(sizes)]
    limits = BulkLimits(chunk_bytes=chunk_bytes, chunk_documents=documents)
    cut = list(chunks(items, limits))
    assert [operation for chunk in cut for operation in chunk] == items
    for chunk in cut:
        assert 1 <= len(chunk) <= documents
        assert len(chunk) == 1 or sum(len(operation.payload) for operation in chunk) <= chunk_bytes


def test_sends_again_just_what_was_refused_for_the_moment() -> None:
    ok = {"status": 201, "result": "created"}
    bad = {"status": 400, "error": {"type": "document_parsing_exception", "reason": "no date"}}
    busy = {"status": 429, "error": BUSY}
    closed = {"status": 403, "error": SWAPPING}
    engine = Engine(answered(ok, busy, bad, closed, busy), answered(busy, ok))
    outcomes = send(engine, *map(item, range(5)))
    assert engine.requests[1:] == [["1", "4"], ["1"]]
    assert [outcome.operation.oid for outcome in outcomes] == ["0", "1", "2", "3", "4"]
    refusals = [outcome.refusal for outcome in outcomes]
    assert [refusal is None for refusal in refusals] == [True, True, False, False, True]
    assert "no date" in str(refusals[2])
    assert refusals[3] == refusal_from(closed)


@pytest.mark.parametrize("fault", [api_error(429), api_error(503), ConnectionTimeout("too late")])
def test_sends_the_whole_again(fault: Exception) -> None:
    engine = Engine(*[fault] * 5)
    assert [outcome.result for outcome in send(engine, item(1), item(2))] == ["created"] * 2
    assert len(engine.requests) == 6


def test_gives_up_after_its_time_limit_and_says_why() -> None:
    engine = Engine(*[answered({"status": 429, "error": BUSY})] * 3)
    with pytest.raises(IndexingError, match=r"1 documents in time: .* overloaded"):
        send(engine, item(1), total=0.0)


def test_a_request_that_is_too_large_is_refused() -> None:
    (outcome,) = send(Engine(api_error(413)), item(1))
    assert outcome.refusal
    assert outcome.refusal.status == 422


@pytest.mark.parametrize(
    ("body", "status", "said", "stale", "retryable"),
    [
        (FULL | {"status": 429}, 503, "disk", False, False),
        (SWAPPING | {"status": 403}, 503, "being replaced", True, False),
        (READ_ONLY | {"status": 403}, 503, "read-only", False, False),
        (BUSY | {"status": 429}, 503, "overloaded", False, True),
        ({"type": "x", "reason": "no shard", "status": 503}, 503, "no shard", False, True),
        ({"type": "x", "reason": "no shard", "status": 500}, 500, "no shard", False, False),
        ({"type": "x", "reason": "b", "caused_by": {"reason": "c"}}, 422, "b: c", False, False),
        ({"type": "x", "reason": ""}, 422, "x", False, False),
    ],
)
def test_a_refusal_says_whose_fault_it_is(
    body: dict[str, Any], status: int, said: str, stale: bool, retryable: bool
) -> None:
    refusal = refusal_from({"error": body, "status": body.get("status", 400)})
    assert said in refusal.reason
    assert refusal.remedy
    assert (refusal.status, refusal.stale, refusal.retryable) == (status, stale, retryable)
