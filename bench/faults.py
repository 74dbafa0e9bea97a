"""Faults under load: what searches and writes get while an engine or a worker is broken.

    make chaos ONLY=Redis

Starts engines of its own and the service with two workers, and for each fault sends a steady
stream: searches whose answers are cached, searches never sent before, writes, and health checks.
The fault is injected after a few seconds and healed later. One row a fault is printed.
"""

import http.client
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit

import click
import psutil
import redis

from bench.servers import RedisServer, free_port, redis_server

_REPOSITORY = Path(__file__).resolve().parent.parent
_INSTANCE = "chaos"
_TOKEN = "a-token-of-the-chaos-run"
_BEFORE, _AFTER = 3.0, 6.0  # seconds of load before a fault and after it is healed
_PAUSE = 0.04  # seconds between two requests of a client
_CACHED = ["python", "juggling", "cornwall", "date", "recipe", "music", "bread", "cycling"]
_CLIENTS = {"cached": 2, "new": 3, "write": 1, "alive": 1}


@dataclass(frozen=True, slots=True)
class Response:
    """What a client got: `status` 0 is a connection that failed; times in seconds."""

    kind: str
    began: float
    seconds: float
    status: int
    state: str


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault: `inject` and `heal` it, `seconds` apart."""

    name: str
    inject: Callable[[], None]
    heal: Callable[[], None] = lambda: None
    seconds: float = 5.0


class Load:
    """Clients that send requests until they are stopped."""

    def __init__(self, port: int) -> None:
        self.responses: list[Response] = []
        self.acknowledged: list[str] = []
        self._port = port
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._run, args=(kind,))
            for kind, clients in _CLIENTS.items()
            for _ in range(clients)
        ]
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _run(self, kind: str) -> None:
        while not self._stop.wait(_PAUSE if kind != "write" else 5 * _PAUSE):
            oid = f"chaos-{random.getrandbits(48):x}"
            began = time.monotonic()
            try:
                status, state = self._send(kind, oid)
            except (OSError, http.client.HTTPException):
                status, state = 0, ""
            seconds = time.monotonic() - began
            self.responses.append(Response(kind, began, seconds, status, state))
            if kind == "write" and status in (200, 201):
                self.acknowledged.append(oid)

    def _send(self, kind: str, oid: str) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        try:
            if kind == "write":
                headers = {"Authorization": f"Bearer {_TOKEN}", "Content-Type": "application/json"}
                body = json.dumps({"title": f"Written {oid}"})
                connection.request("PUT", f"/documents/{oid}?refresh=false", body, headers)
            elif kind == "alive":
                connection.request("GET", "/__lbheartbeat__")
            else:
                query = random.choice(_CACHED) if kind == "cached" else f"post {oid[-6:]}"
                connection.request("GET", f"/search?q={quote(query)}")
            response = connection.getresponse()
            response.read()
            return response.status, response.headers.get("X-Cache", "")
        finally:
            connection.close()


@contextmanager
def _engines() -> Iterator[tuple[str, psutil.Process]]:
    """URL and process of an Elasticsearch of this run's own."""
    names = ("ELASTICSEARCH_URL", "REDIS_URL")
    environment = {name: value for name, value in os.environ.items() if name not in names}
    environment |= {
        "BLOGSEARCH_DEVSTACK_INSTANCE": _INSTANCE,
        "BLOGSEARCH_DEVSTACK_ELASTICSEARCH_PORT": str(free_port()),
        "BLOGSEARCH_DEVSTACK_REDIS_PORT": str(free_port()),
    }
    command = [sys.executable, "-m", "devstack"]
    done = subprocess.run(
        [*command, "up"], env=environment, cwd=_REPOSITORY, stdout=subprocess.PIPE, check=True
    )
    try:
        url = done.stdout.decode().partition("ELASTICSEARCH_URL=")[2].split()[0]
        port = urlsplit(url).port
        listening = [
            one.pid
            for one in psutil.net_connections("tcp")
            if one.status == psutil.CONN_LISTEN and one.laddr and one.laddr.port == port
        ]
        yield url, psutil.Process(listening[0])
    finally:
        subprocess.run([*command, "down"], env=environment, cwd=_REPOSITORY, check=True)


@contextmanager
def _service(environment: dict[str, str], port: int, log: Path) -> Iterator[psutil.Process]:
    command = [sys.executable, "-m", "gunicorn", "--config", "gunicorn.conf.py"]
    environment = {**environment, "PORT": str(port), "WEB_CONCURRENCY": "2"}
    with log.open("wb") as output:
        server = subprocess.Popen(
            [*command, "app:create_app()"],
            cwd=_REPOSITORY,
            env=environment,
            stdout=output,
            stderr=output,
        )
    try:
        _wait(lambda: _status(port, "/__heartbeat__") == 200, 60)
        yield psutil.Process(server.pid)
    finally:
        server.terminate()
        server.wait(30)


