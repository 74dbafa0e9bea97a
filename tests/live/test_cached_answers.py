"""Cached answers that are sent before Flask look like those that Flask sends."""

import socket
import time
from dataclasses import replace
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from app import create_app
from app.settings import Settings
from devstack.servers import redis_server
from tests.tcp import forward, listening

_VARYING = {"Server-Timing", "X-Request-ID", "Date"}


def _client(settings: Settings, **changed: Any) -> FlaskClient:
    return create_app(replace(settings, **changed)).test_client()


def _comparable(response: TestResponse) -> dict[str, str]:
    return {name: value for name, value in response.headers.items() if name not in _VARYING}


@pytest.mark.parametrize("origins", ["*", "", "https://blog.example.org"])
@pytest.mark.parametrize("serializer", ["bytes", "bytes+zlib", "bytes+lz4"])
@pytest.mark.parametrize("path", ["/search?q=python", "/suggest?q=pyth"])
def test_the_same_response_with_and_without_flask(
    settings: Settings, origins: str, serializer: str, path: str
) -> None:
    with redis_server() as server:
        changed = {
            "redis_url": server.url,
            "cors_origins": origins,
            "cache_serializer": serializer,
            "cache_ttl": 3600.0,
        }
        client = _client(settings, **changed)
        client.get(path)
        direct = client.get(path)
        # A conditional request is answered by Flask.
        through_flask = client.get(path, headers={"If-None-Match": '"other"'})
    assert direct.headers["X-Cache"] == through_flask.headers["X-Cache"] == "HIT"
    assert direct.status == through_flask.status == "200 OK"
    assert direct.data == through_flask.data
    assert _comparable(direct) == _comparable(through_flask)
    assert direct.headers["X-Request-ID"]


def test_what_needs_a_decision_is_left_to_flask(settings: Settings) -> None:
    with redis_server() as server:
        client = _client(settings, redis_url=server.url)
        client.get("/search?q=python")
        etag = client.get("/search?q=python").headers["ETag"]
        assert client.get("/search?q=python", headers={"If-None-Match": etag}).status_code == 304
        assert client.get("/search?q=python&size=0").status_code == 400
        assert client.post("/search?q=python").status_code == 405
        assert client.head("/search?q=python").data == b""
        assert "debug" in client.get("/search?q=python&debug-search").json
        client.get("/suggest?q=pyth")
        etag = client.get("/suggest?q=pyth").headers["ETag"]
        assert client.get("/suggest?q=pyth", headers={"If-None-Match": etag}).status_code == 304
        assert client.get("/suggest?q=pyth&page=1").status_code == 400
        not_utf8 = {"QUERY_STRING": "q=\xff"}  # a WSGI server decodes bytes as Latin-1
        assert client.get("/suggest", environ_overrides=not_utf8).status_code == 400


def test_only_fresh_answers_are_sent_before_flask(settings: Settings) -> None:
    with redis_server() as server:
        client = _client(settings, redis_url=server.url, cache_serializer="bytes")
        app = client.application
        answered = []
        app.after_request(lambda response: answered.append(response.headers["X-Cache"]) or response)
        states = [client.get("/suggest?q=pyth").headers["X-Cache"] for _ in range(3)]
    assert states == ["MISS", "HIT", "HIT"]
    assert answered == ["MISS"]


@pytest.mark.parametrize("path", ["/search?q=python", "/suggest?q=pyth"])
def test_a_rate_limit_counts_cached_answers(settings: Settings, path: str) -> None:
    with redis_server() as server:
        client = _client(settings, redis_url=server.url, rate_limit="3/minute")
        statuses = [client.get(path).status_code for _ in range(4)]
    assert statuses == [200, 200, 200, 429]


def test_cached_searches_are_counted(settings: Settings) -> None:
    with redis_server() as server:
        app = create_app(replace(settings, redis_url=server.url))
        for _ in range(3):
            app.test_client().get("/search?q=python")
        log = app.extensions["blogsearch"].search_log
        assert log.states() == {"MISS": 1, "HIT": 2}


@pytest.mark.parametrize("path", ["/search?q=python", "/suggest?q=pyth"])
def test_one_time_limit_for_all_commands_and_one_log_line(
    settings: Settings, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "blogsearch.requests")
    with redis_server() as server:

        def slowly(connection: socket.socket) -> None:
            def wait() -> bool:
                time.sleep(0.15)  # for each command, and for each reply
                return True

            forward(connection, ("127.0.0.1", server.port), wait)

        with listening(slowly) as port:
            url = f"redis://127.0.0.1:{port}"
            client = _client(settings, redis_url=url, cache_timeout=0.5)
            started = time.perf_counter()
            assert client.get(path).status_code == 200
            waited = (time.perf_counter() - started) * 1000
    (line,) = (one.__dict__ for one in caplog.records if one.name == "blogsearch.requests")
    assert 500 <= line["redis_ms"] < 700  # the look-up takes 300, and the lock would, too
    assert waited - line["total_ms"] < 150
