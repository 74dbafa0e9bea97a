"""Searches with the shipped rules: both terms, typos, both strategies."""

from dataclasses import replace

import pytest
from elasticsearch import Elasticsearch
from werkzeug.datastructures import MultiDict

from app.search import search
from app.search.request import SearchRequest
from app.settings import Settings


@pytest.fixture(params=["blended", "fallback"])
def chosen(request: pytest.FixtureRequest, settings: Settings) -> Settings:
    return replace(settings, strategy=request.param)


def _found(elastic: Elasticsearch, settings: Settings, query: str) -> dict[str, str]:
    """The highlights of each hit, by oid."""
    request = SearchRequest.parse(MultiDict({"q": query, "size": "50"}))
    answer = search(elastic, settings.index, request, settings)
    return {
        hit["oid"]: " ".join([hit["highlight"].get("title", ""), *hit["highlight"]["text"]])
        for hit in answer.body["hits"]
    }


def test_a_typo_finds_the_posts_of_both_terms(elastic: Elasticsearch, chosen: Settings) -> None:
    found = _found(elastic, chosen, "postgers")
    assert {"upserts-in-postgres", "small-comforts-of-psql"} <= found.keys()
    assert {"full-text-search-in-postgresql", "a-smaller-index"} <= found.keys()
    assert "<mark>Postgres</mark>" in found["upserts-in-postgres"]
    assert "<mark>PostgreSQL</mark>" in found["full-text-search-in-postgresql"]


@pytest.mark.parametrize(
    ("one", "other"),
    [("licence", "license"), ("postgres", "postgresql")],
)
def test_both_terms_find_the_same_posts(
    elastic: Elasticsearch, chosen: Settings, one: str, other: str
) -> None:
    found = _found(elastic, chosen, one).keys()
    assert len(found) > 1
    assert found == _found(elastic, chosen, other).keys()


def test_several_words_find_the_posts_of_their_short_form(
    elastic: Elasticsearch, chosen: Settings
) -> None:
    short = _found(elastic, chosen, "ml")
    assert len(short) == 3
    long = _found(elastic, chosen, "machine learning")
    assert short.keys() <= long.keys()
    assert "<mark>ML</mark>" in long["tea-at-the-computing-museum"]


def test_synonyms_apply_to_corrected_phrases(elastic: Elasticsearch, settings: Settings) -> None:
    found = _found(elastic, settings, "machien learning")
    assert _found(elastic, settings, "ml").keys() <= found.keys()
    assert "<mark>Machine learning</mark>" in next(iter(found.values()))


def test_golang_does_not_find_going(elastic: Elasticsearch, chosen: Settings) -> None:
    found = _found(elastic, chosen, "golang").keys()
    assert "a-golang-program-in-nine-megabytes" in found
    assert "going-slowly-on-a-bicycle" not in found
