"""The OpenAPI document is valid, and says what the code says: routes, parameters, limits, types."""

import re
from collections.abc import Callable, Iterator
from typing import Any, get_args, get_type_hints, is_typeddict

import pytest
from flask import Flask
from openapi_spec_validator import validate
from werkzeug.datastructures import MultiDict

from app import create_app
from app.errors import BadRequest, ErrorAnswer
from app.search.answer import SearchAnswer, SimilarAnswer, SuggestAnswer
from app.search.request import SearchRequest
from app.settings import Settings
from app.views.api import document
from app.views.operations import Health, Version
from app.views.write_request import MAX_DOCUMENTS
from indexer.posts.addresses import MAX_URL
from indexer.posts.normalise import MAX_LABEL, MAX_LABELS, MAX_TITLE
from indexer.sources.json_lines import COMMENT_FIELDS, FIELDS

NOT_DESCRIBED = {
    "static",
    "page.page",
    "api.docs",
    "widget.count_click",
    "insights.pin",
    "insights.page",
    "insights.save_pin",
    "insights.searches_csv",
    "insights.keep_golden",
    "widget.messages",
    "widget.related",
    "widget.widget",
}
"""Endpoints for browsers: pages without parameters of their own, forms and files."""


@pytest.fixture(scope="module")
def app() -> Flask:
    return create_app(Settings(redis_url=""))


@pytest.fixture(scope="module")
def described() -> dict[str, Any]:
    return document()


def test_the_document_is_valid(described: dict[str, Any]) -> None:
    validate(described)


def test_every_route_is_described(app: Flask, described: dict[str, Any]) -> None:
    routes = {
        (re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule), method.lower())
        for rule in app.url_map.iter_rules()
        if rule.endpoint not in NOT_DESCRIBED
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }
    assert routes == {
        (path, method) for path, methods in described["paths"].items() for method in methods
    }, "app/openapi.json: a route is missing, or one is described that does not exist"


def _types_in(type_: Any) -> Iterator[Any]:
    """The TypedDicts that a type refers to, itself among them."""
    if is_typeddict(type_):
        yield type_
    inner = get_type_hints(type_).values() if is_typeddict(type_) else get_args(type_)
    for part in inner:
        yield from _types_in(part)


@pytest.mark.parametrize(
    "answer", [SearchAnswer, SuggestAnswer, SimilarAnswer, Health, Version, ErrorAnswer]
)
def test_answers_have_the_fields_of_their_types(described: dict[str, Any], answer: Any) -> None:
    for type_ in _types_in(answer):
        schema = described["components"]["schemas"][type_.__name__]
        assert set(schema["properties"]) == set(get_type_hints(type_)), type_.__name__
        assert set(schema["required"]) == type_.__required_keys__, type_.__name__


def test_posts_and_comments_have_the_fields_and_limits_that_are_read(
    described: dict[str, Any],
) -> None:
    schemas = described["components"]["schemas"]
    post = schemas["Post"]["properties"]
    assert set(post) == set(FIELDS)
    assert set(schemas["NamedPost"]["properties"]) == set(FIELDS) - {"oid"}
    assert set(schemas["Comment"]["properties"]) == set(COMMENT_FIELDS)
    assert set(schemas["NamedComment"]["properties"]) == set(COMMENT_FIELDS) - {"oid"}
    labels = post["categories"]["anyOf"][0]
    assert post["title"]["maxLength"] == MAX_TITLE
    assert post["url"]["anyOf"][0]["maxLength"] == MAX_URL
    assert (labels["maxItems"], labels["items"]["maxLength"]) == (MAX_LABELS, MAX_LABEL)
    body = described["paths"]["/documents"]["post"]["requestBody"]["content"]["application/json"]
    assert body["schema"]["oneOf"][1]["maxItems"] == MAX_DOCUMENTS


@pytest.mark.parametrize("path", ["/docs", "/openapi.json", "/widget.js"])
def test_what_never_changes_is_not_sent_again(app: Flask, path: str) -> None:
    client = app.test_client()
    first, second = client.get(path), client.get(path)
    assert first.data == second.data
    assert first.headers["ETag"] == second.headers["ETag"]
    unchanged = client.get(path, headers={"If-None-Match": first.headers["ETag"]})
    assert (unchanged.status_code, unchanged.data) == (304, b"")


def _accepts(parameter: str, value: str) -> bool:
    try:
        SearchRequest.parse(MultiDict({"q": "word", parameter: value}))
    except BadRequest:
        return False
    return True


LIMITS: dict[str, Callable[[Any], tuple[str, str]]] = {
    "minimum": lambda least: (str(least), str(least - 1)),
    "maximum": lambda most: (str(most), str(most + 1)),
    "minLength": lambda least: ("x" * least, "x" * (least - 1)),
    "maxLength": lambda most: ("x" * most, "x" * (most + 1)),
}
SEARCH = {one["name"]: one["schema"] for one in document()["paths"]["/search"]["get"]["parameters"]}


@pytest.mark.parametrize("parameter", SEARCH)
def test_the_limits_are_those_of_the_parser(parameter: str) -> None:
    schema = SEARCH[parameter].get("items", SEARCH[parameter])
    for name, values in LIMITS.items():
        if name in schema:
            inside, outside = values(schema[name])
            assert _accepts(parameter, inside), (name, inside)
            assert not _accepts(parameter, outside), (name, outside)
    if "enum" in schema:
        assert all(_accepts(parameter, value) for value in schema["enum"])
        assert not _accepts(parameter, "none of them")


def test_the_default_of_a_parameter_is_what_its_absence_means() -> None:
    said = {name: str(schema["default"]) for name, schema in SEARCH.items() if "default" in schema}
    assert said
    assert SearchRequest.parse(MultiDict({"q": "word", **said})) == SearchRequest(q="word")
