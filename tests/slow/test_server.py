"""The service as gunicorn serves it: floods of requests, reloaded settings, several workers."""

import os
import re
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from app.settings import Settings
from tests.live.test_server import TOKEN, Server, running, server
from tests.waiting import wait_until

__all__ = ["server"]

Serve = Callable[..., Server]


@pytest.fixture
def serve(settings: Settings, tmp_path: Path) -> Iterator[Serve]:
    """Starts the service with the sample posts; arguments are environment variables."""
    with ExitStack() as stack:

        def start(**environment: str) -> Server:
            log = tmp_path / "gunicorn.log"
            return stack.enter_context(running(settings, log, **environment))

        yield start


@contextmanager
def _flood(server: Server, connections: int, *paths: str) -> Iterator[None]:
    """Connections to each path that send requests without a pause, and read what comes."""
    opened = [
        (socket.create_connection(("127.0.0.1", server.port), timeout=30), path)
        for path in paths * connections
    ]

    def send(connection: socket.socket, path: str) -> None:
        request = f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode() * 100
        with suppress(OSError):
            while True:
                connection.sendall(request)

    def read(connection: socket.socket, _: str) -> None:
        with suppress(OSError):
            while connection.recv(1_000_000):
                pass

    threads = [
        threading.Thread(target=work, args=opened_socket, daemon=True)
        for opened_socket in opened
        for work in (send, read)
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for connection, _ in opened:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join()
        for connection, _ in opened:
            connection.close()


def test_connections_that_always_have_another_request_stop_no_worker(serve: Serve) -> None:
    paths = ("/__lbheartbeat__", "/search", "/openapi.json", "/widget.js", "/nothing-here")
    server = serve(GUNICORN_CMD_ARGS="--timeout=3")
    server.get("/search?q=python")
    workers = server.workers()
    with _flood(server, 2, *paths):
        ends = time.monotonic() + 5
        while time.monotonic() < ends:
            assert server.get("/search?q=python")[0] == 200
    assert server.workers() == workers


def _wait_for_new_workers(server: Server, old: list[int]) -> None:
    wait_until(
        lambda: len(server.workers()) == 2 and not set(server.workers()) & set(old),
        describe=server.log.read_text,
    )


def test_sigterm_and_sighup_fail_no_searches(serve: Serve) -> None:
    server = serve()
    old = server.workers()
    answers: list[object] = []
    stop = threading.Event()

    def search() -> None:
        while not stop.is_set():
            try:
                answers.append(server.get("/search?q=python")[0])
            except OSError as error:
                answers.append(error)

    with ThreadPoolExecutor(1) as pool:
        searches = pool.submit(search)
        wait_until(lambda: len(answers) > 10)
        os.kill(old[0], signal.SIGTERM)
        wait_until(lambda: old[0] not in server.workers())
        server.process.send_signal(signal.SIGHUP)
        _wait_for_new_workers(server, old)
        number = len(answers)
        wait_until(lambda: len(answers) > number + 10)
        stop.set()
        searches.result()
    assert set(answers) == {200}


def test_settings_that_become_invalid_change_nothing(serve: Serve, tmp_path: Path) -> None:
    secret = tmp_path / "tokens"
    secret.write_text(TOKEN)
    server = serve(BLOGSEARCH_WRITE_TOKENS_FILE=str(secret), REDIS_URL="")

    def accepted(token: str) -> bool:
        return server.get("/metrics", Authorization=f"Bearer {token}")[0] == 200

    for text, token in (("short", TOKEN), (f"new-{TOKEN}", f"new-{TOKEN}")):
        secret.write_text(text)
        old = server.workers()
        server.process.send_signal(signal.SIGHUP)
        _wait_for_new_workers(server, old)
        assert all(accepted(token) for _ in range(10))
    assert "BLOGSEARCH_WRITE_TOKENS" in server.log.read_text()


def _counted(server: Server) -> float:
    """How many searches the metrics count."""
    metrics = server.get("/metrics", Authorization=f"Bearer {TOKEN}")[2].decode()
    counts = re.findall(r'seconds_count{endpoint="search.search",outcome="\w+"} (\S+)', metrics)
    return sum(map(float, counts))


def _logged(server: Server) -> int:
    """How many searches the log has."""
    return server.log.read_text().count(" path=/search ")


def test_the_metrics_are_those_of_all_workers(server: Server) -> None:
    counted = _counted(server)
    logged = _logged(server)
    for _ in range(40):
        server.get("/search?q=python")
    for _ in range(5):  # whichever worker answers
        assert _counted(server) == counted + 40
    assert _logged(server) == logged + 40
    assert " gunicorn.error: " in server.log.read_text()
