"""JSON Lines, one post per line, and JSON arrays of posts."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches
from typing import Any

import orjson

from indexer.errors import SourceError
from indexer.export import exported
from indexer.fetch import Fetched
from indexer.normalise import oid_of_reject
from indexer.records import (
    Document,
    IsUnchangedEntry,
    Origin,
    RawComment,
    RawPost,
    Reject,
    SourceItem,
)
from indexer.sources.base import Source, SourceOptions
from indexer.sources.files import File, Stream

MAX_LINE = 16 * 1024 * 1024
"""Bytes; longer lines are rejected, and not held in memory."""
MAX_ARRAY = 100_000_000
"""Bytes of an array after decompression; it is held in memory whole."""

_BOM = b"\xef\xbb\xbf"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
FIELDS = (
    *("oid", "title", "text", "url", "pub_date", "modified", "categories", "keywords"),
    *("comments", "language", "image"),
)
COMMENT_FIELDS = ("oid", "comment", "author", "pub_date")
_MEANT = {
    **dict.fromkeys(("date", "published", "pubdate", "created", "created_at"), "pub_date"),
    **dict.fromkeys(("updated", "lastmod", "updated_at", "last_modified"), "modified"),
    **dict.fromkeys(("content", "body", "html", "description"), "text"),
    **dict.fromkeys(("permalink", "link", "href", "path"), "url"),
    **dict.fromkeys(("tags", "tag", "labels"), "keywords"),
    **dict.fromkeys(("category", "section"), "categories"),
    **dict.fromkeys(("id", "_id", "guid", "slug"), "oid"),
    **dict.fromkeys(("name", "headline"), "title"),
    **dict.fromkeys(("lang", "locale"), "language"),
    **dict.fromkeys(("cover", "thumbnail", "feature_image", "image_url"), "image"),
}
_MAX_UNKNOWN = 1_000
"""Names of unknown fields that are counted; memory must not grow with the file."""
_MISTAKEN = {"oid": ("id", "_id", "guid", "slug"), "title": ("name", "headline")}


class JSONLines(Source):
    """A file of posts with the fields of `RawPost`; others are ignored, and named."""

    kind = "jsonlines"

    def __init__(self, spec: str, options: SourceOptions, fetched: Fetched | None = None) -> None:
        super().__init__(spec, options, fetched)
        self._file = File(spec)
        self._left_out = False

    def read(self, is_unchanged: IsUnchangedEntry | None = None) -> Iterator[SourceItem]:
        """The post of every line; a Reject with its number for each other line.

        Unchanged lines are left out without being parsed.
        """
        with self._file.opened() as stream:
            unknown: Counter[str] = Counter()
            yield from self._posts(stream, is_unchanged, unknown)
        which = "posts that are new or changed" if self._left_out else "posts"
        for name, count in unknown.most_common(20):
            meant = hint(name)
            self._options.warn(f"{self.spec}: {count:,} {which} have a field {name!r}; {meant}")

    def _posts(
        self, stream: Stream, is_unchanged: IsUnchangedEntry | None, unknown: Counter[str]
    ) -> Iterator[RawPost | Document | Reject]:
        name = self._file.name
        # The URLs and the language of a post depend on these options too.
        options = f"{self._options.site}\n{self._options.language}\n".encode("utf-8", "replace")
        start = stream.peek(4096)
        if start.startswith(_UTF_16):
            raise SourceError(f"{name} is in UTF-16.", "Save it as UTF-8.")
        if start.removeprefix(_BOM).lstrip().startswith(b"["):
            for number, entry in enumerate(array_items(stream, name), start=1):
                yield _item(entry, Origin(f"{name} item {number}"), unknown)
            return
        number = 0
        while line := stream.readline(MAX_LINE + 1):
            number += 1
            origin = Origin(name, number)
            if len(line) > MAX_LINE:
                yield _too_long(stream, line, origin)
            elif content := line.removeprefix(_BOM).strip():
                if is_unchanged and is_unchanged(options + content, origin):
                    self._left_out = True
                else:
                    yield _post(content, origin, options, unknown)


def hint(name: str, fields: Collection[str] = FIELDS) -> str:
    """What is said about a field of an unknown name."""
    meant = _MEANT.get(name.lower(), "")
    if meant not in fields:
        meant = next(iter(get_close_matches(name[:100], fields, 1)), "")
    return f"did you mean {meant!r}?" if meant else "it is ignored."


def raw_post(entry: Any, origin: Origin, whole: bytes = b"") -> RawPost | Reject:
    """The post in one JSON value; also for posts that come over HTTP.

    Args:
        whole: all that the post was read from.
    """
    if not isinstance(entry, Mapping):
        return Reject(origin, None, f"not an object but {_kind(entry)}", 'Write {"oid": …}.')
    oid = oid_of_reject(entry.get("oid"))
    for name, names in _MISTAKEN.items():
        mistaken = next(filter(entry.__contains__, names), None)
        if entry.get(name) is None and mistaken:
            return Reject(origin, oid, f"{name} is missing", f"Is {mistaken!r} meant? Rename it.")
    comments = entry.get("comments") or []
    if not isinstance(comments, list) or not all(
        isinstance(comment, Mapping) for comment in comments
    ):
        remedy = 'Write [{"oid": …, "author": …, "comment": …, "pub_date": …}].'
        return Reject(origin, oid, "comments is not a list of objects", remedy)
    return RawPost(
        origin=origin,
        oid=entry.get("oid"),
        title=entry.get("title"),
        text=entry.get("text"),
        url=entry.get("url"),
        pub_date=entry.get("pub_date"),
        modified=entry.get("modified"),
        categories=entry.get("categories"),
        keywords=entry.get("keywords"),
        comments=tuple(raw_comment(comment) for comment in comments),
        language=entry.get("language"),
        image=entry.get("image"),
        entry=whole,
    )


def raw_comment(entry: Mapping[str, Any]) -> RawComment:
    """The comment in one JSON object."""
    return RawComment(
        oid=entry.get("oid"),
        comment=entry.get("comment"),
        author=entry.get("author"),
        pub_date=entry.get("pub_date"),
    )


def _post(
    content: bytes, origin: Origin, options: bytes, unknown: Counter[str]
) -> RawPost | Document | Reject:
    try:
        entry = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        reason = f"not JSON: {error}"
        return Reject(origin, None, reason, "Write one post as one JSON object on one line.")
    return _item(entry, origin, unknown, options + content)


def _item(
    entry: Any, origin: Origin, unknown: Counter[str], whole: bytes = b""
) -> RawPost | Document | Reject:
    """A post, or a line of `blogsearch export`."""
    if isinstance(entry, dict) and "format" in entry:
        return exported(entry, origin)
    if len(unknown) < _MAX_UNKNOWN:
        unknown.update(_unknown(entry))
    return raw_post(entry, origin, whole)


def _unknown(entry: Any) -> list[str]:
    return [name for name in entry if name not in FIELDS] if isinstance(entry, dict) else []


def _too_long(stream: Stream, line: bytes, origin: Origin) -> Reject:
    """Skip to the end of the line, a piece at a time."""
    size = len(line)
    while line and not line.endswith(b"\n"):
        line = stream.readline(MAX_LINE)
        size += len(line)
    reason = f"the line has {size:,} bytes"
    return Reject(origin, None, reason, f"At most {MAX_LINE:,} are allowed for one post.")


def _kind(entry: Any) -> str:
    return "null" if entry is None else f"a {type(entry).__name__}"


def array_items(stream: Stream, name: str) -> list[Any]:
    """The items of a JSON array, which is read whole.

    Raises:
        SourceError: it is not JSON, or too long.
    """
    content = stream.read(MAX_ARRAY + 1).strip().removeprefix(_BOM)
    lines = "Write JSON Lines, of which any number is read: jq -c '.[]' FILE"
    if len(content) > MAX_ARRAY:
        raise SourceError(f"{name} is an array of more than {MAX_ARRAY:,} bytes.", lines)
    try:
        items: list[Any] = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise SourceError(
            f"{name}: invalid JSON array: {error}.", f"Correct it. {lines}"
        ) from error
    return items
