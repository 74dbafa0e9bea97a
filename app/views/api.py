"""`/openapi.json`, the description of the HTTP API, and `/docs`, a page that shows it."""

from flask import Blueprint, Response, current_app, render_template

from app.openapi import document
from app.views.responses import made_once

blueprint = Blueprint("api", __name__)


@blueprint.get("/openapi.json")
def openapi() -> Response:
    """This description, in OpenAPI 3.1."""
    return made_once(
        "openapi.json",
        "application/json",
        lambda: current_app.json.dumps(document(current_app)),
    )


@blueprint.get("/docs")
def docs() -> Response:
    """The description as a page."""
    return made_once(
        "docs",
        "text/html; charset=utf-8",
        lambda: render_template("api.html", api=document(current_app)),
    )
