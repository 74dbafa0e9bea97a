"""The vectors of a post's passages, in the form that the index takes."""

import html
from collections.abc import Iterable, Iterator
from dataclasses import replace

from analyzers.meaning import Model
from indexer.records import Document


def with_passages(documents: Iterable[Document], model: Model | None) -> Iterator[Document]:
    """The documents, the posts with the vector of each of their passages; without a model as they
    are."""
    for document in documents:
        if model and document.kind == "post":
            title, text = (html.unescape(document.source[name]) for name in ("title", "text"))
            vectors = [
                {"vector": bytes(x & 255 for x in vector).hex()}
                for _, vector in model.passages(title, text)
            ]
            document = replace(document, source={**document.source, "passages": vectors})
        yield document
