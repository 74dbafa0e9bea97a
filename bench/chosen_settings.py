"""The settings that matter for speed, each with several values: `make bench ONLY=settings`.

Not a part of the whole run: it takes ten minutes. The defaults are marked.
"""

import random
import statistics
import tempfile
import time
import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

import requests
from elasticsearch import Elasticsearch

from bench.indexing import Ways, write_posts
from bench.load_generator import get_all, rate
from bench.results import Section, Table, milliseconds
from bench.service import serving
from bench.workload import Query
from devstack.servers import redis_server
from indexer.bulk.operations import BulkLimits

_CLIENTS = 8

SERVERS: Mapping[str, Mapping[str, str]] = {
    "defaults, 2 workers": {},
    "gthread, 8 threads": {"GUNICORN_CMD_ARGS": "--worker-class gthread --threads 8"},
    "sync": {"GUNICORN_CMD_ARGS": "--worker-class sync"},
    "no keep-alive": {"GUNICORN_CMD_ARGS": "--keep-alive 0"},
    "1 worker": {"WEB_CONCURRENCY": "1"},
    "4 workers": {"WEB_CONCURRENCY": "4"},
    "at most 2 computations": {"BLOGSEARCH_MAX_COMPUTATIONS": "2"},
    "at most 8 computations (default)": {"BLOGSEARCH_MAX_COMPUTATIONS": "8"},
}
BULK: Mapping[str, BulkLimits] = {
    "4 requests at a time, 1 MB (default)": BulkLimits(),
    "1 request": BulkLimits(workers=1),
    "2 requests": BulkLimits(workers=2),
    "8 requests": BulkLimits(workers=8),
    "250 kB": BulkLimits(chunk_bytes=250_000),
    "5 MB, 2,500 documents": BulkLimits(chunk_bytes=5_000_000, chunk_documents=2_500),
}


def measure_settings(
    client: Elasticsearch,
    alias: str,
    queries: Sequence[Query],
    seconds: float,
    rounds: int,
    posts: int,
) -> Section:
    """Cached and uncached searches per second by server, and posts per second by bulk limits."""
    return Section(
        "Settings",
        f"gunicorn with 2 workers unless said otherwise; {rounds} rounds in "
        "random order, the first dropped. Cached: one "
        f"search, 16 connections for {seconds:g} seconds. Not cached: different searches of "
        f"{_CLIENTS} clients, without Redis; those refused with a 503 are left out. Indexing: "
        f"{posts:,} posts of 1.3 kB.",
        tables=[
            Table(
                ["server", "cached, a second", "not cached, a second", "median ms", "p95 ms"],
                _servers(alias, queries, seconds, rounds),
            ),
            Table(["bulk requests", "posts a second"], _bulk(client, posts, rounds)),
        ],
    )


def _servers(alias: str, queries: Sequence[Query], seconds: float, rounds: int) -> list[list[str]]:
    paths = [f"/search?q={quote(query.q)}" for query in queries]
    cached: dict[str, list[float]] = defaultdict(list)
    computed: dict[str, list[float]] = defaultdict(list)
    with redis_server() as store:
        for number in range(rounds):
            for name in random.sample(list(SERVERS), len(SERVERS)):
                variables = SERVERS[name]
                with serving(alias, workers=2, redis_url=store.url, variables=variables) as served:
                    requests.get(served.url + paths[0], timeout=30).raise_for_status()
                    hits = rate(served.url, paths[:1], seconds)
                with serving(alias, workers=2, variables=variables) as served:
                    get_all(served.url, paths[:100], 1.0, _CLIENTS, refusals=True)  # warm-up
                    misses = get_all(served.url, paths, seconds, _CLIENTS, refusals=True)
                if number:
                    cached[name].append(hits)
                    computed[name] += misses
    return [
        [
            name,
            f"{statistics.median(cached[name]):,.0f}",
            f"{len(computed[name]) / seconds / (rounds - 1):,.0f}",
            *milliseconds(computed[name]),
        ]
        for name in SERVERS
    ]


def _bulk(client: Elasticsearch, posts: int, rounds: int) -> list[list[str]]:
    spent: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "posts.jsonl"
        write_posts(path, posts)
        ways = Ways(client, f"bench-{uuid.uuid4().hex[:8]}", path)
        try:
            for number in range(rounds):
                for name in random.sample(list(BULK), len(BULK)):
                    started = time.perf_counter()
                    ways.ours(BULK[name])
                    if number:
                        spent[name].append(time.perf_counter() - started)
        finally:
            ways.clear()
    return [[name, f"{posts / statistics.median(spent[name]):,.0f}"] for name in BULK]
