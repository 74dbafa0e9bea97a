"""Posts in the visitor's language come first where the posts are in several."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import pytest
from flask import Flask

from app import create_app
from app.settings import Settings
from indexer.posts.records import Origin, RawPost


def post(oid: str, title: str, text: str, language: str | None = None) -> RawPost:
    return RawPost(Origin("test"), oid, title, text, f"/{oid}", language=language)


POSTS = [
    post("unnamed", "Kaffee", "The word for coffee."),
    post("german", "Kaffee", "The word for coffee.", "de-AT"),
    post("dutch", "Koffie", "Their Kaffee, the word for coffee.", "nl"),
    *(post(f"other-{number}", "Tea", "Nothing about it.", "en") for number in range(5)),
]


@pytest.fixture(scope="module")
def index(module_index: Callable[[Iterable[RawPost]], str]) -> str:
    return module_index(POSTS)


@pytest.fixture
def app(own_settings: Settings, index: str) -> Iterator[Flask]:
    with create_app(replace(own_settings, index=index)).app_context() as context:
        yield context.app


def search(app: Flask, accepted: str, path: str = "/search?q=kaffee") -> tuple[list[str], str]:
    answer = app.test_client().get(path, headers={"Accept-Language": accepted})
    return [hit["oid"] for hit in answer.get_json()["hits"]], answer.headers.get("Vary", "")


def test_a_post_in_the_visitors_language_comes_first(app: Flask) -> None:
    german, vary = search(app, "de;q=0.9, fr;q=0.2")
    assert german == ["german", "unnamed", "dutch"]
    assert "Accept-Language" in vary
    # A post without a language is in that of the index.
    assert search(app, "en-GB, de;q=0.8")[0] == ["unnamed", "german", "dutch"]
    # A preference does not put a text above a title.
    assert search(app, "nl")[0][-1] == "dutch"
    # Nor does it matter for a filter.
    filtered, vary = search(app, "nl", "/search?q=kaffee&lang=de")
    assert (filtered, "Accept-Language" in vary) == (["german"], False)


def test_a_post_without_a_language_is_in_that_of_the_index(app: Flask) -> None:
    assert search(app, "", "/search?q=kaffee&lang=en")[0] == ["unnamed"]
    client = app.test_client()
    assert client.get("/suggest?q=kaf&lang=en").get_json()["suggestions"]
    assert not client.get("/suggest?q=kaf&lang=fr").get_json()["suggestions"]
    assert "/unnamed" in client.get("/?lang=en").get_data(as_text=True)


def test_the_cache_knows_languages_and_not_headers(app: Flask) -> None:
    client = app.test_client()

    def etag(accepted: str) -> str:
        headers = {"Accept-Language": accepted}
        return client.get("/search?q=kaffee", headers=headers).headers["ETag"]

    german = etag("de")
    assert etag("de-CH, en;q=0.5") == etag("de, *") == german
    unknown = etag("fr")
    assert etag("") == etag("*") == etag("x" * 500) == etag("de;q=0") == unknown
