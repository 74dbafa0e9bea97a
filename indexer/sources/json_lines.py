"""Reads JSON Lines, one post per line, and JSON arrays of posts."""

from collections import Counter
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

import orjson

from indexer.errors import SourceError
from indexer.posts.normalise import oid_of_reject
from indexer.posts.records import (
    IsUnchangedEntry,
    Origin,
    RawComment,
    RawPost,
    Reject,
    Skipped,
    SourceItem,
    load_json,
)
from indexer.sources.base import Source
from indexer.sources.files import Stream
from indexer.sources.markdown.front_matter import why_draft, why_hidden

MAX_LINE = 16 * 1024 * 1024
"""The maximum size of a line; longer lines are rejected, and not held in memory."""
_MAX_ARRAY = 100_000_000
"""The maximum size of an array after decompression; it is held in memory as a whole."""
_BOM = b"\xef\xbb\xbf"
FIELDS = (
    *("oid", "title", "text", "url", "pub_date", "modified", "categories", "keywords"),
    *("comments", "language", "translation_key", "image", "popularity"),
)
COMMENT_FIELDS = ("oid", "comment", "author", "pub_date")
_MEANT = {
    "pub_date": ("date", "published", "pubdate", "created", "created_at"),
    "modified": ("updated", "lastmod", "updated_at", "last_modified"),
    "text": ("content", "body", "html", "description"),
    "url": ("permalink", "link", "href", "path"),
    "keywords": ("tags", "tag", "labels"),
    "categories": ("category", "section"),
    "oid": ("id", "_id", "guid", "slug"),
    "title": ("name", "headline"),
    "language": ("lang", "locale"),
    "translation_key": ("translationkey",),
    "popularity": ("views", "pageviews", "page_views", "visits"),
    "image": ("cover", "thumbnail", "feature_image", "image_url"),
}
_MAX_UNKNOWN = 1_000
"""The maximum number of unknown fields counted; memory must not grow with the file."""
_Entry = tuple[Any, Origin, bytes]
"""A JSON value or a Reject, its place, and the bytes it was read from."""


class JSONLines(Source):
    """Reads a file of posts with the fields of `RawPost`; others are ignored, with a warning."""

    kind = "jsonlines"

    def read(self, is_unchanged: IsUnchangedEntry | None = None) -> Iterator[SourceItem]:
        """Yield the post of every line, or a Reject with the line's number.

        Unchanged lines are skipped without being parsed.
        """
        unknown: Counter[str] = Counter()
        hidden = 0
        with self._file.opened() as stream:
            is_array = stream.peek(4096).removeprefix(_BOM).lstrip().startswith(b"[")
            entries = self._items(stream) if is_array else self._lines(stream, is_unchanged)
            for entry, origin, whole in entries:
                if isinstance(entry, Reject):
                    yield entry
                elif isinstance(entry, dict) and "format" in entry:
                    from indexer.runs.export import (
                        read_exported,  # `try` does not wait for elasticsearch
                    )

                    yield read_exported(entry, origin)
                elif why := why_left_out(entry, drafts=self._options.drafts):
                    oid, reason = oid_of_reject(entry.get("oid")), f"asks to be left out ({why})"
                    yield Skipped(origin, oid, reason, "draft", declared=True)
                else:
                    if isinstance(entry, dict) and len(unknown) < _MAX_UNKNOWN:
                        unknown.update(unknown_fields(entry))
                    yield (post := raw_post(entry, origin, whole))
                    hidden += count_hidden(entry, post)
        if hidden:
            self._options.warn(
                f"{self.spec}: comments that are not public are left out: {hidden:,}."
            )
        for name, count in unknown.most_common(20):
            self._options.warn(f"{self.spec}: {count:,} posts have a field {name!r}; {hint(name)}")

    def _lines(self, stream: Stream, is_unchanged: IsUnchangedEntry | None) -> Iterator[_Entry]:
        # The URLs and the language of a post depend on these options too.
        options = f"{self._options.site}\n{self._options.language}\n".encode("utf-8", "replace")
        number = 0
        while line := stream.readline(MAX_LINE + 1):
            number += 1
            origin, size = Origin(self._file.name, number), len(line)
            if size > MAX_LINE:
                while line and not line.endswith(b"\n"):
                    line = stream.readline(MAX_LINE)
                    size += len(line)
                remedy = f"At most {MAX_LINE:,} are allowed for one post."
                yield Reject(origin, None, f"the line has {size:,} bytes", remedy), origin, b""
                continue
            content = line.removeprefix(_BOM).strip()
            if not content or (is_unchanged and is_unchanged(options + content, origin)):
                continue
            try:
                yield load_json(content), origin, options + content
            except orjson.JSONDecodeError as error:
                remedy = "Write one post as one JSON object on one line."
                yield Reject(origin, None, f"not JSON: {error}", remedy), origin, b""

    def _items(self, stream: Stream) -> Iterator[_Entry]:
        """Yield the items of a JSON array, which is read as a whole."""
        content, name = stream.read(_MAX_ARRAY + 1), self._file.name
        if len(content) > _MAX_ARRAY:
            reason = f"{name} is an array of more than {_MAX_ARRAY:,} bytes."
            raise SourceError(reason, "Convert it to JSON Lines: jq -c '.[]' FILE")
        try:
            items = load_json(content.strip().removeprefix(_BOM))
        except orjson.JSONDecodeError as error:
            reason = f"{name}: invalid JSON array: {error}."
            raise SourceError(reason, "Correct it, or create it again.") from error
        for number, item in enumerate(items, start=1):
            yield item, Origin(f"{name} item {number}"), b""


