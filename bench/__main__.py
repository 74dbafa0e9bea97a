"""`make bench`: measures the speed of everything and writes a report.

    make bench                          # 15 to 19 minutes on 2 cores; generated posts
    make bench QUICK=1                  # a few minutes, for trying it
    make bench FULL=1                   # the sizes of the goals: 100,000 and 500,000 posts
    make bench DATA=FOLDER              # posts and queries of a folder, as for bench.relevance
    make bench ONLY=cached,memory       # some sections
    make bench MEILISEARCH=/path/to/meilisearch
    make bench PUBLISH=1                # put the tables into docs/performance.md as well

The engines are those of ELASTICSEARCH_URL and REDIS_URL, else devstack starts them. The report is
build/bench/report.md, with report.json beside it.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import click
from elasticsearch import Elasticsearch

from bench.browser import measure_browser
from bench.cached import measure_cached
from bench.indexing import measure_reindex, measure_sync
from bench.other_engines import measure_other_engines
from bench.processes import measure_commands, measure_memory, measure_start_up
from bench.results import Section, load, machine, publish, write
from bench.service import delete, elasticsearch_url, index
from bench.uncached import (
    measure_clients,
    measure_mix,
    measure_sizes,
    measure_typeahead,
    measure_uncached,
)
from bench.workload import Query, corpus_of, queries_of, write_combined
from devstack.instance import open_instance
from devstack.servers import REPOSITORY
from devstack.stack import Stack


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured. `queries`: of each kind. `seconds`: of a turn under load."""

    queries: int
    rounds: int
    seconds: float
    posts: tuple[int, ...]
    reindex: tuple[int, ...]
    sync: int
    searches: int


QUICK = Sizes(40, 2, 1.0, (200, 1_000, 3_000), (500, 2_000), 1_000, 5_000)
NORMAL = Sizes(200, 4, 2.0, (1_000, 10_000, 100_000), (2_737, 8_000), 1_500, 100_000)
FULL = Sizes(300, 8, 3.0, (1_000, 10_000, 100_000), (2_737, 98_500), 500_000, 100_000)


