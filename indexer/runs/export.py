"""Exports the live index as JSON Lines and reads them: a copy without a source or a snapshot.

    {"format": "blogsearch-1", "oid": "posts/a", "title": "A", "text": "…", "comments": [{…}], …}

A line is a post as stored, with marks on what came over HTTP. So `reindex` need not parse HTML
again, and a new export has the same line. Fields that a build derives from all posts, the texts of
links and the vectors of passages, are left out.
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
    """Yield the lines of the live index, in the order of the oids."""
    for hit in scan(client, alias, sort="oid", source={"excludes": _DERIVED}):
        line = {"format": FORMAT, **hit["_source"]}
        yield orjson.dumps(line, option=orjson.OPT_SORT_KEYS) + b"\n"


def read_exported(entry: Mapping[str, Any], origin: Origin) -> ExportedPost | Reject:
    """Return the post in a line of an export; a Reject for a line that `export` has not written."""
    source = {name: value for name, value in entry.items() if name != "format"}
    oid = source.get("oid")
    reason = ""
    if entry["format"] != FORMAT:
        reason = f"the format is not {FORMAT!r}"
    elif _has_markup(source):
        reason = "a text contains `<`"
    elif not oid:
        reason = "oid is missing"
    else:
        try:
            return ExportedPost(convert(source, Post), origin)
        except ValidationError as error:
            reason = str(error)
    return Reject(origin, oid if isinstance(oid, str) and oid else None, reason, _REMEDY)


def _has_markup(value: Any) -> bool:
    """Whether a displayed text contains `<`: it would be markup on the search page."""
    if isinstance(value, Mapping):
        shown = value.keys() - {"oid", "translation_key"}
        return any(_has_markup(value[name]) for name in shown)
    if isinstance(value, list):
        return any(map(_has_markup, value))
    return isinstance(value, str) and "<" in value
