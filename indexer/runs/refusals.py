"""Explains why Elasticsearch refused a document, and how to correct it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from elastic_transport import ObjectApiResponse
from elasticsearch import ApiError
from elasticsearch.exceptions import HTTP_EXCEPTIONS

from indexer.store.retry import TEMPORARY_STATUSES


@dataclass(frozen=True, slots=True)
class Refusal:
    """A reason, a remedy, and the HTTP status for a client of the service.

    `retryable`: the same request may succeed later. `stale`: something has happened since the post
    was read; read it again, then write it.
    """

    reason: str
    remedy: str
    status: int = 503
    retryable: bool = False
    stale: bool = False


_AGAIN = "Try again in a moment."
NO_INDEX = Refusal(
    "there is no index to write to", "Build one with `blogsearch reindex POSTS.jsonl`.", stale=True
)
DISK_FULL = Refusal(
    "the disk of Elasticsearch is nearly full, so it accepts no writes",
    "Free disk space, for instance delete the previous generation (docs/operations.md), then try "
    "again.",
)
REMOVE_BLOCK = "Remove the block: set it to null in the settings of the index or the cluster."
WRITE_BLOCK = Refusal("the index accepts no writes while it is being replaced", _AGAIN, stale=True)
_OVERLOADED = Refusal("Elasticsearch is overloaded (429)", _AGAIN, retryable=True)
_CONFLICT = Refusal(
    "the post kept changing while it was being written", "Send it again.", stale=True
)


def error_of_part(
    response: ObjectApiResponse[Any], error: Mapping[str, Any], status: int
) -> ApiError:
    """Return the error of the client, as if a failed part of a response were the whole."""
    kind, meta = HTTP_EXCEPTIONS.get(status, ApiError), replace(response.meta, status=status)
    return kind(error["type"], meta, {"error": error, "status": status})


def refusal_from(body: Any) -> Refusal:
    """Return the refusal for the `error` and the `status` in a response of Elasticsearch."""
    body = body if isinstance(body, Mapping) else {"error": str(body)}
    error = body.get("error")
    error = error if isinstance(error, Mapping) else {"reason": str(error)}
    kind, status = str(error.get("type", "")), body.get("status")
    reason = _with_causes(error) or kind
    if kind == "cluster_block_exception":
        return _explain_block(reason)
    if kind == "version_conflict_engine_exception":
        return _CONFLICT
    if kind == "index_not_found_exception":
        return NO_INDEX
    if status == 429:
        return _OVERLOADED
    if status in TEMPORARY_STATUSES:
        reason = f"Elasticsearch cannot write it now ({status}): {reason}"
        return Refusal(reason[:500], _AGAIN, retryable=True)
    reason = f"Elasticsearch refused it: {reason}"[:500]
    if kind == "strict_dynamic_mapping_exception":
        return Refusal(reason, "The index was built by another version: run `blogsearch rebuild`.")
    if isinstance(status, int) and status >= 500:
        return Refusal(reason, "See Elasticsearch's log for the cause.", status=status)
    if "nested_objects.limit" in reason:
        remedy = "Leave out or delete comments, or raise that setting of the index."
        return Refusal(reason, remedy, status=400)
    return Refusal(reason, "Correct the field named above, or leave the post out.", status=422)


def _explain_block(reason: str) -> Refusal:
    """Return the refusal for a reason such as `index [blog-000001] blocked by: [FORBIDDEN/8/index
    write`, by the numbers of Elasticsearch's blocks."""
    blocks = set(re.findall(r"/(\d+)/", reason))
    if "12" in blocks:  # index.blocks.read_only_allow_delete
        return DISK_FULL
    if blocks <= {"8"}:  # index.blocks.write
        return WRITE_BLOCK
    return Refusal(f"a block refuses it: {reason.rstrip(';')}", REMOVE_BLOCK)


def _with_causes(error: Mapping[str, Any]) -> str:
    """Return the reason and its causes; the outermost reason alone is often too general."""
    reasons = []
    cause: Any = error
    while isinstance(cause, Mapping):
        reasons.append(str(cause.get("reason", "")))
        cause = cause.get("caused_by")
    return ": ".join(dict.fromkeys(reason for reason in reasons if reason))
