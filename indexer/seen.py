"""Which documents were there already: on disk, so that memory does not grow with the source."""

import sqlite3
from types import TracebackType
from typing import Self

from indexer.records import Origin


class Seen:
    """A set of document ids that knows where each first stood."""

    def __init__(self) -> None:
        # "" is SQLite's temporary database: in memory up to the cache size, then a nameless file.
        self._database = sqlite3.connect("", isolation_level=None)
        self._database.executescript(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -2000;"
            "CREATE TABLE seen (id TEXT PRIMARY KEY, origin TEXT) WITHOUT ROWID; BEGIN;"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._database.close()

    def add(self, id_: str, origin: Origin) -> str | None:
        """Note an id; returns where it first stood if it was noted before."""
        added = self._database.execute(
            "INSERT OR IGNORE INTO seen VALUES (?, ?)", (id_, str(origin))
        )
        if added.rowcount:
            return None
        found: tuple[str] = self._database.execute(
            "SELECT origin FROM seen WHERE id = ?", (id_,)
        ).fetchone()
        return found[0]
