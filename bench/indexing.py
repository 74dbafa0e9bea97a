"""Documents per second against the bare `helpers.parallel_bulk`, and memory by number of posts.

    ELASTICSEARCH_URL=… python -m bench.indexing --documents 20000 --rounds 5
    ELASTICSEARCH_URL=… python -m bench.indexing --memory

Speed: all ways index the same posts into a new index with the same body, without refreshes, and
alternate within each round, so that other load slows all of them alike. `parallel_bulk` gets
documents prepared in advance, and serialises and sends them with its defaults: four threads, 500
documents at a time. Ours is timed three ways: the same documents through `indexer.bulk`; the whole
`reindex` of the JSON Lines file (read, validated, normalised, hashed, checked for duplicates) from
the first post to the last bulk response; and from its start, with making the index, to the swap.

Memory: the peak resident memory of a process that runs a whole `reindex`, for each number of posts.
"""

import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import click
import orjson
from elasticsearch import Elasticsearch, helpers

from analyzers.rules import NO_RULES
from app.commands.sources import Sources
from bench.results import Goal, Section, Table
from indexer.build.builder import IndexSettings
from indexer.build.reindex import ReindexOptions, reindex
from indexer.bulk.operations import BulkLimits, index_operation
from indexer.bulk.sender import send_bulk
from indexer.generations import building_alias, create
from indexer.normalise import documents
from indexer.progress import Progress
from indexer.records import Document, RawPost, Reject, SourceItem
from indexer.schema import index_body
from indexer.sources import SourceOptions, open_source
from indexer.sync.sync import SyncOptions, sync

_SAMPLE = Path(__file__).resolve().parent.parent / "sample" / "posts.jsonl"
_SHAPE = IndexSettings(NO_RULES, 1, 0)


def write_posts(path: Path, count: int) -> None:
    """Write posts made of shuffled paragraphs of the sample: 1.3 kB each, the same each time."""
    chance = random.Random(7)
    sample = [json.loads(line) for line in _SAMPLE.read_text().splitlines()]
    paragraphs = [part for post in sample for part in post["text"].split("\n") if part.strip()]
    with path.open("wb") as file:
        for number in range(count):
            like = sample[number % len(sample)]
            text = "\n".join(chance.choices(paragraphs, k=8))[:2_000]
            entry = {**like, "oid": f"post-{number}", "text": text, "comments": []}
            file.write(orjson.dumps(entry) + b"\n")


def prepare_documents(path: Path) -> list[Document]:
    """The documents of a file, as `reindex` creates them."""
    raws = open_source(str(path), None, SourceOptions()).read()
    found = (document for raw in raws if isinstance(raw, RawPost) for document in documents(raw))
    return [document for document in found if isinstance(document, Document)]


def fail_on_reject(reject: Reject) -> None:
    """No post of the benchmark is rejected."""
    raise AssertionError(reject)


class Ways:
    """Indexes the same posts in several ways; each method returns seconds."""

    def __init__(self, client: Elasticsearch, alias: str, path: Path) -> None:
        self._client = client
        self._alias = alias
        self._path = path
        self._number = 0
        self._documents = prepare_documents(path)
        self.count = len(self._documents)

    def bare(self) -> dict[str, float]:
        """`helpers.parallel_bulk` with its defaults."""
        name = self._fresh()
        actions: Iterator[dict[str, Any]] = (
            {
                "_index": name,
                "_id": document.id,
                "routing": document.routing,
                "version": document.version,
                "version_type": "external_gte",
                "_source": document.source,
            }
            for document in self._documents
        )
        started = time.perf_counter()
        for ok, _ in helpers.parallel_bulk(self._client, actions):
            assert ok
        return {"bare": time.perf_counter() - started}

    def ours(self, limits: BulkLimits | None = None) -> dict[str, float]:
        """`indexer.bulk` with the same documents."""
        target = building_alias(self._fresh())
        operations = map(index_operation, self._documents)
        started = time.perf_counter()
        for outcomes in send_bulk(self._client, target, operations, limits):
            assert all(outcome.accepted for outcome in outcomes)
        return {"ours": time.perf_counter() - started}

    def whole(self) -> dict[str, float]:
        """`reindex`: seconds from the first post to the last bulk response, and from the start to
        the swap."""
        alias = f"{self._alias}-whole"
        source = open_source(str(self._path), None, SourceOptions())
        times: dict[str, float] = {}

        def read() -> Iterator[SourceItem]:
            times["index made"] = time.perf_counter()
            yield from source.read()

        def report(progress: Progress) -> None:
            times.setdefault(progress.phase, time.perf_counter())

        started = time.perf_counter()
        reindex(
            self._client,
            alias,
            read(),
            _SHAPE,
            fail_on_reject,
            ReindexOptions(on_progress=report),
        )
        ended = time.perf_counter()
        self.clear()
        whole = times["verifying"] - times["index made"]
        return {"whole": whole, "swapped": ended - started}

    def clear(self) -> None:
        """Delete the indices."""
        found = self._client.indices.get(index=f"{self._alias}*", expand_wildcards="all")
        for name in found:
            self._client.indices.delete(index=name)

    def _fresh(self) -> str:
        if self._number:
            self.clear()
        self._number += 1
        return create(
            self._client, self._alias, self._number, index_body(NO_RULES, shards=1, replicas=0)
        )


