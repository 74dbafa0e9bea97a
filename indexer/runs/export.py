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
from msgspec import ValidationError, convert

from indexer.posts.records import ExportedPost, Origin, Post, Reject
from indexer.store.scan import scan

FORMAT = "blogsearch-1"

_DERIVED = ["link_texts", "passages"]
_REMEDY = "Export it again with `blogsearch export`."


def export(client: Elasticsearch, alias: str) -> Iterator[bytes]:
    """The lines of the live index, in the order of the oids."""
    for hit in scan(client, alias, sort="oid", source={"excludes": _DERIVED}):
        line = {"format": FORMAT, **hit["_source"]}
        yield orjson.dumps(line, option=orjson.OPT_SORT_KEYS) + b"\n"


def read_exported(entry: Mapping[str, Any], origin: Origin) -> ExportedPost | Reject:
    """The post of a line of an export; a Reject for one that `export` has not written."""
    source = {name: value for name, value in entry.items() if name != "format"}
    oid = source.get("oid")
    reason = ""
    if entry["format"] != FORMAT:
        reason = f"the format is not {FORMAT!r}"
    elif _has_markup(source):
        reason = "a text has a `<`"
    elif not oid:
        reason = "oid is missing"
    else:
        try:
            return ExportedPost(convert(source, Post), origin)
        except ValidationError as error:
            reason = str(error)
    return Reject(origin, oid if isinstance(oid, str) and oid else None, reason, _REMEDY)


def _has_markup(value: Any) -> bool:
    """Whether a text that would be shown has a `<`: it would be markup on the page of a search."""
    if isinstance(value, Mapping):
        shown = value.keys() - {"oid", "translation_key"}
        return any(_has_markup(value[name]) for name in shown)
    if isinstance(value, list):
        return any(map(_has_markup, value))
    return isinstance(value, str) and "<" in value
