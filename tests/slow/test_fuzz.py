"""Random requests: never a 5xx, never a traceback, one shape of error. `make fuzz` sends more."""

import json
import os
from dataclasses import replace

import pytest
from flask.testing import FlaskClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from werkzeug.test import TestResponse

from app import create_app
from app.settings import Settings

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES") or 100)

fuzz = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

text = st.text(max_size=220)
words = st.lists(
    st.one_of(st.sampled_from(["python", "pythn", "AND", '"', "-", "(", "*", "/", "C++"]), text),
    max_size=12,
).map(" ".join)
numbers = st.one_of(st.integers(-5, 60).map(str), st.sampled_from(["", "1e3", "٣", "9" * 99]))
days = st.one_of(st.dates().map(str), text)
parameters = st.fixed_dictionaries(
    {},
    optional={
        "q": words,
        "page": numbers,
        "size": numbers,
        "sort": st.sampled_from(["relevance", "newest", "", "score"]),
        "typos": st.sampled_from(["on", "off", "maybe"]),
        "since": days,
        "until": days,
        "category": text,
        "debug-search": st.sampled_from(["", "1", "requests"]),
    },
)


def _check(response: TestResponse) -> None:
    assert response.status_code < 500, response.text
    assert "Traceback" not in response.text
    if response.status_code >= 400:
        error = json.loads(response.text)["error"]
        assert set(error) == {"code", "message", "details"}
        assert error["message"]


@pytest.fixture
def uncached(settings: Settings) -> FlaskClient:
    return create_app(replace(settings, redis_url="")).test_client()


@fuzz
@given(query=parameters)
def test_searches(uncached: FlaskClient, query: dict[str, str]) -> None:
    _check(uncached.get("/search", query_string=query))


@fuzz
@given(raw=st.binary(max_size=300), path=st.sampled_from(["/search", "/", "/documents/a"]))
def test_raw_query_strings(uncached: FlaskClient, raw: bytes, path: str) -> None:
    environ = {"QUERY_STRING": raw.decode("latin-1")}
    response = uncached.get(path, environ_overrides=environ)
    assert response.status_code < 500, response.text
    assert "Traceback" not in response.text


@fuzz
@given(
    headers=st.dictionaries(
        st.sampled_from(
            ["If-None-Match", "Accept-Encoding", "Origin", "X-Request-ID", "Authorization", "Host"]
        ),
        st.text(st.characters(min_codepoint=32, max_codepoint=255), max_size=80),
    )
)
def test_headers(uncached: FlaskClient, headers: dict[str, str]) -> None:
    response = uncached.get("/search?q=python", headers=headers)
    assert response.status_code < 500, response.text
