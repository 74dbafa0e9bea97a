"""The posts and comments of a write request, and what is answered for each."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from app.errors import BadRequest, BlogsearchError, NotFound, Unavailable, Unprocessable
from app.views.document_types import WriteResult
from indexer.normalise import Invalid, comment_of, document_of, oid_of_reject
from indexer.records import Document, Origin, Reject
from indexer.refusals import Refusal
from indexer.write.live import Written

Entry = tuple[int | None, Any]
"""The line of an entry, if the body was NDJSON, and the entry."""
Comment = Mapping[str, Any]
"""A comment as it is stored."""


@dataclass(frozen=True, slots=True)
class Item:
    """A post or comment to write, or why it is invalid.

    Args:
        names: what identifies it in the response, and a note on unknown fields.
    """

    names: Mapping[str, Any]
    content: Document | Comment | Refusal

    def result(self, status: int, result: str) -> WriteResult:
        """The entry in the response for one that was accepted."""
        return cast(WriteResult, {**self.names, "status": status, "result": result})

    def refused(self, refusal: Refusal, result: str = "refused") -> WriteResult:
        """The entry in the response for another one."""
        entry = self.result(refusal.status, result)
        entry["reason"], entry["remedy"] = refusal.reason, refusal.remedy
        return entry

    def written(self, written: Written | None, *, is_new: bool) -> WriteResult:
        """The entry in the response; `written` is None for an invalid one."""
        if isinstance(self.content, Refusal):
            return self.refused(self.content, "rejected")
        assert written is not None  # noqa: S101
        if written.refusal:
            return self.refused(written.refusal, written.result)
        if is_new:
            return self.result(201, "created")
        return self.result(200, "unchanged" if written.result == "unchanged" else "updated")


def post_items(entries: Iterable[Entry]) -> list[Item]:
    """Posts with their comments, in the order sent; one with an invalid comment is invalid."""
    # Imported here: it loads every kind of source, which a service that only searches never needs.
    from indexer.sources.json_lines import FIELDS, raw_post

    items = []
    for line, entry in entries:
        raw = raw_post(entry, Origin("the request", line))
        made, rejects = (None, [raw]) if isinstance(raw, Reject) else document_of(raw)
        names = {"kind": "post", "oid": made.oid if made else rejects[0].oid}
        items.append(_item(names, line, entry, FIELDS, _invalid(rejects) or made))
    return items


def comment_items(post_oid: str, entries: Iterable[Entry]) -> list[Item]:
    """Comments on one post, in the order sent."""
    from indexer.sources.json_lines import COMMENT_FIELDS, raw_comment  # as in `post_items`

    items = []
    for line, entry in entries:
        names = {"kind": "comment", "oid": None, "post_oid": post_oid}
        made: Comment | Refusal
        if isinstance(entry, Mapping):
            names["oid"] = oid_of_reject(entry.get("oid"))
            try:
                made = comment_of(raw_comment(entry))
            except Invalid as invalid:
                made = Refusal(str(invalid), invalid.remedy, 422)
        else:
            made = Refusal("not an object", 'Send {"oid": …, "comment": …}.', 422)
        items.append(_item(names, line, entry, COMMENT_FIELDS, made))
    return items


def accepted(result: WriteResult) -> bool:
    """Whether the document of this result is in the index as sent."""
    return result["status"] < 300


def failure(results: list[WriteResult]) -> BlogsearchError:
    """The error for a request of which nothing was accepted."""
    statuses = {result["status"] for result in results}
    first = results[0]
    message = f"{first['reason'].rstrip('.')}. {first['remedy']}".strip()
    if len(results) > 1:
        message = f"None of {len(results):,} documents was accepted; the first: {message}"
    errors = {400: BadRequest, 404: NotFound, 503: Unavailable}
    error = errors.get(statuses.pop(), Unprocessable) if len(statuses) == 1 else Unprocessable
    return error(message, details=results)


def _item(
    names: dict[str, Any],
    line: int | None,
    entry: Any,
    fields: Collection[str],
    content: Document | Comment | Refusal | None,
) -> Item:
    from indexer.sources.json_lines import hint

    assert content is not None  # noqa: S101
    if line is not None:
        names["line"] = line
    unknown = [name for name in entry if name not in fields] if isinstance(entry, Mapping) else []
    if unknown:
        notes = [f"there is no field {name!r:.80}: {hint(name, fields)}" for name in unknown]
        names["note"] = "; ".join(notes[:_NOTES])
    return Item(names, content)


_NOTES = 20
"""Unknown fields that are named."""


def _invalid(rejects: list[Reject]) -> Refusal | None:
    if not rejects:
        return None
    remedies = dict.fromkeys(reject.remedy for reject in rejects)
    reasons = [reject.reason for reject in rejects[:_NOTES]]
    return Refusal("; ".join(reasons), " ".join(list(remedies)[:_NOTES]), 422)
