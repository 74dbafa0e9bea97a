"""Compares the rate of cached answers of two revisions, in one alternating run.

    .venv/bin/python -m bench.compare_cached BEFORE [AFTER]

Each revision is checked out into a folder of its own and served by gunicorn with two workers, with
this environment's packages, which have to include those of both, and one Redis. Each puts an answer
of ten hits into the cache. Then wrk (a package of Debian and others) sends `GET /search` for short
turns that alternate: before, after, and `/__lbheartbeat__` of after, in another order each round.
The first round is dropped. Printed are medians and ratios.
"""

import http.client
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import click

from bench.servers import free_port, redis_server

_REPOSITORY = Path(__file__).resolve().parent.parent
_WORKERS = 2
_CONNECTIONS = 16
_SEARCH, _HEARTBEAT = "/search?q=python", "/__lbheartbeat__"

# Run by each revision in its own folder: an answer of ten hits for the query of the bench.
_FILL = """
from app.cache import Computed, open_cache
from app.search.request import SearchRequest
from app.settings import load_settings
hit = {"oid": "a-post", "kind": "post", "title": "A title of some words", "url": "https://x/y",
       "pub_date": "2020-04-18T00:00:00Z", "score": 5.2, "highlight": {"title": "A <mark>t</mark>",
       "text": ["some words of a text " * 8, "and some more of them " * 8]}}
body = {"q": "python", "count": 10, "page": 1, "size": 10, "hits": [hit] * 10}
answer = lambda: Computed(body, "", True)
open_cache(load_settings()).get_or_compute(SearchRequest(q="python").key(), answer)
"""


@click.command()
@click.argument("before")
@click.argument("after", default="HEAD")
@click.option("--rounds", default=12, show_default=True)
@click.option("--seconds", default=2, show_default=True, help="Seconds of each turn.")
def main(before: str, after: str, rounds: int, seconds: int) -> None:
    """Measure the revisions BEFORE and AFTER."""
    if shutil.which("wrk") is None:
        raise click.ClickException("wrk is not installed: apt-get install wrk.")
    with ExitStack() as stack:
        redis = stack.enter_context(redis_server())
        ports = [stack.enter_context(_served(rev, redis.url)) for rev in (before, after)]
        turns = {
            before: (ports[0], _SEARCH),
            after: (ports[1], _SEARCH),
            f"{_HEARTBEAT} of {after}": (ports[1], _HEARTBEAT),
        }
        for port in ports:
            _check_hit(port)
        rates = _measure(turns, rounds, seconds)
    medians = {name: statistics.median(found) for name, found in rates.items()}
    for name, median in medians.items():
        low, high = min(rates[name]), max(rates[name])
        click.echo(f"{name:32} {median:7.0f} requests/s ({low:.0f} to {high:.0f})")
    heartbeat = medians[f"{_HEARTBEAT} of {after}"]
    click.echo(f"{after} / {before}: {medians[after] / medians[before]:.2f}")
    for rev in (before, after):
        click.echo(f"{rev} / {_HEARTBEAT}: {medians[rev] / heartbeat:.2f}")


def _measure(
    turns: dict[str, tuple[int, str]], rounds: int, seconds: int
) -> dict[str, list[float]]:
    rates: dict[str, list[float]] = {name: [] for name in turns}
    names = list(turns)
    for nth in range(rounds + 1):
        random.shuffle(names)
        for name in names:
            rate = _rate(*turns[name], seconds)
            if nth:  # the first round warms up
                rates[name].append(rate)
        click.echo(f"round {nth} of {rounds}", err=True)
    return rates


def _rate(port: int, path: str, seconds: int) -> float:
    """Requests per second that wrk reaches."""
    url = f"http://127.0.0.1:{port}{path}"
    command = ["wrk", "-t2", f"-c{_CONNECTIONS}", f"-d{seconds}s", url]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in said or "Socket errors" in said:
        raise AssertionError(said)
    return float(said.partition("Requests/sec:")[2].split()[0])


@contextmanager
def _served(revision: str, redis_url: str) -> Iterator[int]:
    """A gunicorn that serves a revision with its answer cached; its port."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        subprocess.run(
            f"git archive {revision} | tar -x -C {folder}",
            shell=True,
            check=True,
            cwd=_REPOSITORY,
        )
        environment = {
            **os.environ,
            "PYTHONPATH": folder,
            "REDIS_URL": redis_url,
            "BLOGSEARCH_INDEX": f"bench-{port}",
            "BLOGSEARCH_CACHE_TIMEOUT": "10",  # a busy machine is no fault of Redis
            "PORT": str(port),
            "WEB_CONCURRENCY": str(_WORKERS),
        }
        python = [sys.executable, "-c"]
        subprocess.run([*python, _FILL], env=environment, cwd=folder, check=True)
        serve = "from gunicorn.app.wsgiapp import run; run()"
        arguments = ["--config", "gunicorn.conf.py", "app:create_app()", "--log-level", "warning"]
        server = subprocess.Popen([*python, serve, *arguments], env=environment, cwd=folder)
        try:
            _await(port)
            yield port
        finally:
            server.terminate()
            server.wait(30)


def _check_hit(port: int) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", _SEARCH)
    response = connection.getresponse()
    if response.status != 200 or response.headers["X-Cache"] != "HIT":
        raise AssertionError(f"{response.status}, X-Cache: {response.headers['X-Cache']}")
    connection.close()


def _await(port: int) -> None:
    deadline = time.monotonic() + 30
    while True:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", _HEARTBEAT)
            if connection.getresponse().status == 200:
                return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


if __name__ == "__main__":
    main()
