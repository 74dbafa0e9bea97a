"""The clients of Redis and Elasticsearch in a process with gevent, as in a worker of gunicorn."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from app.settings import Settings
from tests.tcp import listening

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


@pytest.fixture
def dripping() -> Iterator[str]:
    """Host and port of a server that answers byte by byte."""
    closed = threading.Event()

    def serve(connection: socket.socket) -> None:
        connection.recv(65_536)
        while not closed.wait(0.05):
            connection.sendall(b"H")

    with listening(serve) as port:
        yield f"127.0.0.1:{port}"
        closed.set()


def test_an_elasticsearch_that_drips(dripping: str) -> None:
    status, _ = _search(
        ELASTICSEARCH_URL=f"http://{dripping}",
        BLOGSEARCH_ELASTICSEARCH_TIMEOUT="0.5",
        REDIS_URL="",
    )
    assert status == "503"


def test_a_redis_that_drips(settings: Settings, dripping: str) -> None:
    status, state = _search(
        ELASTICSEARCH_URL=settings.elasticsearch_url,
        BLOGSEARCH_ELASTICSEARCH_TIMEOUT="30",
        BLOGSEARCH_INDEX=settings.index,
        REDIS_URL=f"redis://{dripping}/0",
    )
    assert (status, state) == ("200", "OFF")
