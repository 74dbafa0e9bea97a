"""Explains why Elasticsearch refused a document, and what to do about it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from indexer.retry import TEMPORARY_STATUSES


@dataclass(frozen=True, slots=True)
class Refusal:
    """A reason and a remedy.

    Args:
        retryable: the same request may succeed later.
        version_conflict: the index has a newer version of the document.
        write_blocked: the index has a write block.
        other_schema: the index does not know a field, as one of another version.
    """

    reason: str
    remedy: str
    retryable: bool = False
    version_conflict: bool = False
    write_blocked: bool = False
    other_schema: bool = False


NO_INDEX = Refusal(
    "there is no index to write to", "Build one with `blogsearch reindex POSTS.jsonl`."
)
DISK_FULL = Refusal(
    "the disk of Elasticsearch is nearly full, so it accepts no writes",
    "Free disk space (`blogsearch prune --keep 0` deletes all old generations), then try again.",
)
_WRITE_BLOCK = Refusal(
    "the index accepts no writes while it is being replaced",
    "Try again in a moment.",
    retryable=True,
    write_blocked=True,
)
REMOVE_BLOCK = "Remove the block: set it to null in the settings of the index or the cluster."
_OVERLOADED = Refusal("Elasticsearch is overloaded (429)", "Try again in a moment.", retryable=True)
_VERSION_CONFLICT = Refusal(
    "the index has a newer version",
    "Send a later modification date, or none, to replace it.",
    version_conflict=True,
)


def refusal_from(body: Any) -> Refusal:
    """The refusal described by an `error` object and its `status` in an Elasticsearch response."""
    body = body if isinstance(body, Mapping) else {"error": str(body)}
    error = body.get("error")
    error = error if isinstance(error, Mapping) else {"type": "", "reason": str(error)}
    kind, reason = str(error.get("type", "")), str(error.get("reason", ""))
    status = body.get("status")
    if kind == "cluster_block_exception":
        return _blocked(reason)
    if kind == "version_conflict_engine_exception":
        return _VERSION_CONFLICT
    if kind == "index_not_found_exception":
        return NO_INDEX
    if status == 429:
        return _OVERLOADED
    if status in TEMPORARY_STATUSES:
        reason = f"Elasticsearch cannot write it now ({status}): {_with_causes(error) or kind}"
        return Refusal(reason[:500], "Try again in a moment.", retryable=True)
    return _permanent(kind, _with_causes(error), status)


def _blocked(reason: str) -> Refusal:
    """The refusal for a reason such as `index [blog-000001] blocked by: [FORBIDDEN/8/index write
    (api)];`. The numbers are those of Elasticsearch's blocks."""
    blocks = set(re.findall(r"/(\d+)/", reason))
    if "12" in blocks:  # index.blocks.read_only_allow_delete
        return DISK_FULL
    if blocks <= {"8"}:  # index.blocks.write
        return _WRITE_BLOCK
    return Refusal(f"a block that somebody has set refuses it: {reason}", REMOVE_BLOCK)


def _with_causes(error: Mapping[str, Any]) -> str:
    """The reason and its causes; the outermost reason alone is often too general."""
    reasons = [str(error.get("reason", ""))]
    cause = error.get("caused_by")
    while isinstance(cause, Mapping):
        reasons.append(str(cause.get("reason", "")))
        cause = cause.get("caused_by")
    return ": ".join(dict.fromkeys(reason for reason in reasons if reason))


def _permanent(kind: str, reason: str, status: Any) -> Refusal:
    reason = f"Elasticsearch refused it: {reason or kind}"[:500]
    if status == 413:
        return Refusal(
            "it is too large for one request to Elasticsearch", "Split it, or leave it out."
        )
    if kind == "strict_dynamic_mapping_exception":
        return Refusal(
            reason,
            "The index was built by another version: run `blogsearch rebuild`.",
            other_schema=True,
        )
    if isinstance(status, int) and status >= 500:
        return Refusal(reason, "See Elasticsearch's log for the cause.")
    if "immense term" in reason:
        return Refusal(reason, "Shorten the field named above.")
    return Refusal(reason, "Correct the field named above, or leave the post out.")
