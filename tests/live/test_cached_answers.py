"""Cached answers as browsers and CDNs get them, with the settings of a public site."""

import threading
from dataclasses import replace
from typing import Any

import redis
from flask.testing import FlaskClient

from app import create_app
from app.index.watch import IndexWatch, Intervals
from app.settings import Settings
from devstack.servers import redis_server
from tests.live.conftest import Faulty

PATHS = ["/search?q=python", "/suggest?q=pyth", "/search?q=python&debug-search"]
PUBLIC: dict[str, Any] = {
    "rate_limit": "1000/minute",
    "cors_origins": "https://blog.example.org",
    "cache_timeout": 10.0,  # a busy machine
}


def _client(settings: Settings, **changed: Any) -> FlaskClient:
    """A client of a process that has read the view, and trusts Redis however long a test takes."""
    client = create_app(replace(settings, **changed)).test_client()
    service = client.application.extensions["blogsearch"]
    parts = (service.elastic, service.cache, service.settings, service.admission)
    service.watch = IndexWatch(*parts, Intervals(3600, 3600))
    client.get("/search?q=first")
    return client


def test_the_second_answer_is_the_first_one_again(settings: Settings) -> None:
    with redis_server() as server:
        client = _client(settings, redis_url=server.url, **PUBLIC)
        for path in PATHS:
            first, second = client.get(path), client.get(path)
            etag = first.headers["ETag"]
            # A proxy that compresses may turn the weak validator into a strong one.
            for known in (etag, f'"other", {etag}', etag.removeprefix("W/")):
                answer = client.get(path, headers={"If-None-Match": known})
                assert (answer.status_code, answer.data) == (304, b"")
                assert (answer.headers["ETag"], answer.headers["Cache-Control"]) == (
                    etag,
                    "no-cache",
                )
            other = client.get(path, headers={"If-None-Match": 'W/"other"'})
            assert other.status_code == 200
            assert client.head(path).data == b""
            assert (first.headers["X-Cache"], second.headers["X-Cache"]) == ("MISS", "HIT")
            assert (first.data, etag) == (second.data, second.headers["ETag"])


def test_a_cached_answer_is_one_round_trip_with_a_rate_limit(settings: Settings) -> None:
    path = "/search?q=python"
    with redis_server() as server:
        # Counting searches sends them later, at a time of its own.
        client = _client(settings, redis_url=server.url, insights_days=0, **PUBLIC)
        client.get(path)
        with redis.Redis.from_url(server.url) as admin:
            before = admin.info("commandstats"), admin.info("stats")["total_reads_processed"]
            assert client.get(path).headers["X-Cache"] == "HIT"
            after = admin.info("commandstats"), admin.info("stats")["total_reads_processed"]
    used = {
        name
        for name, figures in after[0].items()
        if figures["calls"] != before[0].get(name, {"calls": 0})["calls"]
    }
    assert used - {"cmdstat_info"} == {"cmdstat_mget", "cmdstat_incrby", "cmdstat_expire"}
    assert after[1] - before[1] == 3  # two INFO of this test, and one of the service


def test_the_page_shows_no_value_of_redis_that_is_not_whole(settings: Settings) -> None:
    with redis_server() as server, redis.Redis.from_url(server.url) as admin:
        client = _client(settings, redis_url=server.url, insights_days=0, **PUBLIC)
        whole = client.get("/?q=python").text
        for key in admin.keys("*:answer:*"):
            value: Any = admin.get(key)
            admin.set(key, value[:40] + b"\xff" * 40)
        assert client.get("/?q=python").text == whole
        (generation,) = admin.keys("*:generation*")
        for value in (b"\xff\xfe|\xff|\xff", b"\xff" * 40):  # of another program
            admin.set(generation, value)
            assert client.get("/?q=python").text == whole


def test_the_first_answer_of_a_new_process_is_kept_however_long_elasticsearch_takes(
    settings: Settings, faulty: Faulty
) -> None:
    slow = faulty("/_stats", lambda send: threading.Event().wait(1) or send())
    with redis_server() as server:
        asked = replace(settings, redis_url=server.url, **PUBLIC)
        client = create_app(asked, elastic=slow).test_client()
        answers = [client.get("/search?q=python").headers["X-Cache"] for _ in range(2)]
    assert answers == ["MISS", "HIT"]
