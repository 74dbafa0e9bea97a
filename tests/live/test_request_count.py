"""How many requests to Elasticsearch a search and the search page send."""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from elastic_transport import Urllib3HttpNode
from elasticsearch import Elasticsearch
from flask.testing import FlaskClient

from analyzers.languages import ENGLISH
from app import create_app
from app.search.blended import search
from app.search.pins import PinStore
from app.search.request import SearchRequest
from app.settings import Settings
from indexer.build.builder import Built
from indexer.records import Origin, RawPost

POSTS = [
    RawPost(Origin("test"), str(number), f"Python, part {number}", "<p>Text</p>", f"/{number}")
    for number in range(5)
]


class Counted(Urllib3HttpNode):
    """A connection that records the requests of the test's own thread, in which pages are made.

    What a service does in the background is none of a page.
    """

    sent: ClassVar[list[str]] = []
    thread: ClassVar[int] = 0

    def perform_request(self, method: str, target: str, *rest: Any, **more: Any) -> Any:
        if threading.get_ident() == self.thread:
            self.sent.append(f"{method} {target}")
        return super().perform_request(method, target, *rest, **more)


@pytest.fixture
def sent() -> list[str]:
    Counted.sent, Counted.thread = [], threading.get_ident()
    return Counted.sent


@pytest.fixture
def counted(sent: list[str]) -> Iterator[Callable[[Settings], FlaskClient]]:
    """A client of a service that has read the rules of the index, with its first search."""
    with ExitStack() as stack:

        def build(settings: Settings) -> FlaskClient:
            elastic = Elasticsearch(settings.elasticsearch_url, node_class=Counted)
            stack.enter_context(elastic)
            app = create_app(replace(settings, redis_url=""), elastic=elastic)
            app.test_client().get("/?q=python")
            return app.test_client()

        yield build


@pytest.fixture
def client(counted: Callable[[Settings], FlaskClient], settings: Settings) -> FlaskClient:
    return counted(settings)


@pytest.mark.parametrize(
    "q",
    [
        "python",
        "pythn",
        "zzqx vvkw qqaa bbcc ddee",
        '"zzqx vvkw" -python pythn tips',
        '"python zzqx"',
    ],
)
@pytest.mark.parametrize("parameters", ["", "&typos=off", "&category=nosuch", "&sort=newest"])
def test_no_page_needs_more_than_four_requests(
    client: FlaskClient, sent: list[str], q: str, parameters: str
) -> None:
    sent.clear()
    assert client.get(f"/?q={q}{parameters}").status_code == 200
    assert len(sent) <= 4, sent


def test_a_search_of_a_known_index_sends_one_request(
    counted: Callable[[Settings], FlaskClient],
    own_settings: Settings,
    index_posts: Callable[[Iterable[RawPost]], Built],
    sent: list[str],
    elastic: Elasticsearch,
) -> None:
    index_posts(POSTS)
    store = PinStore(elastic, own_settings.index, ENGLISH)
    client = counted(own_settings)
    for _ in range(2):
        sent.clear()
        client.get("/search?q=python")
        assert len(sent) == 1, sent
    oid = client.get("/search?q=python").get_json()["hits"][3]["oid"]
    store.change(lambda _: {"new.pins": f"python => {oid}"})
    assert client.get("/search?q=python").get_json()["hits"][0]["oid"] == oid
    sent.clear()
    client.get("/search?q=python")
    assert len(sent) == 1, sent


@pytest.mark.parametrize(
    ("oid", "most"), [("{}", 1), ("https://x.example/{}", 1), ("of another kind {}", 2)]
)
def test_similar_posts_take_one_request_if_the_oid_is_in_the_address(
    counted: Callable[[Settings], FlaskClient],
    own_settings: Settings,
    index_posts: Callable[[Iterable[RawPost]], Built],
    sent: list[str],
    oid: str,
    most: int,
) -> None:
    index_posts(replace(post, oid=oid.format(post.oid)) for post in POSTS)
    client = counted(own_settings)
    for url, requests, known in (("https://x.example/3", most, True), ("/nothing", 1, False)):
        sent.clear()
        assert client.get(f"/similar?url={url}").get_json()["known"] is known
        assert len(sent) == requests, sent


def test_a_search_needs_no_rule_files(
    elastic: Elasticsearch, settings: Settings, tmp_path: Path
) -> None:
    def oids(settings: Settings) -> list[str]:
        request = SearchRequest(q="machine learning", size=50)
        answer = search(elastic, settings.index, request, settings)
        return [hit["oid"] for hit in answer.body["hits"] if not hit.get("missing")]

    assert "tea-at-the-computing-museum" in oids(settings)
    assert oids(replace(settings, synonyms_dir=tmp_path / "nowhere")) == oids(settings)
