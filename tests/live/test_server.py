"""The service as gunicorn serves it: slow clients, forged headers, worker processes that end."""

import http.client
import json
import os
import re
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from app.settings import Settings
from devstack.servers import Gunicorn, free_port, gunicorn
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
def running(
    settings: Settings, log: Path, config: Path | None = None, **environment: str
) -> Iterator[Server]:
    """The service with the sample posts; `environment` is added to that of the process."""
    variables = {
        "ELASTICSEARCH_URL": settings.elasticsearch_url,
        "REDIS_URL": settings.redis_url,
        "BLOGSEARCH_INDEX": settings.index,
        "BLOGSEARCH_ELASTICSEARCH_TIMEOUT": str(settings.elasticsearch_timeout),
        "BLOGSEARCH_CACHE_TIMEOUT": str(settings.cache_timeout),
        **environment,
    }
    with gunicorn(variables, log, config=config) as started:
        yield Server(started, log)


Serve = Callable[..., Server]


TOKEN = "a-token-of-this-test"


@pytest.fixture(scope="module")
def server(
    engine_settings: Settings, sample_alias: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """The service with the sample posts, a token, and a log in JSON."""
    with running(
        replace(engine_settings, index=sample_alias),
        tmp_path_factory.mktemp("server") / "gunicorn.log",
        BLOGSEARCH_WRITE_TOKENS=TOKEN,
        BLOGSEARCH_LOG_FORMAT="json",
    ) as server:
        yield server


@pytest.fixture
def serve(settings: Settings, tmp_path: Path) -> Iterator[Serve]:
    """Starts the service with the sample posts; arguments are environment variables."""
    with ExitStack() as stack:

        def start(config: Path | None = None, **environment: str) -> Server:
            log = tmp_path / "gunicorn.log"
            return stack.enter_context(running(settings, log, config, **environment))

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
        pytest.param(b"", id="silent"),
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


_SMALL_BUFFERS = """
import socket

exec(open("app/gunicorn_config.py").read())
unread_timeout = 2
limit_unread = when_ready

def when_ready(server):
    limit_unread(server)
    for listener in server.LISTENERS:
        listener.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
"""


def test_clients_that_do_not_read_are_disconnected(serve: Serve, tmp_path: Path) -> None:
    config = tmp_path / "gunicorn_config.py"
    config.write_text(_SMALL_BUFFERS)
    server = serve(config)
    path = "/search?q=python&size=50"
    pipelined = 40  # more than the buffers of both sides hold
    assert pipelined * len(server.get(path)[2]) > 100_000
    requests = pipelined * f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode()
    with ExitStack() as stack:
        for _ in range(200):
            client = stack.enter_context(socket.socket())
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect(("127.0.0.1", server.port))
            client.send(requests)
        for _ in range(10):
            assert server.get(path)[0] == 200
        wait_until(lambda: _connections(server) == 0)


def _connections(server: Server) -> int:
    return sum(
        connection.status == psutil.CONN_ESTABLISHED
        for pid in server.workers()
        for connection in psutil.Process(pid).net_connections("tcp")
        if connection.laddr.port == server.port
    )


def test_an_access_log_can_be_had(serve: Serve, tmp_path: Path) -> None:
    path = tmp_path / "access.log"
    server = serve(GUNICORN_CMD_ARGS=f"--access-logfile {path}")
    server.get("/__version__")
    # The line is written after the response.
    wait_until(lambda: "GET /__version__" in path.read_text(), describe=path.read_text)
    assert "GET /" not in server.log.read_text()


def test_a_head_that_is_not_sent_ends_the_connection(server: Server) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n")
        assert connection.recv(100) == b""


def test_a_client_does_not_set_the_path(server: Server) -> None:
    plain = server.get("/search?q=pythn")
    assert plain[0] == 200
    for prefix in ("/x", "/search"):
        forged = server.get("/search?q=pythn", SCRIPT_NAME=prefix, PATH_INFO="/nothing")
        assert (forged[0], json.loads(forged[2])) == (200, json.loads(plain[2]))


_HELD_START = """
import os
import time
from pathlib import Path

exec(open("app/gunicorn_config.py").read())
initialize = post_worker_init

def post_fork(server, worker):
    while Path("{folder}", "hold").exists():
        time.sleep(0.05)

def post_worker_init(worker):
    initialize(worker)
    Path("{folder}", str(os.getpid())).touch()
"""


class Workers:
    """The worker processes of a server. While they are held, those that start do not serve."""

    def __init__(self, serve: Serve, folder: Path, **environment: str) -> None:
        config = folder / "gunicorn_config.py"
        config.write_text(_HELD_START.format(folder=folder))
        self.server = serve(config, **environment)
        self._folder = folder
        self.wait_for_new([], 2)

    def hold(self) -> None:
        (self._folder / "hold").touch()

    def release(self) -> None:
        (self._folder / "hold").unlink()

    def wait_for_new(self, old: list[int], number: int) -> None:
        """Until there are two workers that serve, so many of which are not among the old ones."""

        def serving() -> bool:
            workers = self.server.workers()
            started = [pid for pid in workers if (self._folder / str(pid)).exists()]
            return len(workers) == len(started) == 2 and len(set(workers) - set(old)) == number

        wait_until(serving, describe=self.server.log.read_text)


def test_sigterm_and_sighup_neither_fail_nor_delay_searches(serve: Serve, tmp_path: Path) -> None:
    workers = Workers(serve, tmp_path)
    server = workers.server
    old = server.workers()
    answers: list[object] = []
    stop = threading.Event()

    def search() -> None:
        while not stop.is_set():
            try:
                answers.append(server.get("/search?q=python")[0])
            except OSError as error:
                answers.append(error)

    def wait_for_answers() -> None:
        """Searches are answered though no new worker serves."""
        number = len(answers)
        wait_until(lambda: len(answers) > number + 10)

    with ThreadPoolExecutor(1) as pool:
        searches = pool.submit(search)
        workers.hold()
        os.kill(old[0], signal.SIGTERM)
        wait_until(lambda: old[0] not in server.workers())
        wait_for_answers()
        server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: "Hang up" in server.log.read_text(), describe=server.log.read_text)
        wait_for_answers()
        workers.release()
        workers.wait_for_new(old, 2)
        wait_for_answers()
        stop.set()
        searches.result()
    assert set(answers) == {200}


