"""`GET /`: a search page that works without JavaScript, to try the service and to start from."""

from urllib.parse import urlencode

from flask import Blueprint, Response, make_response, render_template, request
from markupsafe import Markup

from app.errors import ServiceError
from app.views import current_service
from app.views.errors import set_error_headers
from app.views.search import parse

blueprint = Blueprint("page", __name__)


@blueprint.get("/")
def page() -> Response:
    """The search box; with `q` in the URL, also the answer or what went wrong."""
    typed = request.args.get("q", "")
    answer, error = None, None
    if typed.strip():
        try:
            answer = current_service().answer(*parse(request.query_string)).body
        except ServiceError as failure:
            error = failure
    response = make_response(
        render_template("search.html", typed=typed, answer=answer, error=error)
    )
    response.headers["Cache-Control"] = "no-cache"
    if error:
        set_error_headers(response, error)
    return response


@blueprint.app_template_global()
def page_url(number: int) -> str:
    """The URL of another page of the same search."""
    parameters = [(name, value) for name, value in request.args.items(multi=True) if name != "page"]
    return "?" + urlencode([*parameters, ("page", number)])


@blueprint.app_template_filter()
def safe_highlight(fragment: str) -> Markup:
    """A highlight of an answer, in which everything but our own `<mark>` is escaped."""
    return Markup(fragment)  # noqa: S704 - app.search.render escapes, and a test holds it to that
