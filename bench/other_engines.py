"""The same posts and queries in other engines: time and quality side by side.

SQLite FTS5 comes with Python. minisearch needs Node.js and npm, and is installed into the folder of
the report. Meilisearch needs the path of its binary. What is missing is left out.
"""

import json
import os
import re
import shutil
import sqlite3
import statistics
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import requests

from bench.relevance import NONSENSE, Judged, ndcg, reciprocal_rank
from bench.results import Section, Table, milliseconds
from bench.service import get_search, lines, serving
from devstack.servers import free_port

Json = dict[str, Any]
Rank = Callable[[str], list[str]]
"""The oids of the ten best posts for a query."""

_TAGS = re.compile(r"<[^>]+>")
_START = 60.0  # seconds an engine may take to start and to index


def measure_other_engines(
    alias: str,
    corpus: Path,
    files: Sequence[Path],
    number: int,
    folder: Path,
    meilisearch: str,
) -> Section:
    """Times and quality of `number` judged queries and known items; the engines take turns."""
    posts = [_plain(post) for post in lines(corpus)]
    judged, known = _samples(files, number)
    with ExitStack() as stack:
        engines: dict[str, Rank] = {"blogsearch, not cached": stack.enter_context(_ours(alias))}
        engines["SQLite FTS5"] = stack.enter_context(_sqlite(posts))
        versions = {"SQLite FTS5": sqlite3.sqlite_version}
        if shutil.which("node") and shutil.which("npm"):
            engines["minisearch"] = stack.enter_context(_minisearch(posts, folder))
        if meilisearch:
            engines["Meilisearch"] = stack.enter_context(_meilisearch(posts, meilisearch))
            said = subprocess.run([meilisearch, "--version"], check=True, capture_output=True)
            versions["Meilisearch"] = said.stdout.decode().split()[-1]
        times: dict[str, list[float]] = {name: [] for name in engines}
        found: dict[str, list[tuple[Judged, list[str]]]] = {name: [] for name in engines}
        for rank in engines.values():
            for query in judged[:20]:
                rank(query.q)  # warm-up
        for query in [*judged, *known]:
            for name, rank in engines.items():
                started = time.perf_counter()
                ranking = rank(query.q)
                times[name].append((time.perf_counter() - started) * 1000)
                found[name].append((query, ranking))
    rows = []
    for name in engines:
        quality = found[name][: len(judged)]
        items = found[name][len(judged) :]
        rows.append(
            [
                f"{name} {versions.get(name, '')}".strip(),
                *milliseconds(times[name]),
                f"{_macro(quality, lambda one, ranking: ndcg(ranking, one.grades)):.3f}",
                f"{_macro(items, lambda one, ranking: reciprocal_rank(ranking, one.grades)):.3f}"
                if items
                else "–",
            ]
        )
    return Section(
        "Other engines",
        f"{len(posts):,} posts; {len(judged):,} judged queries and {len(known):,} known items, "
        "alternating. SQLite and minisearch rank title and text with the title four times as "
        "heavy, any word being enough; minisearch is fuzzy (0.2) and takes prefixes, SQLite "
        "neither. blogsearch and Meilisearch are asked over HTTP, the others in their process. "
        "Only blogsearch and Meilisearch return highlights. nDCG@10 is the mean over kinds of "
        "queries without `nonsense`, MRR the mean over kinds of known items.",
        tables=[Table(["engine", "median ms", "p95 ms", "nDCG@10", "known items, MRR"], rows)],
        bars={name: statistics.median(spent) for name, spent in times.items()},
        figures=times,
    )


def _plain(post: Mapping[str, Any]) -> Json:
    return {
        "id": post["oid"],
        "title": _TAGS.sub(" ", post["title"]),
        "text": _TAGS.sub(" ", post.get("text") or ""),
    }


