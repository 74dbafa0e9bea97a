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

_TOLD = 20  # unknown fields, and invalid comments of a post


@dataclass(frozen=True, slots=True)
class Item:
    """A post or comment to write, or why it is invalid.

    `names` identifies it in the response, with a note on unknown fields.
    """

    names: Mapping[str, Any]
    content: Document | Comment | Refusal

    def result(self, written: Written | None, *, is_new: bool) -> WriteResult:
        """The entry in the response; `written` is None for an invalid one."""
        refusal = written.refusal if written else None
        result = written.result if written else "rejected"
        if isinstance(self.content, Refusal):
            refusal = self.content
        if refusal:
            told = {"reason": refusal.reason, "remedy": refusal.remedy}
            status = {"status": refusal.status, "result": result}
            return cast(WriteResult, {**self.names, **status, **told})
        if is_new:
            return cast(WriteResult, {**self.names, "status": 201, "result": "created"})
        result = "unchanged" if result == "unchanged" else "updated"
        return cast(WriteResult, {**self.names, "status": 200, "result": result})


def post_items(entries: Iterable[Entry]) -> list[Item]:
    """Posts with their comments, in the order sent; one with an invalid comment is invalid."""
    # Imported here: it loads every kind of source, which a service that only searches never needs.
    from indexer.sources.json_lines import FIELDS, raw_post

    items = []
    for line, entry in entries:
        raw = raw_post(entry, Origin("the request", line))
        made, rejects = (None, [raw]) if isinstance(raw, Reject) else document_of(raw)
        names = {"kind": "post", "oid": made.oid if made else rejects[0].oid}
        content = made if made and not rejects else _refusal(rejects)
        items.append(Item({**names, **_also(line, entry, FIELDS)}, content))
    return items


def comment_items(post_oid: str, entries: Iterable[Entry]) -> list[Item]:
    """Comments on one post, in the order sent."""
    from indexer.sources.json_lines import COMMENT_FIELDS, raw_comment  # as in `post_items`

    items = []
    for line, entry in entries:
        oid = oid_of_reject(entry.get("oid")) if isinstance(entry, Mapping) else None
        names = {"kind": "comment", "oid": oid, "post_oid": post_oid}
        content: Comment | Refusal
        try:
            if not isinstance(entry, Mapping):
                raise Invalid("not an object", 'Send {"oid": …, "comment": …}.')
            content = comment_of(raw_comment(entry))
        except Invalid as invalid:
            content = Refusal(str(invalid), invalid.remedy, 422)
        items.append(Item({**names, **_also(line, entry, COMMENT_FIELDS)}, content))
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


def _also(line: int | None, entry: Any, fields: Collection[str]) -> dict[str, Any]:
    """The line of an entry, and a note on its fields of unknown names."""
    from indexer.sources.json_lines import hint

    also: dict[str, Any] = {} if line is None else {"line": line}
    unknown = [name for name in entry if name not in fields] if isinstance(entry, Mapping) else []
    notes = [f"there is no field {name!r:.80}: {hint(name, fields)}" for name in unknown[:_TOLD]]
    return {**also, "note": "; ".join(notes)} if notes else also


def _refusal(rejects: list[Reject]) -> Refusal:
    reasons = "; ".join(reject.reason for reject in rejects[:_TOLD])
    remedies = dict.fromkeys(reject.remedy for reject in rejects[:_TOLD])
    return Refusal(reasons, " ".join(remedies), 422)
