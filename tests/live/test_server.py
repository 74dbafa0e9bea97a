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
from pathlib import Path

import psutil
import pytest

from app.settings import Settings
from devstack.servers import Gunicorn, free_port, gunicorn


class Server:
    """gunicorn with the configuration of the repository, in a process of its own."""

    def __init__(self, running: Gunicorn, log: Path, operators_port: int) -> None:
        self.port = running.port
        self.process = running.process
        self.operators_port = operators_port
        self.log = log

    def get(
        self, path: str, port: int | None = None, **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body, from a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=10)
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
        **environment,
    }
    with gunicorn(variables, log, config=config) as started:
        yield Server(started, log, int(environment.get("BLOGSEARCH_OPERATORS_PORT", 0)))


Serve = Callable[..., Server]


TOKEN = "a-token-of-this-test"


@pytest.fixture(scope="module")
def server(
    sample_alias: str,
    elasticsearch_url: str,
    redis_url: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Server]:
    """The service with the sample posts, a port for operators, and a log in JSON."""
    settings = Settings(
        elasticsearch_url=elasticsearch_url, redis_url=redis_url, index=sample_alias
    )
    with running(
        settings,
        tmp_path_factory.mktemp("server") / "gunicorn.log",
        BLOGSEARCH_WRITE_TOKENS=TOKEN,
        BLOGSEARCH_OPERATORS_PORT=str(free_port()),
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
        threading.Thread(target=work, args=each, daemon=True)
        for each in opened
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
    server = serve(GUNICORN_CMD_ARGS="--timeout=3", BLOGSEARCH_LOG_REQUESTS="off")
    server.get("/search?q=python")
    workers = server.workers()
    times = []
    with _flood(server, 2, *paths):
        ends = time.monotonic() + 5
        while time.monotonic() < ends:
            started = time.monotonic()
            assert server.get("/search?q=python")[0] == 200
            times.append(time.monotonic() - started)
    assert server.workers() == workers
    assert sorted(times)[len(times) // 2] < 0.5


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
        seconds = []
        for _ in range(30):
            started = time.monotonic()
            assert server.get("/search?q=python")[0] == 200
            seconds.append(time.monotonic() - started)
            time.sleep(0.05)
    finally:
        stop.set()
        join()
    assert sorted(seconds)[len(seconds) // 2] < 0.5
    assert max(seconds) < 3


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
        deadline = time.monotonic() + 30
        while _connections(server) > 0:
            assert time.monotonic() < deadline
            time.sleep(0.2)


def _connections(server: Server) -> int:
    return sum(
        one.status == psutil.CONN_ESTABLISHED
        for pid in server.workers()
        for one in psutil.Process(pid).net_connections("tcp")
        if one.laddr.port == server.port
    )


def test_an_access_log_can_be_had(serve: Serve, tmp_path: Path) -> None:
    path = tmp_path / "access.log"
    server = serve(GUNICORN_CMD_ARGS=f"--access-logfile {path}")
    server.get("/__version__")
    deadline = time.monotonic() + 10  # the line is written after the response
    while "GET /__version__" not in path.read_text():
        assert time.monotonic() < deadline, path.read_text()
        time.sleep(0.05)
    assert "GET /" not in server.log.read_text()


def test_a_head_that_is_not_sent_ends_the_connection(server: Server) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=15) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n")
        assert connection.recv(100) == b""


def test_a_client_does_not_set_the_path(server: Server) -> None:
    plain = server.get("/search?q=pythn")
    assert plain[0] == 200
    for prefix in ("/x", "/search"):
        forged = server.get("/search?q=pythn", SCRIPT_NAME=prefix, PATH_INFO="/nothing")
        assert (forged[0], json.loads(forged[2])) == (200, json.loads(plain[2]))


_SLOW_START = """
import time

exec(open("app/gunicorn_config.py").read())

def post_fork(server, worker):
    time.sleep(1)
"""


def test_sigterm_and_sighup_neither_fail_nor_delay_searches(serve: Serve, tmp_path: Path) -> None:
    config = tmp_path / "gunicorn_config.py"
    config.write_text(_SLOW_START)  # as on a busy machine
    server = serve(config)
    server.get("/search?q=python")
    failed: list[object] = []
    seconds: list[float] = []
    stop = threading.Event()

    def search() -> None:
        while not stop.is_set():
            started = time.monotonic()
            try:
                status = server.get("/search?q=python")[0]
                if status != 200:
                    failed.append(status)
            except OSError as error:
                failed.append(error)
            seconds.append(time.monotonic() - started)

    old = server.workers()
    with ThreadPoolExecutor(1) as pool:
        searches = pool.submit(search)
        time.sleep(0.5)
        os.kill(old[0], signal.SIGTERM)
        time.sleep(1)
        server.process.send_signal(signal.SIGHUP)
        deadline = time.monotonic() + 30
        while set(server.workers()) & set(old) or len(server.workers()) != 2:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        # Until both have begun to serve: before that a worker does not notice that it is to stop,
        # and gunicorn would wait for it for `graceful_timeout`.
        time.sleep(1.5)
        stop.set()
        searches.result()
    assert failed == []
    assert max(seconds) < 1.5


def test_settings_that_become_invalid_change_nothing(serve: Serve, tmp_path: Path) -> None:
    secret = tmp_path / "tokens"
    secret.write_text(TOKEN)
    server = serve(BLOGSEARCH_WRITE_TOKENS_FILE=str(secret), REDIS_URL="")

    def accepted(token: str) -> bool:
        return server.get("/metrics", Authorization=f"Bearer {token}")[0] == 200

    def wait_for_new_workers(old: list[int], number: int) -> None:
        deadline = time.monotonic() + 30
        while len(set(server.workers()) & set(old)) != 2 - number or len(server.workers()) != 2:
            assert time.monotonic() < deadline, server.log.read_text()
            time.sleep(0.1)
        time.sleep(1.5)  # until they serve

    secret.write_text("short")
    old = server.workers()
    os.kill(old[0], signal.SIGKILL)
    wait_for_new_workers(old, 1)
    old = server.workers()
    server.process.send_signal(signal.SIGHUP)
    wait_for_new_workers(old, 2)
    assert all(accepted(TOKEN) for _ in range(10))
    assert "BLOGSEARCH_WRITE_TOKENS" in server.log.read_text()
    secret.write_text(f"new-{TOKEN}")
    old = server.workers()
    server.process.send_signal(signal.SIGHUP)
    wait_for_new_workers(old, 2)
    assert all(accepted(f"new-{TOKEN}") for _ in range(10))


def _counted(server: Server) -> float:
    """How many searches the metrics count."""
    metrics = server.get("/metrics", server.operators_port)[2].decode()
    found = re.findall(r'seconds_count{endpoint="search.search",outcome="\w+"} (\S+)', metrics)
    return sum(map(float, found))


def _logged(server: Server) -> list[dict[str, object]]:
    return [json.loads(line) for line in server.log.read_text().splitlines()]


def test_operators_have_a_port_of_their_own_with_the_metrics_of_all_workers(
    server: Server,
) -> None:
    counted = _counted(server)
    logged = len(_logged(server))
    for _ in range(40):
        server.get("/search?q=python")
    assert server.get("/metrics", Host=f"127.0.0.1:{server.operators_port}")[0] == 401
    for _ in range(5):  # whichever worker answers
        assert _counted(server) == counted + 40
    health = json.loads(server.get("/__heartbeat__", server.operators_port)[2])
    assert "seen" in health["checks"]["redis"]
    lines = _logged(server)
    assert len([line for line in lines[logged:] if line.get("path") == "/search"]) == 40
    assert [line for line in lines if line["logger"] == "gunicorn.error"]


def test_all_workers_know_of_an_outage_that_one_has_detected(serve: Serve) -> None:
    server = serve(ELASTICSEARCH_URL=f"http://127.0.0.1:{free_port()}", REDIS_URL="")

    def detected() -> int:
        return server.log.read_text().count("Elasticsearch does not respond")

    server.get("/search?q=python")
    deadline = time.monotonic() + 10
    while not detected():
        assert time.monotonic() < deadline
        time.sleep(0.05)
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
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
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
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
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
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        connection.sendall(request)
        answer = b"".join(iter(lambda: connection.recv(65_536), b""))
    assert re.findall(rb"HTTP/1.1 (\d+)", answer) == [b"401", b"200"]
    assert b"version" not in answer
