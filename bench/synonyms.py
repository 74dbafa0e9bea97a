"""Measures the cost of synonym rules: reading, checking, building an index, heap, searching.

    python -m bench.synonyms                        # 0, 2,000, 20,000 and 200,000 rules
    python -m bench.synonyms --rules 0 --rules 500

Set ELASTICSEARCH_URL to an Elasticsearch without other load. Heap is what is in use after a full
collection, which can only be triggered in a JVM on this machine (`jcmd`); otherwise it is left out.
docs/synonyms.md has the results.
"""

import json
import os
import random
import re
import statistics
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from elasticsearch import Elasticsearch
from elasticsearch.helpers import bulk
from rich.console import Console
from rich.table import Table
from werkzeug.datastructures import MultiDict

from analyzers.lint import check
from analyzers.rules import RuleSet, parse, read_rules
from app.search import search
from app.search.request import SearchRequest
from app.settings import Settings, load_settings
from indexer.normalise import documents
from indexer.records import Document
from indexer.schema import index_body
from indexer.sources import SourceOptions, open_source

SAMPLE = Path(__file__).resolve().parent.parent / "sample" / "posts.jsonl"
SEARCHES = 300
_WARM_UP = 50


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a number of rules: in seconds, searches in ms, heap and state in MB."""

    rules: int
    read: float
    checked: float
    created: float
    filled: float
    heap: float | None
    state: float
    p50: float
    p95: float


@click.command()
@click.option(
    "--rules", "numbers", multiple=True, type=int, default=(0, 2_000, 20_000, 200_000),
    show_default=True, help="Number of rules; may be repeated.",
)  # fmt: skip
@click.option("--posts", default=2_000, show_default=True, help="Number of posts to index.")
def main(numbers: Sequence[int], posts: int) -> None:
    """Measure the cost of synonym rules."""
    settings = load_settings()
    parse.MAX_RULES = max(parse.MAX_RULES, *numbers)  # the cost beyond the limit is measured too
    client = Elasticsearch(settings.elasticsearch_url, request_timeout=600)
    made = _posts(posts)
    words = _vocabulary(made)
    _measure(client, settings, 0, made, words)  # warms up the engine; not reported
    costs = []
    for number in numbers:
        costs.append(_measure(client, settings, number, made, words))
        click.echo(str(costs[-1]), err=True)
    _show(costs, len(made))


def rule_lines(number: int, words: Sequence[str]) -> Iterator[str]:
    """Typical rules: six of ten are contractions, two equivalents, two phrases.

    One rule in ten is about a word of the posts, and every phrase starts with one, so that the
    filter finds matches and looks ahead.
    """
    for n in range(number):
        word = words[n % len(words)]
        if n % 10 < 6:
            left = word if n % 10 == 0 and n // 10 < len(words) // 10 else f"left{n}"
            yield f"{left} => right{n}"
        elif n % 10 < 8:
            yield f"one{n}, other{n}"
        else:
            yield f"{word} phrase{n}, short{n}"


def _measure(
    client: Elasticsearch,
    settings: Settings,
    number: int,
    posts: Sequence[Document],
    words: Sequence[str],
) -> Cost:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.synonyms"
        path.write_text("".join(f"{line}\n" for line in rule_lines(number, words)))
        read, rules = _timed(lambda: read_rules([path]))
        checked, report = _timed(lambda: check(client, [path]))
    if report.errors:
        raise click.ClickException(str(report.errors[0]))
    before = _heap(client)
    index = f"bench-synonyms-{uuid.uuid4().hex[:8]}"
    try:
        created, _ = _timed(lambda: _create(client, index, rules))
        filled, _ = _timed(lambda: _fill(client, index, posts))
        after = _heap(client)
        state = client.cluster.state(metric="metadata", index=index).body
        times = sorted(_searches(client, index, settings, words))
    finally:
        client.options(ignore_status=404).indices.delete(index=index)
    return Cost(
        rules=number,
        read=read,
        checked=checked,
        created=created,
        filled=filled,
        heap=None if before is None or after is None else (after - before) / 1e6,
        state=len(json.dumps(state)) / 1e6,
        p50=statistics.median(times),
        p95=times[int(len(times) * 0.95)],
    )


def _timed(work: Any) -> tuple[float, Any]:
    started = time.perf_counter()
    result = work()
    return time.perf_counter() - started, result


def _create(client: Elasticsearch, index: str, rules: RuleSet) -> None:
    client.indices.create(index=index, **index_body(rules, shards=1, replicas=0))


def _fill(client: Elasticsearch, index: str, posts: Sequence[Document]) -> None:
    actions = (
        {"_index": index, "_id": post.id, "routing": post.routing, "_source": post.source}
        for post in posts
    )
    bulk(client, actions, chunk_size=500, refresh=True)
    client.indices.forcemerge(index=index, max_num_segments=1)


def _searches(
    client: Elasticsearch, index: str, settings: Settings, words: Sequence[str]
) -> list[float]:
    """The time of each search in ms: one to three words of the posts, some of them misspelled."""
    generator = random.Random(4)
    taken = []
    for number in range(_WARM_UP + SEARCHES):
        chosen = [generator.choice(words) for _ in range(1 + number % 3)]
        if number % 4 == 0:
            chosen[0] = chosen[0][:-2] + chosen[0][-1]
        request = SearchRequest.parse(MultiDict({"q": " ".join(chosen)}))
        seconds, _ = _timed(lambda request=request: search(client, index, request, settings))
        taken.append(seconds * 1000)
    return taken[_WARM_UP:]


def _heap(client: Elasticsearch) -> int | None:
    """Bytes of heap in use after a full collection; None where none can be triggered."""
    (node,) = client.nodes.info(metric="jvm")["nodes"].values()
    pid = int(node["jvm"]["pid"])
    try:
        owner = Path(f"/proc/{pid}").stat()
        # A JVM accepts jcmd from its own user only, not from root.
        user, group = (owner.st_uid, owner.st_gid) if os.geteuid() == 0 else (None, None)
        for _ in range(2):
            subprocess.run(
                ["jcmd", str(pid), "GC.run"],
                check=True,
                capture_output=True,
                timeout=60,
                user=user,
                group=group,
            )
    except (OSError, subprocess.SubprocessError):
        return None
    time.sleep(1)
    (stats,) = client.nodes.stats(metric="jvm")["nodes"].values()
    return int(stats["jvm"]["mem"]["heap_used_in_bytes"])


def _posts(number: int) -> list[Document]:
    """The sample posts, repeated with new ids."""
    raws = list(open_source(str(SAMPLE), None, SourceOptions()).read())
    made: list[Document] = []
    while len(made) < number:
        for raw in raws:
            for document in documents(raw):  # type: ignore[arg-type]
                if isinstance(document, Document) and document.kind == "post":
                    oid = f"{document.routing}-{len(made)}"
                    made.append(
                        Document(
                            f"post:{oid}",
                            oid,
                            document.version,
                            {**document.source, "oid": oid},
                            "post",
                            document.origin,
                        )
                    )
    return made[:number]


def _vocabulary(posts: Sequence[Document]) -> list[str]:
    texts = " ".join(str(post.source["text"]).lower() for post in posts[:200])
    return sorted(set(re.findall(r"\b[a-z]{4,12}\b", texts)))


def _show(costs: Sequence[Cost], posts: int) -> None:
    table = Table(box=None, pad_edge=False, title=f"{posts:,} posts, {SEARCHES} searches each")
    for name in ("rules", "read s", "check s", "create s", "fill s", "heap MB", "state MB",
                 "p50 ms", "p95 ms"):  # fmt: skip
        table.add_column(name, justify="right")
    for cost in costs:
        table.add_row(
            f"{cost.rules:,}",
            *(f"{value:.2f}" for value in (cost.read, cost.checked, cost.created, cost.filled)),
            "-" if cost.heap is None else f"{cost.heap:.1f}",
            f"{cost.state:.2f}",
            f"{cost.p50:.1f}",
            f"{cost.p95:.1f}",
        )
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
