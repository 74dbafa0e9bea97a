"""`/openapi.json`, the description of the HTTP API, and `/docs`, a page that shows it.

app/openapi.json is edited by hand. tests/unit/test_openapi.py compares it with routes, parameters,
limits, errors and the types of answers; tests/live/test_api.py compares answers with it.
"""

import json
from functools import partial
from pathlib import Path
from typing import Any

from flask import Blueprint, Response, render_template

from app.http.access import READING, access
from app.version import VERSION
from app.views.responses import made_once

blueprint = Blueprint("api", __name__)

_FILE = Path(__file__).parents[1] / "openapi.json"

Json = dict[str, Any]


@blueprint.get("/openapi.json")
@access(origins=READING)
def openapi() -> Response:
    """This description, in OpenAPI 3.1."""
    return made_once("openapi.json", "application/json", lambda: json.dumps(document()))


@blueprint.get("/docs")
@access()
def docs() -> Response:
    """The description as a page."""
    return made_once("docs", "text/html; charset=utf-8", _page)


def document() -> Json:
    """The OpenAPI document, with the version of the service."""
    api: Json = json.loads(_FILE.read_text("utf-8"))
    api["info"]["version"] = VERSION
    return api


def _page() -> str:
    api = document()
    return render_template("api.html", api=api, resolved=partial(_resolved, api))


def _resolved(api: Json, described: Json) -> Json:
    """A parameter or response of the document, or the one in its components that it refers to."""
    if "$ref" not in described:
        return described
    _, components, kind, name = described["$ref"].split("/")
    found: Json = api[components][kind][name]
    return found
