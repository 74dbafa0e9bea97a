"""How the errors of Elasticsearch become errors of the service."""

import pytest
from elastic_transport import ApiResponseMeta, ConnectionTimeout, HttpHeaders, NodeConfig
from elasticsearch import ApiError, NotFoundError

from app.engines.elastic import translate_errors
from app.errors import BlogsearchError, NoIndex, Unavailable


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
    with pytest.raises(expected) as raised, translate_errors():
        raise error
    assert type(raised.value) is expected
    assert raised.value.code == code
    assert raised.value.__cause__ is error