def test_settings_that_become_invalid_change_nothing(serve: Serve, tmp_path: Path) -> None:
    secret = tmp_path / "tokens"
    secret.write_text(TOKEN)
    workers = Workers(serve, tmp_path, BLOGSEARCH_WRITE_TOKENS_FILE=str(secret), REDIS_URL="")
    server = workers.server

    def accepted(token: str) -> bool:
        return server.get("/metrics", Authorization=f"Bearer {token}")[0] == 200

    secret.write_text("short")
    old = server.workers()
    os.kill(old[0], signal.SIGKILL)
    workers.wait_for_new(old, 1)
    old = server.workers()
    server.process.send_signal(signal.SIGHUP)
    workers.wait_for_new(old, 2)
    assert all(accepted(TOKEN) for _ in range(10))
    assert "BLOGSEARCH_WRITE_TOKENS" in server.log.read_text()
    secret.write_text(f"new-{TOKEN}")
    old = server.workers()
    server.process.send_signal(signal.SIGHUP)
    workers.wait_for_new(old, 2)
    assert all(accepted(f"new-{TOKEN}") for _ in range(10))


def _counted(server: Server) -> float:
    """How many searches the metrics count."""
    metrics = server.get("/metrics", Authorization=f"Bearer {TOKEN}")[2].decode()
    counts = re.findall(r'seconds_count{endpoint="search.search",outcome="\w+"} (\S+)', metrics)
    return sum(map(float, counts))


def _logged(server: Server) -> list[dict[str, object]]:
    return [json.loads(line) for line in server.log.read_text().splitlines()]


