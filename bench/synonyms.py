"""Measures the cost of synonym rules: checking them, building an index, its size, searching.

    python -m bench.synonyms                        # 0, 2,000, 20,000 and 100,000 rules
    python -m bench.synonyms --rules 0 --rules 500

Set ELASTICSEARCH_URL to an Elasticsearch without other load. docs/synonyms.md has the results.
"""

import json
import random
import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import click
import requests
from elasticsearch import Elasticsearch

from bench.relevance import SAMPLE
from bench.results import echo_header, echo_row, milliseconds
from bench.service import (
    elasticsearch_url,
    get_search,
    index,
    lines,
    serving,
    start_command,
    temporary_alias,
)
from bench.turns import timed
from bench.workload import write_combined

SEARCHES = 300
_WARM_UP = 50


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


def _measure(client: Elasticsearch, number: int, posts: Path, words: Sequence[str]) -> list[str]:
    """A row of the table."""
    with tempfile.TemporaryDirectory() as folder, temporary_alias() as alias:
        rules = Path(folder) / "bench.synonyms"
        rules.write_text("".join(f"{line}\n" for line in rule_lines(number, words)))
        variables = {"BLOGSEARCH_SYNONYMS_DIR": folder}
        started = time.perf_counter()
        if start_command(alias, "synonyms", "check", str(rules), variables=variables).wait():
            raise click.ClickException("the rules have errors; see above")
        checked = time.perf_counter()
        index(posts, alias, variables=variables)
        ended = time.perf_counter()
        state = client.cluster.state(metric="metadata", index=alias).body
        with serving(alias, variables=variables) as served, requests.Session() as session:
            searches = [partial(get_search, session, served.url, q) for q in _queries(words)]
            times = [timed(search)() for search in searches][_WARM_UP:]
    return [
        *(f"{number:,}", f"{checked - started:.1f}", f"{ended - checked:.1f}"),
        *(f"{len(json.dumps(state)) / 1e6:.2f}", *milliseconds(times)),
    ]


def _queries(words: Sequence[str]) -> Iterator[str]:
    """One to three words of the posts, some of them misspelled."""
    generator = random.Random(4)
    for number in range(_WARM_UP + SEARCHES):
        chosen = [generator.choice(words) for _ in range(1 + number % 3)]
        if number % 4 == 0:
            chosen[0] = chosen[0][:-2] + chosen[0][-1]
        yield " ".join(chosen)


@click.command()
@click.option(
    "--rules", "numbers", multiple=True, type=int, default=(0, 2_000, 20_000, 100_000),
    show_default=True, help="Number of rules; may be repeated.",
)  # fmt: skip
@click.option("--posts", "count", default=2_000, show_default=True, help="Number of posts.")
def main(numbers: Sequence[int], count: int) -> None:
    """Measure the cost of synonym rules."""
    corpus = SAMPLE[0]
    texts = " ".join(post["text"].lower() for post in lines(corpus))
    words = sorted(set(re.findall(r"\b[a-z]{4,12}\b", texts)))
    with (
        tempfile.TemporaryDirectory() as folder,
        Elasticsearch(elasticsearch_url(), request_timeout=600) as client,
    ):
        posts = Path(folder) / "posts.jsonl"
        write_combined(corpus, count, posts)
        _measure(client, 0, posts, words)  # warms up the engine; not reported
        click.echo(f"{count:,} posts, {SEARCHES} searches each\n")
        echo_header(
            ["rules", "check, s", "reindex, s", "settings, MB", "search p50, ms", "p95, ms"]
        )
        for number in numbers:
            echo_row(_measure(client, number, posts, words))


if __name__ == "__main__":
    main()
