"""The cache as a browser and a CDN see it: through the application, on real engines."""

import gzip
import json
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import redis
from click.testing import CliRunner
from elasticsearch import Elasticsearch
from flask.testing import FlaskClient

from app import create_app
from app.cli import main
from app.settings import Settings
from devstack.servers import free_port

POSTS = [
    {"oid": "a", "title": "Learning Python", "text": "<p>Python and more Python.</p>", "url": "/a"},
    {"oid": "b", "title": "Crontab", "text": "<p>Once a minute.</p>", "url": "/b"},
]

Open = Callable[..., FlaskClient]


@pytest.fixture(scope="module")
def blog(
    elastic: Elasticsearch, redis_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """An alias with two posts, for all tests of this module."""
    name = f"test-x{uuid.uuid4().hex[:12]}"
    path: Path = tmp_path_factory.mktemp("posts") / "posts.jsonl"
    path.write_text("".join(json.dumps(post) + "\n" for post in POSTS))
    settings = {"BLOGSEARCH_INDEX": name, "BLOGSEARCH_SYNONYMS_DIR": str(path.parent)}
    result = CliRunner().invoke(main, ["reindex", str(path)], env=settings)
    assert result.exit_code == 0, result.output
    yield name
    indices = elastic.indices.get(index=f"{name}*", expand_wildcards="all", ignore_unavailable=True)
    for index in indices:
        elastic.indices.delete(index=index)
    with redis.Redis.from_url(redis_url) as client:
        for key in client.scan_iter(match=f"blogsearch:{{{name}}}:*"):
            client.delete(key)


@pytest.fixture
def opened(engine_settings: Settings, blog: str) -> Open:
    """A client of an application with an empty cache; `opened(cache_serializer="bytes+zlib")`."""

    def build(*, empty: bool = True, **changed: Any) -> FlaskClient:
        app = create_app(replace(engine_settings, index=blog, **changed))
        if empty:
            app.extensions["blogsearch"].cache.clear()
        return app.test_client()

    return build


@pytest.mark.parametrize(
    ("serializer", "accepted", "coding"),
    [
        ("bytes+zlib", "gzip, deflate, br", "gzip"),
        ("bytes+zlib", "br", None),
        ("bytes+zlib", "", None),
        ("bytes", "gzip", None),
    ],
)
def test_a_hit_goes_out_compressed_where_the_client_takes_it(
    opened: Open, serializer: str, accepted: str, coding: str | None
) -> None:
    client = opened(cache_serializer=serializer)
    plain = client.get("/search?q=python")
    hit = client.get("/search?q=python", headers={"Accept-Encoding": accepted})
    assert hit.headers["X-Cache"] == "HIT"
    assert hit.headers.get("Content-Encoding") == coding
    assert hit.headers["Vary"] == "Accept-Encoding"
    assert hit.headers["ETag"] == plain.headers["ETag"]
    if coding == "gzip":
        assert gzip.decompress(hit.data) == plain.data
    if coding is None:
        assert hit.data == plain.data


@pytest.mark.parametrize(
    ("accepted", "encoding"),
    [
        ("gzip, deflate, br, zstd", "gzip"),
        ("GZIP", "gzip"),
        ("gzip;q=0.5", "gzip"),
        ("*", "gzip"),
        ("gzip;q=0", None),
        ("gzip;q=0, *", None),
        ("*;q=0", None),
        ("gzipped", None),
        ("identity", None),
        (";;,=,q", None),
    ],
)
def test_accept_encoding(opened: Open, accepted: str, encoding: str | None) -> None:
    client = opened(cache_serializer="bytes+zlib")
    answer = client.get("/search?q=python", headers={"Accept-Encoding": accepted})
    assert answer.headers.get("Content-Encoding") == encoding


@pytest.mark.parametrize(
    ("header", "status"),
    [
        ("{}", 304),
        ('"other", {}', 304),
        ("*", 304),
        ('W/"other"', 200),
        ("", 200),
        ("nonsense", 200),
    ],
)
def test_if_none_match(opened: Open, header: str, status: int) -> None:
    client = opened(cache_max_age=60)
    etag = client.get("/search?q=python").headers["ETag"]
    assert etag.startswith('W/"')
    answer = client.get("/search?q=python", headers={"If-None-Match": header.format(etag)})
    assert answer.status_code == status
    assert (answer.data == b"") is (status == 304)
    assert answer.headers["ETag"] == etag
    assert answer.headers["Cache-Control"].startswith("public, max-age=60")
    assert answer.headers["Vary"] == "Accept-Encoding"
    assert ("Content-Type" in answer.headers) is (status == 200)


def test_a_strong_form_of_the_etag_matches_too(opened: Open) -> None:
    """A proxy that compresses may turn the weak validator into a strong one."""
    client = opened()
    etag = client.get("/search?q=python").headers["ETag"].removeprefix("W/")
    again = client.get("/search?q=python", headers={"If-None-Match": etag})
    assert again.status_code == 304


@pytest.mark.parametrize(
    ("max_age", "said"),
    [
        (60, "public, max-age=60, stale-while-revalidate=60, stale-if-error=86400"),
        (0, "no-cache"),
    ],
)
def test_cache_control(opened: Open, max_age: int, said: str) -> None:
    client = opened(cache_max_age=max_age)
    for _ in range(2):
        assert client.get("/search?q=python").headers["Cache-Control"] == said


def test_page_and_search_share_answers(opened: Open) -> None:
    client = opened()
    assert "Crontab" in client.get("/?q=crontab").text
    assert client.get("/search?q=crontab&facets=on").headers["X-Cache"] == "HIT"


def test_without_elasticsearch_an_older_answer_or_503(opened: Open, blog: str) -> None:
    before = opened().get("/search?q=python")
    gone = opened(empty=False, elasticsearch_url=f"http://127.0.0.1:{free_port()}")
    assert gone.get("/search?q=python").headers["X-Cache"] == "HIT"
    gone.application.extensions["blogsearch"].cache.new_generation(blog, "rules")
    stale = gone.get("/search?q=python")
    assert (stale.status_code, stale.headers["X-Cache"]) == (200, "STALE")
    assert stale.data == before.data
    assert stale.headers["Cache-Control"] == "no-cache"
    assert gone.get("/search?q=crontab").status_code == 503


def test_only_first_pages_are_kept_for_an_outage(opened: Open, blog: str, redis_url: str) -> None:
    client = opened(cache_ttl=100)

    def lifetimes(path: str) -> list[float]:
        with redis.Redis.from_url(redis_url) as connection:
            pattern = f"blogsearch:{{{blog}}}:answer:*"
            before = set(connection.scan_iter(match=pattern))
            assert client.get(path).status_code == 200
            return [connection.ttl(key) for key in set(connection.scan_iter(pattern)) - before]

    assert [seconds > 86_400 for seconds in lifetimes("/search?q=minute+python&size=1")] == [True]
    assert [seconds < 200 for seconds in lifetimes("/search?q=minute+python&size=1&page=2")] == [
        True
    ]
