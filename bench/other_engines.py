"""The same posts and queries in other engines: time and quality side by side.

SQLite FTS5 comes with Python. Pagefind needs npm, with which it is installed into the folder of the
report, and CHROMIUM. Meilisearch needs the path of its binary. What is missing is left out.
"""

import html
import os
import re
import shutil
import sqlite3
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import requests

from bench.browser import chromium
from bench.relevance import NONSENSE, Judged, ndcg, reciprocal_rank
from bench.results import Goal, Section, Table, milliseconds, p95
from bench.run import Run
from bench.service import get_search, indexed, lines, serving
from bench.turns import alternate
from devstack.servers import free_port, running_process

Json = dict[str, Any]
Rank = Callable[[str], list[str]]
"""The oids of the ten best posts for a query."""
Running = tuple[Rank, float]
"""An engine, and the seconds that it took to index the posts."""

_TAGS = re.compile(r"<[^>]+>")
_OURS, _MEILISEARCH = "blogsearch, not cached", "Meilisearch"
_INDEXING = 300.0  # seconds that Meilisearch may take


def measure_other_engines(run: Run) -> Section:
    """Times and quality of judged queries and known items; the engines take turns."""
    posts = [_plain(post) for post in lines(run.corpus)]
    judged, known = _samples(run.files, run.sizes.queries)
    with ExitStack() as stack:
        running = {
            _OURS: stack.enter_context(_ours(run.alias, run.corpus)),
            f"SQLite FTS5 {sqlite3.sqlite_version}": stack.enter_context(_sqlite(posts)),
        }
        if shutil.which("npm") and os.environ.get("CHROMIUM"):
            running["Pagefind, in a browser"] = stack.enter_context(_pagefind(posts, run.folder))
        if run.meilisearch:
            running[_MEILISEARCH] = stack.enter_context(_meilisearch(posts, run.meilisearch))

        def turn(rank: Rank, query: Judged) -> tuple[float, list[str]]:
            started = time.perf_counter()
            ranking = rank(query.q)
            return (time.perf_counter() - started) * 1000, ranking

        warm_up = judged[:20]
        queries = [*judged, *known]
        results = alternate(
            (
                {name: partial(turn, rank, query) for name, (rank, _) in running.items()}
                for query in [*warm_up, *queries]
            ),
            len(warm_up),
        )
    times = {name: [spent for spent, _ in turns] for name, turns in results.items()}
    rows = []
    for name, (_, indexing) in running.items():
        rankings = [ranking for _, ranking in results[name]]
        pairs = list(zip(queries, rankings, strict=True))
        ndcgs = _macro(pairs[: len(judged)], ndcg)
        mrr = _macro(pairs[len(judged) :], reciprocal_rank)
        rows.append([name, f"{indexing:.1f}", *milliseconds(times[name]), ndcgs, mrr])
    return Section(
        "Other engines",
        f"{len(posts):,} posts; {len(judged):,} judged queries and {len(known):,} known items, "
        "alternating. SQLite ranks title and text with the title four times as heavy, any word "
        "being enough. blogsearch and Meilisearch are asked over HTTP and return highlights; "
        "SQLite is asked in this process, and Pagefind in Chromium, where it loads ten results. "
        "Indexing is a whole command, without the start of a server. nDCG@10 is the mean over "
        "kinds of queries without `nonsense`, MRR the mean over kinds of known items.",
        _goals(times, running),
        [
            Table(
                ["engine", "indexing, s", "median ms", "p95 ms", "nDCG@10", "known items, MRR"],
                rows,
            )
        ],
        figures=times,
    )


def _goals(times: Mapping[str, list[float]], running: Mapping[str, Running]) -> list[Goal]:
    """What is compared with Meilisearch, if it is there."""
    if _MEILISEARCH not in running:
        return []
    mine, other = times[_OURS], times[_MEILISEARCH]
    figures = {
        "a search, median": (statistics.median(mine), statistics.median(other), "ms"),
        "a search, p95": (p95(mine), p95(other), "ms"),
        "indexing": (running[_OURS][1], running[_MEILISEARCH][1], "s"),
    }
    return [
        Goal(
            name,
            "Meilisearch",
            ours / theirs,
            1.0,
            " times",
            note=f"{ours:.1f}, {theirs:.1f} {unit}",
        )
        for name, (ours, theirs, unit) in figures.items()
    ]


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
    pairs: Sequence[tuple[Judged, list[str]]],
    measure: Callable[[Sequence[str], Mapping[str, int]], float],
) -> str:
    """The mean over the kinds of queries."""
    kinds: dict[str, list[float]] = {}
    for query, ranking in pairs:
        if query.kind != NONSENSE:
            kinds.setdefault(query.kind, []).append(measure(ranking, query.grades))
    if not kinds:
        return "–"
    return f"{statistics.fmean(statistics.fmean(values) for values in kinds.values()):.3f}"


