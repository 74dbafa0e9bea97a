"""Random writes made by schemathesis from `/openapi.json`: every answer is as described there.

A status, code, media type or field that is not described is a failure, and so is every 5xx that is
not described. `make fuzz` sends more of them.
"""

import os
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from pydantic import SecretStr
from schemathesis.schemas import BaseSchema
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from app import create_app
from app.settings import Settings

TOKEN = "a-token-for-these-tests"
EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES") or 25)

fuzz = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)

_CHECKS = [status_code_conformance, content_type_conformance, response_schema_conformance]


def _schema(own: Settings) -> BaseSchema:
    changes: dict[str, Any] = {"write_tokens": SecretStr(TOKEN), "redis_url": ""}
    app = create_app(own.model_copy(update=changes))
    return schemathesis.openapi.from_wsgi("/openapi.json", app)


@pytest.fixture
def writes(own_settings: Settings) -> BaseSchema:
    """There is no index, so that a valid write is a 503 with the code no_index."""
    return _schema(own_settings)


def _send(case: schemathesis.Case) -> None:
    response = case.call(headers={"Authorization": f"Bearer {TOKEN}"})
    case.validate_response(response, checks=_CHECKS)
    assert "Traceback" not in response.text
    if response.status_code >= 500:
        assert response.json()["error"]["code"] != "internal"


def test_writes(writes: BaseSchema) -> None:
    operations = [found.ok() for found in writes.include(tag="documents").get_all_operations()]
    assert len(operations) == 6
    for operation in operations:
        fuzz(given(case=operation.as_strategy())(_send))()
