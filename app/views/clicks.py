"""`POST /clicks`: the page and the widget tell which hit was opened; docs/insights.md."""

from flask import Blueprint, request

from app.errors import BadRequest, Forbidden
from app.insights.search_log import MAX_TEXT
from app.insights.visits import agrees
from app.rate_limit import network_of
from app.search.request import MAX_PAGE, MAX_SIZE
from app.settings import Settings
from app.views import current_service

blueprint = Blueprint("clicks", __name__)

_MAX_BYTES = 2_000  # of a body


def counts_clicks(settings: Settings) -> bool:
    """Whether opened hits are counted."""
    return bool(settings.insights_clicks and settings.insights_days and settings.redis_url)


@blueprint.post("/clicks")
def count() -> tuple[str, int]:
    """Count a hit that was opened, unless the visitor asks not to be tracked.

    The form has `q`, `position` (1 for the first hit of all) and `oid`.

    Raises:
        BadRequest: a field is missing or invalid.
        Forbidden: a page of an origin that may not read answers sent it.
        RateLimited: the client has sent more than `CLICK_LIMIT`.
    """
    service = current_service()
    request.max_content_length = _MAX_BYTES
    origin = request.headers.get("Origin", "")
    readers = {"", request.host_url.rstrip("/"), *service.settings.allowed_origins}
    if origin not in readers and "*" not in readers:
        raise Forbidden(f"Pages of {origin} may not count what is opened.")
    q, oid = request.form.get("q", "").strip(), request.form.get("oid", "")
    position = request.form.get("position", "")
    if not (0 < len(q) <= MAX_TEXT and 0 < len(oid) <= MAX_TEXT and _is_position(position)):
        raise BadRequest(
            f"`q` and `oid` must have 1 to {MAX_TEXT} characters, and `position` must be a whole "
            f"number from 1 to {MAX_PAGE * MAX_SIZE}."
        )
    if counts_clicks(service.settings) and agrees(request.environ):
        # Counted in the memory of this process, so that no address is stored.
        quotas = service.click_limiter.quotas((network_of(request.remote_addr),), "clicks")
        service.click_limiter.check(quotas, None)
        service.search_log.record_opened(q, int(position), oid)
    return "", 204


def _is_position(text: str) -> bool:
    is_number = text.isascii() and text.isdigit() and len(text) <= 6
    return is_number and 1 <= int(text) <= MAX_PAGE * MAX_SIZE
