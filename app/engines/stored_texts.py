"""Named texts in a document of the state index, where neither a swap nor a lost Redis loses them:
the files of pinned results, and the addresses of golden searches."""

from collections.abc import Callable, Mapping
from typing import Any, TypedDict

from elasticsearch import ConflictError, Elasticsearch

from app.errors import Conflict
from indexer.store.scan import docs_of
from indexer.store.state import ensure_state, state_index

Texts = Mapping[str, str]
"""By name."""

Version = tuple[int, int]
"""Which write stored a document: its sequence number and primary term."""

Fields = dict[str, Any]


class StoredDocument(TypedDict, total=False):
    """A document of the state index and which write stored it; empty if there is none."""

    _source: Fields
    _seq_no: int
    _primary_term: int


class StoredTexts:
    """The texts of an alias for one purpose, which names their document."""

    def __init__(self, client: Elasticsearch, alias: str, purpose: str) -> None:
        self._client = client
        self._alias = alias
        self._purpose = purpose

    def texts(self) -> Texts:
        """The stored texts, sorted by name. Exceptions of the client pass through."""
        return texts_of(_document(self._client, state_index(self._alias), self._purpose))

    def change(self, change: Callable[[Texts], Texts]) -> None:
        """Store what `change` makes of the stored texts.

        Raises:
            Conflict: another process stored texts in between.
        """

        def changed(stored: StoredDocument) -> Fields:
            texts = change(texts_of(stored))
            # A name may be no name of a field, such as .net.
            return {"what": self._purpose, "texts": sorted(texts.items())}

        try:
            change_document(self._client, self._alias, self._purpose, changed)
        except ConflictError:
            message = f"Another process changed the {self._purpose} at the same time. Try again."
            raise Conflict(message) from None


def change_document(
    client: Elasticsearch, alias: str, id_: str, change: Callable[[StoredDocument], Fields]
) -> bool:
    """Store what `change` makes of a document of the state index, which has no `_source` if there
    is none; whether it is a new one.

    Raises:
        ConflictError: another process stored it in between.
    """
    index = ensure_state(client, alias)
    stored = _document(client, index, id_)
    condition: dict[str, Any] = {"op_type": "create"}
    if found := version(stored):
        condition = {"if_seq_no": found[0], "if_primary_term": found[1]}
    # Every search looks for the version of the pinned results.
    client.index(index=index, id=id_, document=change(stored), refresh=True, **condition)
    return not found


def _document(client: Elasticsearch, index: str, id_: str) -> StoredDocument:
    found: list[Any] = docs_of(client.mget(index=index, ids=[id_]))
    return found[0] if found else StoredDocument()


def version(stored: StoredDocument) -> Version | None:
    """Which write stored a document; None if there is none."""
    return (stored["_seq_no"], stored["_primary_term"]) if "_seq_no" in stored else None


def texts_of(stored: StoredDocument) -> Texts:
    """The texts in a document."""
    return dict(stored.get("_source", {}).get("texts", ()))
