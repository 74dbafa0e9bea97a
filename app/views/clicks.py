"""`POST /clicks`: the page and the widget tell which hit was opened; docs/insights.md."""

from flask import Blueprint, request

from app.errors import BadRequest
from app.insights.search_log import MAX_TEXT, agrees
from app.settings import Settings
from app.views import current_service

blueprint = Blueprint("clicks", __name__)

_MAX_BYTES = 2_000  # of a body


def counts_clicks(settings: Settings) -> bool:
    """Whether opened hits are counted."""
    return bool(settings.insights_days and settings.redis_url)


@blueprint.post("/clicks")
def count() -> tuple[str, int]:
    """Count a hit that was opened, unless the visitor asks not to be tracked.

    The form has `q` and `oid`.

    Raises:
        BadRequest: a field is missing or invalid.
    """
    request.max_content_length = _MAX_BYTES
    q, oid = request.form.get("q", "").strip(), request.form.get("oid", "")
    if not (0 < len(q) <= MAX_TEXT and 0 < len(oid) <= MAX_TEXT):
        raise BadRequest(f"`q` and `oid` must have 1 to {MAX_TEXT} characters.")
    if agrees(request.environ):
        current_service().search_log.record_opened(q, oid)
    return "", 204
