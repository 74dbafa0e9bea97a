"""Why Elasticsearch refused a document, in words, and what to do about it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Refusal:
    """A reason and a remedy. `for_now`: the same request may well be taken in a moment.

    `older`: a newer version of the document is in the index.
    """

    reason: str
    remedy: str
    for_now: bool = False
    older: bool = False
    blocked: bool = False


_NO_INDEX = Refusal(
    "there is no index to write to", "Build one with `blogsearch reindex POSTS.jsonl`."
)
_DISK_FULL = Refusal(
    "the disk of Elasticsearch is nearly full, so it takes no more documents",
    "Make room (`blogsearch prune` deletes old generations), then try again.",
)
_SWAPPING = Refusal(
    "the index takes no writes while it is being replaced",
    "Try again in a moment.",
    for_now=True,
    blocked=True,
)
_BUSY = Refusal("Elasticsearch is busy (429)", "Try again in a moment.", for_now=True)
_OLDER = Refusal(
    "a newer version is in the index",
    "Send a later modification date if this one is to replace it.",
    older=True,
)


def explain(body: Any) -> Refusal:
    """The refusal behind an `error` object with its `status`, as Elasticsearch answers it."""
    body = body if isinstance(body, Mapping) else {"error": str(body)}
    error = body.get("error")
    error = error if isinstance(error, Mapping) else {"type": "", "reason": str(error)}
    kind, reason = str(error.get("type", "")), str(error.get("reason", ""))
    status = body.get("status")
    if kind == "cluster_block_exception":
        return _DISK_FULL if "read-only-allow-delete" in reason else _SWAPPING
    if kind == "version_conflict_engine_exception":
        return _OLDER
    if kind == "index_not_found_exception":
        return _NO_INDEX
    if status == 429:
        return _BUSY
    return _permanent(kind, _whole(error), status)


def _whole(error: Mapping[str, Any]) -> str:
    """The reason with those behind it; the outermost often says no more than that it failed."""
    reasons = [str(error.get("reason", ""))]
    cause = error.get("caused_by")
    while isinstance(cause, Mapping):
        reasons.append(str(cause.get("reason", "")))
        cause = cause.get("caused_by")
    return ": ".join(dict.fromkeys(reason for reason in reasons if reason))


def _permanent(kind: str, reason: str, status: Any) -> Refusal:
    reason = f"Elasticsearch refuses it: {reason or kind}"[:500]
    if status == 413:
        return Refusal(
            "it is too big for one request to Elasticsearch", "Split it, or leave it out."
        )
    if kind == "strict_dynamic_mapping_exception":
        return Refusal(
            reason, "The index is of another version: run `blogsearch sync` or `reindex`."
        )
    if "immense term" in reason:
        return Refusal(reason, "Shorten the field that it names.")
    return Refusal(reason, "Correct the field that it names, or leave the post out.")
