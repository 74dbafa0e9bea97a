"""Random requests made by schemathesis from `/openapi.json`: every answer is as described there.

A status, code, media type or field that is not described is a failure, and so is every 5xx that is
not described. `make fuzz` sends more of them.
"""

import os
from dataclasses import replace
from typing import Any

import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from app import create_app
from app.settings import Settings

TOKEN = "a-token-for-these-tests"
EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES") or 25)
_CHECKS = [status_code_conformance, content_type_conformance, response_schema_conformance]


def _operations(
    own: Settings, *tags: str
) -> dict[str, schemathesis.schemas.APIOperation[Any, Any, Any, Any]]:
    """The described operations with these tags, by their ids.

    Objects of answers must not have fields that are not described.
    """
    secret = TOKEN
    app = create_app(replace(own, write_tokens=secret, insights_token=secret))
    document = app.test_client().get("/openapi.json").get_json()
    for name, schema in document["components"]["schemas"].items():
        if name.endswith(("Answer", "Result", "Hit")):
            schema["additionalProperties"] = False
    schema = schemathesis.openapi.from_dict(document)
    schema.app = app
    operations = [
        result.ok()
        for tag in tags
        for result in schema.include(tag=tag).get_all_operations()
        if isinstance(result, Ok)
    ]
    return {operation.definition.raw["operationId"]: operation for operation in operations}


def _send(case: "schemathesis.Case[Any]") -> None:
    response = case.call(headers={"Authorization": f"Bearer {TOKEN}"})
    case.validate_response(response, checks=_CHECKS)
    assert "Traceback" not in response.text
    if response.status_code >= 500:
        assert response.json()["error"]["code"] != "internal"


def _fuzz(operation: schemathesis.schemas.APIOperation[Any, Any, Any, Any], examples: int) -> None:
    limits = settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
    limits(given(case=operation.as_strategy())(_send))()


def test_writes(own_settings: Settings) -> None:
    """There is no index, so that a valid write is a 503 with the code no_index."""
    operations = _operations(own_settings, "documents")
    assert len(operations) == 7
    for operation in operations.values():
        _fuzz(operation, EXAMPLES)


def test_reads(settings: Settings) -> None:
    operations = _operations(settings, "search", "operations")
    assert {"search", "suggest", "similar", "metrics", "openapi"} <= operations.keys()
    for operation in operations.values():
        takes_parameters = bool(list(operation.query))
        _fuzz(operation, EXAMPLES if takes_parameters else 1)