def _status(port: int, path: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    with suppress(OSError, http.client.HTTPException):
        try:
            connection.request("GET", path)
            return connection.getresponse().status
        finally:
            connection.close()
    return 0


def _wait(condition: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise click.ClickException("the service does not start")
        time.sleep(0.1)


def _faults(engine: psutil.Process, cache: RedisServer, server: psutil.Process) -> list[Fault]:
    stopped = cache.process.send_signal

    def command(*words: str) -> Callable[[], None]:
        def send() -> None:
            with redis.Redis.from_url(cache.url) as client:
                client.execute_command(*words)

        return send

    def full() -> None:
        command("CONFIG", "SET", "maxmemory-policy", "noeviction")()
        command("CONFIG", "SET", "maxmemory", "1kb")()

    def worker(number: signal.Signals) -> Callable[[], None]:
        return lambda: server.children()[0].send_signal(number)

    return [
        Fault("none", lambda: None),
        Fault("Redis flushed", command("FLUSHALL")),
        Fault("Redis full", full, command("CONFIG", "SET", "maxmemory", "0")),
        Fault(
            "Redis stalled",
            lambda: stopped(signal.SIGSTOP),
            lambda: stopped(signal.SIGCONT),
        ),
        Fault("Elasticsearch stalled", engine.suspend, engine.resume, 30.0),
        Fault("worker SIGTERM", worker(signal.SIGTERM)),
        Fault("worker SIGKILL", worker(signal.SIGKILL)),
        Fault("gunicorn SIGHUP", lambda: server.send_signal(signal.SIGHUP)),
        Fault("Redis killed", cache.process.kill),
    ]


def _run(fault: Fault, port: int) -> tuple[list[Response], list[str], float, float]:
    """The responses, the acknowledged writes, and when the fault began and ended."""
    load = Load(port)
    try:
        time.sleep(_BEFORE)
        fault.inject()
        began = time.monotonic()
        time.sleep(fault.seconds)
    finally:
        fault.heal()
        healed = time.monotonic()
        time.sleep(_AFTER)
        load.end()
    return load.responses, load.acknowledged, began, healed


def _row(
    fault: Fault, responses: list[Response], lost: int, acknowledged: int, began: float, end: float
) -> str:
    def slowest(found: list[Response]) -> str:
        return f"{max((one.seconds for one in found), default=0):.2f}"

    cached = [one for one in responses if one.kind == "cached"]
    new = [one for one in responses if one.kind == "new"]
    searches = cached + new
    broken = [one for one in searches if one.status not in (200, 503)]
    refused = [one for one in searches if one.status == 503]
    known = [one for one in refused if one.began > began + 3]
    good = [one.began + one.seconds - end for one in new if one.status == 200 and one.began >= end]
    back = f"{min(good):.2f}" if good else "never"
    writes = [one for one in responses if one.kind == "write"]
    return " | ".join(
        [
            f"| {fault.name}",
            f"{len(searches)}",
            f"{len(broken)}",
            f"{sum(one.kind == 'cached' for one in refused)} / {len(refused)}",
            f"{sum(one.state == 'STALE' for one in searches)}",
            slowest([one for one in cached if one.status == 200]),
            slowest(known),
            slowest([one for one in responses if one.kind == "alive"]),
            back,
            f"{len(writes)} / {acknowledged} / {lost} |",
        ]
    )


def _lost(url: str, oids: list[str]) -> int:
    """How many of the acknowledged posts Elasticsearch does not have."""
    from elasticsearch import Elasticsearch

    if not oids:
        return 0
    with Elasticsearch(url, request_timeout=60) as client:
        client.indices.refresh(index="chaos")
        found = client.count(index="chaos", query={"terms": {"oid": oids}})
    return len(oids) - int(found["count"])


_COLUMNS = [
    "fault",
    "searches",
    "failed",
    "503: cached / all",
    "stale",
    "slowest cached, s",
    "slowest 503 once known, s",
    "slowest `/__lbheartbeat__`, s",
    "first new answer after, s",
    "writes: sent / acknowledged / lost",
]


@click.command()
@click.option("--only", default="", help="Only faults whose name contains this.")
def main(only: str) -> None:
    """Run all faults and print a row for each."""
    with ExitStack() as stack:
        url, engine = stack.enter_context(_engines())
        cache = stack.enter_context(redis_server())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="chaos-")))
        environment = {
            **os.environ,
            "ELASTICSEARCH_URL": url,
            "REDIS_URL": cache.url,
            "BLOGSEARCH_INDEX": "chaos",
            "BLOGSEARCH_WRITE_TOKENS": _TOKEN,
        }
        fill = "from app.cli import main; main()"
        subprocess.run(
            [sys.executable, "-c", fill, "reindex", "sample/posts.jsonl"],
            env=environment,
            cwd=_REPOSITORY,
            check=True,
        )
        port = free_port()
        server = stack.enter_context(_service(environment, port, folder / "log"))
        click.echo(f"| {' | '.join(_COLUMNS)} |")
        click.echo("| --- " * len(_COLUMNS) + "|")
        for fault in _faults(engine, cache, server):
            if only not in fault.name:
                continue
            for query in _CACHED:
                _status(port, f"/search?q={query}")
            responses, oids, began, end = _run(fault, port)
            lost = _lost(url, oids)
            click.echo(_row(fault, responses, lost, len(oids), began, end))


if __name__ == "__main__":
    main()
