"""The address of a client behind proxies, and what its rate is limited by."""

import pytest
from flask import Flask, request
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from app import create_app
from app.cache import open_cache
from app.clients import register
from app.elastic import connect
from app.rate_limit import network_of
from app.service import Service
from app.settings import Settings


def _send(trusted: str, peer: str, forwarded: str | None) -> TestResponse:
    """The response to a client: its address and scheme, as the application sees them."""
    app = Flask("test")
    settings = Settings(trusted_proxies=trusted, redis_url="")
    register(app, Service(settings, connect(settings), open_cache(settings)))
    app.add_url_rule("/", view_func=lambda: f"{request.remote_addr} {request.scheme}")
    headers = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "evil.example"}
    if forwarded is not None:
        headers["X-Forwarded-For"] = forwarded
    return app.test_client().get("/", headers=headers, environ_base={"REMOTE_ADDR": peer})


@pytest.mark.parametrize(
    ("trusted", "peer", "forwarded", "seen"),
    [
        ("", "10.0.0.1", "1.2.3.4", "10.0.0.1 http"),
        ("10.0.0.0/8", "10.0.0.1", "1.2.3.4", "1.2.3.4 https"),
        ("10.0.0.0/8", "8.8.8.8", "1.2.3.4", "8.8.8.8 http"),
        ("10.0.0.1", "10.0.0.1", "6.6.6.6, 1.2.3.4", "1.2.3.4 https"),
        ("10.0.0.0/8", "10.0.0.1", "6.6.6.6, 1.2.3.4, 10.0.0.2", "1.2.3.4 https"),
        ("10.0.0.0/8", "10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3 https"),
        ("::1, 127.0.0.1", "::1", "2001:db8::1", "2001:db8::1 https"),
        ("10.0.0.0/8", "10.0.0.1", "nonsense, 1.2.3.4", "1.2.3.4 https"),
        ("10.0.0.0/8", "10.0.0.1", "nonsense", "nonsense https"),
        # On a socket for both families IPv4 addresses are written as IPv6.
        ("10.0.0.0/8", "::ffff:10.0.0.1", "1.2.3.4, ::ffff:10.0.0.2", "1.2.3.4 https"),
        # Some proxies add the port, which is another one for each connection.
        ("10.0.0.0/8", "10.0.0.1", "1.2.3.4:5678, 10.0.0.2:80", "1.2.3.4 https"),
        ("10.0.0.0/8", "10.0.0.1", "[2001:db8::1]:5678", "2001:db8::1 https"),
    ],
)
def test_only_trusted_proxies_name_the_client(
    trusted: str, peer: str, forwarded: str, seen: str
) -> None:
    assert _send(trusted, peer, forwarded).text == seen


@pytest.mark.parametrize("forwarded", [None, "", " , "])
def test_a_proxy_that_names_nobody(forwarded: str | None) -> None:
    assert _send("10.0.0.1", "10.0.0.1", forwarded).status_code == 200


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8::1", "2001:db8::/64"),
        ("2001:db8::ffff:1", "2001:db8::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        (None, "unknown"),
        ("", "unknown"),
    ],
)
def test_the_addresses_of_one_client_count_together(address: str | None, network: str) -> None:
    assert network_of(address) == network


def test_the_description_of_the_api_is_not_limited() -> None:
    client = create_app(Settings(redis_url="", rate_limit="1/day")).test_client()
    for path in ("/docs", "/openapi.json") * 2:
        assert client.get(path).status_code == 200


def test_only_a_refused_request_is_told_to_wait_for_the_end_of_the_limits_window() -> None:
    away = Settings(elasticsearch_url="http://127.0.0.1:9", redis_url="", rate_limit="2 per day")
    client = create_app(away).test_client()
    page, unavailable, refused = (client.get(path) for path in ("/", "/search?q=a", "/search?q=a"))
    assert [page.status_code, unavailable.status_code, refused.status_code] == [200, 503, 429]
    assert "Retry-After" not in page.headers
    assert int(unavailable.headers["Retry-After"]) <= 60
    assert 0 < int(refused.headers["Retry-After"]) <= 86_400
    assert "X-RateLimit-Remaining" in page.headers


def _statuses(client: FlaskClient, peers: list[str], forwarded: str = "") -> list[int]:
    headers = {"X-Forwarded-For": forwarded} if forwarded else {}
    return [
        client.get("/search?q=a", environ_base={"REMOTE_ADDR": peer}, headers=headers).status_code
        for peer in peers
    ]


@pytest.fixture
def limited() -> FlaskClient:
    """Three requests a day, and an Elasticsearch that is away: 503 until the limit is reached."""
    away = Settings(elasticsearch_url="http://127.0.0.1:9", redis_url="", rate_limit="3/day")
    return create_app(away).test_client()


def test_networks_of_one_site_that_take_turns_share_a_limit(limited: FlaskClient) -> None:
    turns = [f"2001:db8:0:{number:x}::1" for number in range(20)]
    assert _statuses(limited, turns) == [503] * 12 + [429] * 8
    assert _statuses(limited, ["2001:db8:1::1"]) == [503]


def test_one_network_of_a_site_has_the_limit_of_a_client(limited: FlaskClient) -> None:
    assert _statuses(limited, ["2001:db8::1"] * 4) == [503] * 3 + [429]
    assert _statuses(limited, ["2001:db8:0:1::1"]) == [503]


def test_visitors_behind_an_unknown_proxy_share_no_limit(limited: FlaskClient) -> None:
    assert _statuses(limited, ["172.18.0.5"] * 5, "192.0.2.1") == [503] * 5
    # Without the header it is a client; a public address may have set it by itself.
    assert 429 in _statuses(limited, ["172.18.0.6"] * 5)
    assert 429 in _statuses(limited, ["8.8.8.8"] * 5, "192.0.2.1")
