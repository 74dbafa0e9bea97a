"""`/insights`: show the blog's owner what people search for.

It uses HTTP Basic authentication: every browser has it, and there is no session to keep or steal.
"""

import csv
import hashlib
import hmac
import io
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from elasticsearch import NotFoundError
from flask import Blueprint, Response, make_response, redirect, render_template, request, url_for
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response as WerkzeugResponse

from app.engines.elastic import translate_errors
from app.errors import BadRequest, BlogsearchError, Forbidden, NotFound, Unauthorized
from app.http.access import access
from app.index.golden import (
    FIRST,
    Goldens,
    add_searches,
    as_cell,
    find_candidates,
    open_golden,
)
from app.index.health import last_run
from app.insights.counts import Report
from app.search.pins import SUFFIX, parse
from app.search.render import plain
from app.search.request import SearchRequest
from app.service import Service
from app.views import current_service
from app.views.responses import set_error_headers

blueprint = Blueprint("insights", __name__, url_prefix="/insights")

_PINS = f"insights{SUFFIX}"  # the file of the rules that this page writes
_PERIODS = (7, 30, 90, 365)  # days
_LIST = 20  # searches in a list
_SHOWN = 5  # hits in the preview of a pin


@blueprint.before_request
def _check_request() -> None:
    """Check that a form was sent from this page, and that there is no outage.

    Raises:
        Forbidden: another site sent the form.
        Unavailable: Elasticsearch is known to be unavailable.
    """
    form = request.form.get("form", "")
    # A browser sends the password with forms of other sites, too, but they do not know this value.
    if request.method == "POST" and not hmac.compare_digest(form.encode(), _form_value().encode()):
        raise Forbidden("The form is not from this page. Load the page again.")
    current_service().admission.require()


def _form_value() -> str:
    token = current_service().settings.insights_token
    return hmac.new(token.encode(), b"the forms of /insights", hashlib.sha256).hexdigest()


@blueprint.after_request
def _forbid_storing(response: Response) -> Response:
    response.headers["Cache-Control"] = "no-store"
    return response


@blueprint.errorhandler(BlogsearchError)
def _error_page(error: BlogsearchError) -> Response:
    response = make_response(render_template("insights_error.html", error=error))
    set_error_headers(response, error)
    if isinstance(error, Unauthorized):
        response.headers["WWW-Authenticate"] = 'Basic realm="insights", charset="UTF-8"'
    return response


@blueprint.get("")
@access(only_for="owner")
def page() -> str:
    """Show what people searched for in the last days."""
    service = current_service()
    report = _report(service)
    longest = service.settings.insights_days
    pinned: Sequence[str] = ()
    goldens: Goldens = {}
    with suppress(BlogsearchError), translate_errors():  # Elasticsearch does not answer
        pinned = service.pins.texts().get(_PINS, "").splitlines()
        goldens = open_golden(service.elastic, service.settings.index).texts()
    steady = find_candidates(report.searched, goldens)[:_LIST]
    shown = [*report.searched[:_LIST], *steady]
    return render_template(
        "insights.html",
        report=report,
        most=max(day["searches"] for day in report.days.values()) or 1,
        periods=[period for period in _PERIODS if period < longest] + [longest],
        limit=_LIST,
        titles=_titles(service, (oid for row in shown for oid in row.posts)),
        steady=steady,
        pinned=pinned,
        form=_form_value(),
        last_run=last_run(service.elastic, service.settings.index),
    )


