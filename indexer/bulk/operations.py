"""The operations of bulk requests, and how they are divided into requests."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import orjson

from indexer.records import Document, Origin


@dataclass(frozen=True, slots=True)
class BulkLimits:
    """Sizes and time limits of bulk requests.

    Args:
        workers: number of concurrent requests.
        chunk_bytes: maximum size of a request; a larger document is sent alone.
        chunk_documents: maximum number of documents in a request.
        retry_for: seconds to keep retrying after a temporary refusal (429, a write block) or
            while Elasticsearch does not respond.
        timeout: seconds a single request may take.
    """

    workers: int = 4
    chunk_bytes: int = 1_000_000
    chunk_documents: int = 500
    retry_for: float = 60.0
    timeout: float = 120.0


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of a bulk request; `payload` is its NDJSON, ending with a newline."""

    id: str
    kind: Literal["post", "comment"]
    routing: str
    origin: Origin
    payload: bytes

    @property
    def oid(self) -> str:
        """The oid as the source gave it."""
        return self.id.split(":", 1)[1] if self.kind == "post" else self.id.rsplit(":", 1)[1]


def index_operation(document: Document, version_type: str = "external_gte") -> Operation:
    """Index a document under its own version.

    Raises:
        TypeError: the document cannot be serialised (orjson's `JSONEncodeError`).
    """
    action = _action("index", document, version_type)
    payload = orjson.dumps(action) + b"\n" + orjson.dumps(document.source) + b"\n"
    return Operation(document.id, document.kind, document.routing, document.origin, payload)


def delete_operation(document: Document, version_type: str = "external_gte") -> Operation:
    """Delete a document under `document.version`; its source is ignored."""
    payload = orjson.dumps(_action("delete", document, version_type)) + b"\n"
    return Operation(document.id, document.kind, document.routing, document.origin, payload)


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


def _action(name: str, document: Document, version_type: str) -> dict[str, Any]:
    return {
        name: {
            "_id": document.id,
            "routing": document.routing,
            "version": document.version,
            "version_type": version_type,
        }
    }
