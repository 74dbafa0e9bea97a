"""The sections of a post in the answer: which, in what order, with which address."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest

from app import create_app
from app.settings import Settings
from indexer.posts.records import Origin, RawPost

Search = Callable[..., list[dict[str, Any]]]
FILLER = "<p>Nothing of interest is said here.</p>" * 40
POSTS = {
    "guide": (
        "Features",
        f"<p>What there is.</p>{FILLER}<h2 id='typescript'>TypeScript</h2><p>It works.</p>"
        f"<h3>Isolated modules</h3><p>Set the flag.</p><pre>tsc --isolated</pre>{FILLER}"
        f"<h2>Web &amp; Workers</h2><p>A script can be a worker.</p>{FILLER}<h3>Options</h3>"
        "<p>Few.</p>",
    ),
    "mention": (
        "Other things",
        f"<p>Workers are for the web: a web worker is one of the workers.</p>{FILLER}",
    ),
    "options": ("All settings", "<h2>Server</h2><p>Port.</p><h3>Options</h3><p>Many.</p>"),
}


@pytest.fixture(scope="module")
def index(module_index: Callable[[Iterable[RawPost]], str]) -> str:
    return module_index(
        RawPost(Origin("test"), oid, title, text, f"https://x.org/{oid}")
        for oid, (title, text) in POSTS.items()
    )


@pytest.fixture
def settings(own_settings: Settings, index: str) -> Settings:
    return replace(own_settings, index=index)


@pytest.fixture
def search(settings: Settings) -> Search:
    client = create_app(settings).test_client()

    def hits(q: str, **parameters: str) -> list[dict[str, Any]]:
        answer = client.get("/search", query_string={"q": q, **parameters}).get_json()
        listed: list[dict[str, Any]] = answer["hits"]
        return listed

    return hits


def test_the_page_with_the_heading_is_first_and_its_section(search: Search) -> None:
    for parameters in ({}, {"typing": "on"}):
        first = search("web workers", **parameters)[0]
        assert first["oid"] == "guide"
        assert first["sections"][0] == {
            "heading": "Web & Workers",
            "highlight": "<mark>Web</mark> &amp; <mark>Workers</mark>",
            "url": "https://x.org/guide#:~:text=A%20script%20can%20be%20a%20worker.",
            "snippet": "A script can be a <mark>worker</mark>.",
        }


def test_a_section_names_the_headings_above_it_and_the_id_of_its_own(search: Search) -> None:
    [hit] = search("tsc")
    [section] = hit["sections"]
    assert (section["above"], section["heading"]) == (["TypeScript"], "Isolated modules")
    assert section["snippet"] == "<mark>tsc</mark> --isolated"
    assert hit["highlight"]["text"] == []
    [section] = search("typescript")[0]["sections"]
    assert section["url"] == "https://x.org/guide#typescript"


@pytest.mark.parametrize(
    ("query", "heading"),
    [
        ("q=what is a web worker", "Web & Workers"),
        ("q=web worker", None),  # no question
        ("q=what is a worker", None),  # one word only
        ("q=what are web rhymes for vim", None),  # two of three words are elsewhere
        ("q=what is a web worker&sort=newest", None),
        ("q=what is a web worker&size=1&page=2", None),
    ],
)
def test_a_question_is_answered_by_the_section_with_most_of_its_words(
    settings: Settings, query: str, heading: str | None
) -> None:
    answer = create_app(settings).test_client().get(f"/search?{query}").get_json()
    assert answer.get("answer", {}).get("heading") == heading
    if heading:
        assert answer["answer"] in answer["hits"][0]["sections"]
