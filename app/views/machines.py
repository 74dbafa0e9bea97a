"""For programs that visitors have: the address bar of a browser, and feed readers."""

from flask import Blueprint, Response, jsonify, render_template, request
from werkzeug.datastructures import MultiDict

from app.http.access import access, counted_clients
from app.search.answer import Hit
from app.search.request import SearchRequest, SuggestRequest
from app.views import current_service, default_language
from app.views.markdown import plain_text
from indexer.posts.addresses import absolute

blueprint = Blueprint("machines", __name__)


@blueprint.get("/opensearch.xml")
@access()
def opensearch() -> Response:
    """The OpenSearch description, by which a browser searches from its address bar."""
    settings = current_service().settings
    text = render_template("opensearch.xml", name=settings.site_name, language=default_language())
    response = Response(text, content_type="application/opensearchdescription+xml; charset=utf-8")
    response.headers["Cache-Control"] = "no-store"  # it names the host that the client sent
    return response


@blueprint.get("/opensearch/suggest")
@access("suggestions", in_lookup=True)
def suggestions() -> Response:
    """Completed searches as the address bar wants them: `["pyt", ["python", …]]`."""
    service = current_service()
    wanted = SuggestRequest.parse(request.args)
    found = service.suggest(wanted, counted_clients()).body["suggestions"]
    response = jsonify([wanted.q, [suggestion["text"] for suggestion in found]])
    response.content_type = "application/x-suggestions+json"
    response.headers["Cache-Control"] = "no-cache"
    return response


@blueprint.get("/search.atom")
@access("searches", in_lookup=True)
def feed() -> Response:
    """The newest posts that a search finds, as a feed. It takes the parameters of `/search`."""
    service = current_service()
    newest = MultiDict([("sort", "newest"), *request.args.items(multi=True)])
    answer = service.answer(SearchRequest.parse(newest), clients=counted_clients())
    base = service.settings.site_url or request.url_root
    # A feed reader needs a date of each entry.
    hits = [
        {**hit, "link": absolute(hit["url"], base), "summary": plain_text(_summary(hit))}
        for hit in answer.body["hits"]
        if hit["pub_date"]
    ]
    text = render_template("search.atom.xml", hits=hits, q=request.args.get("q", ""), base=base)
    response = Response(text, content_type="application/atom+xml; charset=utf-8")
    response.headers["Cache-Control"] = "private, no-cache"  # it names the host
    response.set_etag(answer.etag, weak=True)
    response.make_conditional(request)
    return response


def _summary(hit: Hit) -> str:
    """The passage of a hit that answers best, as HTML."""
    snippets = [section["snippet"] for section in hit.get("sections", ())]
    return next(iter([*snippets, *hit["highlight"]["text"]]), "")