def peak(client: Elasticsearch, alias: str, path: Path) -> float:
    """Peak resident set of this process in MB, after a reindex."""
    source = open_source(str(path), None, SourceOptions())
    reindex(client, alias, source.read(), _SHAPE, fail_on_reject)
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return kilobytes / (1024 if sys.platform != "darwin" else 1024 * 1024)


def measure_reindex(client: Elasticsearch, count: int, rounds: int) -> Section:
    """All ways, in another order each round; a warm-up of one way is dropped."""
    alias = f"bench-{uuid.uuid4().hex[:8]}"
    seconds: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "posts.jsonl"
        write_posts(path, count)
        race = Ways(client, alias, path)
        ways = [race.bare, race.whole]
        try:
            race.ours()  # warm-up, not counted
            for number in range(rounds):
                for way in ways[number % 2 :] + ways[: number % 2]:
                    for name, taken in way().items():
                        seconds.setdefault(name, []).append(taken)
        finally:
            race.clear()
    labels = {
        "bare": "helpers.parallel_bulk, documents prepared before",
        "whole": "reindex, from the first post to the last response",
        "swapped": "reindex, from its start to the swap",
    }
    rates = {name: [count / taken for taken in seconds[name]] for name in labels}
    ratios = {
        name: statistics.median(
            bare / own for bare, own in zip(seconds["bare"], seconds[name], strict=True)
        )
        for name in labels
    }
    rows = [
        [
            label,
            f"{statistics.median(rates[name]):,.0f}",
            f"{min(rates[name]):,.0f} to {max(rates[name]):,.0f}",
            f"{ratios[name]:.2f}",
        ]
        for name, label in labels.items()
    ]
    return Section(
        "Reindexing",
        f"{count:,} posts of 1.3 kB into a new index without refreshes, {rounds} rounds in turn. "
        "`parallel_bulk` gets documents prepared in advance and an index that is made before; "
        "`reindex` reads, validates, normalises and hashes them too.",
        [
            Goal(
                f"reindexing {count:,} posts, rate",
                "bare `parallel_bulk` of the finished documents",
                ratios["whole"],
                0.85,
                at_least=True,
            )
        ],
        [Table(["", "posts a second, median", "range", "of parallel_bulk"], rows)],
        {labels[name]: statistics.median(found) for name, found in rates.items()},
        "posts a second",
        seconds,
    )


def write_markdown(folder: Path, posts: Path, count: int) -> list[Path]:
    """Write the first posts of a JSON Lines file as Markdown files with front matter."""
    files = []
    with posts.open("rb") as lines:
        for number, line in enumerate(islice(lines, count)):
            post = orjson.loads(line)
            files.append(folder / f"post-{number}.md")
            title = json.dumps(post["title"])
            files[-1].write_text(f"---\ntitle: {title}\ndate: 2024-01-02\n---\n{post['text']}\n")
    return files


