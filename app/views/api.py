"""`/openapi.json`, the description of the HTTP API, and `/docs`, a page that shows it."""

import json
from functools import partial

from flask import Blueprint, Response, render_template

from app.openapi import document, resolved
from app.views.responses import made_once

blueprint = Blueprint("api", __name__)


@blueprint.get("/openapi.json")
def openapi() -> Response:
    """This description, in OpenAPI 3.1."""
    return made_once("openapi.json", "application/json", lambda: json.dumps(document()))


@blueprint.get("/docs")
def docs() -> Response:
    """The description as a page."""
    return made_once("docs", "text/html; charset=utf-8", _page)


def _page() -> str:
    api = document()
    return render_template("api.html", api=api, resolved=partial(resolved, api))
