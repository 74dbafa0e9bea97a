"""Liveness, health, version and metrics, for load balancers, monitors and people.

The paths with underscores are those of Mozilla's Dockerflow convention.
"""

import importlib.metadata

from flask import Blueprint, Response, current_app, jsonify, request
from prometheus_client import CONTENT_TYPE_LATEST

from app.health import checks
from app.metrics import METRICS, IndexMetrics, Metrics
from app.views import current_service
from app.views.write_request import authorize, is_operator

blueprint = Blueprint("operations", __name__)

_TIMEOUT = 2.0  # seconds for each request of a health check


@blueprint.get("/__lbheartbeat__")
def alive() -> Response:
    """This process answers. Checks no engine, so that its failure restarts no worker."""
    return jsonify({"status": "ok"})


@blueprint.get("/__heartbeat__")
def ready() -> Response:
    """The checks of Elasticsearch, the index and Redis; 503 when searches cannot be answered.

    Without Redis the service is degraded (answers are slower), which is not a 503. What was seen,
    with versions and names of indices, is shown to operators.
    """
    service = current_service()
    results = checks(
        service.elastic.options(request_timeout=_TIMEOUT),
        service.cache,
        service.settings,
        available=service.admission.available,
    )
    details = is_operator(request, service.settings)
    failed = any(check.status == "error" for check in results)
    degraded = any(check.status == "warning" for check in results)
    response = jsonify(
        {
            "status": "down" if failed else "degraded" if degraded else "ok",
            "checks": {
                check.name: check.report() if details else {"status": check.status}
                for check in results
            },
        }
    )
    response.status_code = 503 if failed else 200
    response.headers["Cache-Control"] = "no-store"
    return response


@blueprint.get("/__version__")
def version() -> Response:
    """The version; the commit is set when the image is built."""
    return jsonify(
        {
            "name": "blogsearch",
            "version": importlib.metadata.version("blogsearch"),
            "commit": current_service().settings.commit,
        }
    )


@blueprint.get("/metrics")
def metrics() -> Response:
    """Figures for Prometheus, for operators only."""
    service = current_service()
    if not is_operator(request, service.settings):
        authorize(request, service.settings)
    found: Metrics = current_app.extensions[METRICS]
    index = IndexMetrics(service.elastic, service.cache, service.settings.index)
    response = Response(found.render(index), content_type=CONTENT_TYPE_LATEST)
    response.headers["Cache-Control"] = "no-store"
    return response
