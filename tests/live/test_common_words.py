"""A word that many posts have beside a rare one."""

from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest
from flask.testing import FlaskClient

from app import create_app
from app.settings import Settings
from indexer.records import Origin, RawPost


def post(oid: str, text: str, day: str) -> RawPost:
    return RawPost(Origin("test"), oid, oid, text, f"/{oid}", day)


@pytest.fixture(scope="module")
def index(module_index: Callable[[Iterable[RawPost]], str]) -> str:
    return module_index(
        [
            post("both", "A ferret in this chapter.", "2020-01-01"),
            post("rare", "A ferret, and nothing else.", "2024-01-01"),
            *(post(f"common-{number}", "One chapter.", "2022-01-01") for number in range(4)),
            *(post(f"other-{number}", "Nothing of that.", "2022-01-01") for number in range(8)),
        ]
    )


@pytest.fixture
def client(own_settings: Settings, index: str) -> FlaskClient:
    return create_app(replace(own_settings, index=index)).test_client()


def test_a_post_that_has_both_words_lacks_none(client: FlaskClient) -> None:
    answer = client.get("/search?q=ferret+chapter").get_json()
    assert [hit["oid"] for hit in answer["hits"]][:2] == ["both", "rare"]
    assert answer["matches"] == {"all_words": 1, "most_words": 1, "some_words": 6}
    assert (answer["tier"], answer.get("dropped")) == ("all words", None)
    assert [hit.get("missing") for hit in answer["hits"]][:2] == [None, ["chapter"]]


def test_an_order_by_date_needs_both(client: FlaskClient) -> None:
    answer = client.get("/search?q=ferret+chapter&sort=newest").get_json()
    assert [hit["oid"] for hit in answer["hits"]] == ["both"]
