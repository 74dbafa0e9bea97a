"""Liveness, health, version and metrics, for load balancers, monitors and people.

The paths with underscores follow Mozilla's Dockerflow convention.
"""

from typing import Literal, TypedDict

from flask import Blueprint, Response, current_app, jsonify
from prometheus_client import CONTENT_TYPE_LATEST

from app.http.access import access
from app.http.metrics import METRICS, IndexMetrics, Metrics
from app.index.health import Status
from app.version import COMMIT, VERSION
from app.views import current_service

blueprint = Blueprint("operations", __name__)


class Liveness(TypedDict):
    """The answer of a process that is alive."""

    status: Literal["ok"]


class CheckReport(TypedDict):
    """The result of a check; `blogsearch doctor` shows the details and the remedy."""

    status: Status


class Health(TypedDict):
    """The health of the service."""

    status: Literal["ok", "degraded", "down"]
    """degraded: searches are answered, but a check warns: Redis does not answer, the index is empty
    or in another language, or a shard is missing."""
    checks: dict[str, CheckReport]
    """The checks of the engines and of the index, by name."""


class Version(TypedDict):
    """The version of the service."""

    name: str
    version: str
    commit: str
    """Empty if unknown."""


@blueprint.get("/__lbheartbeat__")
@access("")
def alive() -> Response:
    """Report that this process is alive. No engine is checked: a failure must not restart it."""
    answer: Liveness = {"status": "ok"}
    return jsonify(answer)


@blueprint.get("/__heartbeat__")
@access("")
def ready() -> Response:
    """Return the checks of Elasticsearch, the index and Redis; 503 if searches cannot be answered.

    Without Redis the service is only degraded (answers are slower), which is not a 503.
    """
    service = current_service()
    results = service.checks(service.admission.available)
    failed = any(check.status == "error" for check in results)
    degraded = any(check.status == "warning" for check in results)
    answer: Health = {
        "status": "down" if failed else "degraded" if degraded else "ok",
        "checks": {check.name: {"status": check.status} for check in results},
    }
    response = jsonify(answer)
    response.status_code = 503 if failed else 200
    response.headers["Cache-Control"] = "no-store"
    return response


@blueprint.get("/__version__")
@access()
def version() -> Response:
    """Return the version, and the commit if it is known."""
    answer: Version = {"name": "blogsearch", "version": VERSION, "commit": COMMIT}
    return jsonify(answer)


@blueprint.get("/metrics")
@access(only_for="monitor")
def metrics() -> Response:
    """Return the metrics for Prometheus, for operators only."""
    service = current_service()
    counted: Metrics = current_app.extensions[METRICS]
    response = Response(counted.render(IndexMetrics(service)), content_type=CONTENT_TYPE_LATEST)
    response.headers["Cache-Control"] = "no-store"
    return response
