"""A cluster of three Elasticsearch nodes on this machine, with a replica of each shard."""

import os
import signal
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import requests
from elasticsearch import ApiError, Elasticsearch, TransportError

from bench.load_generator import get_all
from bench.results import Section, Table, milliseconds
from bench.service import index, serving
from bench.workload import Query
from devstack.servers import ElasticsearchNode, elasticsearch_nodes

_NODES = 3
_HEAP = "512m"
_START = 400.0  # seconds; three at a time start slowly
_ALIAS = "bench-cluster"
_WARM_UP = 15.0  # seconds; the Java code of the nodes is not compiled yet
_INTERVAL = 0.05  # seconds between two searches while a node is lost


def _await_nodes(url: str, number: int) -> None:
    deadline = time.monotonic() + _START
    while True:
        try:
            with Elasticsearch(url, request_timeout=5, max_retries=0) as client:
                health = client.cluster.health()
            if health["number_of_nodes"] == number and health["status"] != "red":
                return
        except (ApiError, TransportError):
            pass
        if time.monotonic() > deadline:
            raise TimeoutError(f"{url}: not {number} nodes after {_START:g} s")
        time.sleep(0.5)


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def measure_cluster(corpus: Path, queries: Sequence[Query], seconds: float) -> Section:
    """Rate and time of searches on three nodes, on two after one was killed, and what clients got
    meanwhile."""
    paths = [f"/search?q={quote(query.q)}" for query in queries]
    rows: list[list[str]] = []
    with elasticsearch_nodes(_NODES, heap=_HEAP) as nodes:
        _await_nodes(nodes[0].url, _NODES)
        urls = ",".join(node.url for node in nodes)
        variables = {"BLOGSEARCH_SHARDS": "3", "BLOGSEARCH_REPLICAS": "1"}
        with _environment({"ELASTICSEARCH_URL": urls, **variables}):
            index(corpus, _ALIAS)
            with Elasticsearch(nodes[0].url, request_timeout=60) as client:
                client.cluster.health(wait_for_status="green", timeout="60s")
            with serving(_ALIAS, workers=2) as served:
                get_all(served.url, paths, _WARM_UP, 8)
                rows.append(_row("three nodes", get_all(served.url, paths, seconds, 8), seconds))
                statuses, longest = _lose(nodes[-1], served.url, paths)
                _await_nodes(nodes[0].url, _NODES - 1)
                rows.append(_row("two nodes", get_all(served.url, paths, seconds, 8), seconds))
    answered, failed = statuses.count(200), len(statuses) - statuses.count(200)
    lost = [
        ["searches while a node was killed", str(len(statuses))],
        ["answered", str(answered)],
        ["failed", str(failed)],
        ["longest time of one, ms", f"{longest:.0f}"],
    ]
    return Section(
        "A cluster of three nodes",
        f"Three Elasticsearch processes on this machine ({_HEAP} of heap each), an "
        "index of 3 shards with 1 replica, gunicorn with 2 workers, 8 clients, nothing cached. The "
        "nodes share the cores, so the rate is that of one machine with the cost of a cluster. "
        f"Then a node is killed (SIGKILL) while a client searches every {_INTERVAL * 1000:.0f} ms "
        "for 10 seconds.",
        tables=[
            Table(["", "searches a second", "median ms", "p95 ms"], rows),
            Table(["a node lost", ""], lost),
        ],
        figures={"statuses": statuses},
    )


def _row(name: str, times: Sequence[float], seconds: float) -> list[str]:
    return [name, f"{len(times) / seconds:.0f}", *milliseconds(times)]


def _lose(victim: ElasticsearchNode, url: str, paths: Sequence[str]) -> tuple[list[int], float]:
    """Kill a node during searches: the status of each, and the longest time in milliseconds."""
    killer = threading.Timer(1.0, victim.send_signal, [signal.SIGKILL])
    killer.start()
    statuses: list[int] = []
    times: list[float] = []
    ends = time.monotonic() + 10.0
    with requests.Session() as session:
        while time.monotonic() < ends:
            began = time.monotonic()
            statuses.append(session.get(url + paths[len(statuses) % len(paths)]).status_code)
            times.append((time.monotonic() - began) * 1000)
            time.sleep(_INTERVAL)
    killer.join()
    return statuses, max(times)
