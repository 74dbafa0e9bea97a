"""What the sections of `make bench` share: how much is measured, the queries, and the indices."""

import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import click
from elasticsearch import Elasticsearch

from bench.service import delete, elasticsearch_url, index
from bench.workload import corpus_of, queries_of, write_combined


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured. `queries`: of each kind. `seconds`: of a turn under load."""

    queries: int
    rounds: int
    seconds: float
    posts: tuple[int, ...]
    reindex: tuple[int, ...]
    sync: tuple[int, ...]
    searches: int


QUICK = Sizes(40, 2, 1.0, (200, 1_000, 3_000), (500, 2_000), (1_000,), 5_000)
NORMAL = Sizes(200, 4, 2.0, (1_000, 10_000, 100_000), (2_737, 8_000), (1_500,), 100_000)
FULL = Sizes(300, 8, 3.0, (1_000, 10_000, 100_000), (2_737, 98_500), (1_500, 500_000), 100_000)


class Run:
    """The indices that several sections search are made when the first one needs them.

    Args:
        data: a folder of posts and queries; None: the sample.
        meilisearch: the path of a Meilisearch binary, if it is to be compared.
        folder: for the report, and for what has to be installed.
    """

    def __init__(self, sizes: Sizes, data: Path | None, meilisearch: str, folder: Path) -> None:
        self.sizes = sizes
        self.corpus, self.files = corpus_of(data)
        queries = queries_of(self.files, 2 * sizes.queries)  # in random order
        self.queries, self.warm_up = queries[::2], queries[1::2]
        self.meilisearch = meilisearch
        self.folder = folder
        self.client = Elasticsearch(elasticsearch_url(), request_timeout=120)
        self._stack = ExitStack()
        self._stack.callback(self.client.close)
        self._temporary = Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
        self._combined: dict[int, str] = {}

    def close(self) -> None:
        """Delete what was made."""
        self._stack.close()

    @cached_property
    def alias(self) -> str:
        """The posts of the corpus."""
        return self._index(self.corpus, "corpus")

    def path(self, posts: int) -> Path:
        """A file of so many posts made of those of the corpus."""
        path = self._temporary / f"{posts}.jsonl"
        if not path.exists():
            write_combined(self.corpus, posts, path)
        return path

    def combined(self, posts: int) -> str:
        """An alias for them."""
        if posts not in self._combined:
            click.echo(f"  indexing {posts:,} posts", err=True)
            self._combined[posts] = self._index(self.path(posts), str(posts))
        return self._combined[posts]

    def _index(self, path: Path, name: str) -> str:
        alias = f"bench-{name}-posts"  # a name that ends in a number is that of a generation
        delete(alias)  # of a run that was killed
        index(path, alias)
        self._stack.callback(delete, alias)
        # Otherwise a query that is sent again would be half answered already.
        self.client.indices.put_settings(
            index=alias, settings={"index.requests.cache.enable": False}
        )
        return alias
