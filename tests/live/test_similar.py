"""`GET /similar`: posts like one, and what an unknown address may have meant."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest
from flask.testing import FlaskClient

from app import create_app
from app.settings import Settings
from indexer.posts.records import Origin, RawPost

SITE = "https://blog.example.org"
TEXTS = {
    "bread": ("Sourdough bread", "<p>Flour, water and salt; the sourdough starter rises.</p>"),
    "rye": ("Rye loaf", "<p>A rye loaf of sourdough: starter, flour and salt.</p>"),
    "pizza": ("Pizza at home", "<p>Flour and salt make a dough for the oven.</p>"),
    "bikes": ("Mending a puncture", "<p>Patches, glue and tyre levers for bicycles.</p>"),
    "tyres": ("Which tyres", "<p>Bicycles need tyres, and tyres need levers and patches.</p>"),
}


def similar(client: FlaskClient, **parameters: Any) -> dict[str, Any]:
    response = client.get("/similar", query_string=parameters)
    assert response.status_code == 200, response.get_json()
    body: dict[str, Any] = response.get_json()
    return body


def oids(client: FlaskClient, **parameters: Any) -> list[str]:
    return [post["oid"] for post in similar(client, **parameters)["posts"]]


@pytest.fixture(scope="module")
def index(module_index: Callable[[Iterable[RawPost]], str]) -> Callable[[str], str]:
    """Indexes of the posts with one kind of oids."""
    made: dict[str, str] = {}

    def build(oid: str) -> str:
        if oid not in made:
            made[oid] = module_index(
                RawPost(Origin("test"), oid.format(name), title, text, f"{SITE}/posts/{name}/")
                for name, (title, text) in TEXTS.items()
            )
        return made[oid]

    return build


@pytest.mark.parametrize("oid", ["posts/{}", "no path {}", f"{SITE}/posts/{{}}/"])
def test_posts_like_one_come_first_and_never_itself(
    index: Callable[[str], str], own_settings: Settings, oid: str
) -> None:
    client = create_app(replace(own_settings, index=index(oid))).test_client()
    for parameters in (
        {"url": f"{SITE}/posts/bread/"},
        {"url": f"{SITE}/posts/bread/index.html#part"},
        {"url": "http://WWW.blog.example.org/posts/bread?utm_source=x"},
        {"oid": oid.format("bread")},
    ):
        assert oids(client, **parameters)[:2] == [oid.format("rye"), oid.format("pizza")]
    assert oid.format("bikes") == oids(client, oid=oid.format("tyres"))[0]
    body = similar(client, url=f"{SITE}/posts/bread", size=1)
    assert body["known"] is True
    assert [post["url"] for post in body["posts"]] == [f"{SITE}/posts/rye/"]


def test_an_unknown_address_finds_the_posts_with_its_words(client: FlaskClient) -> None:
    for url in ("https://x.example/2009/05/01/crontab-lines-to-forget.html", "/Crontab_linse/"):
        body = similar(client, url=url)
        assert body["known"] is False
        assert body["posts"][0]["oid"] == "crontab-lines-i-keep-forgetting"
    for url in ("/", "/2009/05", "/%ff%00", "https://[broken", "/" + "a-" * 900):
        assert similar(client, url=url)["known"] is False
    assert similar(client, oid="no such post")["known"] is False


def test_parameters_are_checked(client: FlaskClient) -> None:
    for query in ("", "url=/a&oid=a", "url=", "oid=%00", "url=/a&size=11", "url=/a&q=a"):
        assert client.get(f"/similar?{query}").status_code == 400
