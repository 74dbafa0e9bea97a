"""`/insights`: what people search for, shown to the blog's owner.

HTTP Basic authentication: every browser and `curl` has it, and there is no session to keep or
steal.
"""

import csv
import hashlib
import hmac
import io
import logging
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress

from elasticsearch import NotFoundError
from flask import Blueprint, Response, make_response, redirect, render_template, request, url_for
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response as WerkzeugResponse

from analyzers.languages import LANGUAGES
from app.clients import TOKENS, client_names
from app.elastic import translated
from app.errors import BadRequest, BlogsearchError, Forbidden, NotFound, Unauthorized
from app.health import last_run
from app.insights.counts import Report
from app.pins import SUFFIX, parse
from app.search.request import SearchRequest, parse_parameters, whole_number
from app.service import Service
from app.views import current_service
from app.views.responses import set_error_headers

blueprint = Blueprint("insights", __name__, url_prefix="/insights")

_WRONG_TOKEN_DELAY = 0.5  # seconds; slows down guessing
_PINS = f"insights{SUFFIX}"  # the file of the rules that are made here
_PERIODS = (7, 30, 90, 365)  # days
_LIST = 20  # searches in a list
_SHOWN = 5  # hits of a search before a post is pinned for it
_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)

DAYS = whole_number("days", 1, 400)

log = logging.getLogger(__name__)


@blueprint.before_request
def _authorize() -> None:
    """Check the password.

    Raises:
        Forbidden: no token is set, or another site sent the form.
        Unauthorized: no password was sent, or a wrong one, which is logged and takes a while.
    """
    token = current_service().settings.insights_token
    if not token:
        raise Forbidden(
            "This page is closed. Set BLOGSEARCH_INSIGHTS_TOKEN to a long random string "
            "(`openssl rand -hex 32`) and restart the service."
        )
    sent = _sent_password()
    if sent is None:
        raise Unauthorized("Enter BLOGSEARCH_INSIGHTS_TOKEN as the password, and any user name.")
    if not hmac.compare_digest(sent.encode(), token.encode()):
        current_service().count(client_names(), TOKENS)
        log.warning("a wrong password for /insights was sent by %s", request.remote_addr)
        time.sleep(_WRONG_TOKEN_DELAY)
        raise Unauthorized("The password is not BLOGSEARCH_INSIGHTS_TOKEN.")
    if request.method == "POST":
        # A browser sends the password with forms of other sites, too; they do not know this value.
        if request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
            raise Forbidden("The form was sent by another site.")
        form = request.form.get("form", "")
        if not hmac.compare_digest(form.encode(), _form_value(token).encode()):
            raise Forbidden("The form is not from this page. Load the page again.")


def _sent_password() -> str | None:
    """The password in the request, None without any, "" if it is not text."""
    try:
        return request.authorization.password if request.authorization else None
    except ValueError:
        return ""


def _form_value(token: str) -> str:
    return hmac.new(token.encode(), b"the forms of /insights", hashlib.sha256).hexdigest()


@blueprint.after_request
def _add_headers(response: Response) -> Response:
    response.headers["Content-Security-Policy"] = _POLICY
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Robots-Tag"] = "noindex"
    return response


@blueprint.errorhandler(BlogsearchError)
def _error_page(error: BlogsearchError) -> Response:
    response = make_response(render_template("insights_error.html", error=error))
    set_error_headers(response, error)
    if isinstance(error, Unauthorized):
        response.headers["WWW-Authenticate"] = 'Basic realm="insights", charset="UTF-8"'
    return response


@blueprint.get("")
def page() -> str:
    """What people searched for in the last days."""
    service = current_service()
    report, days = _report(service)
    longest = service.settings.insights_days
    rules: Sequence[str] = ()
    with suppress(BlogsearchError):  # Elasticsearch does not answer
        rules = _pinned(service)
    return render_template(
        "insights.html",
        report=report,
        most=max((day.searches for day in report.days), default=0) or 1,
        periods=[period for period in _PERIODS if period < longest] + [longest],
        days=days,
        limit=_LIST,
        titles=_titles(service, (oid for row in report.searched[:_LIST] for oid in row.posts)),
        pinned=rules,
        form=_form_value(service.settings.insights_token),
        last_run=last_run(service.elastic, service.settings.index),
    )


