"""The values passed through the indexer: raw posts, posts as they are stored, rejects."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import islice
from typing import Any, Literal, TypeVar

from msgspec import Struct
from msgspec.structs import force_setattr

from indexer.posts.html_text import Heading

T = TypeVar("T")

When = str | date | datetime | None
"""A date as a source gives it: unparsed text, a date, or a datetime with or without a zone."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where something was read: the source as the user named it, and the line, counted from 1."""

    source: str
    line: int | None = None

    def __post_init__(self) -> None:
        # A file's name that is not UTF-8 could be neither printed nor stored.
        if not self.source.isascii():
            source = self.source.encode("utf-8", "replace").decode()
            object.__setattr__(self, "source", source)

    def __str__(self) -> str:
        return self.source if self.line is None else f"{self.source}:{self.line}"


@dataclass(frozen=True, slots=True)
class RawComment:
    """A comment as its source gives it, not yet validated. `comment` is HTML."""

    oid: Any
    comment: Any
    author: Any = None
    pub_date: When = None


@dataclass(frozen=True, slots=True)
class RawPost:
    """A post as its source gives it, not yet validated.

    `title` is plain text; `text` is HTML, or a `Readable` where it was parsed before.
    `left_out` are the characters of its page that are no part of it, by what they were taken for.
    `layout` is the known layout of its page, `entry` is all that the post and its comments were
    read from; both are empty if they are not known. One that `stands_in` was read from a page while
    the API of its site was closed: what came by the API stays.
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
    # What its translations have, too: a key, or the addresses of all of them.
    translation_key: Any = None
    image: Any = None
    # In no digest: it is given and changed beside the sources, too.
    popularity: Any = field(default=None, compare=False)
    left_out: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)
    layout: str = field(default="", compare=False, repr=False)
    entry: bytes = field(default=b"", compare=False, repr=False)
    stands_in: bool = field(default=False, compare=False)
    # The oids of comments that the source names as not, or no longer, public.
    withdrawn: tuple[str, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Reject:
    """Something that was not indexed, and why.

    `sync` keeps the post with this oid; without one nothing is removed.
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
"""What a page is instead of a post. `tool` is a search or an error page, `unread` a file in another
format."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something in a source that is not a post, such as a draft or a list of posts.

    If it is `declared`, by the page or by its site, `sync` removes the post that was found there
    before. Otherwise it is a guess, and `sync` keeps the post with this oid.
    """

    origin: Origin
    oid: str | None
    reason: str
    kind: PageKind = "not a post"
    declared: bool = False


class Stored(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What is stored, without the fields that have their default values."""


class Comment(Stored, frozen=True, kw_only=True):
    """A comment as it is stored: HTML-escaped plain text."""

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
    """What an index may have of a post that its source lacks, and some of which it keeps."""

    comments: tuple[Comment, ...] = ()
    link_texts: tuple[str, ...] = ()
    popularity: float | None = None
    passages: tuple[PassageVector, ...] = ()

    def comment_oids(self) -> set[str]:
        """The oids of the comments."""
        return {comment.oid for comment in self.comments}


class Post(OfTheIndex, frozen=True, kw_only=True):
    """A post with its comments as it is stored, which indexer/schema.py explains; `oid` is its
    `_id`, too. Texts are HTML-escaped plain text."""

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
        # Elasticsearch would take all posts without one for the same.
        force_setattr(self, "translation_key", self.translation_key or self.oid)


@dataclass(frozen=True, slots=True)
class ExportedPost:
    """A post of a line of an export, and where it was read."""

    post: Post
    origin: Origin


SourceItem = RawPost | ExportedPost | Reject | Skipped
"""What a source yields."""

IsUnchangedEntry = Callable[[bytes, Origin], bool]
"""Whether the index has the post of this entry unchanged and it was not read before; it counts as
read then."""
Read = Callable[[IsUnchangedEntry | None], Iterable[SourceItem]]
"""Reads a source, without the entries that are unchanged."""


def quantity(number: int, noun: str) -> str:
    """`1 post`, `1,531 posts`, `2 addresses`."""
    ending = "" if number == 1 else "es" if noun.endswith("s") else "s"
    return f"{number:,} {noun}{ending}"


def examples(oids: Sequence[str]) -> str:
    """The first five, with an ellipsis if there are more."""
    return ", ".join([*oids[:5], *["…"] * (len(oids) > 5)])


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """The items in lists of at most `size`; reads no further than the current one."""
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch


OnProgress = Callable[[int], object]
"""Told how many posts of a source were read."""
