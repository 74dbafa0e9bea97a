"""Implements `make bench`: compares the speed of everything with a minimal baseline in one table.

    make bench                     # 5 minutes on 2 idle cores, with the sample
    make bench DATA=FOLDER         # posts and queries of a folder, as for bench.relevance
    make bench FULL=1              # 98,500 posts to reindex, 500,000 to synchronise
    make bench FORMER=TREE         # beside another commit, too: a clone with a .venv of its own
    make bench PEER='http://127.0.0.1:7700/indexes/posts/search?q={q}'    # and another engine
    make bench ONLY=cached,start   # some sections
    make bench PUBLISH=1           # the table goes into docs/performance.md, too

Compared things alternate in one run, and their medians are divided: other work of the machine
changes milliseconds more than ratios. A *bare request* is `combined_fields` on title and text with
ten hits and highlights; a *bare view* is a Flask view that sends that request and nothing else
(`bench/bare_app.py`), under the same gunicorn. Another commit searches an index that it has built.
The engines are those of ELASTICSEARCH_URL and REDIS_URL, or else devstack starts them.
"""

import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from http.client import HTTPException
from itertools import repeat
from pathlib import Path
from subprocess import DEVNULL, check_output
from typing import Any
from urllib.parse import quote

import click
import psutil
import requests
from elasticsearch import Elasticsearch, helpers

from bench.load import highest_rate
from bench.results import Table, p95, put_between
from bench.service import (
    BARE_APP,
    TOKEN,
    elasticsearch_url,
    fill_cache,
    get_search,
    getting,
    index,
    indexed,
    lines,
    serving,
    start_command,
    temporary_alias,
)
from bench.turns import alternate, timed
from bench.workload import (
    CORRECT,
    MISTYPED,
    OWN_WORDS,
    TYPED,
    Query,
    combined,
    corpus_of,
    different,
    queries_of,
    typed_of,
)
from devstack.instance import open_instance
from devstack.servers import REPOSITORY, elasticsearch_nodes, python_of, redis_server
from devstack.stack import Stack

HEARTBEAT = "/__lbheartbeat__"
_PUBLIC = {
    "BLOGSEARCH_RATE_LIMIT": "10000000/minute",
    "BLOGSEARCH_CORS_ORIGINS": "https://blog.example.org,https://www.example.org",
}
"""The settings that SECURITY.md recommends for a public site; no request reaches the limit."""
_BROWSER = {"Origin": "https://blog.example.org", "Accept-Encoding": "gzip, deflate"}


_AGAIN = "mistyped, seen before"
_GOALS = {CORRECT: "0.6", MISTYPED: "0.5", OWN_WORDS: "0.6", TYPED: "0.6", _AGAIN: "0.5"}
"""The goals for ratios to the former commit."""
_BARE, _PEER = "bare English index", "peer"


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table: `value` is a ratio to `against`, or has a unit; `goal` is its maximum,
    or its minimum with a leading `≥`; empty: the value is only reported."""

    what: str
    against: str
    value: float
    goal: str
    figures: str
    unit: str = ""

    @property
    def met(self) -> bool:
        """Whether the goal is reached."""
        if self.goal.startswith("≥"):
            return self.value >= float(self.goal[1:])
        return self.value <= float(self.goal)

    def cells(self) -> list[str]:
        met = ("yes" if self.met else "**no**") if self.goal else "–"
        value = f"{self.value:.2f} {self.unit}".strip()
        goal = f"{self.goal} {self.unit}".strip() if self.goal else "–"
        return [self.what, self.against, value, goal, met, self.figures]


@dataclass(frozen=True, slots=True)
class Run:
    """The options of a run: the posts, the files of queries, the tree of a former commit, the URL
    of a peer's search with {q} for the query, and the numbers of queries, rounds and posts."""

    corpus: Path
    files: Sequence[Path]
    former: Path | None = None
    peer: str = ""
    number: int = 200
    rounds: int = 4
    seconds: float = 2.0
    reindexed: tuple[int, ...] = (2_737,)
    synchronised: int = 1_500
    searched: int = 2_000

    @property
    def former_name(self) -> str:
        """The commit of the former tree; "" without one."""
        return _commit_of(self.former) if self.former else ""


Section = Callable[[Run, str], Iterator[Row]]
"""Measures one subject; gets an alias with the posts."""


