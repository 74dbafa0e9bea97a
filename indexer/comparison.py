"""What the live index has, on disk beside the process, to be ticked off against a source."""

import sqlite3
from collections.abc import Iterator
from types import TracebackType
from typing import Literal, Self

from elasticsearch import Elasticsearch

from indexer.catch_up import hits
from indexer.records import Document, Origin

_TABLE = """
PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -4000;
CREATE TABLE live (
    id TEXT PRIMARY KEY, routing TEXT, version INTEGER, digest TEXT, met INTEGER DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX by_routing ON live (routing);
BEGIN;
"""


class Comparison:
    """Every document of an index as of now: its digest and version, and whether it was met."""

    def __init__(self, client: Elasticsearch, index: str) -> None:
        self._index = index
        self._database = sqlite3.connect("", isolation_level=None)
        self._database.executescript(_TABLE)
        client.indices.refresh(index=index)
        self._database.executemany(
            "INSERT INTO live (id, routing, version, digest) VALUES (?, ?, ?, ?)",
            (
                (hit["_id"], hit["_routing"], hit["_version"], hit["_source"].get("digest"))
                for hit in hits(client, index, source=["digest"], size=2_000)
            ),
        )
        self.posts = self._number("SELECT count(*) FROM live WHERE id LIKE 'post:%'")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._database.close()

    def meet(self, id_: str) -> str | None:
        """Tick a document off; returns its digest in the index, None when it is not there."""
        found = self._database.execute("SELECT digest FROM live WHERE id = ?", (id_,)).fetchone()
        if found is None:
            return None
        self._database.execute("UPDATE live SET met = 1 WHERE id = ?", (id_,))
        digest: str | None = found[0]
        return digest or ""

    def version(self, id_: str) -> int:
        """Its version in the index, -1 when it is not there."""
        found = self._database.execute("SELECT version FROM live WHERE id = ?", (id_,)).fetchone()
        return int(found[0]) if found else -1

    def keep(self, oid: str) -> None:
        """Tick off what a Reject names: a post with its comments, or `post/comment`."""
        self._database.execute("UPDATE live SET met = 1 WHERE routing = ?", (oid,))
        post_oid, slash, comment = oid.rpartition("/")
        if slash:
            name = f"comment:{post_oid}:{comment}"
            self._database.execute("UPDATE live SET met = 1 WHERE id = ?", (name,))

    def missing_posts(self) -> int:
        """How many posts were not met."""
        return self._number("SELECT count(*) FROM live WHERE met = 0 AND id LIKE 'post:%'")

    def missing(self, *, with_comments: bool) -> Iterator[Document]:
        """What was not met: posts and all their comments; other comments on request."""
        query = (
            "SELECT id, routing, version FROM live AS one WHERE"
            " (met = 0 AND (id LIKE 'post:%' OR ?))"
            " OR EXISTS (SELECT 1 FROM live WHERE id = 'post:' || one.routing AND met = 0)"
        )
        for id_, routing, version in self._database.execute(query, (with_comments,)):
            kind: Literal["post", "comment"] = "post" if id_.startswith("post:") else "comment"
            yield Document(id_, routing, version, {}, kind, Origin(self._index))

    def _number(self, query: str) -> int:
        found: tuple[int] = self._database.execute(query).fetchone()
        return found[0]
