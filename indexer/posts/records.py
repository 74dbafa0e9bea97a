"""The values passed through the indexer: parsed JSON, raw posts, stored posts, rejects."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import islice
from typing import Any, Literal, TypeVar

import orjson
from msgspec import Struct
from msgspec.structs import force_setattr

from indexer.posts.html_text import Heading

T = TypeVar("T")

When = str | date | datetime | None
"""A date in a source: unparsed text, a date, or a datetime with or without a zone."""


_MOST_LEVELS = 100


def load_json(content: bytes | str) -> Any:
    """Parse JSON that somebody else wrote. Python cannot print values with a thousand levels.

    Raises:
        orjson.JSONDecodeError: it is invalid, or nested in more than a hundred levels.
    """
    value = orjson.loads(content)
    level = [value] if isinstance(value, list | dict) else []
    for _ in range(_MOST_LEVELS):
        inside = [one.values() if isinstance(one, dict) else one for one in level]
        level = [inner for one in inside for inner in one if isinstance(inner, list | dict)]
        if not level:
            return value
    raise orjson.JSONDecodeError(f"it has more than {_MOST_LEVELS} levels", "", 0)


@dataclass(frozen=True, slots=True)
class Origin:
    """The place where something was read: the source as the user named it, and the line from 1."""

    source: str
    line: int | None = None

    def __post_init__(self) -> None:
        # A file name that is not UTF-8 could be neither printed nor stored.
        if not self.source.isascii():
            source = self.source.encode("utf-8", "replace").decode()
            object.__setattr__(self, "source", source)

    def __str__(self) -> str:
        return self.source if self.line is None else f"{self.source}:{self.line}"


@dataclass(frozen=True, slots=True)
class RawComment:
    """A comment as in its source, not yet validated. `comment` is HTML."""

    oid: Any
    comment: Any
    author: Any = None
    pub_date: When = None


@dataclass(frozen=True, slots=True)
class RawPost:
    """A post as in its source, not yet validated.

    `title` is plain text; `text` is HTML, or a `Readable` if already parsed. `left_out` counts the
    characters of its page that do not belong to it, by reason. `layout` is the known layout of its
    page; `entry` is the data that the post and its comments were read from; both are empty if
    unknown. `stands_in`: read from a page while its site's API was closed; what came by the API
    stays.
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
    language: Any = None
    # Shared with its translations: a key, or the addresses of all of them.
    translation_key: Any = None
    image: Any = None
    # Not in the digest: it may also be set and changed apart from the sources.
    popularity: Any = field(default=None, compare=False)
    left_out: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)
    layout: str = field(default="", compare=False, repr=False)
    entry: bytes = field(default=b"", compare=False, repr=False)
    stands_in: bool = field(default=False, compare=False)
    # The oids of comments that the source marks as not, or no longer, public.
    withdrawn: tuple[str, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Reject:
    """An entry that was not indexed, and the reason.

    `sync` keeps the post with this oid; without an oid, nothing is removed.
    """

    origin: Origin
    oid: str | None
    reason: str
    remedy: str


PageKind = Literal[
    "locked",
    "noindex",
    "gone",
    "redirect",
    "draft",
    "excluded",
    "unread",
    "copy",
    "list",
    "empty",
    "tool",
    "not a post",
]
"""Kinds of pages that are no posts. `tool`: a search or error page; `unread`: another file
format."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """An entry of a source that is not a post, such as a draft or a list of posts.

    If the page or its site has `declared` it, `sync` removes the post found there before. If it is
    a guess, `sync` keeps the post with this oid until three runs in a row agree.
    """

    origin: Origin
    oid: str | None
    reason: str
    kind: PageKind = "not a post"
    declared: bool = False


class Stored(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Stored values, without fields that have their defaults."""


class Comment(Stored, frozen=True, kw_only=True):
    """A comment as stored: HTML-escaped plain text."""

    oid: str
    author: str
    comment: str
    pub_date: str = ""
    over_http: bool = False


class PassageVector(Stored, frozen=True, kw_only=True):
    """The vector of a passage, in hex, and the digest of the text that it was computed from."""

    digest: str = ""
    vector: str = ""


class OfTheIndex(Stored, frozen=True, kw_only=True):
    """Data of a post that an index may have but its source lacks, and some of which it keeps."""

    comments: tuple[Comment, ...] = ()
    link_texts: tuple[str, ...] = ()
    popularity: float | None = None
    passages: tuple[PassageVector, ...] = ()

    def comment_oids(self) -> set[str]:
        """Return the oids of the comments."""
        return {comment.oid for comment in self.comments}


class Post(OfTheIndex, frozen=True, kw_only=True):
    """A post with its comments as stored, explained in indexer/schema.py; `oid` is also its `_id`.
    Texts are HTML-escaped plain text."""

    oid: str
    title: str
    text: str
    code: str
    headings: tuple[Heading, ...] = ()
    announced: tuple[str, ...] = ()
    url: str = ""
    address: str = ""
    slug: str = ""
    image: str = ""
    pub_date: str = ""
    day: str = ""
    modified: str = ""
    categories: tuple[str, ...]
    keywords: tuple[str, ...]
    language: str = ""
    translation_key: str = ""
    links: tuple[str, ...] = ()
    digest: str = ""
    over_http: bool = False

    def __post_init__(self) -> None:
        # Elasticsearch would take all posts without a key for the same one.
        force_setattr(self, "translation_key", self.translation_key or self.oid)


@dataclass(frozen=True, slots=True)
class ExportedPost:
    """A post in a line of an export, and its origin."""

    post: Post
    origin: Origin


SourceItem = RawPost | ExportedPost | Reject | Skipped
"""An item that a source yields."""

IsUnchangedEntry = Callable[[bytes, Origin], bool]
"""Returns whether the index has an unread entry's post unchanged; if so, it now counts as read."""
Read = Callable[[IsUnchangedEntry | None], Iterable[SourceItem]]
"""Reads a source, without its unchanged entries."""


def quantity(number: int, noun: str) -> str:
    """Return `1 post`, `1,531 posts`, `2 addresses`."""
    ending = "" if number == 1 else "es" if noun.endswith("s") else "s"
    return f"{number:,} {noun}{ending}"


def examples(oids: Sequence[str]) -> str:
    """Return the first five, with an ellipsis if there are more."""
    return ", ".join([*oids[:5], *["…"] * (len(oids) > 5)])


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield the items in lists of at most `size`, reading no further than the current one."""
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch


OnProgress = Callable[[int], object]
"""Called with the number of posts read."""