def measure_uncached(run: Run, alias: str) -> Iterator[Row]:
    """Send each query once to the service, to that of the former commit, to the peer and, correctly
    spelled, to the bare view, after as many others of the same kinds to warm up; mistyped ones
    again in another search."""
    queries = queries_of(run.files, 2 * run.number)
    warm_up, measured = queries[1::2], queries[::2]
    measured = [*measured, *typed_of(measured)]
    again = [replace(query, kind=_AGAIN) for query in measured if query.kind == MISTYPED]
    with ExitStack() as stack:
        store = stack.enter_context(redis_server()).url
        served = {
            "search": serving(alias, redis_url=store),
            "bare view": serving(alias, app=BARE_APP, ready="/search?q=python"),
        }
        if run.former:
            former = stack.enter_context(indexed(run.corpus, tree=run.former))
            served[run.former_name] = serving(former, redis_url=store, tree=run.former)
        gets = {
            name: stack.enter_context(getting(stack.enter_context(service).url))
            for name, service in served.items()
        }
        if run.peer:
            gets[_PEER] = stack.enter_context(getting(run.peer))

        def rounds() -> Iterator[dict[tuple[str, str], Callable[[], float]]]:
            for query in [*warm_up, *measured, *again]:
                paths = dict.fromkeys(gets, _path(query))
                paths["bare view"] = f"/search?q={quote(query.meant)}"
                paths[_PEER] = run.peer.replace("{q}", quote(query.q))
                yield {
                    (query.kind, name): timed(partial(get, paths[name]))
                    for name, get in gets.items()
                }

        times = alternate(rounds(), len(warm_up))
    for (kind, name), theirs in times.items():
        if name != "search":
            goal = _GOALS[kind] if run.former and name == run.former_name else ""
            yield _ratio(f"not cached: {kind}", name, times[kind, "search"], theirs, goal)


def _path(query: Query) -> str:
    options = {TYPED: "&typing=on", _AGAIN: "&size=9"}
    return f"/search?q={quote(query.q)}{options.get(query.kind, '')}"


def measure_cached(run: Run, alias: str) -> Iterator[Row]:
    """Measure requests per second by 16 clients: one cached answer, against the heartbeat."""
    path = f"/search?q={quote(queries_of(run.files, 1)[0].meant)}"
    with redis_server() as store, ExitStack() as stack:
        serve = partial(serving, alias, workers=2, redis_url=store.url)
        service = stack.enter_context(serve())
        public = stack.enter_context(serve(variables=_PUBLIC))
        fill_cache(service.url, path)
        fill_cache(public.url, path, _BROWSER)
        turns: dict[str, Callable[[], float]] = {
            "cached": partial(highest_rate, service.url, [path], run.seconds),
            "public": partial(highest_rate, public.url, [path], run.seconds, _BROWSER),
            "heartbeat": partial(highest_rate, service.url, [HEARTBEAT], run.seconds),
        }
        rates = alternate(repeat(turns, run.rounds + 1))
    medians = {name: statistics.median(values) for name, values in rates.items()}
    for name, what, goal in (
        ("cached", "a cached search, rate", "≥0.75"),
        ("public", "… with rate limit, CORS list, compression", "≥0.70"),
    ):
        figures = f"{medians[name]:,.0f} and {medians['heartbeat']:,.0f} a second"
        yield Row(what, "heartbeat", medians[name] / medians["heartbeat"], goal, figures)


def measure_reindex(run: Run, alias: str) -> Iterator[Row]:
    """Measure the command from start to end, against that of the former commit and `parallel_bulk`
    of title and text into an index with the English analyzer; and the size of the index, against
    the file of its posts."""
    for number in run.reindexed:
        with (
            combined(run.corpus, number) as path,
            temporary_alias() as own,
            Elasticsearch(elasticsearch_url(), request_timeout=120) as client,
            ExitStack() as stack,
        ):
            posts = list(lines(path))
            turns: dict[str, Callable[[], float]] = {
                "reindex": timed(partial(index, path, own)),
                _BARE: partial(_index_bare, client, f"{own}-bare", posts),
            }
            if run.former:
                theirs = stack.enter_context(temporary_alias())
                former = partial(index, path, theirs, tree=run.former)
                turns[run.former_name] = timed(former)
            times = alternate(repeat(turns, 3), warm_up=0)
            client.indices.delete(index=f"{own}-bare")
        what = f"`reindex` of {number:,} posts"
        for name in times.keys() - {"reindex"}:
            goal = "" if name == _BARE else "0.6"
            yield _ratio(what, name, times["reindex"], times[name], goal)
    with Elasticsearch(elasticsearch_url()) as client:
        stats = client.indices.stats(index=alias, metric="store")["_all"]["primaries"]
    size = stats["store"]["size_in_bytes"]
    written = sum(len(json.dumps(post, ensure_ascii=False).encode()) for post in lines(run.corpus))
    figures = f"{size / 2**20:.1f} and {written / 2**20:.1f} MB"
    yield Row("index of the posts as they are", "their file", size / written, "1.2", figures)


