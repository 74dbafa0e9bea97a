"""Stores named texts in a document of the state index, where they survive swaps and the loss of
Redis: the files of pinned results, and the addresses of golden searches."""

from collections.abc import Callable, Mapping
from typing import Any, TypedDict

from elasticsearch import ConflictError, Elasticsearch

from app.errors import Conflict
from indexer.store.scan import docs_of
from indexer.store.state import ensure_state, state_index

Texts = Mapping[str, str]
"""Texts by name."""

Version = tuple[int, int]
"""The sequence number and primary term of the write that stored a document."""

Fields = dict[str, Any]


class StoredDocument(TypedDict, total=False):
    """A document of the state index and the version of its last write; empty if there is none."""

    _source: Fields
    _seq_no: int
    _primary_term: int


class StoredTexts:
    """The texts of an alias for one purpose, which is also the id of their document."""

    def __init__(self, client: Elasticsearch, alias: str, purpose: str) -> None:
        self._client = client
        self._alias = alias
        self._purpose = purpose

    def texts(self) -> Texts:
        """Return the stored texts, sorted by name. Exceptions of the client pass through."""
        return texts_of(_document(self._client, state_index(self._alias), self._purpose))

    def change(self, change: Callable[[Texts], Texts]) -> None:
        """Replace the stored texts by the result of `change`.

        Raises:
            Conflict: another process stored texts in between.
        """

        def changed(stored: StoredDocument) -> Fields:
            texts = change(texts_of(stored))
            # A list, because not every name is a valid field name, such as .net.
            return {"what": self._purpose, "texts": sorted(texts.items())}

        try:
            change_document(self._client, self._alias, self._purpose, changed)
        except ConflictError:
            message = f"Another process changed the {self._purpose} at the same time. Try again."
            raise Conflict(message) from None


def change_document(
    client: Elasticsearch, alias: str, id_: str, change: Callable[[StoredDocument], Fields]
) -> bool:
    """Replace a document of the state index by the result of `change`, and return whether it is
    new. If there is none yet, `change` gets one without `_source`.

    Raises:
        ConflictError: another process stored it in between.
    """
    index = ensure_state(client, alias)
    stored = _document(client, index, id_)
    condition: dict[str, Any] = {"op_type": "create"}
    if found := version(stored):
        condition = {"if_seq_no": found[0], "if_primary_term": found[1]}
    # Refreshed, because searches see the version of the pinned results.
    client.index(index=index, id=id_, document=change(stored), refresh=True, **condition)
    return not found


def _document(client: Elasticsearch, index: str, id_: str) -> StoredDocument:
    found: list[Any] = docs_of(client.mget(index=index, ids=[id_]))
    return found[0] if found else StoredDocument()


def version(stored: StoredDocument) -> Version | None:
    """Return the version of a document; None if there is none."""
    return (stored["_seq_no"], stored["_primary_term"]) if "_seq_no" in stored else None


def texts_of(stored: StoredDocument) -> Texts:
    """Return the texts in a document."""
    return dict(stored.get("_source", {}).get("texts", ()))
