"""Lines of a bulk request, and how many of them go at a time."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import orjson

from indexer.records import Document, Origin


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


def _head(action: str, document: Document, version_type: str) -> dict[str, Any]:
    return {
        action: {
            "_id": document.id,
            "routing": document.routing,
            "version": document.version,
            "version_type": version_type,
        }
    }
