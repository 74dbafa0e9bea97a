"""`GET /`: a search page that works without JavaScript, to try the service and to start from."""

from urllib.parse import urlencode

from flask import Blueprint, Response, make_response, render_template, request
from markupsafe import Markup

from app.cache.through import searched
from app.errors import ServiceError
from app.search.request import SearchRequest
from app.service import current_service

blueprint = Blueprint("page", __name__)


@blueprint.get("/")
def page() -> Response:
    """The search box; with `q` in the address, the answer below it, or what went wrong."""
    typed = request.args.get("q", "")
    answer, error = None, None
    if typed.strip():
        try:
            wanted = SearchRequest.parse(request.args)
            service = current_service()
            answer = searched(service.cache, service.elastic, service.settings, wanted).body
        except ServiceError as failure:
            error = failure
    html = render_template("search.html", typed=typed, answer=answer, error=error)
    response = make_response(html, error.status if error else 200)
    response.headers["Cache-Control"] = "no-cache"
    return response


@blueprint.app_template_global()
def page_url(number: int) -> str:
    """The address of another page of the same search."""
    parameters = [(name, value) for name, value in request.args.items(multi=True) if name != "page"]
    return "?" + urlencode([*parameters, ("page", number)])


@blueprint.app_template_filter()
def safe_highlight(fragment: str) -> Markup:
    """A highlight of an answer: the renderer has escaped everything but our own `<mark>`."""
    return Markup(fragment)  # noqa: S704 - app.search.render escapes, and a test holds it to that