def test_the_metrics_are_those_of_all_workers(server: Server) -> None:
    counted = _counted(server)
    logged = len(_logged(server))
    for _ in range(40):
        server.get("/search?q=python")
    for _ in range(5):  # whichever worker answers
        assert _counted(server) == counted + 40
    lines = _logged(server)
    assert len([line for line in lines[logged:] if line.get("path") == "/search"]) == 40
    assert [line for line in lines if line["logger"] == "gunicorn.error"]


def test_all_workers_know_of_an_outage_that_one_has_detected(serve: Serve) -> None:
    server = serve(ELASTICSEARCH_URL=f"http://127.0.0.1:{free_port()}", REDIS_URL="")

    def detected() -> int:
        return server.log.read_text().count("Elasticsearch does not respond")

    server.get("/search?q=python")
    wait_until(detected)
    for _ in range(30):  # both workers answer some of them
        assert server.get("/search?q=python")[0] == 503
    assert detected() == 1


def test_a_request_that_two_servers_could_read_differently_is_refused(server: Server) -> None:
    """Else a proxy and gunicorn could disagree where it ends, and a client smuggle in another."""
    start = b"POST /documents HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\n" % TOKEN.encode()
    hidden = b"GET /__version__ HTTP/1.1\r\nHost: a\r\n\r\n"
    for request in (
        start + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden,
        start
        + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n"
        + hidden,
        start + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + hidden,
        start + b"Content-Length: 0\r\nContent-Length: 40\r\n\r\n" + hidden,
        start + b"Content-Length: +0\r\n\r\n" + hidden,
        start + b"Content-Length : 40\r\n\r\n" + hidden,
        start + b"X: a\r\n Content-Length: 40\r\n\r\n" + hidden,
        start + b"Host: b\r\n\r\n" + hidden,
        b"GET / HTTP/1.1\nHost: a\n\n" + hidden,
    ):
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
            connection.sendall(request)
            answer = b"".join(iter(lambda: connection.recv(65_536), b""))
        assert re.match(rb"HTTP/1.1 (400|501) ", answer), (request, answer)
        assert answer.count(b"HTTP/1.1 ") == 1, (request, answer)


def test_what_gunicorn_refuses_gets_an_error_of_the_same_shape(server: Server) -> None:
    for head, status, code in (
        (b"nonsense\r\n\r\n", 400, "bad_request"),
        (b"GET / HTTP/9.9\r\n\r\n", 400, "bad_request"),
        (b"GET / HTTP/1.1\r\nHost: a\r\nCol on: a\r\n\r\n", 400, "bad_request"),
        (b"GET /?q=" + b"x" * 10_000_000 + b" HTTP/1.1\r\n\r\n", 414, "uri_too_long"),
        (
            b"GET / HTTP/1.1\r\nHost: a\r\nCookie: " + b"x" * 10_000_000 + b"\r\n\r\n",
            431,
            "request_header_fields_too_large",
        ),
        (
            b"POST /documents HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: brotli\r\n\r\n",
            501,
            "not_implemented",
        ),
    ):
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
            connection.sendall(head)
            response = http.client.HTTPResponse(connection)
            response.begin()
            body = response.read()
        assert response.status == status, head[:40]
        error = json.loads(body)["error"]
        assert (error["code"], error["details"]) == (code, [])
        assert error["message"].startswith("The request is invalid: ")
        assert response.getheader("X-Content-Type-Options") == "nosniff"
        assert "default-src 'none'" in str(response.getheader("Content-Security-Policy"))
        assert response.getheader("Connection") == "close"
    assert server.get("/__lbheartbeat__")[0] == 200
    assert "Traceback" not in server.log.read_text()


def test_a_body_that_was_not_read_is_no_request(server: Server) -> None:
    hidden = b"GET /__version__ HTTP/1.1\r\nHost: a\r\n\r\n"
    request = (
        b"POST /documents HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%s"
        b"GET /__lbheartbeat__ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    ) % (len(hidden), hidden)
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(request)
        answer = b"".join(iter(lambda: connection.recv(65_536), b""))
    assert re.findall(rb"HTTP/1.1 (\d+)", answer) == [b"401", b"200"]
    assert b"version" not in answer
