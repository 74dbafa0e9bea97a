"""The service as gunicorn serves it: slow clients, forged headers, worker processes that end."""

import http.client
import json
import os
import re
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest
import redis
from werkzeug.datastructures import MultiDict

from app.insights.counts import Counts
from app.search.request import SearchRequest
from app.settings import Settings
from devstack.servers import Gunicorn, gunicorn
from indexer.build.builder import Built
from indexer.records import Origin, RawPost
from tests.waiting import wait_until


class Server:
    """gunicorn with the configuration of the repository, in a process of its own."""

    def __init__(self, running: Gunicorn, log: Path) -> None:
        self.port = running.port
        self.process = running.process
        self.log = log

    def get(self, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body, from a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request("GET", path, headers=headers)
            response = connection.getresponse()
            return response.status, dict(response.getheaders()), response.read()
        finally:
            connection.close()

    def workers(self) -> list[int]:
        return [child.pid for child in self.process.children()]


@contextmanager
def running(settings: Settings, log: Path, **environment: str) -> Iterator[Server]:
    """The service with the sample posts; `environment` is added to that of the process."""
    variables = {
        "ELASTICSEARCH_URL": settings.elasticsearch_url,
        "REDIS_URL": settings.redis_url,
        "BLOGSEARCH_INDEX": settings.index,
        "BLOGSEARCH_ELASTICSEARCH_TIMEOUT": str(settings.elasticsearch_timeout),
        "BLOGSEARCH_CACHE_TIMEOUT": str(settings.cache_timeout),
        **environment,
    }
    with gunicorn(variables, log) as started:
        yield Server(started, log)


Serve = Callable[..., Server]


TOKEN = "a-token-of-this-test"


@pytest.fixture(scope="module")
def server(
    engine_settings: Settings, sample_alias: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """The service with the sample posts, and a token."""
    with running(
        replace(engine_settings, index=sample_alias),
        tmp_path_factory.mktemp("server") / "gunicorn.log",
        BLOGSEARCH_WRITE_TOKENS=TOKEN,
    ) as server:
        yield server


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


def _drip(
    server: Server, connections: int, head: bytes, stop: threading.Event
) -> Callable[[], None]:
    """Opens connections that send `head`, and then one byte a second each."""
    opened = []
    for _ in range(connections):
        connection = socket.create_connection(("127.0.0.1", server.port), timeout=5)
        connection.sendall(head)
        opened.append(connection)

    def drip() -> None:
        while not stop.wait(1):
            for connection in opened:
                with suppress(OSError):
                    connection.sendall(b"x")
        for connection in opened:
            connection.close()

    thread = threading.Thread(target=drip)
    thread.start()
    return thread.join


@pytest.mark.parametrize(
    "head",
    [
        pytest.param(b"GET /search?q=python HTTP/1.1\r\nHost: a\r\nX-Slow: ", id="header"),
        pytest.param(
            b"POST /documents HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n"
            b"Content-Type: application/json\r\n"
            b"Authorization: Bearer %s\r\n\r\n[" % TOKEN.encode(),
            id="body",
        ),
    ],
)
def test_200_slow_clients_keep_nobody_out(server: Server, head: bytes) -> None:
    server.get("/search?q=python")
    stop = threading.Event()
    join = _drip(server, 200, head, stop)
    try:
        for _ in range(30):
            assert server.get("/search?q=python")[0] == 200
    finally:
        stop.set()
        join()


def test_frequent_searches_are_cached_after_a_start(
    own_settings: Settings,
    count_searches: Callable[..., Counts],
    index_posts: Callable[[Iterable[RawPost]], Built],
    tmp_path: Path,
) -> None:
    index_posts([RawPost(Origin("test"), "a", title="Cron", text="Cron.")])
    count_searches(own_settings, SearchRequest.parse(MultiDict({"q": "cron"})))
    with running(own_settings, tmp_path / "log") as server:
        cached = f"blogsearch:{{{own_settings.index}}}:answer:*"
        with redis.Redis.from_url(own_settings.redis_url) as client:
            wait_until(lambda: bool(client.keys(cached)))
        assert server.get("/search?q=cron")[1]["X-Cache"] == "HIT"


def test_a_client_does_not_set_the_path(server: Server) -> None:
    plain = server.get("/search?q=pythn")
    assert plain[0] == 200
    for prefix in ("/x", "/search"):
        forged = server.get("/search?q=pythn", SCRIPT_NAME=prefix, PATH_INFO="/nothing")
        assert (forged[0], json.loads(forged[2])) == (200, json.loads(plain[2]))


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


def test_a_request_that_two_servers_could_read_differently_is_refused(server: Server) -> None:
    """Else a proxy and gunicorn could disagree where it ends, and a client smuggle in another."""
    start = b"POST /documents HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\n" % TOKEN.encode()
    hidden = b"GET /__version__ HTTP/1.1\r\nHost: a\r\n\r\n"
    for request in (
        start + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden,
        start + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + hidden,
        start + b"Content-Length: 0\r\nContent-Length: 40\r\n\r\n" + hidden,
        start + b"Content-Length : 40\r\n\r\n" + hidden,
        start + b"X: a\r\n Content-Length: 40\r\n\r\n" + hidden,
    ):
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
            connection.sendall(request)
            answer = b"".join(iter(lambda: connection.recv(65_536), b""))
        assert re.match(rb"HTTP/1.1 (400|501) ", answer), (request, answer)
        assert answer.count(b"HTTP/1.1 ") == 1, (request, answer)