@blueprint.get("/searches.csv")
@access(only_for="owner")
def searches_csv() -> Response:
    """Return every search of the period as CSV, the most frequent first."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(("search", "times", "found nothing", "found partly", "opened"))
    for row in _report(current_service()).searched:
        writer.writerow((as_cell(row.query), row.times, row.nothing, row.partly, row.opened))
    headers = {"Content-Disposition": "attachment; filename=searches.csv"}
    return Response(text.getvalue(), content_type="text/csv; charset=utf-8", headers=headers)


def _report(service: Service) -> Report:
    """Return the report on the number of days in the request."""
    if not service.search_log.is_on:
        raise NotFound(
            "Searches are not counted: BLOGSEARCH_INSIGHTS_DAYS is 0, or REDIS_URL is empty."
        )
    days = request.args.get("days", 30, type=int)
    return service.counts.report(min(max(days, 1), service.counts.days))


@blueprint.get("/pins")
@access(only_for="owner")
def pin() -> str:
    """Show the first hits of a search as they would be with a post pinned.

    Raises:
        BadRequest: `q` is not a valid search, or there is no post `oid`.
    """
    service = current_service()
    q, oid = request.args.get("q", ""), request.args.get("oid", "")
    search = SearchRequest.parse(MultiDict({"q": q, "size": str(_SHOWN)}))
    titles = _titles(service, [oid])
    if oid not in titles:
        raise BadRequest(f"There is no post with the oid {oid!r}; it may have been deleted.")
    body = service.answer(search).body
    hits = [(hit["oid"], hit["title"]) for hit in body["hits"] if hit["oid"] != oid]
    hits.insert(0, (oid, titles[oid]))
    return render_template("insights_pin.html", q=q, oid=oid, hits=hits, form=_form_value())


@blueprint.post("/pins")
@access(only_for="owner")
def save_pin() -> WerkzeugResponse:
    """Pin a post for a search, or remove the rule in `undo`.

    Raises:
        BadRequest: the search or the oid cannot be written as a rule.
        Conflict: another process changed the pins at the same time.
    """
    service, undo = current_service(), request.form.get("undo")
    oid = request.form.get("oid", "")
    rule = undo or f"{request.form.get('q', '')} => {oid}"
    if not undo:
        rules, errors = parse({_PINS: rule}, service.watch.language)
        if errors or [one.first for one in rules] != [(oid,)]:
            raise BadRequest("This search cannot be pinned here. Write a rule in a file.")

    def change(files: Mapping[str, str]) -> Mapping[str, str]:
        lines = [line for line in files.get(_PINS, "").splitlines() if line != rule]
        if not undo:
            lines.append(rule)
        return {**files, _PINS: "".join(f"{line}\n" for line in lines)}

    with translate_errors():
        service.pins.change(change)
        service.watch.publish()
    return redirect(url_for("insights.page"), 303)


@blueprint.post("/golden")
@access(only_for="owner")
def keep_golden() -> WerkzeugResponse:
    """Store a golden search, with the post that visitors always open.

    Raises:
        BadRequest: the search is invalid; the post has no address, or is not among the first hits.
        Conflict: another process changed the golden searches at the same time.
    """
    service = current_service()
    oid = request.form.get("oid", "")
    first = MultiDict({"q": request.form.get("q", ""), "size": str(FIRST)})
    search = SearchRequest.parse(first)
    urls = {hit["oid"]: hit["url"] for hit in service.answer(search).body["hits"]}
    if not urls.get(oid):
        raise BadRequest(f"The post {oid!r} is not among the first hits of this search now.")
    with translate_errors():
        searches = open_golden(service.elastic, service.settings.index)
        searches.change(lambda goldens: add_searches(goldens, {search.q: urls[oid]}))
    return redirect(url_for("insights.page"), 303)


def _titles(service: Service, oids: Iterable[str]) -> Mapping[str, str]:
    """Return the titles of posts by oid, without those that are not in the index."""
    wanted = list(dict.fromkeys(oids))
    try:
        with translate_errors():
            response = service.elastic.search(
                index=service.settings.index,
                query={"terms": {"oid": wanted}},
                source_includes=["oid", "title"],
                size=len(wanted),
            )
    except (BlogsearchError, NotFoundError):
        return {}
    posts = [hit["_source"] for hit in response["hits"]["hits"]]
    return {post["oid"]: plain(post["title"]) for post in posts}
