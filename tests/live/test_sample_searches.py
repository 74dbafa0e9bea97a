"""The searches that the sample posts were written for, in both strategies, over HTTP."""

from dataclasses import replace

import pytest
from flask.testing import FlaskClient

from app import create_app
from app.settings import Settings


@pytest.fixture(params=["blended", "fallback"])
def visitor(request: pytest.FixtureRequest, settings: Settings) -> FlaskClient:
    return create_app(replace(settings, strategy=request.param)).test_client()


def _found(visitor: FlaskClient, query: str) -> dict[str, str]:
    """oid → title and everything highlighted, lower-case, of up to 50 hits."""
    answer = visitor.get("/search", query_string={"q": query, "size": 50})
    assert answer.status_code == 200, answer.text
    return {
        hit["oid"]: " ".join([hit["title"], *hit["highlight"]["text"]]).lower()
        for hit in answer.get_json()["hits"]
    }


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("crown", ["crowds", "crowded"]),
        ("react", ["create-react-app", "react app", "reactjs"]),
        ("reactjs", ["create-react-app", "react app", "reactjs"]),
        ("jugg", ["juggling"]),
        ("pythn", ["python", "python2.4"]),
        ("firefix", ["firefox"]),
        ("date format", ["date format", "date formatting"]),
        ("postgres", ["postgres", "postgresql"]),
        ("postgresql", ["postgres", "postgresql"]),
        ("corn", ["cron", "crontabber"]),
    ],
)
def test_what_should_be_found_is(visitor: FlaskClient, query: str, words: list[str]) -> None:
    everything = " ".join(_found(visitor, query).values()).replace("<mark>", "")
    everything = everything.replace("</mark>", "")
    assert [word for word in words if word not in everything] == []


@pytest.mark.parametrize("pair", [("centre", "center"), ("licence", "license"), ("go", "golang")])
def test_either_word_finds_what_the_other_finds(client: FlaskClient, pair: tuple[str, str]) -> None:
    first, other = (set(_found(client, word)) for word in pair)
    assert len(first) > 1
    assert first == other


def test_go_is_not_going(visitor: FlaskClient) -> None:
    assert "going-slowly-on-a-bicycle" not in _found(visitor, "go")
    assert "going-slowly-on-a-bicycle" in _found(visitor, "going")


def test_a_typo_finds_the_posts_of_both_terms_of_a_rule(visitor: FlaskClient) -> None:
    oids = _found(visitor, "postgers")
    assert "<mark>postgres</mark>" in oids["upserts-in-postgres"]
    assert "<mark>postgresql</mark>" in oids["full-text-search-in-postgresql"]


def test_words_in_titles(client: FlaskClient) -> None:
    for q, oid in (
        ("in:title goodbye python2.4", "goodbye-python24"),
        ("IN:TITLE goobdye", "goodbye-python24"),
        ("crontab in:title lines", "crontab-lines-i-keep-forgetting"),
        ('in:title "keep forgetting"', "crontab-lines-i-keep-forgetting"),
    ):
        body = client.get("/search", query_string={"q": q}).get_json()
        assert ([hit["oid"] for hit in body["hits"]], body["count"]) == ([oid], 1)


def test_a_category_in_the_query_is_that_filter(client: FlaskClient) -> None:
    def oids(q: str, **chosen: str) -> list[str]:
        body = client.get("/search", query_string={"q": q, "size": 50, **chosen}).get_json()
        assert body["count"] == len(body["hits"]) or body["count"] > 50
        return [hit["oid"] for hit in body["hits"]]

    facets = client.get("/search?q=python&facets=on").get_json()["facets"]["categories"]
    name = facets[0]["value"]
    chosen = oids("python", category=name)
    assert 0 < len(chosen) == facets[0]["count"]
    for q in (f'python category:"{name}"', f'category:"{name.upper()}" python'):
        assert oids(q) == chosen
    assert set(chosen) <= set(oids(f'category:"{name}"'))
    assert oids("python category:nothing") == []
