"""Named texts in a document of the state index, where neither a swap nor a lost Redis loses them:
the files of pinned results, and the addresses of golden searches."""

from collections.abc import Callable, Mapping
from typing import Any

from elasticsearch import ConflictError, Elasticsearch, NotFoundError

from app.errors import Conflict
from indexer.state import ensure_state, state_index

Texts = Mapping[str, str]
"""By name."""

Json = dict[str, Any]


class StoredTexts:
    """The texts of an alias for one purpose, which names their document."""

    def __init__(self, client: Elasticsearch, alias: str, purpose: str) -> None:
        self._client = client
        self._alias = alias
        self._purpose = purpose

    def texts(self) -> Texts:
        """The stored texts, sorted by name. Exceptions of the client pass through."""
        return texts_of(self._get())

    def change(self, change: Callable[[Texts], Texts]) -> None:
        """Store what `change` makes of the stored texts.

        Raises:
            Conflict: another process stored texts in between.
        """
        stored = self._get()
        condition: Json = {"op_type": "create"}
        if stored:
            sequence, term = version(stored)
            condition = {"if_seq_no": sequence, "if_primary_term": term}
        changed = sorted(change(texts_of(stored)).items())
        texts = [{"name": name, "text": text} for name, text in changed]
        try:
            self._client.index(
                index=ensure_state(self._client, self._alias),
                id=self._purpose,
                document={"what": self._purpose, "texts": texts},
                refresh=True,  # every search looks for the version
                **condition,
            )
        except ConflictError:
            raise Conflict(
                f"Another process changed the {self._purpose} at the same time. Try again."
            ) from None

    def _get(self) -> Json | None:
        try:
            index = state_index(self._alias)
            stored: Json = self._client.get(index=index, id=self._purpose).body
        except NotFoundError:
            return None
        return stored


def version(stored: Json) -> tuple[int, int]:
    """Which write stored a document."""
    return stored["_seq_no"], stored["_primary_term"]


def texts_of(stored: Json | None) -> Texts:
    """The texts in a document."""
    texts = stored["_source"]["texts"] if stored else []
    return {one["name"]: one["text"] for one in texts}
