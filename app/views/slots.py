"""Each document of a write in its place: what it is to be, and what became of it."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from app.elastic import translated
from app.errors import Conflict, NoIndex, NotFound, ServiceError, Unavailable
from indexer.dates import NoDate, milliseconds, moment
from indexer.errors import IndexingError, NoGeneration
from indexer.normalise import comment_document, documents
from indexer.records import Document, Origin, RawPost, Reject
from indexer.sources import raw_comment, raw_post
from indexer.write.put import Write, Written

Entry = tuple[int | None, Any]
"""The line an entry stood on, where it was NDJSON, and the entry."""


class Unprocessable(ServiceError):
    """Documents that are well-formed JSON and yet no posts or comments."""

    status = 422
    code = "unprocessable"


@dataclass(frozen=True, slots=True)
class Slot:
    """A document to write, or why it is none. `names` is how the result calls it."""

    names: Mapping[str, Any]
    write: Write | None = None
    reject: Reject | None = None

    def result(self, written: Written | None) -> dict[str, Any]:
        """What the answer says about it."""
        if written is None and self.reject:
            return {
                **self.names,
                "status": 422,
                "result": "rejected",
                "reason": self.reject.reason,
                "remedy": self.reject.remedy,
            }
        assert written is not None  # noqa: S101  (a slot holds one or the other)
        told = {"reason": written.reason, "remedy": written.remedy} if written.reason else {}
        return {**self.names, "status": written.status, "result": written.result, **told}


def post_slots(entries: Iterable[Entry]) -> list[Slot]:
    """Posts with their comments, in the order sent."""
    slots: list[Slot] = []
    for line, entry in entries:
        raw = raw_post(entry, Origin("the request", line))
        if isinstance(raw, Reject):
            slots.append(_slot(raw, line))
        else:
            slots += _of_post(raw, line)
    return slots


def comment_slots(post_oid: str, entries: Iterable[Entry]) -> list[Slot]:
    """Comments on one post, in the order sent."""
    return [_of_comment(post_oid, line, entry) for line, entry in entries]


def taken(result: Mapping[str, Any]) -> bool:
    """Whether this one is in the index as sent."""
    return int(result["status"]) < 300


def failure(results: list[dict[str, Any]]) -> ServiceError:
    """The error for a write of which nothing was taken."""
    statuses = {int(result["status"]) for result in results}
    first = results[0]
    message = f"{first['reason']}. {first['remedy']}".strip()
    if len(results) > 1:
        message = f"None of {len(results):,} documents was taken; the first: {message}"
    kinds = {404: NotFound, 409: Conflict, 503: Unavailable}
    kind = kinds.get(statuses.pop(), Unprocessable) if len(statuses) == 1 else Unprocessable
    return kind(message, results)


@contextmanager
def told() -> Iterator[None]:
    """Turn what the indexer and the engine raise into what a client is told.

    Raises:
        NoIndex: there is no index to write to.
        Unavailable: Elasticsearch did not take it in time.
    """
    try:
        with translated():
            yield
    except NoGeneration as error:
        raise NoIndex(str(error)) from error
    except IndexingError as error:
        raise Unavailable(str(error)) from error


def _of_post(raw: RawPost, line: int | None) -> Iterator[Slot]:
    newest = raw.modified in (None, "")
    version = 0
    for found in documents(raw):
        if isinstance(found, Document):
            # What a post's modification date says goes for the comments sent with it.
            version = max(version, found.version)
            found = replace(found, version=version)
        yield _slot(found, line, newest)


def _of_comment(post_oid: str, line: int | None, entry: Any) -> Slot:
    origin = Origin("the request", line)
    if not isinstance(entry, Mapping):
        return _slot(Reject(origin, None, "not an object", 'Write {"oid": …, "comment": …}.'), line)
    try:
        modified = moment(entry.get("modified"))
    except NoDate as error:
        oid = str(entry.get("oid"))
        return _slot(Reject(origin, oid, f"modified: {error}", "Send an ISO 8601 moment."), line)
    found = comment_document(post_oid, raw_comment(entry), origin)
    if modified and isinstance(found, Document):
        found = replace(found, version=milliseconds(modified))
    return _slot(found, line, newest=modified is None)


def _slot(found: Document | Reject, line: int | None, newest: bool = False) -> Slot:
    where = {} if line is None else {"line": line}
    if isinstance(found, Reject):
        return Slot({"oid": found.oid, **where}, reject=found)
    names: dict[str, Any] = {"kind": found.kind, "oid": found.source["oid"]}
    if found.kind == "comment":
        names["post_oid"] = found.routing
    return Slot({**names, **where}, write=Write(found, newest))
