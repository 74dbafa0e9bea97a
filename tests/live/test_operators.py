"""`in:title` and `category:` in a query, on the sample posts."""

import pytest
from flask.testing import FlaskClient


@pytest.mark.parametrize(
    ("q", "found"),
    [
        ("in:title goodbye python2.4", ["goodbye-python24"]),
        ("IN:TITLE goobdye", ["goodbye-python24"]),
        ("crontab in:title lines", ["crontab-lines-i-keep-forgetting"]),
        ('in:title "keep forgetting"', ["crontab-lines-i-keep-forgetting"]),
    ],
)
def test_words_in_titles(client: FlaskClient, q: str, found: list[str]) -> None:
    body = client.get("/search", query_string={"q": q}).get_json()
    assert [hit["oid"] for hit in body["hits"]] == found
    assert body["count"] == len(found)


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
