"""The posts and comments of a write request, and what is answered for each."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from app.errors import BadRequest, BlogsearchError, NotFound, Unavailable, Unprocessable
from indexer.normalise import Invalid, comment_of, document_of, oid_of_reject
from indexer.records import Document, Origin, Reject
from indexer.refusals import Refusal
from indexer.write.live import Written

_TOLD = 20  # unknown fields, and invalid comments of a post


Result = dict[str, Any]
"""What became of one document: a `WriteResult` of app/openapi.json."""


@dataclass(frozen=True, slots=True)
class Item:
    """A post or comment to write, or why it is invalid.

    `names` identifies it in the response, with a note on unknown fields.
    """

    names: Mapping[str, Any]
    content: Document | Mapping[str, Any] | Refusal

    def result(self, written: Written | None, *, is_new: bool) -> Result:
        """The entry in the response; `written` is None for an invalid one."""
        if isinstance(self.content, Refusal):
            return refused(self.names, "rejected", self.content)
        if written and written.refusal:
            return refused(self.names, written.result, written.refusal)
        if is_new:
            return {**self.names, "status": 201, "result": "created"}
        is_same = written is None or written.result == "unchanged"
        return {**self.names, "status": 200, "result": "unchanged" if is_same else "updated"}


def refused(names: Mapping[str, Any], result: str, refusal: Refusal) -> Result:
    """The entry in the response of what was not written."""
    told = {"reason": refusal.reason, "remedy": refusal.remedy}
    return {**names, "status": refusal.status, "result": result, **told}


def post_items(entries: Iterable[Any]) -> list[Item]:
    """Posts with their comments, in the order sent; one with an invalid comment is invalid."""
    # Imported here: it loads every kind of source, which a service that only searches never needs.
    from indexer.sources.json_lines import FIELDS, raw_post

    items = []
    for entry in entries:
        raw = raw_post(entry, Origin("the request"))
        made, rejects = (None, [raw]) if isinstance(raw, Reject) else document_of(raw)
        names = {"kind": "post", "oid": made.oid if made else rejects[0].oid}
        content: Document | Refusal
        if made and not rejects:
            content = made
        else:
            reasons = "; ".join(reject.reason for reject in rejects[:_TOLD])
            remedies = dict.fromkeys(reject.remedy for reject in rejects[:_TOLD])
            content = Refusal(reasons, " ".join(remedies), 422)
        items.append(Item({**names, **_note(entry, FIELDS)}, content))
    return items


def comment_items(post_oid: str, entries: Iterable[Any]) -> list[Item]:
    """Comments on one post, in the order sent."""
    from indexer.sources.json_lines import COMMENT_FIELDS, raw_comment  # as in `post_items`

    items = []
    for entry in entries:
        oid = oid_of_reject(entry.get("oid")) if isinstance(entry, Mapping) else None
        names = {"kind": "comment", "oid": oid, "post_oid": post_oid}
        content: Mapping[str, Any] | Refusal
        try:
            if not isinstance(entry, Mapping):
                raise Invalid("not an object", 'Send {"oid": …, "comment": …}.')
            content = comment_of(raw_comment(entry))
        except Invalid as invalid:
            content = Refusal(str(invalid), invalid.remedy, 422)
        items.append(Item({**names, **_note(entry, COMMENT_FIELDS)}, content))
    return items


def _note(entry: Any, fields: Collection[str]) -> dict[str, str]:
    """A note on the fields of unknown names."""
    from indexer.sources.json_lines import hint

    unknown = [name for name in entry if name not in fields] if isinstance(entry, Mapping) else []
    notes = [f"there is no field {name!r:.80}: {hint(name, fields)}" for name in unknown[:_TOLD]]
    return {"note": "; ".join(notes)} if notes else {}


def failure(results: list[Result]) -> BlogsearchError:
    """The error for a request of which nothing was accepted."""
    statuses = {result["status"] for result in results}
    message = f"{results[0]['reason'].rstrip('.')}. {results[0]['remedy']}".strip()
    if len(results) > 1:
        message = f"None of {len(results):,} documents was accepted; the first: {message}"
    errors = {400: BadRequest, 404: NotFound, 503: Unavailable}
    error = errors.get(statuses.pop(), Unprocessable) if len(statuses) == 1 else Unprocessable
    return error(message, details=results)
