"""Of posts that are translations of each other one hit, with the others beside it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from elasticsearch import Elasticsearch
from flask.testing import FlaskClient

from app import create_app
from app.search.pins import PinStore
from app.settings import Settings
from indexer.posts.records import Origin, RawPost

SITE = "https://blog.example.org"


def post(lang: str, name: str, title: str, text: str, day: int = 1, **fields: Any) -> RawPost:
    oid = f"{lang}/{name}"
    usual: dict[str, Any] = {
        "pub_date": f"2024-01-{day:02d}",
        "language": lang,
        "translation_key": [f"{SITE}/{other}/{name}/" for other in ("en", "pt")],
    }
    url = f"{SITE}/{oid}/"
    return RawPost(Origin("test"), oid, title, f"<p>{text}</p>", url, **usual | fields)


POSTS = [
    *(post("en", f"{day}", f"Python {day} explained", "Snakes and tea.", day) for day in (1, 2, 3)),
    *(post("pt", f"{day}", f"Python {day}", "Cobras e python.", day) for day in (1, 2, 3)),
    post("pt", "sea", "O mar", "Python e as marés.", 9),
    post("en", "sea", "The sea", "Of tides.", 9, categories=["Sea"]),
    post("en", "alone", "Python alone", "In English.", 4, translation_key=None),
    post("en", "unshared", "Python unshared", "In English.", 5),
]


@pytest.fixture(scope="module")
def index(module_index: Callable[[Iterable[RawPost]], str]) -> str:
    return module_index(POSTS)


@pytest.fixture
def client(own_settings: Settings, index: str) -> Iterator[FlaskClient]:
    with create_app(replace(own_settings, index=index)).app_context() as context:
        yield started(context.app.test_client())


def started(client: FlaskClient) -> FlaskClient:
    """The client of a service that knows the languages of the posts: at first it does not wait."""
    client.get("/search?q=tea")
    return client


def get(client: FlaskClient, path: str, accepted: str = "en") -> Any:
    return client.get(path, headers={"Accept-Language": accepted}).get_json()


def oids(answer: Any) -> list[str]:
    return [hit["oid"] for hit in answer["hits"]]


@pytest.mark.parametrize("query", ["python", "pyhton", "python&sort=newest"])
@pytest.mark.parametrize("lang", ["en", "pt"])
def test_one_hit_in_the_visitors_language(client: FlaskClient, query: str, lang: str) -> None:
    found = []
    for page in (1, 2, 3):
        answer = get(client, f"/search?q={query}&size=2&page={page}&facets=on", lang)
        assert (answer["count"], answer["matches"]["all_words"]) == (6, 6)
        assert answer["facets"]["years"] == [{"value": "2024", "count": 6}]
        found += oids(answer)
    # Only one version of the sea has the word.
    both = [f"{lang}/{day}" for day in (1, 2, 3)]
    assert sorted(found) == sorted([*both, "pt/sea", "en/alone", "en/unshared"])


def test_the_other_version_is_linked(client: FlaskClient) -> None:
    hits = {hit["oid"]: hit for hit in get(client, "/search?q=python")["hits"]}
    other = {"language": "pt", "title": "Python 1", "url": f"{SITE}/pt/1/"}
    assert hits["en/1"]["translations"] == [other]
    assert hits["pt/sea"]["translations"][0]["title"] == "The sea"
    assert {"en/alone", "en/unshared"} == {o for o in hits if "translations" not in hits[o]}
    english = {"Accept-Language": "en"}
    page = client.get("/?q=python", headers=english).text
    assert f'<span lang="pt"><a href="{SITE}/pt/1/">' in page
    text = client.get("/search?q=python", headers=english | {"Accept": "text/markdown"}).text
    assert f"pt: [Python 1]({SITE}/pt/1/)" in text


def test_a_version_with_fewer_of_the_words_does_not_replace_the_other(client: FlaskClient) -> None:
    assert oids(get(client, "/search?q=python+cobras", "en"))[0].startswith("pt/")
    assert oids(get(client, "/search?q=python&lang=pt", "en"))[0].startswith("pt/")


def test_newest_and_similar_posts(client: FlaskClient) -> None:
    def newest(lang: str) -> list[str]:
        return [post["title"] for post in get(client, "/start", lang)["newest"]]

    assert newest("en")[:3] == ["The sea", "Python unshared", "Python alone"]
    assert newest("pt")[0] == "O mar"
    assert len(newest("pt")) == 5
    similar = get(client, f"/similar?url={SITE}/pt/1/")["posts"]
    assert {"pt/1", "en/1"}.isdisjoint(post["oid"] for post in similar)
    assert sorted(post["oid"][3:] for post in similar[:2]) == ["2", "3"]


def test_pinned_and_hidden_versions(
    own_settings: Settings, elastic: Elasticsearch, module_index: Callable[..., str]
) -> None:
    index = module_index(POSTS)

    def hits(rule: str) -> dict[str, Any]:
        PinStore(elastic, index).change(lambda _: {"a": rule})
        app = create_app(replace(own_settings, index=index, redis_url=""))
        client = started(app.test_client())
        return {hit["oid"]: hit for hit in get(client, "/search?q=python")["hits"]}

    assert next(iter(hits("python => pt/2"))) == "pt/2"
    found = hits("python => -pt/1")
    assert "translations" not in found["en/1"]
    assert "translations" in found["en/2"]


def test_blogs_without_translations_are_asked_as_before(
    own_settings: Settings, module_index: Callable[[Iterable[RawPost]], str]
) -> None:
    # One language of a blog is indexed; its pages name the others.
    index = module_index([post for post in POSTS if post.language == "en"])
    client = create_app(replace(own_settings, index=index)).test_client()
    answer = client.get("/search?q=python&debug-search=requests&facets=on").get_json()
    assert len(answer["hits"]) == 5
    assert "translation_key" not in str(answer["debug"]["requests"])
