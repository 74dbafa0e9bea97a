"""`/openapi.json`, the description of the HTTP API, and `/docs`, a page that shows it."""

from flask import Blueprint, Response, current_app, make_response, render_template

from app.openapi import Json, document

blueprint = Blueprint("api", __name__)

_DOCUMENT = "blogsearch-openapi"


@blueprint.get("/openapi.json")
def openapi() -> Response:
    """This description, in OpenAPI 3.1."""
    response = Response(_document()[1], content_type="application/json")
    response.headers["Cache-Control"] = "no-cache"
    return response


@blueprint.get("/docs")
def docs() -> Response:
    """The description as a page."""
    response = make_response(render_template("api.html", api=_document()[0]))
    response.headers["Cache-Control"] = "no-cache"
    return response


def _document() -> tuple[Json, bytes]:
    """The document, and as JSON; made when it is first needed: then all routes are registered."""
    api: tuple[Json, bytes] | None = current_app.extensions.get(_DOCUMENT)
    if api is None:
        described = document(current_app)
        api = current_app.extensions[_DOCUMENT] = (
            described,
            current_app.json.dumps(described).encode(),
        )
    return api
