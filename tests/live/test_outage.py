"""Elasticsearch hangs and comes back: a TCP proxy in front of the real one stops forwarding."""

import logging
import re
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from elasticsearch import ConnectionTimeout
from flask.testing import FlaskClient

from app import create_app
from app.engines.elastic import connect
from app.settings import Settings
from indexer.posts.records import Origin, RawPost
from indexer.store.retry import time_limit
from tests.conftest import Run
from tests.tcp import forward, listening
from tests.waiting import wait_until

TOKEN = "a-token-for-these-tests"
TAGS = ("de", "en")


@dataclass(frozen=True)
class Proxy:
    """Forwards connections to Elasticsearch; while it hangs, it accepts them and stays silent."""

    url: str
    _flowing: threading.Event

    def hang(self) -> None:
        self._flowing.clear()

    def recover(self) -> None:
        self._flowing.set()


def _address(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or 9200


@pytest.fixture
def proxy(elasticsearch_url: str) -> Iterator[Proxy]:
    address = _address(elasticsearch_url)
    flowing = threading.Event()
    flowing.set()
    with listening(lambda near: forward(near, address, lambda _: flowing.wait())) as port:
        yield Proxy(f"http://127.0.0.1:{port}", flowing)
        flowing.set()


def test_a_time_limit_holds_for_all_requests_inside(settings: Settings) -> None:
    with listening(lambda connection: time.sleep(20)) as port:
        hanging = f"http://127.0.0.1:{port}"
        changed = replace(settings, elasticsearch_url=hanging, elasticsearch_timeout=20)
        with connect(changed) as client, time_limit(0.2):
            with pytest.raises(ConnectionTimeout):
                client.info()
            with pytest.raises(ConnectionTimeout) as raised:
                client.info()
    assert "all requests together" in raised.value.message


Changed = Callable[..., FlaskClient]


@pytest.fixture
def behind(proxy: Proxy, settings: Settings) -> Iterator[Changed]:
    """A client of a service whose Elasticsearch is behind the proxy."""
    with ExitStack() as stack:

        def build(**changed: Any) -> FlaskClient:
            update: dict[str, Any] = {"elasticsearch_url": proxy.url, **changed}
            app = create_app(replace(settings, **update))
            stack.enter_context(app.extensions["blogsearch"].elastic)
            return app.test_client()

        yield build
        proxy.recover()


def _search(client: FlaskClient, query: str) -> tuple[int, str]:
    """Status and X-Cache."""
    response = client.get("/search", query_string={"q": query})
    return response.status_code, response.headers.get("X-Cache", "")


def _served_in(client: FlaskClient, query: str, *, language: str = "") -> tuple[int, str, float]:
    """Status, X-Cache and seconds."""
    began = time.monotonic()
    headers = {"Accept-Language": language}
    response = client.get("/search", query_string={"q": query}, headers=headers)
    seconds = time.monotonic() - began
    return response.status_code, response.headers.get("X-Cache", ""), seconds


def test_a_new_process_serves_kept_answers_at_once_while_elasticsearch_hangs(
    proxy: Proxy,
    behind: Changed,
    settings: Settings,
    module_index: Callable[[Iterable[RawPost]], str],
) -> None:
    # Posts are in two languages: for a process that does not know that, the key is another one.
    posts = [
        RawPost(Origin("test"), tag, "Garten", "Text", f"/{tag}", language=tag) for tag in TAGS
    ]
    own = replace(settings, index=module_index(posts))
    former = create_app(own).test_client()
    wait_until(lambda: _served_in(former, "garten", language="de")[1] == "HIT")
    proxy.hang()
    new, without = behind(index=own.index), behind(index=own.index, redis_url="")
    for _ in range(2):
        *served, seconds = _served_in(new, "garten", language="de")
        assert (served, seconds < 1) == ([200, "HIT"], True)
    for client in (new, without):
        assert _served_in(client, "unknown")[0] == 503
        *refused, seconds = _served_in(client, "another")
        assert (refused, seconds < 1) == ([503, ""], True)


def test_a_known_outage_answers_at_once_and_ends_by_itself(
    proxy: Proxy, behind: Changed, caplog: pytest.LogCaptureFixture
) -> None:
    client = behind(elasticsearch_timeout=4, write_tokens=TOKEN, insights_token=TOKEN)
    service = client.application.extensions["blogsearch"]
    assert _search(client, "juggling")[0] == 200
    proxy.hang()
    assert _search(client, "first after the fault")[0] == 503
    wait_until(lambda: not service.admission.available)
    caplog.clear()
    bearer: Any = {"headers": {"Authorization": f"Bearer {TOKEN}"}}
    for path, expected, sent in (
        ("/search?q=unknown", 503, {}),
        ("/search?q=juggling", 200, {}),
        ("/__heartbeat__", 503, {}),
        ("/", 200, {}),
        ("/?category=linux", 200, {}),
        ("/?q=unknown", 503, {}),
        ("/start", None, {}),  # another test may have asked for it
        ("/metrics", 200, bearer),
        ("/insights", 503, {"auth": ("", TOKEN)}),
        ("/documents/a", 503, {**bearer, "method": "PUT", "json": {"title": "a"}}),
        ("/documents/a", 422, {**bearer, "method": "PUT", "json": {}}),
    ):
        started = time.monotonic()
        response = client.open(path, **sent)
        assert expected in (response.status_code, None), path
        assert time.monotonic() - started < 4, path  # one that waits for Elasticsearch takes longer
        if "json" in sent:
            assert response.get_json()["error"]["details"][0]["status"] == expected
    # The beginning of the outage had its line: one for each search would hide other ones.
    # Threads of services of other tests may still look for their engines.
    assert not [
        record
        for record in caplog.records
        if record.levelno >= logging.WARNING
        and (proxy.url in record.getMessage() or not record.name.startswith("elastic_transport"))
    ]
    proxy.recover()
    wait_until(lambda: _search(client, "python")[0] == 200)


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        *(("application/json", body) for body in ("{}", "[]", "null", '"x"', "", '{"error":"x"}')),
        *(("text/html", "<title>Log in</title>"), ("text/plain", "ok")),
    ],
)
@pytest.mark.parametrize("product", ["", "X-Elastic-Product: Elasticsearch\r\n"])
def test_something_else_that_answers_200_is_named(
    settings: Settings, run: Run, tmp_path: Path, product: str, kind: str, body: str
) -> None:
    """Also where the client takes it for Elasticsearch, as it asks once only who answers."""
    head = f"HTTP/1.1 200 OK\r\n{product}Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n"

    def answer(connection: socket.socket) -> None:
        if connection.recv(65_536):
            connection.sendall(f"{head}Connection: close\r\n\r\n{body}".encode())

    source = tmp_path / "posts.jsonl"
    source.write_text('{"oid": "a", "title": "A", "text": "b"}\n')
    with listening(answer) as port:
        changed = replace(settings, elasticsearch_url=f"http://127.0.0.1:{port}", redis_url="")
        client = create_app(changed).test_client()
        for path in ("/search?q=a", "/suggest?q=a", "/similar?url=/a", "/?q=a", "/__heartbeat__"):
            assert client.get(path).status_code == 503, path
        assert client.get("/").status_code == 200
        for command in (("sync", source), ("reindex", source), ("search", "a"), ("doctor",)):
            done = run(*command, settings=changed)
            assert done.exit_code == 1
            assert "bug" not in done.output
            # What looks like the answer to a request for indices says that there are none.
            assert re.search("not Elasticsearch|unavailable|no index", done.output), done.output
