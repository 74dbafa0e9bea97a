"""The cache as a browser and a CDN see it: through the application, on real engines."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import redis
from flask.testing import FlaskClient

from app import create_app
from app.settings import Settings
from devstack.servers import free_port

Open = Callable[..., FlaskClient]


@pytest.fixture
def opened(engine_settings: Settings, sample_alias: str) -> Open:
    """A client of an application with the sample posts; `opened(cache_ttl=60)`."""
    changed = replace(engine_settings, index=sample_alias)
    return lambda **more: create_app(replace(changed, **more)).test_client()


@pytest.mark.parametrize(
    ("header", "status"),
    [
        ("{}", 304),
        ('"other", {}', 304),
        # A proxy that compresses may turn the weak validator into a strong one.
        ("strong", 304),
        ('W/"other"', 200),
    ],
)
def test_if_none_match(opened: Open, header: str, status: int) -> None:
    client = opened()
    etag = client.get("/search?q=python").headers["ETag"]
    assert etag.startswith('W/"')
    given = etag.removeprefix("W/") if header == "strong" else header.format(etag)
    answer = client.get("/search?q=python", headers={"If-None-Match": given})
    assert answer.status_code == status
    assert (answer.data == b"") is (status == 304)
    assert answer.headers["ETag"] == etag
    assert answer.headers["Cache-Control"] == "no-cache"
    assert ("Content-Type" in answer.headers) is (status == 200)


def test_page_and_search_share_answers(opened: Open) -> None:
    client = opened()
    assert "cron" in client.get("/?q=crontab+shared").text
    assert client.get("/search?q=crontab+shared&facets=on").headers["X-Cache"] == "HIT"


def test_without_elasticsearch_a_kept_answer_or_503(opened: Open, clock: Any) -> None:
    before = opened().get("/search?q=python")
    gone = opened(elasticsearch_url=f"http://127.0.0.1:{free_port()}")
    assert gone.get("/search?q=python").headers["X-Cache"] in ("HIT", "STALE")
    clock.advance(900)
    stale = gone.get("/search?q=python")
    assert (stale.status_code, stale.headers["X-Cache"]) == (200, "STALE")
    assert stale.data == before.data
    assert stale.headers["Cache-Control"] == "no-cache"
    assert gone.get("/search?q=never+asked+before").status_code == 503


def test_only_first_pages_are_kept_for_an_outage(
    opened: Open, sample_alias: str, server: "redis.Redis"
) -> None:
    client = opened(cache_ttl=100)

    def lifetimes(path: str) -> list[bool]:
        pattern = f"blogsearch:{{{sample_alias}}}:answer:*"
        before = set(server.scan_iter(match=pattern))
        assert client.get(path).status_code == 200
        return [server.ttl(key) > 86_400 for key in set(server.scan_iter(pattern)) - before]

    assert lifetimes("/search?q=minute+python&size=1") == [True]
    assert lifetimes("/search?q=minute+python&size=1&page=2") == [False]
