"""The counts by category and by year tell what a search with that filter finds."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest
from elasticsearch import Elasticsearch
from flask.testing import FlaskClient

from app import create_app
from app.search.pins import PinStore
from app.search.request import SearchRequest
from app.service import EXTENSION
from app.settings import Settings
from app.views.browse import browse
from indexer.posts.records import Origin, RawPost


def answer(client: FlaskClient, **parameters: Any) -> dict[str, Any]:
    response = client.get("/search", query_string={"size": 1, **parameters})
    assert response.status_code == 200, response.get_json()
    body: dict[str, Any] = response.get_json()
    return body


@pytest.mark.parametrize(
    "q", ["python", "pythn", "python date formatting", '"of the" -python', "xqzzwk python", "the"]
)
def test_a_count_is_what_a_search_with_the_filter_finds(settings: Settings, q: str) -> None:
    client = create_app(replace(settings, redis_url="")).test_client()

    def count(**parameters: str) -> int:
        found: int = answer(client, q=q, **parameters)["count"]
        return found

    facets = answer(client, q=q, facets="on")["facets"]
    for facet in facets["categories"][:4]:
        assert count(category=facet["value"]) == facet["count"], facet
    for facet in facets["years"][:3]:
        assert count(year=facet["value"]) == facet["count"], facet
        days = {"since": f"{facet['value']}-01-01", "until": f"{facet['value']}-12-31"}
        assert count(**days) == facet["count"], facet


def test_a_filter_narrows_the_counts_of_the_other_kind_only(client: FlaskClient) -> None:
    every = answer(client, q="python", facets="on")["facets"]
    year, category = every["years"][0]["value"], every["categories"][0]["value"]
    under = answer(client, q="python")["hits"][0]["url"]
    counted = answer(client, q="python", facets="on", under=under)
    assert sum(one["count"] for one in counted["facets"]["years"]) == counted["count"] == 1
    of_year = answer(client, q="python", facets="on", year=year)["facets"]
    assert of_year["years"] == every["years"]
    assert len(of_year["categories"]) < len(every["categories"])
    of_category = answer(client, q="python", facets="on", category=category)["facets"]
    assert of_category["categories"] == every["categories"]


WEST = "2021-12-31T23:30:00-05:00"  # 2022 in UTC


def post(oid: str, title: str, day: str | None = None, *categories: str) -> RawPost:
    return RawPost(
        Origin("test"), oid, title, "Text", "/a", pub_date=day, categories=list(categories)
    )


@pytest.fixture(scope="module")
def few(module_index: Callable[[Iterable[RawPost]], str]) -> str:
    """An index of few posts."""
    return module_index(
        [
            *(post(oid, "Limes", None, f"of {oid}") for oid in "ab"),
            post("c", "Kumquats", None, "of c"),
            post("old", "Old", "2020-05-01", "d"),
            post("new", "New", "2021-05-01", "d", "e"),
            post("west", "West", WEST, "d"),
        ]
    )


@pytest.fixture
def own(own_settings: Settings, few: str) -> Settings:
    return replace(own_settings, index=few)


def test_pinned_posts_are_counted_and_those_that_never_come_are_not(
    elastic: Elasticsearch, own: Settings
) -> None:
    PinStore(elastic, own.index).change(lambda _: {"test.pins": "limes => c, -b\n"})
    counted = answer(create_app(own).test_client(), q="limes", facets="on")
    assert counted["count"] == 2
    assert counted["facets"]["categories"] == [
        {"value": "of a", "count": 1},
        {"value": "of c", "count": 1},
    ]


def test_without_a_search_the_newest_posts_follow_the_filters(own: Settings) -> None:
    service = create_app(own).extensions[EXTENSION]
    every = browse(service, SearchRequest("", categories=("d",)))
    assert [newest["title"] for newest in every.newest] == ["West", "New", "Old"]
    assert every.facets
    assert every.facets["years"] == [{"value": "2021", "count": 2}, {"value": "2020", "count": 1}]
    assert {"value": "e", "count": 1} in every.facets["categories"]
    of_e = browse(service, SearchRequest("", categories=("e",)))
    assert [newest["title"] for newest in of_e.newest] == ["New"]
    # Posts without a date are never called the newest, but of a category they are listed.
    assert [newest["title"] for newest in browse(service).newest] == ["West", "New", "Old"]
    of_c = browse(service, SearchRequest("", categories=("of c",)))
    assert [newest["title"] for newest in of_c.newest] == ["Kumquats"]
    client = create_app(own).test_client()
    assert client.get("/start").get_json()["newest"][0]["title"] == "West"
    page = client.get("/?category=of+c").text
    assert "All results</h2>" in page
    # Nothing found leaves no choices that find nothing either.
    assert "<details" not in client.get("/?q=xqzzwk&facets=off").text


def test_a_post_has_the_day_of_its_own_time_zone(own: Settings) -> None:
    client = create_app(own).test_client()
    until_2021 = answer(client, q="west", facets="on", until="2021-12-31")
    assert until_2021["hits"][0]["pub_date"] == WEST
    assert until_2021["facets"]["years"] == [{"value": "2021", "count": 1}]
    assert answer(client, q="west", since="2022-01-01")["count"] == 0
    assert "Dec 31, 2021" in client.get("/?q=west").text