class Bench:
    """The indices that several sections search, each made when the first one needs it."""

    def __init__(self, sizes: Sizes, data: Path | None, meilisearch: str, folder: Path) -> None:
        self.sizes = sizes
        self.corpus, self.files = corpus_of(data)
        queries: list[Query] = queries_of(self.files, 2 * sizes.queries)  # in random order
        self.queries, self.warm_up = queries[::2], queries[1::2]
        self.meilisearch = meilisearch
        self.folder = folder
        self.client = Elasticsearch(elasticsearch_url(), request_timeout=120)
        self._stack = ExitStack()
        self._temporary = Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
        self._combined: dict[int, str] = {}

    def close(self) -> None:
        self._stack.close()
        self.client.close()

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
            say(f"  indexing {posts:,} posts")
            self._combined[posts] = self._index(self.path(posts), str(posts))
        return self._combined[posts]

    # -- the sections --------------------------------------------------------------------------

    def cached(self) -> Section:
        return measure_cached(self.alias, self.queries, self.sizes.seconds, self.sizes.rounds)

    def uncached(self) -> Section:
        posts = int(self.client.count(index=self.alias, q="kind:post")["count"])
        return measure_uncached(self.alias, posts, self.queries, self.warm_up)

    def posts(self) -> Section:
        aliases = {posts: self.combined(posts) for posts in self.sizes.posts}
        # They are in random order; more of them take a minute longer.
        return measure_sizes(aliases, self.queries[:360])

    def clients(self) -> Section:
        seconds, rounds = 2 * self.sizes.seconds, self.sizes.rounds // 2
        return measure_clients(self.alias, self.queries, seconds, rounds)

    def mix(self) -> Section:
        return measure_mix(self.alias, self.queries, 2 * self.sizes.seconds)

    def typeahead(self) -> Section:
        return measure_typeahead(self.alias, self.queries, self.sizes.rounds // 2)

    def startup(self) -> Section:
        return measure_start_up(self.alias, os.environ.get("REDIS_URL", ""), self.sizes.rounds)

    def commands(self) -> Section:
        return measure_commands(self.alias, 2 * self.sizes.rounds)

    def memory(self) -> Section:
        return measure_memory(self.alias, self.queries, self.sizes.searches)

    def reindex(self) -> Section:
        corpora = {posts: self.path(posts) for posts in self.sizes.reindex}
        return measure_reindex(self.client, corpora, 3)

    def sync(self) -> Section:
        return measure_sync(self.path(self.sizes.sync), self.sizes.sync, 4)

    def browser(self) -> Section | None:
        return measure_browser(self.alias, self.queries[:20])

    def engines(self) -> Section:
        return measure_other_engines(
            self.alias, self.corpus, self.files, self.sizes.queries, self.folder, self.meilisearch
        )


SECTIONS: dict[str, Callable[[Bench], Section | None]] = {
    "cached": Bench.cached,
    "uncached": Bench.uncached,
    "clients": Bench.clients,
    "mix": Bench.mix,
    "typeahead": Bench.typeahead,
    "startup": Bench.startup,
    "commands": Bench.commands,
    "memory": Bench.memory,
    "posts": Bench.posts,
    "sync": Bench.sync,
    "reindex": Bench.reindex,
    "browser": Bench.browser,
    "engines": Bench.engines,
}


def say(text: str) -> None:
    """Progress, on stderr."""
    click.echo(text, err=True)


def measure(
    bench: Bench, names: list[str], folder: Path, page: Path | None
) -> tuple[Path, list[str]]:
    """Measure sections and write the report after each, into `page` too if there is one; the path
    of the report, and what failed."""
    facts = machine(bench.client)
    sections: list[Section] = []
    failed: list[str] = []
    began = time.monotonic()
    path = write(folder, facts, sections)
    for nth, name in enumerate(names, 1):
        started = time.monotonic()
        say(f"[{nth}/{len(names)}] {name} …")
        try:
            section = SECTIONS[name](bench)
        except Exception as error:  # noqa: BLE001 -- the other sections are still of use
            say(f"  failed: {type(error).__name__}: {error}")
            failed.append(f"{name}: {type(error).__name__}: {error}")
            continue
        took = time.monotonic() - started
        if section is None:
            say("  left out: CHROMIUM is not set")
            continue
        sections.append(section)
        for goal in section.goals:
            sign = "reached" if goal.met else "NOT reached"
            say(f"  {goal.what}: {goal.value:.2f}{goal.unit} of {goal.against} ({sign})")
        say(f"  {took:.0f} s")
        facts |= {
            "load at the end": load(),
            "time": f"{(time.monotonic() - began) / 60:.1f} minutes",
            "failed sections": "; ".join(failed) or "none",
        }
        path = write(folder, facts, sections)
        if page:
            publish(page, facts, sections)
    return path, failed


@click.command()
@click.option("--data", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--quick", is_flag=True, help="Little of everything, for trying it.")
@click.option("--full", is_flag=True, help="The sizes of the goals: an estimated 90 minutes.")
@click.option("--only", default="", help=f"Some sections: {', '.join(SECTIONS)}.")
@click.option("--meilisearch", default="", help="The path of a Meilisearch binary.")
@click.option("--publish", "into_docs", is_flag=True, help="Into docs/performance.md as well.")
@click.option("--out", default=REPOSITORY / "build" / "bench", type=click.Path(path_type=Path))
def main(
    data: Path | None,
    quick: bool,
    full: bool,
    only: str,
    meilisearch: str,
    into_docs: bool,
    out: Path,
) -> None:
    """Measure the speed of the service on this machine, and write a report."""
    names = [name.strip() for name in only.split(",") if name.strip()]
    names = names or list(SECTIONS)
    if unknown := set(names) - set(SECTIONS):
        raise click.UsageError(f"There is no section {', '.join(unknown)}: {', '.join(SECTIONS)}.")
    # Engines whose URLs are set are used as they are.
    with Stack(open_instance(os.environ), os.environ).using(keep=False) as urls:
        os.environ.update(urls)
        bench = Bench(QUICK if quick else FULL if full else NORMAL, data, meilisearch, out)
        try:
            page = REPOSITORY / "docs" / "performance.md" if into_docs else None
            path, failed = measure(bench, names, out, page)
        finally:
            bench.close()
    click.echo(path.read_text())
    say(f"the report: {path}")
    if failed:
        sys.exit(1)


if __name__ == "__main__":
    main()
