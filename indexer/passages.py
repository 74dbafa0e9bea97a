"""Gives posts the vectors of their passages; only what has changed is computed.

"passages": [{"digest": "0c54…", "vector": "9e2f…"}]
"""

import html
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from elasticsearch import Elasticsearch

from analyzers.meaning import Model, digest, passages
from indexer.records import Document, batches
from indexer.scan import docs_of

_BATCH = 50  # documents whose passages are computed at once, on all cores


def with_passages(
    documents: Iterable[Document],
    model: Model | None,
    client: Elasticsearch,
    stored_in: str | None = None,
) -> Iterator[Document]:
    """The posts with the vectors of their passages; without a model as they are.

    The posts of the index `stored_in` have vectors that need not be computed again.
    """
    if model is None:
        yield from documents
        return
    for batch in batches(documents, _BATCH):
        vectors: dict[str, str] = {}
        for source in [document.source for document in batch] + _stored(client, stored_in, batch):
            vectors |= {
                passage["digest"]: passage["vector"]
                for passage in source.get("passages", ())
                if "digest" in passage
            }
        texts = {digest(text): text for document in batch for text in _texts(document)}
        missing = texts.keys() - vectors.keys()
        computed = model.bits_of([texts[name] for name in missing])
        vectors |= dict(zip(missing, computed, strict=True))
        for document in batch:
            names = map(digest, _texts(document))
            found = [{"digest": name, "vector": vectors[name]} for name in names]
            yield replace(document, source={**document.source, "passages": found})


def _texts(document: Document) -> Iterator[str]:
    title, text = (html.unescape(document.source[name]) for name in ("title", "text"))
    yield from (whole for _, whole in passages(title, text))


def _stored(
    client: Elasticsearch, index: str | None, documents: Sequence[Document]
) -> list[dict[str, Any]]:
    if index is None:
        return []
    docs = [{"_id": document.oid, "_source": ["passages"]} for document in documents]
    return [doc.get("_source", {}) for doc in docs_of(client.mget(index=index, docs=docs))]
