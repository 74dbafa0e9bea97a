"""The clients of Redis and Elasticsearch in a process with gevent, as in a worker of gunicorn."""

import os
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from app.settings import Settings
from devstack.servers import Certificates, new_certificates, redis_server
from tests.tcp import listening, slow_redis

_SEARCH = """
from gevent import monkey
monkey.patch_all()
from app import create_app

answer = create_app().test_client().get("/search?q=python")
print(answer.status_code, answer.headers.get("X-Cache"))
"""


def _search(**environment: str) -> list[str]:
    """Status and X-Cache of a search, which takes less than what drips."""
    done = subprocess.run(
        [sys.executable, "-c", _SEARCH],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


class Dripping:
    """A TLS server that sends its handshake, or what follows it, byte by byte."""

    def __init__(self, certificates: Certificates, what: str) -> None:
        self._context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self._context.load_cert_chain(certificates.certificate, certificates.key)
        self._what = what
        self.closed = threading.Event()

    def serve(self, connection: socket.socket) -> None:
        received, sent = ssl.MemoryBIO(), ssl.MemoryBIO()
        peer = self._context.wrap_bio(received, sent, server_side=True)
        while True:
            try:
                peer.do_handshake()
                break
            except ssl.SSLWantReadError:
                self._send(connection, sent.read(), self._what == "handshake")
                received.write(connection.recv(65_536))
        self._send(connection, sent.read(), self._what == "handshake")
        connection.recv(65_536)
        peer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n" + bytes(10_000))
        self._send(connection, sent.read(), True)

    def _send(self, connection: socket.socket, data: bytes, byte_by_byte: bool) -> None:
        if not byte_by_byte:
            connection.sendall(data)
            return
        for at in range(len(data)):
            if self.closed.wait(0.05):
                return
            connection.sendall(data[at : at + 1])


@pytest.fixture(scope="module")
def certificates() -> Iterator[Certificates]:
    with new_certificates() as new:
        yield new


@pytest.fixture(params=["handshake", "response"])
def dripping(request: pytest.FixtureRequest, certificates: Certificates) -> Iterator[str]:
    """Host and port of a `Dripping` server."""
    server = Dripping(certificates, request.param)
    with listening(server.serve) as port:
        yield f"127.0.0.1:{port}"
        server.closed.set()


def test_an_elasticsearch_that_drips_over_tls(dripping: str, certificates: Certificates) -> None:
    status, _ = _search(
        ELASTICSEARCH_URL=f"https://{dripping}",
        BLOGSEARCH_ELASTICSEARCH_TIMEOUT="0.5",
        BLOGSEARCH_CA_FILE=str(certificates.authority),
        REDIS_URL="",
    )
    assert status == "503"


def test_a_redis_that_drips_over_tls(
    settings: Settings, dripping: str, certificates: Certificates
) -> None:
    status, state = _search(
        ELASTICSEARCH_URL=settings.elasticsearch_url,
        BLOGSEARCH_ELASTICSEARCH_TIMEOUT="30",
        BLOGSEARCH_INDEX=settings.index,
        BLOGSEARCH_CA_FILE=str(certificates.authority),
        REDIS_URL=f"rediss://{dripping}/0",
    )
    assert (status, state) == ("200", "OFF")


@pytest.mark.parametrize(("delay", "states"), [(0.02, {"MISS"}), (3.0, {"OFF"})])
def test_a_slow_redis(settings: Settings, delay: float, states: set[str]) -> None:
    with redis_server() as server, slow_redis(server.port, delay) as url:
        status, state = _search(
            ELASTICSEARCH_URL=settings.elasticsearch_url,
            BLOGSEARCH_ELASTICSEARCH_TIMEOUT="30",
            BLOGSEARCH_INDEX=settings.index,
            BLOGSEARCH_CACHE_TIMEOUT="2.0",
            REDIS_URL=url,
        )
    assert status == "200"
    assert state in states