def _samples(files: Sequence[Path], number: int) -> tuple[list[Judged], list[Judged]]:
    """Every n-th query, so that there are about `number` of either sort."""
    judged: list[Judged] = []
    known: list[Judged] = []
    for path in files:
        for line in lines(path):
            (judged if "grades" in line else known).append(Judged.of(line))
    return judged[:: max(1, len(judged) // number)], known[:: max(1, len(known) // number)]


def _macro(
    pairs: Sequence[tuple[Judged, list[str]]], measure: Callable[[Judged, list[str]], float]
) -> float:
    kinds: dict[str, list[float]] = {}
    for query, ranking in pairs:
        if query.kind != NONSENSE:
            kinds.setdefault(query.kind, []).append(measure(query, ranking))
    return statistics.fmean(statistics.fmean(values) for values in kinds.values())


@contextmanager
def _ours(alias: str) -> Iterator[Rank]:
    with serving(alias) as served, requests.Session() as session:
        yield lambda q: [hit["oid"] for hit in get_search(session, served.url, q)["hits"]]


@contextmanager
def _sqlite(posts: Sequence[Json]) -> Iterator[Rank]:
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute(
            "CREATE VIRTUAL TABLE posts USING fts5(id UNINDEXED, title, text, "
            "tokenize='porter unicode61')"
        )
        database.executemany("INSERT INTO posts VALUES (:id, :title, :text)", posts)

        def rank(q: str) -> list[str]:
            words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", q))
            rows = database.execute(
                "SELECT id FROM posts WHERE posts MATCH ? ORDER BY bm25(posts, 0, 4, 1) LIMIT 10",
                [words or '""'],
            )
            return [row[0] for row in rows]

        yield rank


_MINISEARCH = """
const MiniSearch = require("minisearch");
const readline = require("readline").createInterface({input: process.stdin});
let index = new MiniSearch({fields: ["title", "text"]});
readline.on("line", (line) => {
  const asked = JSON.parse(line);
  if (asked.posts) index.addAll(asked.posts);
  const options = {boost: {title: 4}, fuzzy: 0.2, prefix: true};
  const found = asked.q ? index.search(asked.q, options).slice(0, 10).map((one) => one.id) : [];
  process.stdout.write(JSON.stringify(found) + "\\n");
});
"""


@contextmanager
def _minisearch(posts: Sequence[Json], folder: Path) -> Iterator[Rank]:
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "node_modules" / "minisearch").exists():
        command = ["npm", "install", "--silent", "--no-audit", "--no-fund", "minisearch"]
        (folder / "package.json").write_text("{}")
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    with subprocess.Popen(
        ["node", "-e", _MINISEARCH],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:

        def send(value: Json) -> list[str]:
            assert process.stdin
            assert process.stdout
            process.stdin.write(json.dumps(value) + "\n")
            process.stdin.flush()
            found: list[str] = json.loads(process.stdout.readline())
            return found

        send({"posts": list(posts)})
        try:
            yield lambda q: send({"q": q})
        finally:
            process.kill()


@contextmanager
def _meilisearch(posts: Sequence[Json], binary: str) -> Iterator[Rank]:
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder, requests.Session() as session:
        url = f"http://127.0.0.1:{port}"
        process = subprocess.Popen(
            [
                *(binary, "--http-addr", f"127.0.0.1:{port}"),
                *("--db-path", f"{folder}/db", "--no-analytics"),
            ],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={"PATH": os.environ["PATH"]},
        )
        try:
            _await(f"{url}/health")
            # Its ids take no other characters; ours are put back from the number.
            documents = [{**post, "id": number} for number, post in enumerate(posts)]
            task = session.post(f"{url}/indexes/posts/documents", json=documents).json()
            task["uid"] = task["taskUid"]
            deadline = time.monotonic() + _START * 5
            while task["status"] != "succeeded":
                if task["status"] == "failed" or time.monotonic() > deadline:
                    raise RuntimeError(f"Meilisearch did not index the posts: {task}")
                time.sleep(0.2)
                task = session.get(f"{url}/tasks/{task['uid']}").json()

            def rank(q: str) -> list[str]:
                body = {"q": q, "limit": 10, "attributesToHighlight": ["title", "text"]}
                body |= {"attributesToCrop": ["text"], "matchingStrategy": "frequency"}
                answer = session.post(f"{url}/indexes/posts/search", json=body).json()
                return [posts[hit["id"]]["id"] for hit in answer["hits"]]

            yield rank
        finally:
            process.terminate()
            process.wait(30)


def _await(url: str) -> None:
    deadline = time.monotonic() + _START
    while True:
        try:
            urllib.request.urlopen(url, timeout=1).close()
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
