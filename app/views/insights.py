"""`/insights`: what people search for, shown to the blog's owner, with proposed synonym rules.

HTTP Basic authentication: every browser and `curl` has it, and there is no session to keep or
steal.
"""

import hashlib
import hmac
import logging
import re
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass

from elasticsearch import ApiError, TransportError
from flask import (
    Blueprint,
    Response,
    make_response,
    redirect,
    render_template,
    request,
    url_for,
)
from werkzeug.wrappers import Response as WerkzeugResponse

from analyzers.languages import LANGUAGES
from app.elastic import translated
from app.errors import (
    BadRequest,
    BlogsearchError,
    Forbidden,
    NotCounted,
    Unauthorized,
    Unavailable,
)
from app.health import last_run
from app.insights.counts import Day, Report, rarely_opened, read_opened
from app.insights.proposals import FILE, Proposal, candidates, proposals
from app.pins import SUFFIX, PinFile, parse
from app.search.request import parse_parameters, whole_number
from app.service import Service
from app.synonyms.folder import SynonymFolder
from app.synonyms.loader import Loader
from app.views import current_service
from app.views.responses import set_error_headers
from indexer.generations import require_live

blueprint = Blueprint("insights", __name__, url_prefix="/insights")

_WRONG_TOKEN_DELAY = 0.5  # seconds; slows down guessing
_PINS = f"insights{SUFFIX}"  # the file of the rules that are made here
_PERIODS = (7, 30, 90, 365)  # days
_LIST = 20  # searches in a list
_PROPOSALS_KEPT = 300.0  # seconds
_ENGINE_TIMEOUT = 30.0  # seconds for each request of a check
_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)

DAYS = whole_number(
    "days",
    "How many days, today included. More than BLOGSEARCH_INSIGHTS_DAYS are that many.",
    least=1,
    most=400,
    default=30,
)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Bar:
    """A day of the chart; heights in percent of the highest day."""

    day: Day
    x: float
    width: float
    searches: float
    nothing: float


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
    """What people search for: a page with the report of the last days."""
    service = current_service()
    longest = service.settings.insights_days
    periods = [days for days in _PERIODS if days < longest] + [longest]
    days = min(parse_parameters(request.args, (DAYS,), "this page").get("days", 30), longest)
    if not service.settings.insights_days or not service.settings.redis_url:
        raise NotCounted(
            "Searches are not counted: BLOGSEARCH_INSIGHTS_DAYS is 0, or REDIS_URL is empty."
        )
    report = service.counts.report(days)
    if report is None:
        raise Unavailable("Redis, where searches are counted, does not answer. Try again soon.")
    proposed, problem = _proposals(service, report)
    hidden = service.counts.dismissed()
    opened = read_opened(service.cache.client, service.cache.keys, days)
    rarely = [row for row in rarely_opened(report, opened) if row.query not in hidden]
    rules: Sequence[str] = ()
    with suppress(BlogsearchError):  # Elasticsearch does not answer
        rules = _pinned(service)
    return render_template(
        "insights.html",
        report=report,
        bars=bars(report.days),
        periods=periods,
        days=days,
        limit=_LIST,
        rules={proposal.failed: proposal.rule for proposal in proposed},
        problem=problem,
        file=service.settings.synonyms_dir / FILE,
        rarely=rarely,
        pinned=rules,
        dismissed=hidden,
        form=_form_value(service.settings.insights_token),
        last_run=last_run(service.elastic, service.settings.index),
    )


@blueprint.post("/pins")
def pins() -> WerkzeugResponse:
    """Pin a post for a search, or with `undo` remove the rule that did.

    Raises:
        BadRequest: the search or the oid cannot be written as a rule.
        Conflict: another process changed the pins at the same time.
    """
    service, undo = current_service(), request.form.get("undo")
    oid = re.sub(r"^-|[\\,]", r"\\\g<0>", request.form.get("oid", ""))
    rule = undo or f"{request.form.get('q', '')} => {oid}"
    lines = [line for line in _pinned(service) if line != rule]
    _save(service, lines if undo else [*lines, rule])
    return _back()


@blueprint.post("/dismissals")
def dismissals() -> WerkzeugResponse:
    """List a search no longer, or with `undo` again."""
    if query := request.form.get("undo"):
        current_service().counts.restore(query)
    else:
        current_service().counts.dismiss(request.form.get("q", ""))
    return _back()


@blueprint.post("/erasures")
def erase_searches() -> WerkzeugResponse:
    """Delete a search from all counts, or with `all` everything that was counted.

    Raises:
        BadRequest: no search is named.
        Unavailable: Redis or Elasticsearch does not answer.
    """
    query = request.form.get("q", "").strip()
    everything = request.form.get("all") == "yes"
    if not (query or everything):
        raise BadRequest("Enter a search.")
    current_service().counts.erase(None if everything else query)
    return _back()


def _back() -> WerkzeugResponse:
    return redirect(url_for("insights.page", days=request.form.get("days", type=int)), 303)


def _pinned(service: Service) -> list[str]:
    """The rules in the pin file `insights.pins`."""
    with translated():
        files = service.pins.files()
    texts = [file.text for file in files if file.name == _PINS]
    return texts[0].splitlines() if texts else []


def _save(service: Service, lines: list[str]) -> None:
    file = PinFile(_PINS, "".join(f"{text}\n" for text in lines))
    rules, errors = parse([file], LANGUAGES[service.settings.language])
    if errors or len(rules) != len(lines) or any(len(rule.searches) > 1 for rule in rules):
        raise BadRequest("This search cannot be pinned here. Write a rule in a file of your own.")
    with translated():
        if lines:
            service.pins.save([file])
        else:
            service.pins.remove([_PINS])
        live = require_live(service.elastic, service.settings.index)
    service.cache.new_generation(live.name, live.rules or "")


def _proposals(service: Service, report: Report) -> tuple[Sequence[Proposal], str]:
    """Rules that pass `synonyms check`, and why there are none if it failed.

    Kept for some minutes: a check takes seconds.
    """
    folder = SynonymFolder.of(service.settings)

    def check() -> list[dict[str, str | int]]:
        client = service.elastic.options(request_timeout=_ENGINE_TIMEOUT)
        loader = Loader(service.settings, client, service.cache)
        return [asdict(proposal) for proposal in proposals(report, loader, folder)]

    try:
        files = [(path.name, path.stat().st_mtime_ns) for path in folder.used()]
        key = (*files, *(proposal.rule for proposal in candidates(report.pairs)))
        checked = service.cache.memoize(seconds=_PROPOSALS_KEPT, args_rewrite=lambda: key)(check)
        # As `check` wrote them.
        return [Proposal(**fields) for fields in checked()], ""  # type: ignore[arg-type]
    except (BlogsearchError, ApiError, TransportError, OSError) as error:
        return [], str(error)


def bars(days: Sequence[Day]) -> list[Bar]:
    """The days as bars of a chart of 100 by 100."""
    most = max((day.searches for day in days), default=0) or 1
    step = 100 / max(len(days), 1)
    return [
        Bar(
            day,
            round(number * step + step * 0.1, 3),
            round(step * 0.8, 3),
            round(100 * day.searches / most, 2),
            round(100 * day.nothing / most, 2),
        )
        for number, day in enumerate(days)
    ]
