"""Random requests: never a 5xx, never a traceback, one shape of error. `make fuzz` sends more."""

import os
from dataclasses import replace

import pytest
from flask.testing import FlaskClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app import create_app
from app.settings import Settings

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES") or 100)

fuzz = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture
def uncached(settings: Settings) -> FlaskClient:
    return create_app(replace(settings, redis_url="")).test_client()


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
