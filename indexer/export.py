"""What is live as JSON Lines, and back: a copy that needs no source and no snapshot.

    {"format": "blogsearch-1", "oid": "posts/a", "title": "A", "text": "…", "comments": [{…}], …}

A line is a post as it is stored, with its comments and with what came over HTTP marked as such, so
that `reindex` takes it without reading HTML again, and exports the same line. What a build derives
of all posts, the texts of links and the vectors of passages, is left out.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import msgspec
import orjson
from elasticsearch import Elasticsearch

from indexer.records import Document, Origin, Reject
from indexer.scan import scan

FORMAT = "blogsearch-1"

_DERIVED = ["link_texts", "passages"]
_REMEDY = "Export it again with `blogsearch export`."

# A text with a `<` would be markup on the page of a search.
_Text = Annotated[str, msgspec.Meta(pattern=r"\A[^<]*\Z")]


class _Comment(msgspec.Struct, forbid_unknown_fields=True):
    oid: str
    author: _Text = ""
    comment: _Text = ""
    pub_date: str = ""
    over_http: bool = False


class _Heading(msgspec.Struct):
    text: _Text


class _Line(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A line as `export` writes it; Elasticsearch checks the rest."""

    format: Literal["blogsearch-1"]
    oid: Annotated[str, msgspec.Meta(min_length=1)]
    title: _Text
    text: _Text
    code: _Text = ""
    url: _Text = ""
    image: _Text = ""
    address: _Text = ""
    slug: _Text = ""
    language: _Text = ""
    digest: _Text = ""
    pub_date: _Text = ""
    modified: _Text = ""
    day: _Text = ""
    categories: list[_Text] = []
    keywords: list[_Text] = []
    links: list[_Text] = []
    popularity: Annotated[float, msgspec.Meta(ge=0)] = 0
    headings: list[_Heading] = []
    comments: list[_Comment] = []
    over_http: bool = False


def export(client: Elasticsearch, alias: str) -> Iterator[bytes]:
    """The lines of the live index, in the order of the oids."""
    for hit in scan(client, alias, sort="oid", source={"excludes": _DERIVED}):
        line = {"format": FORMAT, **hit["_source"]}
        yield orjson.dumps(line, option=orjson.OPT_SORT_KEYS) + b"\n"


def exported(entry: Mapping[str, Any], origin: Origin) -> Document | Reject:
    """The document of a line of an export; a Reject for one that `export` has not written."""
    try:
        line = msgspec.convert(entry, _Line)
    except msgspec.ValidationError as error:
        oid = entry.get("oid")
        return Reject(origin, oid if isinstance(oid, str) and oid else None, str(error), _REMEDY)
    source = {name: value for name, value in entry.items() if name != "format"}
    return Document(line.oid, source, origin)
