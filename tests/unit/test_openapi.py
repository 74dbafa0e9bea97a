"""The OpenAPI document: valid, complete, and with the limits that requests are held to."""

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from openapi_spec_validator import validate
from werkzeug.datastructures import MultiDict

from app import create_app
from app.errors import BadRequest
from app.openapi import OPERATIONS, document, routes
from app.search.request import PARAMETERS, Parameter, SearchRequest
from app.settings import Settings
from app.views.document_types import Comment, Post
from indexer.records import RawComment
from indexer.sources.json_lines import COMMENT_FIELDS, FIELDS

NOT_DESCRIBED = {
    "static",
    "page.opensearch",
    "clicks.count",
    "insights.pin",
    "insights.save_pin",
    "insights.searches_csv",
    "insights.erase",
    "widget.start",
    "page.page",
    "api.docs",
    "widget.messages",
    "widget.widget",
}
"""Endpoints for browsers: pages without parameters of their own, forms and files."""


@pytest.fixture(scope="module")
def app() -> Flask:
    return create_app(Settings(redis_url=""))


@pytest.fixture(scope="module")
def described(app: Flask) -> dict[str, Any]:
    return document(app)


def test_the_document_is_valid(described: dict[str, Any]) -> None:
    validate(described)


def test_every_route_is_described(app: Flask, described: dict[str, Any]) -> None:
    endpoints = {endpoint for _, _, endpoint in routes(app)}
    assert endpoints == OPERATIONS.keys() | NOT_DESCRIBED, (
        "app/openapi.py: describe new endpoints in OPERATIONS; those that answer with HTML or a "
        "file belong into NOT_DESCRIBED here"
    )
    operations = [method for path in described["paths"].values() for method in path.values()]
    assert len(operations) == len(OPERATIONS)
    assert all(operation["summary"] for operation in operations)


@pytest.mark.parametrize("path", ["/docs", "/openapi.json"])
def test_what_never_changes_is_not_sent_again(app: Flask, path: str) -> None:
    client = app.test_client()
    first, second = client.get(path), client.get(path)
    assert first.data == second.data
    assert first.headers["ETag"] == second.headers["ETag"]
    unchanged = client.get(path, headers={"If-None-Match": first.headers["ETag"]})
    assert (unchanged.status_code, unchanged.data) == (304, b"")


def test_posts_and_comments_have_the_fields_that_are_read() -> None:
    assert set(Post.__annotations__) == set(FIELDS)
    assert (
        set(Comment.__annotations__) == set(RawComment.__dataclass_fields__) == set(COMMENT_FIELDS)
    )


def _accepts(parameter: Parameter, value: str) -> bool:
    query = MultiDict({"q": "word", parameter.name: value})
    try:
        SearchRequest.parse(query)
    except BadRequest:
        return False
    return True


LIMITS: dict[str, Callable[[Any], tuple[str, str]]] = {
    "minimum": lambda least: (str(least), str(least - 1)),
    "maximum": lambda most: (str(most), str(most + 1)),
    "minLength": lambda least: ("x" * least, "x" * (least - 1)),
    "maxLength": lambda most: ("x" * most, "x" * (most + 1)),
}


@pytest.mark.parametrize("parameter", PARAMETERS, ids=lambda parameter: parameter.name)
def test_the_limits_are_those_of_the_parser(parameter: Parameter) -> None:
    schema = parameter.schema.get("items", parameter.schema)
    for name, values in LIMITS.items():
        if name in schema:
            inside, outside = values(schema[name])
            assert _accepts(parameter, inside), (name, inside)
            assert not _accepts(parameter, outside), (name, outside)
    if "enum" in schema:
        assert all(_accepts(parameter, value) for value in schema["enum"])
        assert not _accepts(parameter, "none of them")


def test_the_default_of_a_parameter_is_what_its_absence_means() -> None:
    said = {
        parameter.name: str(parameter.schema["default"])
        for parameter in PARAMETERS
        if "default" in parameter.schema
    }
    assert said
    assert SearchRequest.parse(MultiDict({"q": "word", **said})) == SearchRequest(q="word")
