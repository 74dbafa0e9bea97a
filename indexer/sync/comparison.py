"""The documents of the live index, kept on disk to be compared with a source."""

import sqlite3
from collections.abc import Iterator
from types import TracebackType
from typing import Literal, Self

from elasticsearch import Elasticsearch

from indexer.records import Document, Origin, comment_id
from indexer.scan import digests

_TABLE = """
PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -4000;
CREATE TABLE live (
    id TEXT PRIMARY KEY, routing TEXT, version INTEGER, digest TEXT, raw_digest TEXT,
    over_http INTEGER, seen INTEGER DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX by_routing ON live (routing);
BEGIN;
"""


class Comparison:
    """Every document of an index at one moment: its digests, its version, and whether it was seen.

    A context manager. A document is seen when the source has it.
    """

    def __init__(self, client: Elasticsearch, index: str) -> None:
        self._index = index
        self._database = sqlite3.connect("", isolation_level=None)
        self._database.executescript(_TABLE)
        client.indices.refresh(index=index)
        self._database.executemany(
            "INSERT INTO live VALUES (?, ?, ?, ?, ?, ?, 0)", digests(client, index)
        )
        self.posts = self._count("SELECT count(*) FROM live WHERE id LIKE 'post:%'")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._database.close()

    def mark_seen(self, id_: str, digest: str) -> bool:
        """Mark a document as seen.

        Args:
            digest: of the document, or of what it is made of.

        Returns:
            Whether the index has it with this digest, and from a source.
        """
        query = "SELECT digest, raw_digest, over_http FROM live WHERE id = ?"
        found = self._database.execute(query, (id_,)).fetchone()
        if found is None:
            return False
        self._database.execute("UPDATE live SET seen = 1 WHERE id = ?", (id_,))
        return digest in found[:2] and not found[2]

    def mark_rejected(self, oid: str) -> None:
        """Mark what a Reject names as seen: a post with its comments, or `post/comment`."""
        self._database.execute("UPDATE live SET seen = 1 WHERE routing = ?", (oid,))
        post_oid, slash, comment = oid.rpartition("/")
        if slash:
            id_ = comment_id(post_oid, comment)
            self._database.execute("UPDATE live SET seen = 1 WHERE id = ?", (id_,))

    def version(self, id_: str) -> int:
        """The version of a document in the index, -1 if it is not there."""
        found = self._database.execute("SELECT version FROM live WHERE id = ?", (id_,)).fetchone()
        return int(found[0]) if found else -1

    def count_source_comments(self) -> tuple[int, int]:
        """The number of comments that came from a source, and of those that were not seen.

        Comments of missing posts do not count.
        """
        query = (
            "SELECT count(*) FROM live AS one WHERE id NOT LIKE 'post:%' AND NOT over_http"
            " AND EXISTS (SELECT 1 FROM live WHERE id = 'post:' || one.routing AND seen)"
        )
        return self._count(query), self._count(f"{query} AND NOT seen")

    def count_missing_posts(self) -> int:
        """The number of posts that were not seen."""
        return self._count("SELECT count(*) FROM live WHERE seen = 0 AND id LIKE 'post:%'")

    def missing(self, *, with_comments: bool) -> Iterator[Document]:
        """The documents that were not seen: posts with all their comments, without a source.

        Args:
            with_comments: also comments that were not seen though their post was, unless they
                came over HTTP.
        """
        query = (
            "SELECT id, routing, version FROM live AS one WHERE"
            " (seen = 0 AND (id LIKE 'post:%' OR (? AND NOT over_http)))"
            " OR EXISTS (SELECT 1 FROM live WHERE id = 'post:' || one.routing AND seen = 0)"
        )
        for id_, routing, version in self._database.execute(query, (with_comments,)):
            kind: Literal["post", "comment"] = "post" if id_.startswith("post:") else "comment"
            yield Document(id_, routing, version, {}, kind, Origin(self._index))

    def _count(self, query: str) -> int:
        found: tuple[int] = self._database.execute(query).fetchone()
        return found[0]
