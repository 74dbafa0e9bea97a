"""The tree of errors, and how the errors of Elasticsearch become errors of it."""

import importlib
import pkgutil
from collections.abc import Iterator

import pytest
from elastic_transport import ApiResponseMeta, ConnectionTimeout, HttpHeaders, NodeConfig
from elasticsearch import ApiError, NotFoundError

import app.errors
from app.elastic import translated
from app.errors import BlogsearchError, NoIndex, Unavailable


def _subclasses(error: type[BlogsearchError]) -> Iterator[type[BlogsearchError]]:
    for subclass in error.__subclasses__():
        yield subclass
        yield from _subclasses(subclass)


def test_the_drawing_has_every_error() -> None:
    for package in ("analyzers", "indexer", "app"):
        paths = importlib.import_module(package).__path__
        for module in pkgutil.walk_packages(paths, f"{package}."):
            # It sets variables of the environment, which servers of later tests would inherit.
            if module.name != "app.gunicorn_config":
                importlib.import_module(module.name)
    lines = (app.errors.__doc__ or "").splitlines()
    drawn = {line.strip(" │├└─").split(" ")[0] for line in lines}
    subclasses = set(_subclasses(BlogsearchError))
    assert NoIndex in subclasses
    assert {subclass.__name__ for subclass in subclasses} - drawn == set()


def _api_error(status: int, kind: str, error: type[ApiError] = ApiError) -> ApiError:
    meta = ApiResponseMeta(status, "1.1", HttpHeaders(), 0.0, NodeConfig("http", "localhost", 9200))
    body = {"error": {"type": kind, "reason": "a reason"}, "status": status}
    return error(kind, meta, body)


@pytest.mark.parametrize(
    ("error", "expected", "code"),
    [
        (_api_error(404, "index_not_found_exception", NotFoundError), NoIndex, "no_index"),
        (
            _api_error(404, "search_phase_execution_exception", NotFoundError),
            Unavailable,
            "engine_unavailable",
        ),
        (_api_error(403, "cluster_block_exception"), Unavailable, "engine_unavailable"),
        (_api_error(403, "security_exception"), Unavailable, "engine_unavailable"),
        (_api_error(429, "es_rejected_execution_exception"), Unavailable, "engine_unavailable"),
        (_api_error(500, "search_phase_execution_exception"), Unavailable, "engine_unavailable"),
        (ConnectionTimeout("timed out"), Unavailable, "engine_unavailable"),
        (_api_error(400, "parsing_exception"), BlogsearchError, "internal"),
    ],
)
def test_an_error_of_the_client_becomes_one_of_the_tree(
    error: Exception, expected: type[BlogsearchError], code: str
) -> None:
    with pytest.raises(expected) as raised, translated():
        raise error
    assert type(raised.value) is expected
    assert raised.value.code == code
    assert raised.value.__cause__ is error
