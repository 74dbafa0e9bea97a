"""Cached answers as clients get them, with and without the settings of a public site."""

from dataclasses import replace
from typing import Any

import pytest
import redis
from flask.testing import FlaskClient

from app import create_app
from app.generation import Generation, Intervals
from app.search.answer import SHAPE
from app.search.request import SearchRequest, SuggestRequest
from app.service import cache_key
from app.settings import Settings
from devstack.servers import redis_server

PATHS = ["/search?q=python", "/suggest?q=pyth", "/search?q=python&debug-search"]
PUBLIC = {
    "rate_limit": "1000/minute",
    "cors_origins": "https://blog.example.org",
}


def _client(settings: Settings, **changed: Any) -> FlaskClient:
    return create_app(replace(settings, **changed)).test_client()


@pytest.mark.parametrize("changed", [{}, PUBLIC])
@pytest.mark.parametrize("path", PATHS)
def test_the_second_answer_is_the_first_one_again(
    settings: Settings, changed: dict[str, Any], path: str
) -> None:
    with redis_server() as server:
        client = _client(settings, redis_url=server.url, **changed)
        first, second = client.get(path), client.get(path)
        etag = first.headers["ETag"]
        assert client.get(path, headers={"If-None-Match": etag}).status_code == 304
        assert client.head(path).data == b""
    assert (first.headers["X-Cache"], second.headers["X-Cache"]) == ("MISS", "HIT")
    assert first.data == second.data
    assert second.headers["ETag"] == etag


def test_a_cached_answer_is_one_round_trip_with_a_rate_limit(settings: Settings) -> None:
    path = "/search?q=python"
    with redis_server() as server:
        # Counting searches sends them later, at a time of its own.
        client = _client(settings, redis_url=server.url, insights_days=0, **PUBLIC)
        service = client.application.extensions["blogsearch"]
        parts = (service.elastic, service.cache, settings.index, service.pins, service.admission)
        service.generation = Generation(*parts, Intervals(3600, 3600))
        client.get(path)
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


def test_an_explanation_belongs_to_its_answer(settings: Settings) -> None:
    with redis_server() as server:
        client = _client(settings, redis_url=server.url)
        plain = client.get("/search?q=python")
        explained = client.get("/search?q=python&debug-search")
        with_requests = client.get("/search?q=python&debug-search=requests")
    assert {response.headers["X-Cache"] for response in (plain, explained, with_requests)} == {
        "MISS"
    }
    assert "debug" not in plain.get_json()
    assert explained.get_json()["debug"]["requests"]
    assert with_requests.get_json()["debug"] != explained.get_json()["debug"]


def test_answers_of_another_shape_are_kept_apart() -> None:
    requests = SearchRequest("python"), SuggestRequest("python")
    assert all(cache_key(request).startswith(f"{SHAPE} ") for request in requests)
