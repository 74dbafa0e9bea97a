"""The OpenAPI 3.1 document of the HTTP API: app/openapi.json, which is edited by hand.

tests/unit/test_openapi.py compares it with routes, parameters, limits, errors and the types of
answers; tests/live/test_api.py compares answers with it.
"""

import json
from pathlib import Path
from typing import Any

from app.version import VERSION

Json = dict[str, Any]

_FILE = Path(__file__).with_name("openapi.json")


def document() -> Json:
    """The document, with the version of the service."""
    api: Json = json.loads(_FILE.read_text("utf-8"))
    api["info"]["version"] = VERSION
    return api


def resolved(api: Json, described: Json) -> Json:
    """A parameter or response of the document, or the one in its components that it refers to."""
    if "$ref" not in described:
        return described
    _, components, kind, name = described["$ref"].split("/")
    found: Json = api[components][kind][name]
    return found