def measure_sync(run: Run, alias: str) -> Iterator[Row]:
    """Measure the time until a search finds a new post, by `sync` of a file and by HTTP."""
    with (
        combined(run.corpus, run.synchronised) as path,
        indexed(path) as own,
        serving(own, variables={"BLOGSEARCH_WRITE_TOKENS": TOKEN}) as served,
        requests.Session() as session,
    ):
        session.headers["Authorization"] = f"Bearer {TOKEN}"

        def written(write: Callable[[str], None], oid: str) -> None:
            write(oid)
            while not any(
                hit["oid"] == oid for hit in get_search(session, served.url, oid)["hits"]
            ):
                time.sleep(0.01)

        def sync(oid: str) -> None:
            with path.open("a") as file:
                file.write(json.dumps({"oid": oid, **_post(oid)}) + "\n")
            if start_command(own, "sync", str(path), stderr=DEVNULL).wait():
                raise click.ClickException("sync failed")

        def put(oid: str) -> None:
            address = f"{served.url}/documents/{oid}"
            session.put(address, json=_post(oid), timeout=60).raise_for_status()

        times = alternate(
            {
                "sync": timed(partial(written, sync, f"file{nth}x")),
                "HTTP": timed(partial(written, put, f"http{nth}x")),
            }
            for nth in range(run.rounds + 1)
        )
    goal = "8" if run.synchronised > 100_000 else "1.5"
    for name, most in (("sync", goal), ("HTTP", "0.5")):
        seconds = statistics.median(times[name]) / 1000
        what = f"a new post of {run.synchronised:,} by {name}, until it is found"
        yield Row(what, "–", seconds, most, f"at most {max(times[name]) / 1000:.2f} s", "s")


def measure_start(run: Run, alias: str) -> Iterator[Row]:
    """Measure from the start of gunicorn to its first answer, and a command from start to end."""

    def start() -> None:
        with serving(alias, workers=2, ready="/search?q=start&size=1", interval=0.005):
            pass

    def search() -> None:
        start_command(alias, "search", "python", stderr=DEVNULL).wait()

    turns = {"service": timed(start), "search": timed(search)}
    times = alternate(repeat(turns, run.rounds + 1))
    for name, what, goal in (
        ("service", "from starting gunicorn to the first answer", "2"),
        ("search", "`blogsearch search`", "1"),
    ):
        seconds = statistics.median(times[name]) / 1000
        yield Row(what, "–", seconds, goal, f"at most {max(times[name]) / 1000:.2f} s", "s")


def measure_memory(run: Run, alias: str) -> Iterator[Row]:
    """Measure the memory of a worker after many different searches, and of all processes of a
    service of one worker with 1,500 posts and its own engines; the heap is the one for 1 GB in
    docs/operations.md. Pages that processes share count once."""
    held: dict[Path, tuple[float, float]] = {}
    for tree in filter(None, (REPOSITORY, run.former)):
        with (
            elasticsearch_nodes(1, heap="256m") as (node,),
            combined(run.corpus, 1_500) as path,
            redis_server() as store,
            temporary_alias() as own,
        ):
            there = {"ELASTICSEARCH_URL": node.url}
            index(path, own, there, tree)
            with (
                serving(own, redis_url=store.url, variables=there, tree=tree) as served,
                getting(served.url) as get,
            ):
                for q in different(run.corpus, run.searched):
                    get(f"/search?q={quote(q)}")
                worker = sum(map(_megabytes, served.workers()))
                others = (served.process.pid, store.process.pid, node.pid)
                held[tree] = worker, worker + sum(map(_megabytes, map(psutil.Process, others)))
    after = f"after {run.searched:,} searches"
    yield Row(f"memory of all processes {after}", "–", held[REPOSITORY][1], "1000", "", "MB")
    if run.former:
        pairs = zip(held[REPOSITORY], held[run.former], strict=True)
        for what, (ours, theirs) in zip(("a worker", "all processes"), pairs, strict=True):
            figures = f"{ours:.0f}/{theirs:.0f} MB"
            yield Row(f"memory of {what} {after}", run.former_name, ours / theirs, "1", figures)


def _megabytes(process: psutil.Process) -> float:
    return float(process.memory_full_info().pss) / 1e6


SECTIONS: dict[str, Section] = {
    "uncached": measure_uncached,
    "cached": measure_cached,
    "start": measure_start,
    "reindex": measure_reindex,
    "sync": measure_sync,
    "memory": measure_memory,
}


