"""`GET /suggest` on the sample posts: whatever is suggested finds something."""

import json
from dataclasses import replace
from typing import Any

import pytest
from flask.testing import FlaskClient

from app import create_app
from app.settings import Settings
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


def test_a_hostile_query_gets_suggestions_or_none(client: FlaskClient) -> None:
    assert max(len(suggest(client, q)) for q in HOSTILE) <= 10


def test_whatever_is_suggested_finds_something(client: FlaskClient) -> None:
    lines = (REPOSITORY / "sample" / "posts.jsonl").read_text().splitlines()
    posts = [json.loads(line)["title"] for line in lines[::4]]
    typed = {title[: 2 + number % 7] for number, title in enumerate(posts)}
    typed |= {title[number % 5 + 1 :][:9].strip() or "a" for number, title in enumerate(posts)}
    suggested = {suggestion["text"] for q in typed for suggestion in suggest(client, q)}
    assert len(suggested) > 30
    nothing = [
        text
        for text in suggested
        if not client.get("/search", query_string={"q": text, "size": 1}).get_json()["count"]
    ]
    assert nothing == []


def test_suggestions_are_not_counted_as_searches(settings: Settings) -> None:
    limited = replace(settings, rate_limit="2/day", redis_url="")
    client = create_app(limited).test_client()
    statuses = [client.get("/suggest?q=pyt").status_code for _ in range(3)]
    assert statuses == [200, 200, 429]
    assert client.get("/search?q=python").status_code == 200
