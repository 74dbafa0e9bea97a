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
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from app.settings import Settings
from devstack.servers import Gunicorn, gunicorn


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


def test_200_slow_clients_keep_nobody_out(server: Server) -> None:
    server.get("/search?q=python")
    stop = threading.Event()
    header = b"GET /search?q=python HTTP/1.1\r\nHost: a\r\nX-Slow: "
    body = (
        b"POST /documents HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n"
        b"Content-Type: application/json\r\nAuthorization: Bearer %s\r\n\r\n[" % TOKEN.encode()
    )
    joins = [_drip(server, 100, head, stop) for head in (header, body)]
    try:
        for _ in range(10):
            assert server.get("/search?q=python")[0] == 200
    finally:
        stop.set()
        for join in joins:
            join()


def test_a_worker_that_is_stopped_fails_no_search(server: Server) -> None:
    old = server.workers()
    os.kill(old[0], signal.SIGTERM)
    while old[0] in server.workers() or len(server.workers()) < 2:
        assert server.get("/search?q=python")[0] == 200
        time.sleep(0.01)


def test_a_client_does_not_set_the_path(server: Server) -> None:
    plain = server.get("/search?q=pythn")
    assert plain[0] == 200
    for prefix in ("/x", "/search"):
        forged = server.get("/search?q=pythn", SCRIPT_NAME=prefix, PATH_INFO="/nothing")
        assert (forged[0], json.loads(forged[2])) == (200, json.loads(plain[2]))


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


def test_a_request_with_many_long_headers_is_refused_before_they_are_read(server: Server) -> None:
    long = {f"X-{number}": "a" * 8_000 for number in range(60)}
    status, _, body = server.get("/search?q=python", **long)
    assert (status, json.loads(body)["error"]["code"]) == (431, "request_header_fields_too_large")
    assert server.get("/search?q=python", Cookie="a=b;" * 2_000)[0] == 200


def test_invalid_http_gets_an_error_as_all_others_and_its_search_is_not_logged(
    server: Server,
) -> None:
    for line in ("GET /search?q=zürich HTTP/1.1", "GET / HTTP/2.0"):
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
            connection.sendall(f"{line}\r\nHost: a\r\n\r\n".encode())
            answer = b"".join(iter(lambda: connection.recv(65_536), b""))
        assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["code"] == "bad_request"
    log = server.log.read_text()
    assert "InvalidRequestLine" in log
    assert "rich" not in log
