"""The service over HTTP on real engines: rate limits, who sees what, errors, heartbeats."""

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from elasticsearch import Elasticsearch
from flask.testing import FlaskClient

from app import create_app
from app.settings import Settings
from devstack.servers import free_port, redis_server

TOKEN = "a-token-for-these-tests"


@pytest.fixture
def own_redis() -> Iterator[str]:
    """A Redis that a test may stop or fill."""
    with redis_server() as server:
        yield server.url


def _client(settings: Settings, **changed: Any) -> FlaskClient:
    return create_app(replace(settings, **changed)).test_client()


# -- rate limits -------------------------------------------------------------------------------


def _statuses(client: FlaskClient, path: str, times: int, address: str = "192.0.2.1") -> list[int]:
    statuses = []
    for _ in range(times):
        with client.get(path, environ_base={"REMOTE_ADDR": address}) as response:
            statuses.append(response.status_code)
    return statuses


def test_a_client_over_its_limit_gets_429_and_others_do_not(
    settings: Settings, own_redis: str
) -> None:
    processes = [_client(settings, rate_limit="3/day", redis_url=own_redis) for _ in range(2)]
    assert _statuses(processes[0], "/search?q=python", 2) == [200, 200]
    assert _statuses(processes[1], "/?q=python", 2) == [200, 429]
    refused = processes[0].get("/search?q=python", environ_base={"REMOTE_ADDR": "192.0.2.1"})
    assert refused.status_code == 429
    assert refused.get_json()["error"]["code"] == "rate_limited"
    assert 0 < int(refused.headers["Retry-After"]) <= 86_400
    assert _statuses(processes[0], "/search?q=python", 1, "192.0.2.2") == [200]


# -- who sees what -----------------------------------------------------------------------------


def test_debug_search_can_be_for_token_holders(settings: Settings) -> None:
    tokens = {"write_tokens": TOKEN, "debug_search": "token"}
    client = _client(settings, **tokens)
    path = "/search?q=python&debug-search"
    assert client.get(path).status_code == 401
    allowed = client.get(path, headers={"Authorization": f"Bearer {TOKEN}"})
    assert allowed.get_json()["debug"]["requests"]
    assert client.get("/search?q=python").status_code == 200
    closed = _client(settings, debug_search="token")
    assert closed.get(path).status_code == 403


@pytest.mark.parametrize("broken", [True, False])
def test_the_heartbeat_says_what_answers_and_no_more(settings: Settings, broken: bool) -> None:
    url = f"http://user:secret@127.0.0.1:{free_port()}" if broken else settings.elasticsearch_url
    health = _client(settings, elasticsearch_url=url).get("/__heartbeat__").get_json()
    # The engine warns while the index of another test is red.
    assert (health["status"] == "down") is broken
    assert {health["checks"][name]["status"] for name in ("index", "redis")} == (
        {"error", "ok"} if broken else {"ok"}
    )
    assert {tuple(check) for check in health["checks"].values()} == {("status",)}


def test_every_response_has_the_headers_of_security(settings: Settings) -> None:
    client, closed = _client(settings), _client(settings, cors_origins="")
    for path in ("/search?q=python", "/nothing", "/", "/static/search.css", "/documents/a"):
        with client.get(path) as answer:
            headers = answer.headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert "unsafe" not in headers["Content-Security-Policy"]
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert headers["Referrer-Policy"] == "same-origin"
        assert headers["Cross-Origin-Resource-Policy"] == "cross-origin"
        with closed.get(path) as answer:
            assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"


def test_no_response_names_the_host_that_a_client_sent(settings: Settings) -> None:
    """A URL without a path is one such as `GET http://evil.example HTTP/1.1`."""
    client = _client(settings)
    for path in ("", "//docs", "/static//search.css", "/search/", "/docs/"):
        sent = {"PATH_INFO": path, "HTTP_HOST": "evil.example"}
        with client.get("/", environ_overrides=sent) as answer:
            assert answer.status_code in {200, 404}
            assert "evil.example" not in f"{answer.headers}{answer.get_data(as_text=True)}"


def test_a_path_is_found_with_any_number_of_slashes(settings: Settings) -> None:
    """As Flask does; without one it is what is left of `/blogsearch` below `/blog`."""
    client = _client(settings)
    for path in ("/search", "//search", "search"):
        sent = {"PATH_INFO": path, "QUERY_STRING": "q=python"}
        assert client.get("/", environ_overrides=sent).status_code == 200, path


# -- the cache ---------------------------------------------------------------------------------


def _sent_searches(elastic: Elasticsearch, alias: str) -> int:
    """How many searches Elasticsearch has run on an index, once none is under way."""

    def count() -> int:
        searches = elastic.indices.stats(index=alias, metric="search")["_all"]["total"]["search"]
        return int(searches["query_total"])

    before, now = -1, count()
    while now != before:
        time.sleep(0.3)
        before, now = now, count()
    return now


def test_an_uncached_page_costs_what_the_first_one_does(
    settings: Settings, own_redis: str, elastic: Elasticsearch
) -> None:
    client = _client(settings, redis_url=own_redis)
    sent = []
    for path in ("/search?q=linux+cron", "/search?q=linux+code&page=2", "/search?q=linux&page=50"):
        before = _sent_searches(elastic, settings.index)
        assert client.get(path).status_code == 200
        sent.append(_sent_searches(elastic, settings.index) - before)
    assert max(sent) <= 2 * sent[0]


def test_many_health_checks_cost_elasticsearch_as_much_as_one_a_second(
    settings: Settings, elastic: Elasticsearch
) -> None:
    """They count for no rate limit, and one is four requests."""
    client = _client(settings, redis_url="")
    before = _sent_searches(elastic, settings.index)
    started = time.monotonic()
    for _ in range(40):
        assert client.get("/__heartbeat__").status_code == 200
    seconds = time.monotonic() - started
    assert 1 <= _sent_searches(elastic, settings.index) - before <= 2 + seconds


# -- errors and heartbeats ------------------------------------------------------------------------


def test_a_query_string_that_is_not_utf_8_is_a_400(client: FlaskClient) -> None:
    answer = client.get("/search", environ_overrides={"QUERY_STRING": "q=\x80"})
    assert answer.status_code == 400
    assert "UTF-8" in answer.get_json()["error"]["message"]


def test_what_there_is_not_is_a_json_error(client: FlaskClient) -> None:
    for answer, status, code in (
        (client.get("/nothing-here"), 404, "not_found"),
        (client.get("/search/"), 404, "not_found"),
        (client.post("/search?q=python"), 405, "method_not_allowed"),
    ):
        assert (answer.status_code, answer.get_json()["error"]["code"]) == (status, code)


def test_without_an_index_the_error_names_the_command(settings: Settings) -> None:
    nothing = _client(settings, index="test-no-such-index")
    answer = nothing.get("/search?q=python")
    assert answer.status_code == 503
    assert int(answer.headers["Retry-After"]) > 0
    assert answer.get_json()["error"]["code"] == "no_index"
    assert "blogsearch reindex" in answer.get_json()["error"]["message"]
    assert nothing.get("/__heartbeat__").status_code == 503