def why_left_out(entry: Any, *, drafts: bool = False) -> str:
    """Return the field by which a post or a comment says that it is not public, or "". The names
    are those of front matter.

    Args:
        drafts: those are not left out.
    """
    given = entry.items() if isinstance(entry, Mapping) else ()
    fields = {name: value for name, value in given if name not in FIELDS}
    return ("" if drafts else why_draft(fields)) or why_hidden(fields)


def unknown_fields(entry: Mapping[str, Any], fields: tuple[str, ...] = FIELDS) -> list[str]:
    """Return the names of fields that are ignored."""
    return [name for name in entry if name not in fields and not _may_hide(name[:80])]


@lru_cache(maxsize=1024)
def _may_hide(name: str) -> bool:
    return any(why_left_out({name: value}) for value in (True, False, "draft", "private"))


@lru_cache(maxsize=1024)  # posts have the same names
def hint(name: str, fields: tuple[str, ...] = FIELDS) -> str:
    """Return advice about a field with an unknown name."""
    meant = [field for field, names in _MEANT.items() if field in fields and name.lower() in names]
    meant += get_close_matches(name[:100], fields, 1)
    return f"did you mean {meant[0]!r}?" if meant else "it is ignored."


def raw_post(entry: Any, origin: Origin, whole: bytes = b"") -> RawPost | Reject:
    """Return the post in a JSON value, read from `whole`; also for posts written over HTTP."""
    if not isinstance(entry, Mapping):
        kind = "null" if entry is None else f"a {type(entry).__name__}"
        return Reject(origin, None, f"not an object but {kind}", 'Write {"oid": …}.')
    oid = oid_of_reject(entry.get("oid"))
    for name in ("oid", "title"):
        mistaken = next(filter(entry.__contains__, _MEANT[name]), None)
        if entry.get(name) is None and mistaken:
            return Reject(
                origin, oid, f"{name} is missing", f"Did you mean {mistaken!r}? Rename it."
            )
    comments = entry.get("comments") or []
    if not isinstance(comments, list) or not all(
        isinstance(comment, Mapping) for comment in comments
    ):
        remedy = 'Write [{"oid": …, "author": …, "comment": …, "pub_date": …}].'
        return Reject(origin, oid, "comments is not a list of objects", remedy)
    fields: dict[str, Any] = {name: entry.get(name) for name in FIELDS if name != "comments"}
    public = [raw_comment(comment) for comment in comments if not why_left_out(comment)]
    return RawPost(origin=origin, **fields, comments=tuple(public), entry=whole)


def count_hidden(entry: Any, post: RawPost | Reject) -> int:
    """Return how many comments of the entry its post lacks, because they are not public."""
    return 0 if isinstance(post, Reject) else len(entry.get("comments") or ()) - len(post.comments)


def raw_comment(entry: Mapping[str, Any]) -> RawComment:
    """Return the comment in a JSON object."""
    return RawComment(**{name: entry.get(name) for name in COMMENT_FIELDS})