def _ratio(what: str, against: str, ours: Sequence[float], bare: Sequence[float], goal: str) -> Row:
    """Return a row for the ratio of two medians of milliseconds."""
    median, bare_median = statistics.median(ours), statistics.median(bare)
    figures = f"{median:.1f}/{bare_median:.1f} ms, p95 {p95(ours):.1f}/{p95(bare):.1f}"
    return Row(what, against, median / bare_median, goal, figures)


def _post(oid: str) -> dict[str, str]:
    """Return a post with a title that no other post has."""
    return {"title": oid, "text": oid, "url": f"/{oid}/", "pub_date": "2024-01-02"}


def _index_bare(client: Elasticsearch, name: str, posts: Sequence[Mapping[str, Any]]) -> float:
    """Return the milliseconds for creating, filling and refreshing a bare index."""
    text = {"type": "text", "analyzer": "english"}
    client.options(ignore_status=404).indices.delete(index=name)
    actions = (
        {"_index": name, "_id": post["oid"], "title": post["title"], "text": post.get("text")}
        for post in posts
    )

    def fill() -> None:
        client.indices.create(
            index=name,
            settings={"number_of_replicas": 0, "refresh_interval": -1},
            mappings={"properties": {"title": text, "text": text}},
        )
        for _ in helpers.parallel_bulk(client, actions):
            pass
        client.indices.refresh(index=name)

    return timed(fill)()


def _commit_of(tree: Path) -> str:
    command = ["git", "-C", str(tree), "rev-parse", "--short", "HEAD"]
    return check_output(command, text=True).strip()


def _machine() -> str:
    """Describe the machine and versions that the figures depend on."""
    memory, commit = psutil.virtual_memory().total / 2**30, _commit_of(REPOSITORY)
    return (
        f"Commit {commit}; {os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()}, "
        f"Python {platform.python_version()}; load {os.getloadavg()[0]:.1f} at the end."
    )


@click.command()
@click.option("--data", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--former", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--peer", default="", help="The URL of another engine's search, with {q}.")
@click.option("--full", is_flag=True, help="The sizes of the goals: 40 minutes.")
@click.option("--quick", is_flag=True, help="Little of everything, for trying it.")
@click.option("--only", default="", help=f"Some sections: {', '.join(SECTIONS)}.")
@click.option("--publish", is_flag=True, help="Into docs/performance.md as well.")
def main(
    data: Path | None,
    former: Path | None,
    peer: str,
    full: bool,
    quick: bool,
    only: str,
    publish: bool,
) -> None:
    """Measure the speed of the service on this machine."""
    names = [name.strip() for name in only.split(",") if name.strip()] or list(SECTIONS)
    if unknown := set(names) - set(SECTIONS):
        raise click.UsageError(f"There is no section {', '.join(unknown)}: {', '.join(SECTIONS)}.")
    run = Run(*corpus_of(data), former and former.resolve(), peer)
    if run.former:
        python_of(run.former)  # not after minutes of work
    if peer:
        try:
            with getting(peer) as get:
                get(peer.replace("{q}", "python"))
        except (OSError, HTTPException, AssertionError) as problem:
            raise click.ClickException(f"The peer does not answer: {problem}.") from None
    if full:
        run = replace(run, number=300, rounds=8, seconds=3.0, searched=20_000)
        run = replace(run, reindexed=(2_737, 98_500), synchronised=500_000)
    elif quick:
        run = replace(run, number=30, rounds=2, seconds=1.0, searched=100)
        run = replace(run, reindexed=(500,), synchronised=500)
    header = ["what", "against", "measured", "goal", "reached", "figures"]
    rows: list[Row] = []
    with Stack(open_instance(os.environ), os.environ).using(keep=False) as urls:
        os.environ.update(urls)
        with indexed(run.corpus) as alias, Elasticsearch(elasticsearch_url()) as client:
            # Otherwise Elasticsearch would have half the answer to a repeated query in its cache.
            uncached = {"index.requests.cache.enable": False}
            client.indices.put_settings(index=alias, settings=uncached)
            for name in names:
                click.echo(f"{name} …", err=True)
                for row in SECTIONS[name](run, alias):
                    rows.append(row)
                    click.echo(" | ".join(row.cells()), err=True)
    text = f"{_machine()}\n\n{Table(header, [row.cells() for row in rows]).markdown()}"
    click.echo(text)
    if publish:
        page = REPOSITORY / "docs" / "performance.md"
        page.write_text(put_between(page.read_text(), "run", text))


if __name__ == "__main__":
    main()
