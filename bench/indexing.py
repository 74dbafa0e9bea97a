"""`reindex` and `sync` as commands, against the least that the same posts take; new posts."""

import json
import shutil
import statistics
import tempfile
import time
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import requests
from elasticsearch import Elasticsearch, helpers

from bench.results import Goal, Section, Table
from bench.service import delete, get_search, index, lines, serving, start_command
from bench.stream import TOKEN
from indexer.sources import SourceOptions, open_source

_BARE = "bench-bare"
_OURS = "bench-reindex"


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


def measure_reindex(client: Elasticsearch, corpora: Mapping[int, Path], rounds: int) -> Section:
    """The command, from its start to its end, for files of different numbers of posts.

    Args:
        corpora: the files by their number of posts, the smallest first.
    """
    seconds: dict[tuple[int, str], list[float]] = defaultdict(list)
    ratios: dict[int, float] = {}
    try:
        for number, path in corpora.items():
            posts = list(lines(path))
            for _ in range(rounds):
                started = time.perf_counter()
                index(path, _OURS)
                seconds[number, "reindex"].append(time.perf_counter() - started)
                seconds[number, "bare English index"].append(index_bare(client, posts))
            stored = client.indices.stats(index=_OURS, metric="store")["_all"]["primaries"]["store"]
            ratios[number] = stored["size_in_bytes"] / path.stat().st_size
            delete(_OURS)
    finally:
        delete(_OURS)
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
        f"`blogsearch reindex` as a command, {rounds} rounds in turn with `parallel_bulk` of title "
        "and text into an index with the English analyzer, which is made and refreshed in the "
        "same time.",
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


def measure_sync(path: Path, posts: int, rounds: int) -> Section:
    """`sync` of a file in which one post is new, and a post that is written over HTTP, each until a
    search finds it; and reading the file alone."""
    seconds: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder, requests.Session() as session:
        source = Path(shutil.copy(path, folder))
        session.headers["Authorization"] = f"Bearer {TOKEN}"
        try:
            index(source, _OURS)
            with serving(_OURS, variables={"BLOGSEARCH_WRITE_TOKENS": TOKEN}) as served:
                for nth in range(rounds + 1):
                    turns: dict[str, Callable[[], str | None]] = {
                        "reading the file": partial(_read, source),
                        "sync": partial(_sync, source, f"file{nth}x"),
                        "HTTP": partial(_put, session, served.url, f"http{nth}x"),
                    }
                    for name, turn in turns.items():
                        started = time.perf_counter()
                        oid = turn()
                        while oid and not _finds(session, served.url, oid):
                            time.sleep(0.01)
                        if nth:
                            seconds[name].append(time.perf_counter() - started)
        finally:
            delete(_OURS)
    medians = {name: statistics.median(times) for name, times in seconds.items()}
    return Section(
        f"A new post ({posts:,} posts)",
        "The command `sync` with a file that has one new post, and `PUT /documents/…`, each until "
        f"a search over HTTP finds the post; {rounds} rounds in turn, one before them dropped.",
        [
            Goal("a new post by `sync`, until it is found", "–", medians["sync"], 1.5, " s"),
            Goal("a new post by HTTP, until it is found", "–", medians["HTTP"], 0.5, " s"),
        ],
        [
            Table(
                ["", "median s", "slowest s"],
                [
                    [name, f"{medians[name]:.2f}", f"{max(times):.2f}"]
                    for name, times in seconds.items()
                ],
            )
        ],
        figures=dict(seconds),
    )


def _read(path: Path) -> None:
    deque(open_source(str(path), None, SourceOptions()).read(), maxlen=0)


def _post(oid: str) -> dict[str, str]:
    """A post whose title no other post has."""
    return {"title": oid, "text": oid, "url": f"/{oid}/", "pub_date": "2024-01-02"}


def _sync(path: Path, oid: str) -> str:
    with path.open("a") as file:
        file.write(json.dumps({"oid": oid, **_post(oid)}) + "\n")
    if start_command(_OURS, "sync", str(path), quiet=True).wait():
        raise RuntimeError("sync failed")
    return oid


def _put(session: requests.Session, url: str, oid: str) -> str:
    session.put(f"{url}/documents/{oid}", json=_post(oid), timeout=60).raise_for_status()
    return oid


def _finds(session: requests.Session, url: str, oid: str) -> bool:
    return any(hit["oid"] == oid for hit in get_search(session, url, oid)["hits"])
