"""Documents of a former schema, made into such as this version stores, and back for a rollback.

Nothing of their content changes: fields that did not exist are derived from the others. What was
not stored at all, such as the headings of a post, comes with the next `sync`, because the digests
differ.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

from elasticsearch import Elasticsearch

from indexer import SCHEMA
from indexer.dates import milliseconds
from indexer.normalise import address_of, slug_of
from indexer.records import Document

Adapt = Callable[[Document], Document]
"""Adapts a document of a generation to another generation."""


def unchanged(document: Document) -> Document:
    """The document, for two generations of the same schema."""
    return document


def adaptation(client: Elasticsearch, source: int | None, index: str, target: int | None) -> Adapt:
    """How documents of a generation are adapted to another one.

    Args:
        source: the schema of the generation that has them; None if it names none.
        index: the other generation, which exists.
        target: its schema.
    """
    if source == target:
        return unchanged
    fields = frozenset(
        client.indices.get_mapping(index=index)[index]["mappings"].get("properties", {})
    )
    upgrading = target == SCHEMA

    def adapt(document: Document) -> Document:
        stored = (upgraded(document) if upgrading else document).source
        source = {name: value for name, value in stored.items() if name in fields}
        return replace(document, source=source)

    return adapt


def upgraded(document: Document) -> Document:
    """A document of any former schema with the fields of the present schema."""
    stored: dict[str, Any] = dict(document.source)
    if document.kind == "post":
        if "url" in stored:  # since schema 2
            stored.setdefault("address", address_of(stored["url"]))
            stored.setdefault("slug", slug_of(stored["address"]))  # since schema 10
        if "pub_date" in stored:  # since schema 8; before, dates were in UTC
            stored.setdefault("day", stored["pub_date"][:10])
    date = stored.get("modified") or stored.get("pub_date")
    if document.version != (milliseconds(datetime.fromisoformat(date)) if date else 0):
        # Schema 1 did not note what came over HTTP. It had the time of the write as its version,
        # and what came from a source that of its dates. `sync` corrects what it finds there.
        stored.setdefault("over_http", True)
    return replace(document, source=stored)
