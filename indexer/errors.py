"""The errors of indexing and of Elasticsearch; those of requests are in `app.errors`."""

from analyzers.errors import BlogsearchError
from indexer import SCHEMA


class Unavailable(BlogsearchError):
    """Elasticsearch cannot answer now; `Retry-After` says when to try again."""

    status = 503
    code = "engine_unavailable"
    retry_after = 5


class IndexingError(Unavailable):
    """Indexing cannot continue, or a document could not be written."""


class SourceError(IndexingError):
    """A source cannot be read at all: the file is missing, not a feed, an address is refused."""


class NotBuilt(IndexingError):
    """A build or a rollback that ended before the swap; the live generation is unchanged."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(f"{reason}; nothing was swapped.", remedy)


class AllAlike(IndexingError):
    """A source with the same text, or none, for many posts that had one of their own."""


class Locked(IndexingError):
    """Another process is building or changing the same index."""


class LockLost(Locked):
    """Another process has taken over this one's lock; what this one wrote before stays."""


class NoIndex(IndexingError):
    """There is no live index, or no previous one to roll back to."""

    code = "no_index"
    retry_after = 30


class Damaged(IndexingError):
    """An index cannot be read."""


class OutdatedIndex(IndexingError):
    """The index was built by a version with other fields."""

    code = "index_outdated"
    retry_after = 30


def other_schema(schema: int | None) -> OutdatedIndex:
    """Return the error for an index of another schema; None: of an unknown one."""
    remedy = "Delete it (docs/operations.md) and run `blogsearch reindex SOURCE`. What came over "
    remedy += "HTTP is lost."
    if schema == SCHEMA - 1:
        remedy = "Run `blogsearch rebuild`, which loses nothing."
    elif schema is not None and schema > SCHEMA:
        remedy = f"Start the newer version that built it. {remedy}"
    return OutdatedIndex(
        f"The index was built by another version (schema {schema}; this one has {SCHEMA}).", remedy
    )
