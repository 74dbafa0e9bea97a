"""The documents of a write request: what is to be written, and the result for each."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from app.errors import BlogsearchError, Conflict, NotFound, Unavailable, Unprocessable
from app.views.document_types import WriteResult
from indexer.dates import NoDate, milliseconds, moment
from indexer.normalise import comment_document, documents, oid_of_reject
from indexer.records import Document, Origin, RawPost, Reject
from indexer.write.live import Write, Written

Entry = tuple[int | None, Any]
"""The line of an entry, if the body was NDJSON, and the entry."""


@dataclass(frozen=True, slots=True)
class BulkItem:
    """A document to write, or why it is invalid. `names` identifies it in the response."""

    names: Mapping[str, Any]
    outcome: Write | Reject

    def result(self, written: Written | None) -> WriteResult:
        """The entry in the response; `written` is the result of a Write, None for a Reject."""
        if isinstance(self.outcome, Reject):
            status, result = 422, "rejected"
            reason, remedy = self.outcome.reason, self.outcome.remedy
        else:
            assert written is not None  # noqa: S101
            status, result = written.status, written.result
            reason, remedy = written.reason, written.remedy
        entry = cast(WriteResult, {**self.names, "status": status, "result": result})
        if reason:
            entry |= {"reason": reason, "remedy": remedy}
        return entry


def post_items(entries: Iterable[Entry]) -> list[BulkItem]:
    """Posts with their comments, in the order sent."""
    # Imported here: it loads every kind of source, which a service that only searches never needs.
    from indexer.sources import raw_post

    items: list[BulkItem] = []
    for line, entry in entries:
        raw = raw_post(entry, Origin("the request", line))
        if isinstance(raw, Reject):
            items.append(_item(raw, line))
        else:
            items += _items_of_post(raw, line)
    return items


def comment_items(post_oid: str, entries: Iterable[Entry]) -> list[BulkItem]:
    """Comments on one post, in the order sent."""
    return [_comment_item(post_oid, line, entry) for line, entry in entries]


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
    errors = {404: NotFound, 409: Conflict, 503: Unavailable}
    error = errors.get(statuses.pop(), Unprocessable) if len(statuses) == 1 else Unprocessable
    return error(message, details=results)


def _items_of_post(raw: RawPost, line: int | None) -> Iterator[BulkItem]:
    newest = raw.modified in (None, "")
    version = 0
    for document in documents(raw):
        if isinstance(document, Document):
            # A post's modification date applies to the comments sent with it.
            version = max(version, document.version)
            document = replace(document, version=version)
        yield _item(document, line, newest)


def _comment_item(post_oid: str, line: int | None, entry: Any) -> BulkItem:
    origin = Origin("the request", line)
    if not isinstance(entry, Mapping):
        return _item(Reject(origin, None, "not an object", 'Send {"oid": …, "comment": …}.'), line)
    try:
        modified = moment(entry.get("modified"))
    except NoDate as error:
        oid = oid_of_reject(entry.get("oid"))
        return _item(Reject(origin, oid, f"modified: {error}", "Send an ISO 8601 date."), line)
    from indexer.sources import raw_comment  # here for the same reason as in `post_items`

    document = comment_document(post_oid, raw_comment(entry), origin)
    if modified and isinstance(document, Document):
        document = replace(document, version=milliseconds(modified))
    return _item(document, line, newest=modified is None)


def _item(document: Document | Reject, line: int | None, newest: bool = False) -> BulkItem:
    place = {} if line is None else {"line": line}
    if isinstance(document, Reject):
        return BulkItem({"oid": document.oid, **place}, document)
    names: dict[str, Any] = {"kind": document.kind, "oid": document.source["oid"]}
    if document.kind == "comment":
        names["post_oid"] = document.routing
    return BulkItem({**names, **place}, Write(document, newest))
