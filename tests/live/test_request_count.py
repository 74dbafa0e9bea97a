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
from analyzers.rules.compile import NO_RULES
from app import create_app
from app.pins import PinStore
from app.search import search
from app.search.known import Known
from app.search.request import SearchRequest
from app.settings import Settings
from indexer.build.builder import Built, IndexSettings, reindex
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
def test_no_page_needs_more_than_three_requests(
    client: FlaskClient, sent: list[str], q: str, parameters: str
) -> None:
    sent.clear()
    assert client.get(f"/?q={q}{parameters}").status_code == 200
    assert len(sent) <= 3, sent


def test_what_finds_nothing_offers_searches_that_do(client: FlaskClient) -> None:
    answer = client.get("/search", query_string={"q": '"python zzqx"'}).get_json()
    assert answer["count"] == 0
    assert answer["alternatives"] == ["python zzqx"]
    page = client.get("/", query_string={"q": '"python zzqx"'}).text
    assert "python zzqx</a>" in page
    assert client.get("/search", query_string={"q": "python zzqx"}).get_json()["count"] > 0
    answer = client.get("/search", query_string={"q": "pythn", "typos": "off"}).get_json()
    assert answer["alternatives"] == ["python"]


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


def test_a_word_is_corrected_by_a_second_request_once(
    counted: Callable[[Settings], FlaskClient],
    own_settings: Settings,
    index_posts: Callable[[Iterable[RawPost]], Built],
    sent: list[str],
    elastic: Elasticsearch,
) -> None:
    index_posts(POSTS)
    client = counted(own_settings)

    def requests(q: str) -> int:
        sent.clear()
        client.get("/search", query_string={"q": q})
        return len(sent)

    assert requests("pythn") == requests("python") + 1
    assert requests("pythn") == requests("python")

    corrected = client.get("/search?q=pythn").get_json()
    assert corrected["corrected"]["to"] == "python"
    last = corrected["hits"][-1]["oid"]
    index, id_ = own_settings.index, last
    elastic.update(index=index, id=id_, doc={"title": "Pythn"}, refresh=True)
    answer = client.get("/search?q=pythn").get_json()
    assert answer["hits"][0]["oid"] == last
    assert "corrected" not in answer

    # The writes of a new generation are counted from the start.
    index_posts(POSTS)
    assert client.get("/search?q=pythn").get_json()["corrected"]["to"] == "python"
    assert requests("pythn") == requests("python")
    elastic.update(index=index, id=id_, doc={"title": "Pythn"}, refresh=True)
    assert "corrected" not in client.get("/search?q=pythn").get_json()


def test_a_change_of_any_of_several_shards_is_noticed(
    counted: Callable[[Settings], FlaskClient], own_settings: Settings, elastic: Elasticsearch
) -> None:
    reindex(elastic, own_settings.index, POSTS, IndexSettings(NO_RULES, 3, 0), pytest.fail)
    client = counted(own_settings)
    assert "corrected" in client.get("/search?q=pythn").get_json()
    for post in POSTS:
        for title, is_corrected in (("Pythn", False), (post.title, True)):
            elastic.update(
                index=own_settings.index,
                id=post.oid,
                doc={"title": title},
                refresh=True,
            )
            assert ("corrected" in client.get("/search?q=pythn").get_json()) == is_corrected


def test_the_suggester_gets_a_word_once(elastic: Elasticsearch, settings: Settings) -> None:
    known = Known()

    def suggested(q: str) -> list[str]:
        request = SearchRequest(q=q, debug=True, debug_requests=True)
        requests = search(elastic, settings.index, request, settings, known).debug["requests"]
        bodies = [body for sent in requests for body in sent["bodies"] if "suggest" in body]
        return [body["suggest"]["spelling"]["text"] for body in bodies]

    assert suggested("python") == ["python"]
    assert suggested("python tips") == ["tips"]
    assert suggested("python tips") == []


def test_a_search_needs_no_rule_files(
    elastic: Elasticsearch, settings: Settings, tmp_path: Path
) -> None:
    def oids(settings: Settings) -> list[str]:
        request = SearchRequest(q="machine learning", size=50)
        answer = search(elastic, settings.index, request, settings)
        return [hit["oid"] for hit in answer.body["hits"] if not hit.get("missing")]

    assert "tea-at-the-computing-museum" in oids(settings)
    assert oids(replace(settings, synonyms_dir=tmp_path / "nowhere")) == oids(settings)
