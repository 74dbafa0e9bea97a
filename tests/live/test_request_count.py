"""How many requests to Elasticsearch a search and the search page send."""

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from elasticsearch import Elasticsearch
from flask.testing import FlaskClient

from analyzers.languages import ENGLISH
from app import create_app
from app.search.pins import PinStore
from app.settings import Settings
from indexer.records import Origin, RawPost
from tests.live.conftest import Faulty
from tests.writing import index_at_once

POSTS = [
    RawPost(Origin("test"), str(number), f"Python, part {number}", "<p>Text</p>", f"/{number}")
    for number in range(5)
]


@pytest.fixture
def sent() -> list[int]:
    """One entry for each request of the test's own thread, in which pages are made."""
    return []


@pytest.fixture
def counted(faulty: Faulty, sent: list[int]) -> Callable[[Settings], FlaskClient]:
    """A client of a service that has read the rules of the index, with its first search."""
    own = threading.get_ident()

    def count(send: Callable[[], Any]) -> Any:
        sent.extend([1] * (threading.get_ident() == own))
        return send()

    def build(settings: Settings) -> FlaskClient:
        app = create_app(replace(settings, redis_url=""), elastic=faulty(".", count))
        app.test_client().get("/?q=python")
        return app.test_client()

    return build


@pytest.fixture
def client(counted: Callable[[Settings], FlaskClient], settings: Settings) -> FlaskClient:
    return counted(settings)


def test_no_page_needs_more_than_four_requests(client: FlaskClient, sent: list[int]) -> None:
    unknown = "zzqx vvkw qqaa bbcc ddee"
    for q in ("python", "pythn", unknown, '"zzqx vvkw" -python pythn tips', '"python zzqx"'):
        for parameters in ("", "&typos=off", "&category=nosuch", "&sort=newest"):
            sent.clear()
            assert client.get(f"/?q={q}{parameters}").status_code == 200
            assert len(sent) <= 4


def test_a_search_of_a_known_index_sends_one_request(
    counted: Callable[[Settings], FlaskClient],
    own_settings: Settings,
    alias: str,
    sent: list[int],
    elastic: Elasticsearch,
) -> None:
    index_at_once(elastic, alias, POSTS)
    store = PinStore(elastic, own_settings.index, ENGLISH)
    client = counted(own_settings)
    for _ in range(2):
        sent.clear()
        client.get("/search?q=python")
        assert len(sent) == 1
    oid = client.get("/search?q=python").get_json()["hits"][3]["oid"]
    store.change(lambda _: {"new.pins": f"python => {oid}"})
    assert client.get("/search?q=python").get_json()["hits"][0]["oid"] == oid
    # Similar posts take one if the oid is in the address.
    for path in ("/search?q=python", "/similar?url=https://x.example/3", "/similar?url=/nothing"):
        sent.clear()
        assert client.get(path).status_code == 200
        assert len(sent) == 1
