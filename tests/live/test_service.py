"""The service over HTTP on real engines: answers, headers, errors, heartbeats."""

from dataclasses import replace

import pytest
from flask.testing import FlaskClient

from app import create_app
from app.settings import Settings
from devstack.servers import free_port, redis_server


def test_a_query_string_that_is_not_utf_8_is_a_400(client: FlaskClient) -> None:
    answer = client.get("/search", environ_overrides={"QUERY_STRING": "q=\x80"})
    assert answer.status_code == 400
    assert "UTF-8" in answer.get_json()["error"]["message"]


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nothing-here", 404, "not_found"),
        ("GET", "/search/", 404, "not_found"),
        ("POST", "/search?q=python", 405, "method_not_allowed"),
    ],
)
def test_what_there_is_not_is_a_json_error(
    client: FlaskClient, method: str, path: str, status: int, code: str
) -> None:
    answer = client.open(path, method=method)
    assert (answer.status_code, answer.get_json()["error"]["code"]) == (status, code)


def test_without_an_index_the_error_names_the_command(settings: Settings) -> None:
    nothing = create_app(replace(settings, index="test-no-such-index")).test_client()
    answer = nothing.get("/search?q=python")
    assert answer.status_code == 503
    assert int(answer.headers["Retry-After"]) > 0
    assert answer.get_json()["error"]["code"] == "no_index"
    assert "blogsearch reindex" in answer.get_json()["error"]["message"]
    assert nothing.get("/__heartbeat__").status_code == 503


def test_without_redis_searches_are_answered(settings: Settings) -> None:
    uncached = create_app(
        replace(settings, redis_url=f"redis://127.0.0.1:{free_port()}/0")
    ).test_client()
    answer = uncached.get("/search?q=pythn")
    assert answer.status_code == 200
    assert answer.headers["X-Cache"] == "OFF"
    heartbeat = uncached.get("/__heartbeat__")
    assert heartbeat.status_code == 200
    assert heartbeat.get_json()["status"] == "degraded"


def test_a_redis_that_refuses_writes_is_a_warning(settings: Settings) -> None:
    with redis_server("--maxmemory-policy", "noeviction", "--maxmemory", "1") as server:
        client = create_app(replace(settings, redis_url=server.url)).test_client()
        heartbeat = client.get("/__heartbeat__")
    assert heartbeat.status_code == 200
    assert heartbeat.get_json()["checks"]["redis"]["status"] == "warning"