def time_sync(
    client: Elasticsearch,
    alias: str,
    source: Path,
    change: Callable[[int], None],
    shape: IndexSettings,
    rounds: int,
) -> dict[str, list[float]]:
    """Seconds of reading a source, and of a sync after one post has changed, in turn.

    Args:
        alias: has the posts of the source.
        change: changes one post; the argument is a number, another one each time.
    """
    seconds: dict[str, list[float]] = {"read": [], "sync": []}
    for nth in range(rounds + 1):
        change(nth)
        started = time.perf_counter()
        for _ in open_source(str(source), None, SourceOptions()).read():
            pass
        between = time.perf_counter()
        opened = Sources([open_source(str(source), None, SourceOptions())], SourceOptions())
        result = sync(client, alias, opened.read, shape, fail_on_reject, SyncOptions())
        ended = time.perf_counter()
        if nth:
            if (result.added, result.changed, result.removed) != (0, 1, 0):
                raise AssertionError(result)
            seconds["read"].append(between - started)
            seconds["sync"].append(ended - between)
    return seconds


def measure_sync(
    client: Elasticsearch, alias: str, path: Path, shape: IndexSettings, rounds: int, files: int
) -> Section:
    """A sync of a source in which one post changes, against reading it alone.

    Args:
        alias: has the posts of the JSON Lines file `path`.
        shape: the settings that the index was built with.
        files: number of posts that are also measured as a folder of Markdown.
    """
    lines = path.read_bytes().splitlines(keepends=True)

    def change_line(nth: int) -> None:
        middle = orjson.loads(lines[len(lines) // 2])
        middle["title"] = f"A title that changes, {nth}"
        lines[len(lines) // 2] = orjson.dumps(middle) + b"\n"
        path.write_bytes(b"".join(lines))

    found = {f"{len(lines):,} posts": time_sync(client, alias, path, change_line, shape, rounds)}
    own = f"bench-{uuid.uuid4().hex[:8]}"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        written = write_markdown(folder, path, files)

        def change_file(nth: int) -> None:
            with written[len(written) // 2].open("a") as file:
                file.write(f"\nA paragraph more, {nth}.\n")

        try:
            raws = open_source(name, None, SourceOptions()).read()
            reindex(client, own, raws, shape, fail_on_reject)
            found[f"{len(written):,} Markdown files"] = time_sync(
                client, own, folder, change_file, shape, rounds
            )
        finally:
            for index in client.indices.get(index=f"{own}*", expand_wildcards="all"):
                client.indices.delete(index=index)
    return Section(
        "Sync",
        f"A JSON Lines file of {len(lines):,} posts with comments, and a folder of {files:,} of "
        "them as Markdown without comments; in each one post changes. In one process, "
        f"{rounds} rounds in turn, the first dropped.",
        [_sync_goal(what, seconds) for what, seconds in found.items()],
        figures=found,
    )


def _sync_goal(what: str, seconds: dict[str, list[float]]) -> Goal:
    one, other = statistics.median(seconds["sync"]), statistics.median(seconds["read"])
    return Goal(
        f"sync with 1 change in {what}",
        "reading the source alone",
        one / other,
        2.0,
        " times",
        note=f"{one:.1f} and {other:.1f} s",
    )


def _memory(numbers: tuple[int, ...]) -> None:
    peaks = []
    for number in numbers:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "posts.jsonl"
            write_posts(path, number)
            command = [sys.executable, "-m", "bench.indexing", "--peak-of", str(path)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
        peaks.append(float(done.stdout))
        click.echo(f"{number:>9,} posts: {peaks[-1]:6.1f} MB at most")
    click.echo(f"{peaks[-1] / peaks[0]:.2f} times")


@click.command()
@click.option("--documents", "count", default=20_000, show_default=True)
@click.option("--rounds", default=5, show_default=True)
@click.option(
    "--memory", is_flag=True, help="Measure peak memory with 10,000 and 100,000 posts instead."
)
@click.option("--peak-of", type=click.Path(path_type=Path), hidden=True)
def main(count: int, rounds: int, memory: bool, peak_of: Path | None) -> None:
    """Measure indexing on the Elasticsearch at ELASTICSEARCH_URL, which should be idle."""
    if memory:
        _memory((10_000, 100_000))
        return
    with Elasticsearch(os.environ["ELASTICSEARCH_URL"], request_timeout=120) as client:
        if peak_of is None:
            found = measure_reindex(client, count, rounds)
            click.echo("\n\n".join(table.markdown() for table in found.tables))
            return
        alias = f"bench-{uuid.uuid4().hex[:8]}"
        try:
            click.echo(f"{peak(client, alias, peak_of):.1f}")
        finally:
            for name in client.indices.get(index=f"{alias}*", expand_wildcards="all"):
                client.indices.delete(index=name)


if __name__ == "__main__":
    main()
