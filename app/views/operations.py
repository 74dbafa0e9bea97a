"""Liveness, health, version and metrics, for load balancers, monitors and people.

The paths with underscores are those of Mozilla's Dockerflow convention.
"""

from typing import Literal, TypedDict

from flask import Blueprint, Response, current_app, jsonify, request
from flask.blueprints import BlueprintSetupState
from prometheus_client import CONTENT_TYPE_LATEST

from app.health import Check, CheckReport, SharedChecks, checks
from app.metrics import METRICS, IndexMetrics, Metrics
from app.service import EXTENSION, Service
from app.version import VERSION, commit
from app.views import current_service
from app.views.write_request import authorize, is_operator, sent_token

blueprint = Blueprint("operations", __name__)

_CHECKS = "blogsearch-checks"
_TIMEOUT = 2.0  # seconds for each request of a health check


@blueprint.record_once
def _set_up(state: BlueprintSetupState) -> None:
    service: Service = state.app.extensions[EXTENSION]

    def make(available: bool) -> list[Check]:
        elastic = service.elastic.options(request_timeout=_TIMEOUT)
        return checks(elastic, service.cache, service.settings, available=available)

    state.app.extensions[_CHECKS] = SharedChecks(make)


class Liveness(TypedDict):
    """This process answers."""

    status: Literal["ok"]


class Health(TypedDict):
    """The health of the service."""

    status: Literal["ok", "degraded", "down"]
    """degraded: searches are answered, but a check warns: Redis does not answer, the index is empty
    or in another language, the disk is full, or a shard is missing."""
    checks: dict[str, CheckReport]
    """The check of each engine and of the index."""


class Version(TypedDict):
    """The version of the service."""

    name: str
    version: str
    commit: str
    """Empty if it is not known."""


@blueprint.get("/__lbheartbeat__")
def alive() -> Response:
    """This process answers. Checks no engine, so that its failure restarts no worker."""
    answer: Liveness = {"status": "ok"}
    return jsonify(answer)


@blueprint.get("/__heartbeat__")
def ready() -> Response:
    """The checks of Elasticsearch, the index and Redis; 503 when searches cannot be answered.

    Without Redis the service is degraded (answers are slower), which is not a 503. What was seen,
    with versions and names of indices, is shown to operators.

    Raises:
        Unauthorized: a wrong token was sent, which is logged and takes a while.
    """
    service = current_service()
    details = is_operator(request, service.settings)
    if not details and sent_token(request) and service.settings.accepted_tokens:
        # An answer without the details would tell at once, and unlogged, that the token is wrong.
        authorize(request, service.settings)
    shared: SharedChecks = current_app.extensions[_CHECKS]
    results = shared.current(available=service.admission.available)
    failed = any(check.status == "error" for check in results)
    degraded = any(check.status == "warning" for check in results)
    answer: Health = {
        "status": "down" if failed else "degraded" if degraded else "ok",
        "checks": {
            check.name: check.report() if details else {"status": check.status} for check in results
        },
    }
    response = jsonify(answer)
    response.status_code = 503 if failed else 200
    response.headers["Cache-Control"] = "no-store"
    return response


@blueprint.get("/__version__")
def version() -> Response:
    """The version, and the commit if it is known."""
    answer: Version = {"name": "blogsearch", "version": VERSION, "commit": commit()}
    return jsonify(answer)


@blueprint.get("/metrics")
def metrics() -> Response:
    """Figures for Prometheus, for operators only."""
    service = current_service()
    if not is_operator(request, service.settings):
        authorize(request, service.settings)
    counted: Metrics = current_app.extensions[METRICS]
    index = IndexMetrics(
        service.elastic,
        service.cache,
        service.settings.index,
        available=service.admission.available,
    )
    response = Response(counted.render(index), content_type=CONTENT_TYPE_LATEST)
    response.headers["Cache-Control"] = "no-store"
    return response
