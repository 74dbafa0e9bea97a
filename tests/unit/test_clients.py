"""The address of a client behind proxies, and what its rate is limited by."""

import json
import time
from pathlib import Path

import pytest
from flask import Flask, request
from flask.testing import FlaskClient

from app import create_app
from app.http.clients import names_of, register
from app.settings import Settings

CASES = json.loads((Path(__file__).parents[1] / "data/unit/clients.json").read_text("utf-8"))
"""By test: its cases."""


def _send(trusted: str, peer: str, forwarded: str) -> str:
    """The address and scheme of a client, as the application sees them."""
    app = Flask("test")
    settings = Settings(trusted_proxies=trusted, redis_url="")
    register(app, settings)
    app.add_url_rule("/", view_func=lambda: f"{request.remote_addr} {request.scheme}")
    headers = {"X-Forwarded-Proto": "https", "X-Forwarded-For": forwarded}
    return app.test_client().get("/", headers=headers, environ_base={"REMOTE_ADDR": peer}).text


@pytest.mark.parametrize(
    ("trusted", "peer", "forwarded", "seen"),
    [
        ("", "10.0.0.1", "1.2.3.4", "10.0.0.1 http"),
        ("10.0.0.0/8", "10.0.0.1", "1.2.3.4", "1.2.3.4 https"),
        ("10.0.0.0/8", "8.8.8.8", "1.2.3.4", "8.8.8.8 http"),
        ("10.0.0.0/8", "10.0.0.1", "6.6.6.6, 1.2.3.4, 10.0.0.2", "1.2.3.4 https"),
        ("10.0.0.0/8", "10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3 https"),
        ("10.0.0.0/8", "10.0.0.1", "nonsense", "unknown https"),
        # On a socket for both families IPv4 addresses are written as IPv6.
        ("10.0.0.0/8", "::ffff:10.0.0.1", "1.2.3.4, ::ffff:10.0.0.2", "1.2.3.4 https"),
        # Some proxies add the port, which is another one for each connection.
        ("10.0.0.0/8", "10.0.0.1", "1.2.3.4:5678, 10.0.0.2:80", "1.2.3.4 https"),
        ("10.0.0.0/8", "10.0.0.1", "[2001:db8::1]:5678", "2001:db8::1 https"),
        # A proxy that names nobody.
        ("10.0.0.1", "10.0.0.1", " , ", "10.0.0.1 https"),
        # Of a long header the end is looked at.
        ("10.0.0.0/8", "10.0.0.1", "1.2.3.4," + "10.0.0.2," * 20, "10.0.0.2 https"),
        ("10.0.0.0/8", "10.0.0.1", f"1.2.3.4,{' ' * 8_000}10.0.0.2", "10.0.0.2 https"),
    ],
)
def test_only_trusted_proxies_name_the_client(
    trusted: str, peer: str, forwarded: str, seen: str
) -> None:
    assert _send(trusted, peer, forwarded) == seen


@pytest.mark.parametrize(
    ("prefix", "peer", "forwarded", "path", "seen"),
    [
        ("", "10.0.0.1", "/find/", "/a", "/find/a"),
        ("", "10.0.0.1", "/find", "/find/a", "/find/a"),  # a proxy that does not take it away
        ("", "10.0.0.1", "/find", "/findings", "/find/findings"),
        ("", "8.8.8.8", "/find", "/a", "/a"),
        ("/own", "8.8.8.8", "/find", "/a", "/own/a"),
        ("/own", "10.0.0.1", "/find", "/a", "/find/a"),
        ("/own", "10.0.0.1", "", "/own", "/own/"),
        ("", "10.0.0.1", "//evil.example", "/a", "/a"),
        ("", "10.0.0.1", "/../a", "/a", "/a"),
        ("", "10.0.0.1", "https://evil.example", "/a", "/a"),
    ],
)
def test_the_path_below_which_the_service_is(
    prefix: str, peer: str, forwarded: str, path: str, seen: str
) -> None:
    app = Flask("test")
    settings = Settings(trusted_proxies="10.0.0.0/8", path_prefix=prefix, redis_url="")
    register(app, settings)
    app.add_url_rule("/", "root", view_func=lambda: request.script_root + request.path)
    app.add_url_rule("/<rest>", "rest", view_func=lambda rest: request.script_root + request.path)
    headers = {"X-Forwarded-Prefix": forwarded}
    client = app.test_client()
    assert client.get(path, headers=headers, environ_base={"REMOTE_ADDR": peer}).text == seen


