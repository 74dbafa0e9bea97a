"""The JSON that answers a write, as types. app/openapi.json describes it."""

from typing import Literal, NotRequired, TypedDict


class WriteResult(TypedDict):
    """What became of one document."""

    oid: str | None
    """Null if the document had none."""
    kind: Literal["post", "comment"]
    post_oid: NotRequired[str]
    """The post of a comment."""
    line: NotRequired[int]
    """The line of the body, if it was NDJSON."""
    status: int
    """200 replaced, deleted or the same already, 201 created, 400 too many comments on a post,
    404 no such post, 422 invalid, 503 Elasticsearch became unavailable, or the time of the request
    was over."""
    result: str
    """The same in a word: created, updated, unchanged, deleted, rejected, refused or unknown."""
    reason: NotRequired[str]
    """Why it was not written."""
    remedy: NotRequired[str]
    """What to do about it."""
    note: NotRequired[str]
    """Fields that were ignored, because there are none of these names."""
    comments: NotRequired[int]
    """How many comments were deleted with a post."""


class WriteAnswer(TypedDict):
    """The answer to a write."""

    results: list[WriteResult]
    """One for each document, in the order sent."""
    errors: bool
    """Whether some of them were not accepted; the status is 207 then."""
