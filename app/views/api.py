"""`/openapi.json`, the description of the HTTP API, and `/docs`, a page that shows it."""

from flask import Blueprint, Response, current_app, jsonify, make_response, render_template

from app.openapi import Json, document

blueprint = Blueprint("api", __name__)

_DOCUMENT = "blogsearch-openapi"


@blueprint.get("/openapi.json")
def openapi() -> Response:
    """This description, in OpenAPI 3.1."""
    response = jsonify(_document())
    response.headers["Cache-Control"] = "no-cache"
    return response


@blueprint.get("/docs")
def docs() -> Response:
    """The description as a page."""
    response = make_response(render_template("api.html", api=_document()))
    response.headers["Cache-Control"] = "no-cache"
    return response


def _document() -> Json:
    """The document, made when it is first needed: then all routes are registered."""
    found: Json | None = current_app.extensions.get(_DOCUMENT)
    if found is None:
        found = current_app.extensions[_DOCUMENT] = document(current_app)
    return found
