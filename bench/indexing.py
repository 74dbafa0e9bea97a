"""`reindex` and `sync` as commands, against the least that the same posts take; new posts."""

import json
import shutil
import statistics
import tempfile
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import Any

import requests
from elasticsearch import Elasticsearch, helpers

from bench.results import Goal, Section, Table
from bench.run import Run
from bench.service import get_search, index, lines, serving, start_command, temporary_alias
from bench.stream import TOKEN
from bench.turns import alternate, timed
from indexer.sources import SourceOptions, open_source

_BARE = "bench-bare"
_REINDEX_ROUNDS, _SYNC_ROUNDS = 3, 4


def index_bare(client: Elasticsearch, posts: Sequence[Mapping[str, Any]]) -> float:
    """Seconds of `parallel_bulk` into an index with the English analyzer, with its refresh."""
    text = {"type": "text", "analyzer": "english"}
    client.options(ignore_status=404).indices.delete(index=_BARE)
    client.indices.create(
        index=_BARE,
        settings={"number_of_replicas": 0, "refresh_interval": -1},
        mappings={"properties": {"title": text, "text": text}},
    )
    actions = (
        {"_index": _BARE, "_id": post["oid"], "title": post["title"], "text": post.get("text")}
        for post in posts
    )
    try:
        started = time.perf_counter()
        for _ in helpers.parallel_bulk(client, actions):
            pass
        client.indices.refresh(index=_BARE)
        return time.perf_counter() - started
    finally:
        client.indices.delete(index=_BARE)


def measure_reindex(run: Run) -> Section:
    """The command, from its start to its end, for files of different numbers of posts."""
    corpora = {posts: run.path(posts) for posts in run.sizes.reindex}
    seconds: dict[tuple[int, str], list[float]] = {}
    ratios: dict[int, float] = {}
    for number, path in corpora.items():
        posts = list(lines(path))
        with temporary_alias() as alias:
            turns: dict[tuple[int, str], Callable[[], float]] = {
                (number, "reindex"): _in_seconds(partial(index, path, alias)),
                (number, "bare English index"): partial(index_bare, run.client, posts),
            }
            seconds |= alternate(repeat(turns, _REINDEX_ROUNDS), warm_up=0)
            stats = run.client.indices.stats(index=alias, metric="store")
            stored = stats["_all"]["primaries"]["store"]
            ratios[number] = stored["size_in_bytes"] / path.stat().st_size
    medians = {key: statistics.median(times) for key, times in seconds.items()}
    first, last = next(iter(corpora)), list(corpora)[-1]
    goals = []
    for number in corpora:
        ours, bare = medians[number, "reindex"], medians[number, "bare English index"]
        note = f"{ours:.1f} and {bare:.1f} s"
        name = f"reindexing {number:,} posts"
        goals.append(Goal(name, "a bare English index", ours / bare, 5.0, " times", note=note))
    goals.append(Goal("size of the index", "the file of posts", ratios[first], 1.5, " times"))
    if last != first:
        slower = medians[last, "reindex"] / last / (medians[first, "reindex"] / first)
        goals.append(Goal(f"a post of {last:,}", f"a post of {first:,}", slower, 1.0, " times"))
    return Section(
        "Reindexing",
        f"`blogsearch reindex` as a command, {_REINDEX_ROUNDS} rounds in turn with `parallel_bulk` "
        "of title and text into an index with the English analyzer, which is made and refreshed in "
        "the same time.",
        goals,
        [
            Table(
                ["", "posts", "median s", "posts a second", "size, of the file's"],
                [
                    [
                        *(way, f"{number:,}", f"{spent:.1f}", f"{number / spent:,.0f}"),
                        f"{ratios[number]:.2f}" if way == "reindex" else "",
                    ]
                    for (number, way), spent in medians.items()
                ],
            )
        ],
        figures={f"{number} {way}": times for (number, way), times in seconds.items()},
    )


def measure_sync(run: Run) -> Section:
    """`sync` of a file in which one post is new, and a post that is written over HTTP, each until a
    search finds it; and reading the file alone. The goals are those of the smallest file."""
    seconds = {
        (posts, name): times
        for posts in run.sizes.sync
        for name, times in _seconds_of_a_new_post(run.path(posts)).items()
    }
    medians = {key: statistics.median(times) for key, times in seconds.items()}
    least = min(run.sizes.sync)
    return Section(
        "A new post",
        "The command `sync` with a file that has one new post, and `PUT /documents/…`, each until "
        f"a search over HTTP finds the post; {_SYNC_ROUNDS} rounds in turn after one that is "
        "dropped.",
        [
            Goal(f"a new post of {least:,} by {by}, until it is found", "–", spent, most, " s")
            for by, spent, most in (
                ("`sync`", medians[least, "sync"], 1.5),
                ("HTTP", medians[least, "HTTP"], 0.5),
            )
        ],
        [
            Table(
                ["", "posts", "median s", "slowest s"],
                [
                    [name, f"{posts:,}", f"{medians[posts, name]:.2f}", f"{max(times):.2f}"]
                    for (posts, name), times in seconds.items()
                ],
            )
        ],
        figures={f"{posts} {name}": times for (posts, name), times in seconds.items()},
    )


def _seconds_of_a_new_post(path: Path) -> dict[str, list[float]]:
    with (
        tempfile.TemporaryDirectory() as folder,
        requests.Session() as session,
        temporary_alias() as alias,
    ):
        source = Path(shutil.copy(path, folder))
        session.headers["Authorization"] = f"Bearer {TOKEN}"
        index(source, alias)
        with serving(alias, variables={"BLOGSEARCH_WRITE_TOKENS": TOKEN}) as served:

            def written(write: Callable[[str], None], oid: str) -> None:
                write(oid)
                while not _finds(session, served.url, oid):
                    time.sleep(0.01)

            sync = partial(_sync, alias, source)
            put = partial(_put, session, served.url)
            return alternate(
                {
                    "reading the file": _in_seconds(partial(_read, source)),
                    "sync": _in_seconds(partial(written, sync, f"file{nth}x")),
                    "HTTP": _in_seconds(partial(written, put, f"http{nth}x")),
                }
                for nth in range(_SYNC_ROUNDS + 1)
            )


def _read(path: Path) -> None:
    deque(open_source(str(path), None, SourceOptions()).read(), maxlen=0)


def _post(oid: str) -> dict[str, str]:
    """A post whose title no other post has."""
    return {"title": oid, "text": oid, "url": f"/{oid}/", "pub_date": "2024-01-02"}


def _sync(alias: str, path: Path, oid: str) -> None:
    with path.open("a") as file:
        file.write(json.dumps({"oid": oid, **_post(oid)}) + "\n")
    if start_command(alias, "sync", str(path), quiet=True).wait():
        raise RuntimeError("sync failed")


def _put(session: requests.Session, url: str, oid: str) -> None:
    session.put(f"{url}/documents/{oid}", json=_post(oid), timeout=60).raise_for_status()


def _finds(session: requests.Session, url: str, oid: str) -> bool:
    return any(hit["oid"] == oid for hit in get_search(session, url, oid)["hits"])


def _in_seconds(run: Callable[[], object]) -> Callable[[], float]:
    turn = timed(run)
    return lambda: turn() / 1000
