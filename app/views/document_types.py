"""The JSON of the documents API, as types: what is sent, and what is answered.

`/openapi.json` describes them; the strings below the fields are the descriptions there.
"""

from typing import Annotated, Literal, NotRequired, TypedDict

from msgspec import Meta

from indexer.normalise import MAX_LABEL, MAX_LABELS, MAX_TITLE, MAX_URL

Oid = Annotated[str, Meta(min_length=1)] | int
When = str | None
Labels = Annotated[list[Annotated[str, Meta(max_length=MAX_LABEL)]], Meta(max_length=MAX_LABELS)]


class NamedComment(TypedDict):
    """A comment whose oid is in the URL."""

    comment: Annotated[str, Meta(min_length=1)]
    """HTML."""
    author: NotRequired[str | None]
    pub_date: NotRequired[When]
    """A date, such as ISO 8601; without a time zone: UTC."""


class Comment(NamedComment):
    """A comment."""

    oid: Oid
    """Unique among the comments of the post; at most 200 bytes."""


class NamedPost(TypedDict):
    """A post whose oid is in the URL."""

    title: Annotated[str, Meta(min_length=1, max_length=MAX_TITLE)]
    """Plain text."""
    text: NotRequired[str | None]
    """HTML."""
    url: NotRequired[Annotated[str, Meta(max_length=MAX_URL)] | None]
    """An http:// or https:// URL, or a path on the site that starts with /."""
    pub_date: NotRequired[When]
    """A date, such as ISO 8601; without a time zone: UTC."""
    modified: NotRequired[When]
    """The date of the last change."""
    categories: NotRequired[Labels | str | None]
    """A list, or one string with commas."""
    keywords: NotRequired[Labels | str | None]
    """A list, or one string with commas."""
    comments: NotRequired[list[Comment] | None]
    """Comments that are not sent stay unchanged."""
    language: NotRequired[str | None]
    """A language code such as de or pt-BR."""
    image: NotRequired[Annotated[str, Meta(max_length=MAX_URL)] | None]
    """The URL of a picture that stands for the post, or a path on the site that starts with /."""


class Post(NamedPost):
    """A post."""

    oid: Oid
    """The blog's identifier of the post; at most 200 bytes."""


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