@contextmanager
def _ours(alias: str, corpus: Path) -> Iterator[Running]:
    started = time.perf_counter()
    with indexed(corpus):
        indexing = time.perf_counter() - started
    with serving(alias) as served, requests.Session() as session:
        yield lambda q: [hit["oid"] for hit in get_search(session, served.url, q)["hits"]], indexing


@contextmanager
def _sqlite(posts: Sequence[Json]) -> Iterator[Running]:
    with closing(sqlite3.connect(":memory:")) as database:
        started = time.perf_counter()
        database.execute(
            "CREATE VIRTUAL TABLE posts USING fts5(id UNINDEXED, title, text, "
            "tokenize='porter unicode61')"
        )
        database.executemany("INSERT INTO posts VALUES (:id, :title, :text)", posts)
        indexing = time.perf_counter() - started

        def rank(q: str) -> list[str]:
            words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", q))
            rows = database.execute(
                "SELECT id FROM posts WHERE posts MATCH ? ORDER BY bm25(posts, 0, 4, 1) LIMIT 10",
                [words or '""'],
            )
            return [row[0] for row in rows]

        yield rank, indexing


_LOAD = "async () => { window.pagefind = await import('/pagefind/pagefind.js'); }"
_SEARCH = """
async (q) => {
  const { results } = await window.pagefind.search(q);
  const hits = await Promise.all(results.slice(0, 10).map((result) => result.data()));
  return hits.map((hit) => hit.url);
}
"""


class _Files(SimpleHTTPRequestHandler):
    """Files, without a line in the log for each."""

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def _pagefind(posts: Sequence[Json], folder: Path) -> Iterator[Running]:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text("{}")
    install = ["npm", "install", "--silent", "--no-audit", "--no-fund", "pagefind"]
    subprocess.run(install, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    with tempfile.TemporaryDirectory(prefix="bench-") as site, ExitStack() as stack:
        for number, post in enumerate(posts):
            title, text = html.escape(post["title"]), html.escape(post["text"])
            page = f"<html lang=en><title>{title}</title><body><h1>{title}</h1><p>{text}</p></body>"
            (Path(site) / f"{number}.html").write_text(page)
        started = time.perf_counter()
        index = [str(folder / "node_modules" / ".bin" / "pagefind"), "--site", site]
        subprocess.run(index, check=True, stdout=subprocess.DEVNULL)
        indexing = time.perf_counter() - started
        files = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Files, directory=site))
        stack.callback(files.server_close)
        threading.Thread(target=files.serve_forever, daemon=True).start()
        stack.callback(files.shutdown)
        tab = stack.enter_context(chromium()).new_page()
        tab.goto(f"http://127.0.0.1:{files.server_port}/0.html")
        tab.evaluate(_LOAD)

        def rank(q: str) -> list[str]:
            urls: list[str] = tab.evaluate(_SEARCH, q)
            return [posts[int(Path(url).stem)]["id"] for url in urls]

        yield rank, indexing


@contextmanager
def _meilisearch(posts: Sequence[Json], binary: str) -> Iterator[Running]:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory(prefix="bench-") as folder, requests.Session() as session:
        command = [binary, "--http-addr", f"127.0.0.1:{port}", "--db-path", f"{folder}/db"]
        with running_process([*command, "--no-analytics"], port, folder=folder):
            # Its ids take no other characters; ours are put back from the number.
            documents = [{**post, "id": number} for number, post in enumerate(posts)]
            started = time.perf_counter()
            task = session.post(f"{url}/indexes/posts/documents", json=documents).json()
            number = task["taskUid"]
            while task["status"] != "succeeded":
                if task["status"] == "failed" or time.perf_counter() - started > _INDEXING:
                    raise RuntimeError(f"Meilisearch did not index the posts: {task}")
                time.sleep(0.2)
                task = session.get(f"{url}/tasks/{number}").json()
            indexing = time.perf_counter() - started

            def rank(q: str) -> list[str]:
                body = {"q": q, "limit": 10, "attributesToHighlight": ["title", "text"]}
                body |= {"attributesToCrop": ["text"], "matchingStrategy": "frequency"}
                answer = session.post(f"{url}/indexes/posts/search", json=body).json()
                return [posts[hit["id"]]["id"] for hit in answer["hits"]]

            yield rank, indexing
