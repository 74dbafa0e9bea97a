"""What travels through the indexer: a raw post, the documents made of it, or a reason why not."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Literal

When = str | date | datetime | None
"""A moment as a source gives it: unparsed text, a day, or a moment with or without a zone."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where something stood: the source as the user named it, and the line, from 1, if any."""

    source: str
    line: int | None = None

    def __str__(self) -> str:
        return self.source if self.line is None else f"{self.source}:{self.line}"


@dataclass(frozen=True, slots=True)
class RawComment:
    """A comment as its source gives it; nothing is checked yet. `comment` is HTML."""

    oid: Any
    comment: Any
    author: Any = None
    pub_date: When = None


@dataclass(frozen=True, slots=True)
class RawPost:
    """A post as its source gives it; nothing is checked yet.

    `title` is plain text, `text` is HTML. `modified` is when it last changed, where the source
    says so.
    """

    origin: Origin
    oid: Any
    title: Any
    text: Any
    url: Any = None
    pub_date: When = None
    modified: When = None
    categories: Any = ()
    keywords: Any = ()
    comments: tuple[RawComment, ...] = ()


@dataclass(frozen=True, slots=True)
class Reject:
    """Something that was not indexed: where it stood, which post, why, and what to do about it."""

    origin: Origin
    oid: str | None
    reason: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Document:
    """One document ready for Elasticsearch.

    A comment has the same `routing` as its post, so that the join holds. `version` is the
    external version: milliseconds since 1970 of the last change known.
    """

    id: str
    routing: str
    version: int
    source: Mapping[str, Any]
    kind: Literal["post", "comment"]
    origin: Origin = field(compare=False)
