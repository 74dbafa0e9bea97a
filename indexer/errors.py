"""What the indexer raises; the application translates it into its own tree at one seam."""


class IndexingError(Exception):
    """Indexing cannot go on: what was wrong, and what to do."""

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(f"{message} {remedy}".strip())
        self.message = message
        self.remedy = remedy


class SourceError(IndexingError):
    """A source that cannot be read at all: no such file, not a feed, an address refused."""


class TooManyRejects(IndexingError):
    """More of the source was rejected than `--max-rejects` allows; nothing was swapped."""


class Locked(IndexingError):
    """Another process is building or changing the same index."""


class VerificationFailed(IndexingError):
    """The built index does not hold what was sent to it; nothing was swapped."""


class NoGeneration(IndexingError):
    """There is no live index, or none to go back to."""
