"""The live index as single writes see it: patient while it is swapped."""

import time
from collections.abc import Sequence

from elasticsearch import Elasticsearch

from indexer.items import Item, Limits
from indexer.records import Document
from indexer.rescue import unblocked
from indexer.sender import NotTaken, Outcome, Sender

_PATIENCE = 20.0  # seconds a client may be kept waiting while the index is swapped
_SUSPICIOUS = 2.0  # seconds; a build closes the index for a fraction of that
LIMITS = Limits(workers=1, patience=_SUSPICIOUS, timeout=20.0)
"""For a write that somebody waits for."""


def now() -> int:
    """Milliseconds since 1970."""
    return int(time.time() * 1000)


def patiently(
    client: Elasticsearch, alias: str, sender: Sender, chunk: list[Item]
) -> list[Outcome]:
    """Send a chunk; when the index stays closed, see whether whoever closed it is still alive."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            return sender.send(chunk)
        except NotTaken as error:
            if not error.blocked or time.monotonic() > deadline:
                raise
            unblocked(client, alias)


def versions_of(client: Elasticsearch, alias: str, documents: Sequence[Document]) -> dict[str, int]:
    """Document id → its version, for those that are there; not as of the last refresh but now."""
    answer = client.mget(
        index=alias,
        docs=[
            {"_id": document.id, "routing": document.routing, "_source": False}
            for document in documents
        ],
    )
    return {one["_id"]: int(one["_version"]) for one in answer["docs"] if one.get("found")}
