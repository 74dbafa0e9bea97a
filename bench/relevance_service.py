"""A service of the bench's own over an index of the bench's own, and its answers over HTTP."""

import os
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import requests
from elasticsearch import Elasticsearch

from bench.relevance_measures import Answered, Judged
from bench.servers import free_port

_ROOT = Path(__file__).resolve().parent.parent
_START = 30.0  # seconds a service may take to answer


@contextmanager
def indexed(corpus: Path) -> Iterator[str]:
    """An alias over the corpus, indexed as a blogger would; gone afterwards."""
    alias = f"bench-{uuid.uuid4().hex[:10]}"
    command = [sys.executable, "-c", "from app.cli import main; main()", "reindex", str(corpus)]
    try:
        done = subprocess.run(command, cwd=_ROOT, env=_environment(alias), stdout=sys.stderr)
        if done.returncode:
            raise click.ClickException(f"{corpus} could not be indexed; see above")
        yield alias
    finally:
        with Elasticsearch(os.environ["ELASTICSEARCH_URL"], request_timeout=60) as client:
            for name in client.indices.get(
                index=f"{alias}*", expand_wildcards="all", ignore_unavailable=True
            ):
                client.indices.delete(index=name)


@contextmanager
def serving(alias: str, strategy: str) -> Iterator[str]:
    """The address of a service over the alias, without a cache; stopped afterwards."""
    port = free_port()
    command = [sys.executable, "-m", "gunicorn", "--bind", f"127.0.0.1:{port}", "--workers", "1"]
    command += ["--log-level", "warning", "app:create_app()"]
    environment = _environment(alias) | {"BLOGSEARCH_STRATEGY": strategy, "REDIS_URL": ""}
    process = subprocess.Popen(command, cwd=_ROOT, env=environment)
    try:
        _await(f"http://127.0.0.1:{port}/__lbheartbeat__", process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(_START)


def asked(url: str, queries: Sequence[Judged]) -> list[Answered]:
    """Ask a service every query twice: as a visitor, timed; and to hear how many requests it took.

    Raises:
        requests.HTTPError: the service refused one.
    """
    with requests.Session() as session:
        for query in queries[:20]:
            _get(session, url, q=query.q)
        return [_ask(session, url, query) for query in queries]


def _ask(session: requests.Session, url: str, query: Judged) -> Answered:
    started = time.perf_counter()
    body = _get(session, url, q=query.q)
    seconds = time.perf_counter() - started
    sent = _get(session, url, **{"q": query.q, "debug-search": "1"})["debug"]["requests"]
    ranking = dict.fromkeys(hit["oid"] for hit in body["hits"])
    return Answered(tuple(ranking), body["count"], seconds, len(sent))


def _get(session: requests.Session, url: str, **parameters: str) -> dict[str, Any]:
    response = session.get(f"{url}/search", params=parameters, timeout=30)
    response.raise_for_status()
    found: dict[str, Any] = response.json()
    return found


def _environment(alias: str) -> dict[str, str]:
    return {**os.environ, "BLOGSEARCH_INDEX": alias, "PYTHONPATH": str(_ROOT)}


def _await(url: str, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + _START
    while True:
        try:
            requests.get(url, timeout=1).raise_for_status()
            return
        except requests.RequestException:
            if process.poll() is not None or time.monotonic() > deadline:
                raise
            time.sleep(0.1)