@pytest.mark.parametrize(
    ("address", "network"), CASES["the_addresses_of_one_client_count_together"]
)
def test_the_addresses_of_one_client_count_together(address: str | None, network: str) -> None:
    assert names_of(address)[0] == network


@pytest.mark.parametrize("sent", ["de," * 2_600, "a-b;q=0.1," * 800, "x" * 8_000])
def test_long_lists_of_languages_are_not_all_read(sent: str) -> None:
    """They are read before a search counts for the rate limit."""
    client = _away("1000/day")

    def seconds(languages: str) -> float:
        started = time.thread_time()
        client.get("/?q=", headers={"Accept-Language": languages}, buffered=True)
        return time.thread_time() - started

    usual = min(seconds("de, en;q=0.5") for _ in range(5))
    assert min(seconds(sent) for _ in range(5)) < 3 * usual
    answer = client.get("/?q=", headers={"Accept-Language": f"de,{sent}"})
    assert 'lang="de"' in answer.text


def _away(limit: str) -> FlaskClient:
    """A service without engines: a search gets 503 until the limit is reached."""
    settings = Settings(
        elasticsearch_url="http://127.0.0.1:9",
        redis_url="",
        rate_limit=limit,
        write_tokens="a-token-for-these-tests",
        insights_token="a-password-for-these-tests",
    )
    return create_app(settings).test_client()


def test_only_a_refused_request_is_told_to_wait_for_the_end_of_the_limits_window() -> None:
    client = _away("2/day")
    page, unavailable, refused = (
        client.get(path) for path in ("/?q=a", "/search?q=a", "/search?q=a")
    )
    assert [page.status_code, unavailable.status_code, refused.status_code] == [503, 503, 429]
    assert int(unavailable.headers["Retry-After"]) <= 60
    assert 0 < int(refused.headers["Retry-After"]) <= 86_400


def test_heartbeats_do_not_count_and_each_bucket_counts_alone() -> None:
    client = _away("1/day")
    heartbeats = ("/__lbheartbeat__", "/__heartbeat__") * 2
    paths = (*heartbeats, "/suggest?q=a", "/", "/search?q=a")
    assert 429 not in [client.get(path).status_code for path in paths]


@pytest.mark.parametrize("path", CASES["every_path_counts"])
def test_every_path_counts(path: str) -> None:
    client = _away("2/day")
    statuses = [client.get(path, buffered=True).status_code for _ in range(3)]
    assert 429 not in statuses[:2]
    assert statuses[2] == 429


def test_writes_count_if_their_token_is_wrong() -> None:
    client = _away("1/day")

    def put(token: str) -> int:
        headers = {"Authorization": f"Bearer {token}"}
        return client.put("/documents/a", json={"title": "a"}, headers=headers).status_code

    assert [put("wrong"), put("wrong")] == [401, 429]
    assert {put("a-token-for-these-tests") for _ in range(3)} == {503}
    assert client.get("/insights", auth=("", "wrong")).status_code == 429


def _statuses(client: FlaskClient, peers: list[str], forwarded: str = "") -> list[int]:
    headers = {"X-Forwarded-For": forwarded} if forwarded else {}
    return [
        client.get("/search?q=a", environ_base={"REMOTE_ADDR": peer}, headers=headers).status_code
        for peer in peers
    ]


def test_networks_of_one_site_that_take_turns_share_a_limit() -> None:
    limited = _away("2/day")
    turns = [f"2001:db8:0:{number:x}::1" for number in range(22)]
    assert _statuses(limited, turns) == [503] * 20 + [429] * 2
    assert _statuses(limited, ["2001:db8:1::1"] * 3) == [503, 503, 429]


def test_an_unknown_proxy_does_not_switch_the_limit_off() -> None:
    limited = _away("2/day")
    assert _statuses(limited, ["172.18.0.5"] * 3, "192.0.2.1") == [503, 503, 429]
    assert _statuses(limited, ["172.18.0.5"], "192.0.2.2") == [503]
    forged = [_statuses(limited, ["172.18.0.5"], f"192.0.2.{last}")[0] for last in range(3, 30)]
    assert forged.count(503) == 16
    # Without the header it is a client; a public address may have set it by itself.
    assert 429 in _statuses(limited, ["172.18.0.6"] * 3)
    assert 429 in _statuses(limited, ["8.8.8.8"] * 3, "192.0.2.1")