@blueprint.get("/searches.csv")
def searches_csv() -> Response:
    """Every search of the period as CSV, the most frequent first."""
    report, _ = _report(current_service())
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(("search", "times", "found nothing", "found partly", "opened", "position"))
    for row in report.searched:
        # A program for tables would calculate what begins like a formula.
        query = f"'{row.query}" if row.query.startswith(("=", "+", "-", "@", "\t")) else row.query
        writer.writerow((query, row.times, row.nothing, row.partly, row.opened, row.position or ""))
    headers = {"Content-Disposition": "attachment; filename=searches.csv"}
    return Response(text.getvalue(), content_type="text/csv; charset=utf-8", headers=headers)


def _report(service: Service) -> tuple[Report, int]:
    longest = service.settings.insights_days
    days = min(parse_parameters(request.args, (DAYS,), "this page").get("days", 30), longest)
    if not longest or not service.settings.redis_url:
        raise NotFound(
            "Searches are not counted: BLOGSEARCH_INSIGHTS_DAYS is 0, or REDIS_URL is empty."
        )
    return service.counts.report(days), days


@blueprint.get("/pins")
def pin() -> str:
    """The first hits of a search as they would be with a post pinned, before that is saved.

    Raises:
        BadRequest: `q` is no search, or there is no post `oid`.
    """
    service = current_service()
    q, oid = request.args.get("q", ""), request.args.get("oid", "")
    search = SearchRequest.parse(MultiDict({"q": q, "size": str(_SHOWN)}))
    titles = _titles(service, [oid])
    if oid not in titles:
        raise BadRequest(f"There is no post with the oid {oid!r}; it may have been deleted.")
    body = service.answer(search).body
    hits = [(hit["oid"], hit["title"]) for hit in body["hits"] if hit["oid"] != oid]
    first = (oid, titles[oid])
    form = _form_value(service.settings.insights_token)
    return render_template("insights_pin.html", q=q, oid=oid, hits=[first, *hits], form=form)


@blueprint.post("/pins")
def save_pin() -> WerkzeugResponse:
    """Pin a post for a search, or with `undo` remove the rule that did.

    Raises:
        BadRequest: the search or the oid cannot be written as a rule.
        Conflict: another process changed the pins at the same time.
    """
    service, undo = current_service(), request.form.get("undo")
    oid = re.sub(r"^-|[\\,]", r"\\\g<0>", request.form.get("oid", ""))
    rule = undo or f"{request.form.get('q', '')} => {oid}"

    def change(lines: list[str]) -> list[str]:
        others = [line for line in lines if line != rule]
        return others if undo else [*others, rule]

    _change_pins(service, change)
    return _back()


@blueprint.post("/erasures")
def erase() -> WerkzeugResponse:
    """Delete a search from all counts, or with `all` everything that was counted.

    Raises:
        BadRequest: no search is named.
        Unavailable: Elasticsearch does not answer.
    """
    query = request.form.get("q", "").strip()
    everything = request.form.get("all") == "yes"
    if not (query or everything):
        raise BadRequest("Enter a search.")
    current_service().counts.erase(None if everything else query)
    return _back()


def _back() -> WerkzeugResponse:
    return redirect(url_for("insights.page", days=request.form.get("days", type=int)), 303)


def _titles(service: Service, oids: Iterable[str]) -> Mapping[str, str]:
    """The titles of posts; those that are not in the index are left out."""
    wanted = list(dict.fromkeys(oids))
    if not wanted:
        return {}
    try:
        with translated():
            response = service.elastic.search(
                index=service.settings.index,
                query={"terms": {"oid": wanted}},
                source_includes=["oid", "title"],
                size=len(wanted),
            )
    except (BlogsearchError, NotFoundError):
        return {}
    return {hit["_source"]["oid"]: hit["_source"]["title"] for hit in response["hits"]["hits"]}


def _pinned(service: Service) -> list[str]:
    """The rules in the pin file `insights.pins`."""
    with translated():
        return service.pins.files().get(_PINS, "").splitlines()


def _change_pins(service: Service, change: Callable[[list[str]], list[str]]) -> None:
    def changed(files: Mapping[str, str]) -> Mapping[str, str]:
        lines = change(files.get(_PINS, "").splitlines())
        text = "".join(f"{line}\n" for line in lines)
        rules, errors = parse({_PINS: text}, LANGUAGES[service.settings.language])
        if errors or len(rules) != len(lines) or any(len(rule.searches) > 1 for rule in rules):
            raise BadRequest("This search cannot be pinned here. Write a rule in a file.")
        others = {name: text for name, text in files.items() if name != _PINS}
        return {**others, _PINS: text} if lines else others

    with translated():
        service.pins.change(changed)
        service.generation.publish()
