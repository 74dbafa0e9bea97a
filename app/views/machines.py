"""Routes for visitors' programs: the address bar of a browser, and feed readers."""

import orjson
from flask import Blueprint, Response, render_template, request
from werkzeug.datastructures import MultiDict

from app.http.access import access
from app.http.clients import Request, counted_clients
from app.search.request import SearchRequest
from app.service import Service
from app.views import base_url, current_service
from app.views.search import cached_response, parse_suggest
from indexer.posts.addresses import absolute

blueprint = Blueprint("machines", __name__)


@blueprint.get("/opensearch.xml")
@access()
def opensearch() -> Response:
    """Return the OpenSearch description, which lets a browser search from its address bar."""
    text = render_template("opensearch.xml")
    response = Response(text, mimetype="application/opensearchdescription+xml")
    response.headers["Cache-Control"] = "no-store"  # it has the host that the client sent
    return response


@blueprint.get("/opensearch/suggest")
@access("suggestions", in_lookup=True)
def suggestions(request: Request, service: Service) -> Response:
    """Return completed searches in the format of address bars: `["pyt", ["python", …]]`."""
    wanted = parse_suggest(request.query_string)
    answer = service.suggest(wanted, counted_clients(request))
    completed = [suggestion["text"] for suggestion in answer.body["suggestions"]]
    text = orjson.dumps([wanted.q, completed]).decode()
    return cached_response(answer, request, text, "application/x-suggestions+json")


@blueprint.get("/search.atom")
@access("searches")
def feed() -> Response:
    """Return the newest posts that match a search, as a feed; parameters as for `/search`."""
    newest = MultiDict([("sort", "newest"), *request.args.items(multi=True)])
    service = current_service()
    answer, base = service.answer(SearchRequest.parse(newest)), base_url(request, service)
    hits = [{**hit, "url": absolute(hit["url"], base)} for hit in answer.body["hits"]]
    text = render_template("search.atom.xml", hits=hits, q=request.args.get("q", ""))
    return cached_response(answer, request, text, "application/atom+xml")
