"""Redis over TLS, as a user with the rules of docs/redis.acl, for whom nothing may be denied."""

import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import redis
from click.testing import CliRunner
from flask.testing import FlaskClient

from app import create_app
from app.cli import main
from app.commands.tools import Tools
from app.insights.counts import Counts
from app.search.request import SearchRequest
from app.settings import Settings
from devstack.servers import Certificates, RedisServer, redis_server
from tests.tcp import forward, listening

RULES = (Path(__file__).resolve().parents[3] / "docs" / "redis.acl").read_text()
TOKEN = "a-token-for-these-tests"


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """The users of docs/redis.acl, and one who may do everything."""
    path = tmp_path / "users.acl"
    path.write_text(RULES.replace("CHANGE-ME", "p%ss") + "user admin on >admin ~* &* +@all\n")
    return path


@pytest.fixture
def server(rules: Path) -> Iterator[RedisServer]:
    with redis_server("--aclfile", str(rules)) as running:
        yield running


@contextmanager
def _behind_tls(redis_port: int, certificates: Certificates) -> Iterator[tuple[int, str]]:
    """The port of a TLS server that asks clients for a certificate, and the parameters for it."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=certificates.authority)
    context.load_cert_chain(certificates.certificate, certificates.key)
    context.verify_mode = ssl.CERT_REQUIRED

    def serve(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as near:
            forward(near, ("127.0.0.1", redis_port))

    with listening(serve) as port:
        yield port, f"ssl_certfile={certificates.certificate}&ssl_keyfile={certificates.key}"


@pytest.fixture
def url(server: RedisServer, certificates: Certificates) -> Iterator[str]:
    with _behind_tls(server.port, certificates) as (port, files):
        yield f"rediss://blogsearch:p%25ss@127.0.0.1:{port}/0?{files}"


def _client(settings: Settings, **changed: Any) -> FlaskClient:
    return create_app(replace(settings, **changed)).test_client()


def test_the_documented_rules_suffice(
    own_settings: Settings,
    server: RedisServer,
    url: str,
    certificates: Certificates,
    tmp_path: Path,
    count_searches: Callable[..., Counts],
) -> None:
    posts = tmp_path / "posts.jsonl"
    posts.write_text('{"oid": "a", "title": "Juggling"}')
    settings = replace(
        own_settings,
        redis_url=url,
        ca_file=str(certificates.authority),
        write_tokens=TOKEN,
    )

    def run(*words: str) -> str:
        done = CliRunner().invoke(main, words, obj=Tools(settings))
        assert done.exit_code == 0, done.output
        return done.output

    run("reindex", str(posts))
    first, second = (_client(settings, rate_limit="3/day") for _ in range(2))
    states = [visitor.get("/search?q=juggling").headers["X-Cache"] for visitor in (first, second)]
    assert states == ["MISS", "HIT"]
    assert [visitor.get("/search?q=juggling").status_code for visitor in (first, second)] == [
        200,
        429,
    ]

    client = _client(settings)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    assert client.put("/documents/b", json={"title": "New"}, headers=headers).status_code == 201
    assert client.get("/search?q=juggling").headers["X-Cache"] == "MISS"
    assert client.get("/__heartbeat__").get_json()["checks"]["redis"]["status"] == "ok"
    count_searches(settings, SearchRequest("juggling"))
    run("doctor")
    with redis.Redis(port=server.port, username="admin", password="admin") as admin:
        assert admin.acl_log() == []


@pytest.mark.parametrize("wrong", ["authority", "password", "user"])
def test_a_wrong_authority_or_password_is_a_miss(
    wrong: str, settings: Settings, url: str, certificates: Certificates
) -> None:
    ca_file = "" if wrong == "authority" else str(certificates.authority)
    url = url.replace("p%25ss", "other" if wrong == "password" else "p%25ss")
    url = url.replace("blogsearch:", "nobody:" if wrong == "user" else "blogsearch:")
    client = _client(settings, redis_url=url, ca_file=ca_file, rate_limit="100/minute")
    assert client.get("/search?q=python").headers["X-Cache"] == "OFF"
    assert client.get("/__heartbeat__").get_json()["status"] == "degraded"
