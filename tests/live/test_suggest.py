"""`GET /suggest` on the sample posts: whatever is suggested finds something."""

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest
from elasticsearch import Elasticsearch
from flask.testing import FlaskClient

from analyzers.rules.compile import NO_RULES
from app import create_app
from app.settings import Settings
from devstack.servers import redis_server
from indexer.records import Origin, RawPost
from indexer.schema import index_body
from tests.conftest import REPOSITORY

HOSTILE = [
    *("<script>alert(1)</script>", "*", "?", "a*:b OR _exists_:x", '"', '"unclosed phrase'),
    *("-", "-python", "\\", "/.*/", "{}[]()", "\u0000\ud7ff", "😀", "%00", "x" * 200),
    *("a b c d e f g h i j k l m n o p q r s t u v w x y z", "c++ .net c# => !==", "日本語"),
]


def suggest(client: FlaskClient, q: str, **parameters: Any) -> list[dict[str, Any]]:
    response = client.get("/suggest", query_string={"q": q, **parameters})
    assert response.status_code == 200, response.get_json()
    suggestions: list[dict[str, Any]] = response.get_json()["suggestions"]
    return suggestions


def searches(client: FlaskClient, q: str) -> list[str]:
    return [
        suggestion["text"] for suggestion in suggest(client, q) if suggestion["kind"] == "search"
    ]


def titles(client: FlaskClient, q: str, **parameters: Any) -> list[str]:
    return [
        suggestion["text"]
        for suggestion in suggest(client, q, **parameters)
        if suggestion["kind"] == "post"
    ]


@pytest.mark.parametrize("q", ["pyt", "pythn", "pyhton", "oython", "PYTH", "pytohn"])
def test_a_beginning_or_a_misspelled_word_suggests_the_search(client: FlaskClient, q: str) -> None:
    assert searches(client, q)[0] == "python"
    assert any("Python" in title for title in titles(client, q))


def test_several_words_may_be_unfinished_and_misspelled(client: FlaskClient) -> None:
    for typed in ("date forma", "dtae forma"):
        assert searches(client, typed) == ["date formatting", "date format"]
    assert searches(client, "siteswp pyt") == []  # no title says it
    assert titles(client, "pyt siteswap") == ["Siteswap in forty lines of Python"]


@pytest.mark.parametrize(
    ("q", "title"),
    [
        ("centre", "Center a div, ten years later"),  # by a synonym
        ("rutab", "A pasty is not a pie"),  # by a word of the text
        ("pasty zq", "A pasty is not a pie"),  # two letters of another word take nothing away
        ("date for", "Date formatting"),  # what begins so is first
    ],
)
def test_the_first_title(client: FlaskClient, q: str, title: str) -> None:
    assert titles(client, q)[0].startswith(title)


def test_nothing_is_suggested_for_what_finds_nothing(client: FlaskClient) -> None:
    assert suggest(client, "xqzzwk") == []


@pytest.mark.parametrize("q", HOSTILE)
def test_a_hostile_query_gets_suggestions_or_none(client: FlaskClient, q: str) -> None:
    assert len(suggest(client, q)) <= 10


def test_whatever_is_suggested_finds_something(client: FlaskClient) -> None:
    lines = (REPOSITORY / "sample" / "posts.jsonl").read_text().splitlines()
    posts = [json.loads(line)["title"] for line in lines]
    typed = {title[: 2 + number % 7] for number, title in enumerate(posts)}
    typed |= {title[number % 5 + 1 :][:9].strip() or "a" for number, title in enumerate(posts)}
    suggested = {suggestion["text"] for q in typed for suggestion in suggest(client, q)}
    assert len(suggested) > 60
    nothing = [
        text
        for text in suggested
        if not client.get("/search", query_string={"q": text, "size": 1}).get_json()["count"]
    ]
    assert nothing == []


def test_at_most_ten_and_at_most_size(client: FlaskClient) -> None:
    assert len(suggest(client, "p")) == 10
    assert suggest(client, "p", size=3) == suggest(client, "p")[:3]


def test_only_posts_of_a_language_and_only_posts_with_a_url(
    own_settings: Settings, index_posts: Callable[[Iterable[RawPost]], object]
) -> None:
    def post(oid: str, language: str, url: str | None = "/a") -> RawPost:
        return RawPost(Origin("test"), oid, f"Kaffee {oid}", "Text", url, language=language)

    index_posts([post("eins", "de-AT"), post("one", "en"), post("zwei", "de", None)])
    client = create_app(own_settings).test_client()
    assert titles(client, "kaf", lang="de") == ["Kaffee eins"]
    assert sorted(titles(client, "kaf")) == ["Kaffee eins", "Kaffee one"]


def test_an_index_of_another_version_is_recognized(
    own_settings: Settings, elastic: Elasticsearch
) -> None:
    body = index_body(NO_RULES, shards=1, replicas=0)
    body["mappings"]["_meta"]["blogsearch"]["schema"] = 0
    index = f"{own_settings.index}-000001"
    elastic.indices.create(index=index, aliases={own_settings.index: {}}, **body)
    post = {"oid": "a", "title": "Kumquats", "url": "/a"}
    elastic.index(index=index, id="a", document=post, refresh=True)
    response = create_app(own_settings).test_client().get("/suggest?q=kumq")
    assert response.status_code == 503
    assert response.get_json()["error"]["code"] == "index_outdated"


def test_an_unknown_parameter_names_the_known_ones(client: FlaskClient) -> None:
    response = client.get("/suggest?q=python&sort=newest")
    assert response.status_code == 400
    error = response.get_json()["error"]
    assert error["details"][0]["parameter"] == "sort"
    assert "q, size, lang" in error["message"]


def test_suggestions_are_cached_with_an_etag(settings: Settings) -> None:
    with redis_server() as server:
        client = create_app(replace(settings, redis_url=server.url)).test_client()
        first = client.get("/suggest?q=pyt")
        again = client.get("/suggest?q=PYT")
        assert (first.headers["X-Cache"], again.headers["X-Cache"]) == ("MISS", "HIT")
        assert again.headers["Cache-Control"] == "no-cache"
        same = client.get("/suggest?q=pyt", headers={"If-None-Match": first.headers["ETag"]})
        assert same.status_code == 304


def test_without_elasticsearch_it_is_a_503_or_a_cached_answer(settings: Settings) -> None:
    with redis_server() as server:
        working = replace(settings, redis_url=server.url)
        create_app(working).test_client().get("/suggest?q=pyt")
        broken = replace(working, elasticsearch_url="http://127.0.0.1:9")
        client = create_app(broken).test_client()
        kept = client.get("/suggest?q=pyt")
        assert kept.status_code == 200
        assert kept.headers["X-Cache"] in ("HIT", "STALE")  # before the outage is known
        refused = client.get("/suggest?q=juggl")
        assert refused.status_code == 503
        assert refused.get_json()["error"]["code"] == "engine_unavailable"
        assert int(refused.headers["Retry-After"]) > 0


def test_suggestions_are_not_counted_as_searches(settings: Settings) -> None:
    limited = replace(settings, rate_limit="2/day", redis_url="")
    client = create_app(limited).test_client()
    statuses = [client.get("/suggest?q=pyt").status_code for _ in range(3)]
    assert statuses == [200, 200, 429]
    assert client.get("/search?q=python").status_code == 200
