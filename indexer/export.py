"""What is live as JSON Lines, and back: a copy that needs no source and no snapshot.

    {"format": "blogsearch-1", "oid": "posts/a", "title": "A", "text": "…", "comments": [{…}], …}

A line is a post as it is stored, with its comments and with what came over HTTP marked as such, so
that `reindex` takes it without reading HTML again, and exports the same line. What a build derives
of all posts, the texts of links and the vectors of passages, is left out.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import orjson
from elasticsearch import Elasticsearch

from indexer.records import Document, Origin, Reject
from indexer.scan import scan

FORMAT = "blogsearch-1"

_TEXTS = ("title", "text", "code", "url", "image", "address", "slug", "language", "digest")
_DATES = ("pub_date", "modified", "day")
_LISTS = ("categories", "keywords", "links")
_COMMENT = ("oid", "author", "comment", "pub_date", "over_http")
_DERIVED = ("link_texts", "passages")
_REMEDY = "Export it again with `blogsearch export`."


def export(client: Elasticsearch, alias: str) -> Iterator[bytes]:
    """The lines of the live index, in the order of the oids."""
    for hit in scan(client, alias, sort="oid", source={"excludes": list(_DERIVED)}):
        line = {"format": FORMAT, **hit["_source"]}
        yield orjson.dumps(line, option=orjson.OPT_SORT_KEYS) + b"\n"


def exported(entry: Mapping[str, Any], origin: Origin) -> Document | Reject:
    """The document of a line of an export; a Reject for one that `export` has not written."""
    source = {name: value for name, value in entry.items() if name != "format"}
    oid = source.get("oid")
    if entry["format"] != FORMAT:
        reason = f"the format is {entry['format']!r:.40}; this version reads {FORMAT!r}"
        return Reject(origin, oid if isinstance(oid, str) else None, reason, _REMEDY)
    if not isinstance(oid, str) or not oid:
        return Reject(origin, None, "oid is missing", _REMEDY)
    if wrong := _wrong(source):
        return Reject(origin, oid, f"{wrong} is not as `export` writes it", _REMEDY)
    return Document(oid, source, origin)


def _wrong(source: Mapping[str, Any]) -> str:
    """The name of a field that is not as it is stored; "" if there is none.

    Elasticsearch checks the rest. A text with a `<` would be markup on the page of a search.
    """
    for name, value in source.items():
        if name in (*_TEXTS, *_DATES):
            is_right = isinstance(value, str) and "<" not in value
        elif name in _LISTS:
            is_right = isinstance(value, list) and all(map(_is_text, value))
        elif name == "comments":
            is_right = isinstance(value, list) and all(map(_is_comment, value))
        elif name == "headings":
            is_right = isinstance(value, list) and all(map(_is_heading, value))
        else:
            is_right = name in ("oid", "over_http")
        if not is_right:
            return name
    return "" if {"title", "text"} <= source.keys() else "title or text"


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and "<" not in value


def _is_comment(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() <= set(_COMMENT)
        and isinstance(value.get("oid"), str)
        and all(_is_text(value.get(name, "")) for name in ("author", "comment"))
    )


def _is_heading(value: Any) -> bool:
    return isinstance(value, dict) and _is_text(value.get("text"))
