"""`/openapi.json`, the description of the HTTP API, and `/docs`, a page that shows it.

Parameters come from the tables that parse them. The rest comes from app/openapi.json, which is
edited by hand; tests compare it with routes, limits, errors, answers and their types.
"""

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from flask import Blueprint, Response, render_template

from app.http.access import READING, access
from app.search.request import PARAMETERS, SUGGEST_PARAMETERS, Parameter
from app.search.similar import SIMILAR_PARAMETERS
from app.version import VERSION
from app.views.responses import made_once

blueprint = Blueprint("api", __name__)

_PARAMETERS: dict[str, Sequence[Parameter]] = {
    "/search": PARAMETERS,
    "/suggest": SUGGEST_PARAMETERS,
    "/similar": SIMILAR_PARAMETERS,
    "/search.atom": PARAMETERS,
    "/opensearch/suggest": SUGGEST_PARAMETERS,
}
_FILE = Path(__file__).parents[1] / "openapi.json"

Json = dict[str, Any]


@blueprint.get("/openapi.json")
@access(origins=READING)
def openapi() -> Response:
    """Return the description in OpenAPI 3.1."""
    return made_once("openapi.json", "application/json", lambda: json.dumps(document()))


@blueprint.get("/docs")
@access()
def docs() -> Response:
    """Return the description as an HTML page."""
    return made_once("docs", "text/html; charset=utf-8", _page)


def document() -> Json:
    """Return the OpenAPI document, with the version of the service."""
    api: Json = json.loads(_FILE.read_text("utf-8"))
    api["info"]["version"] = VERSION
    for path, parameters in _PARAMETERS.items():
        api["paths"][path]["get"]["parameters"] = [_describe(one) for one in parameters]
    return api


def _describe(parameter: Parameter) -> Json:
    described = {"name": parameter.name, "in": "query", "required": parameter.required}
    described |= {"description": parameter.text, "schema": parameter.schema}
    # An array is sent as the same parameter several times.
    return {**described, "style": "form", "explode": True} if parameter.repeatable else described


def _page() -> str:
    api = document()
    return render_template("api.html", api=api, resolved=partial(_resolve, api))


def _resolve(api: Json, described: Json) -> Json:
    """Return a parameter or response, or the component to which its `$ref` refers."""
    if "$ref" not in described:
        return described
    _, components, kind, name = described["$ref"].split("/")
    found: Json = api[components][kind][name]
    return found
