"""Elasticsearch hangs and comes back: a TCP proxy in front of the real one stops forwarding."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from urllib.parse import urlsplit

import pytest
from flask.testing import FlaskClient

from app import create_app
from app.settings import Settings


class Proxy:
    """Forwards connections to Elasticsearch; while it hangs, it accepts them and stays silent."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._target = (parts.hostname, parts.port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._flowing = threading.Event()
        self._flowing.set()
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._threads: list[threading.Thread] = []
        self._start(self._accept)

    def hang(self) -> None:
        self._flowing.clear()

    def recover(self) -> None:
        self._flowing.set()

    def close(self) -> None:
        self.recover()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(10)

    def _start(self, target: Callable[..., None], *arguments: object) -> threading.Thread:
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()
        return thread

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                self._start(self._serve, self._listener.accept()[0])

    def _serve(self, near: socket.socket) -> None:
        with near, socket.create_connection(self._target) as far:
            replies = self._start(self._forward, far, near)
            self._forward(near, far)
            replies.join()

    def _forward(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                self._flowing.wait()
                target.sendall(data)
        for one in (source, target):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def proxy(elasticsearch_url: str) -> Iterator[Proxy]:
    running = Proxy(elasticsearch_url)
    yield running
    running.close()


Changed = Callable[..., FlaskClient]


@pytest.fixture
def behind(proxy: Proxy, settings: Settings) -> Iterator[Changed]:
    """A client of a service whose Elasticsearch is behind the proxy."""
    with ExitStack() as stack:

        def build(**changed: object) -> FlaskClient:
            update = {"elasticsearch_url": proxy.url, **changed}
            app = create_app(settings.model_copy(update=update))
            stack.enter_context(app.extensions["blogsearch"].elastic)
            return app.test_client()

        yield build
        proxy.recover()


def _timed(client: FlaskClient, query: str) -> tuple[int, str, float]:
    """Status, X-Cache and seconds of a search."""
    started = time.monotonic()
    response = client.get("/search", query_string={"q": query})
    seconds = time.monotonic() - started
    return response.status_code, response.headers.get("X-Cache", ""), seconds


def _until(condition: Callable[[], bool], seconds: float) -> float:
    started = time.monotonic()
    while not condition():
        assert time.monotonic() - started < seconds
        time.sleep(0.02)
    return time.monotonic() - started


def test_a_known_outage_answers_at_once_and_ends_by_itself(proxy: Proxy, behind: Changed) -> None:
    client = behind(elasticsearch_timeout=0.5, operators_port=9100)
    service = client.application.extensions["blogsearch"]
    assert _timed(client, "juggling")[0] == 200
    service.cache.new_generation("another-000001", "rules")
    proxy.hang()
    assert _timed(client, "first after the fault")[0] == 503
    _until(lambda: not service.admission.available, 5)
    for nth in range(5):
        status, _, seconds = _timed(client, f"unknown {nth}")
        assert (status, seconds < 0.3) == (503, True)
        status, state, seconds = _timed(client, "juggling")
        assert (status, state, seconds < 0.3) == (200, "STALE", True)
    for path, expected in (
        ("/__heartbeat__", 503),
        ("/", 200),
        ("/?category=linux", 200),
        ("/?q=unknown", 503),
        ("/metrics", 200),
    ):
        started = time.monotonic()
        found = client.get(path, environ_overrides={"SERVER_PORT": "9100"})
        assert found.status_code == expected, path
        assert time.monotonic() - started < 0.3, path
    proxy.recover()
    assert _until(lambda: _timed(client, "python")[0] == 200, 5) < 2


def test_one_search_that_times_out_is_no_outage(settings: Settings) -> None:
    """Elasticsearch responds to the probe, so that other searches go on."""
    client = create_app(settings).test_client()
    service = client.application.extensions["blogsearch"]
    patient, service.elastic = service.elastic, service.elastic.options(request_timeout=0.0001)
    assert _timed(client, "expensive")[0] == 503
    service.elastic = patient
    for _ in range(10):
        assert service.admission.available
        time.sleep(0.05)
    assert _timed(client, "cheap")[0] == 200


def test_computations_are_limited_and_kept_answers_are_not(proxy: Proxy, behind: Changed) -> None:
    client = behind(max_computations=2, elasticsearch_timeout=3)
    assert _timed(client, "juggling")[0] == 200
    proxy.hang()
    with ThreadPoolExecutor(8) as pool:
        running = [pool.submit(_timed, client, f"slow {nth}") for nth in range(8)]
        time.sleep(0.1)
        kept = [_timed(client, "juggling") for _ in range(5)]
        refused = [one.result()[0:3:2] for one in running]
    assert all(state == "HIT" and seconds < 0.3 for _, state, seconds in kept)
    assert sum(seconds < 0.5 for _, seconds in refused) == 6
    assert {status for status, _ in refused} == {503}
    busy = client.get("/search?q=another")
    assert int(busy.headers["Retry-After"]) >= 1
