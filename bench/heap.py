"""What Elasticsearch does with a small heap: times, memory, and whether it runs out of it.

    .venv/bin/python -m bench.heap                  # 256, 384, 512 MB and 1 GB; up to 10,000 posts
    .venv/bin/python -m bench.heap --heap 512 --posts 100000

For each heap and number of posts it starts an Elasticsearch of its own, builds the index twice, as
an update does beside the live one, and then sends searches that are not
cached from four clients. docs/growing.md has the results.
"""

import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from urllib.parse import quote

import click
import psutil

from bench.load_generator import send, times_of
from bench.relevance import SAMPLE
from bench.results import echo_header, echo_row, milliseconds
from bench.service import index, serving
from bench.turns import timed
from bench.workload import queries_of, write_combined
from devstack.servers import ElasticsearchNode, elasticsearch_nodes

_ALIAS = "bench-heap"
_CLIENTS = 4
_SECONDS = 20.0
_COLUMNS = [
    "heap, MB",
    "posts",
    "reindex, s",
    "search p50, ms",
    "p95, ms",
    "errors",
    "memory of the process, MB",
]


def _measure(heap: int, posts: int, corpus: Path, paths: Sequence[str]) -> list[str]:
    """A row of the table."""
    with elasticsearch_nodes(1, heap=f"{heap}m") as (node,):
        variables = {"ELASTICSEARCH_URL": node.url}
        with serving(_ALIAS, workers=2, variables=variables) as served:
            reindex = timed(partial(index, corpus, _ALIAS, variables=variables))
            reindex()
            took = reindex() / 1000
            send(served.url, paths, _SECONDS / 2, _CLIENTS)  # warm-up
            answers = send(served.url, paths, _SECONDS, _CLIENTS)
        good = [answer for answer in answers if answer.status == 200]
        return [
            *(f"{heap}", f"{posts:,}", f"{took:.1f}", *milliseconds(times_of(good))),
            *(f"{len(answers) - len(good)}", f"{_resident(node):.0f}"),
        ]


def _resident(node: ElasticsearchNode) -> float:
    """Megabytes of the server's process, without those of the files that it maps."""
    processes = [psutil.Process(node.pid), *psutil.Process(node.pid).children(recursive=True)]
    memory = [process.memory_info() for process in processes]
    return sum(process.rss - process.shared for process in memory) / 1e6


@click.command()
@click.option("--heap", "heaps", multiple=True, type=int, default=(256, 384, 512, 1024))
@click.option("--posts", "numbers", multiple=True, type=int, default=(100, 1_500, 10_000))
def main(heaps: Sequence[int], numbers: Sequence[int]) -> None:
    """Print a row for each heap and number of posts."""
    corpus, files = SAMPLE
    paths = [f"/search?q={quote(query.q)}" for query in queries_of(files, 100)]
    echo_header(_COLUMNS)
    with tempfile.TemporaryDirectory() as folder:
        for posts in numbers:
            path = Path(folder) / f"{posts}.jsonl"
            write_combined(corpus, posts, path)
            for heap in heaps:
                try:
                    row = _measure(heap, posts, path, paths)
                except Exception as error:  # noqa: BLE001 -- the other rows are of use
                    row = [f"{heap}", f"{posts:,}", f"{type(error).__name__}", "", "", "", ""]
                echo_row(row)


if __name__ == "__main__":
    main()
