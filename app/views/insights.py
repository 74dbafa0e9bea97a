"""`/insights`: what people search for, shown to the blog's owner, with proposed synonym rules.

HTTP Basic authentication: every browser and `curl` has it, and there is no session to keep or
steal.
"""

import hmac
import logging
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from elasticsearch import ApiError, TransportError
from flask import (
    Blueprint,
    Response,
    make_response,
    render_template,
    request,
)

from app.errors import (
    BlogsearchError,
    Forbidden,
    NotCounted,
    Unauthorized,
    Unavailable,
)
from app.insights.proposals import FILE, Proposal, candidates, proposals
from app.insights.report import Day, Report, read_report
from app.search.request import parse_parameters, whole_number
from app.service import Service
from app.synonyms.folder import SynonymFolder
from app.synonyms.loader import Loader
from app.views import current_service
from app.views.errors import set_error_headers

if TYPE_CHECKING:
    from werkzeug.datastructures import MultiDict

blueprint = Blueprint("insights", __name__, url_prefix="/insights")

_WRONG_TOKEN_DELAY = 0.5  # seconds; slows down guessing
_PERIODS = (7, 30, 90, 365)  # days
_LIST = 20  # searches in a list
_PROPOSALS_KEPT = 300.0  # seconds
_ENGINE_TIMEOUT = 30.0  # seconds for each request of a check
_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'none'; "
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
        Forbidden: no token is set.
        Unauthorized: no password was sent, or a wrong one, which is logged and takes a while.
    """
    token = current_service().settings.insights_token
    if not token:
        raise Forbidden(
            "This page is closed. Set BLOGSEARCH_INSIGHTS_TOKEN to a long random string "
            "(`openssl rand -hex 32`) and restart the service."
        )
    sent = request.authorization.password if request.authorization else None
    if sent is None:
        raise Unauthorized("Enter BLOGSEARCH_INSIGHTS_TOKEN as the password, and any user name.")
    if not hmac.compare_digest(sent.encode(), token.encode()):
        log.warning("a wrong password for /insights was sent by %s", request.remote_addr)
        time.sleep(_WRONG_TOKEN_DELAY)
        raise Unauthorized("The password is not BLOGSEARCH_INSIGHTS_TOKEN.")


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
    kept = service.settings.insights_days
    periods = [days for days in _PERIODS if days < kept] + [kept]
    days = _days(request.args)
    report = _read(service, days)
    proposed, problem = _proposals(service, report)
    return render_template(
        "insights.html",
        report=report,
        bars=bars(report.days),
        periods=periods,
        days=days,
        limit=_LIST,
        rules={one.failed: one.rule for one in proposed},
        problem=problem,
        file=service.settings.synonyms_dir / FILE,
    )


def _days(args: "MultiDict[str, str]") -> int:
    """How many days are shown.

    Raises:
        BadRequest: an unknown parameter, or an invalid number.
    """
    chosen: int = parse_parameters(args, (DAYS,), "this page").get("days", 30)
    return min(chosen, current_service().settings.insights_days)


def _read(service: Service, days: int) -> Report:
    if not service.settings.insights_days or not service.settings.redis_url:
        raise NotCounted(
            "Searches are not counted: BLOGSEARCH_INSIGHTS_DAYS is 0, or REDIS_URL is empty."
        )
    report = read_report(service.cache.client, service.cache.keys, days)
    if report is None:
        raise Unavailable("Redis, where searches are counted, does not answer. Try again soon.")
    return report


def _proposals(service: Service, report: Report) -> tuple[Sequence[Proposal], str]:
    """Rules that pass `synonyms check`, and why there are none if it failed.

    Kept for some minutes: a check takes seconds.
    """
    folder = SynonymFolder.of(service.settings)

    def check() -> list[dict[str, str | int]]:
        client = service.elastic.options(request_timeout=_ENGINE_TIMEOUT)
        loader = Loader(service.settings, client, service.cache)
        return [asdict(one) for one in proposals(report, loader, folder)]

    try:
        files = [(path.name, path.stat().st_mtime_ns) for path in folder.used()]
        key = (*files, *(one.rule for one in candidates(report.pairs)))
        kept = service.cache.memoize(seconds=_PROPOSALS_KEPT, args_rewrite=lambda: key)(check)
        return [Proposal(**one) for one in kept()], ""  # type: ignore[arg-type]  # as `check` wrote
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
