"""Declare who may call a route and for which rate limit it counts, and check it before the view.

@blueprint.get("/search")
@access("searches", in_lookup=True, origins=READING)
def search(request: Request, service: Service) -> Response: ...
"""

import hmac
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from flask import Request

from app.errors import Unauthorized, WritesClosed
from app.http.clients import client_names
from app.service import Service
from app.settings import Settings

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

Bucket = Literal["", "searches", "suggestions", "others", "tokens"]
"""The requests that a rate limit counts together; "": no limit; "tokens": wrong tokens."""
Role = Literal["", "writer", "debugger", "monitor", "owner"]
"""The role whose token a request must have; "": none."""

READING = ("GET", "HEAD")

_WRONG_TOKEN_DELAY = 0.5  # seconds; slows down guessing
_BEARER = "send it as `Authorization: Bearer …`"
_WRITE = "BLOGSEARCH_WRITE_TOKENS"
_TOKENS: dict[Role, tuple[str, str, str]] = {
    "writer": ("Writing over HTTP", _WRITE, _BEARER),
    "debugger": ("debug-search", _WRITE, _BEARER),
    "monitor": ("/metrics", "BLOGSEARCH_METRICS_TOKEN", _BEARER),
    "owner": ("This page", "BLOGSEARCH_INSIGHTS_TOKEN", "enter it as the password"),
}
"""For each role: what its token opens, the setting, and how to send it."""

_READ = [
    ("Access-Control-Expose-Headers", "ETag, Retry-After, Server-Timing, X-Cache, X-Request-Id")
]
_PREFLIGHT = [
    # Browsers refuse other headers, above all Authorization: no page of the blog may have a token.
    (
        "Access-Control-Allow-Headers",
        "Content-Type, If-None-Match, X-Request-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name",
    ),
    ("Access-Control-Max-Age", "7200"),  # seconds; Chromium allows no more
]

View = TypeVar("View", bound=Callable[..., Any])

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Access:
    """The arguments of `access` for a route."""

    bucket: Bucket = "others"
    in_lookup: bool = False
    with_query: Bucket = ""
    only_for: Role = ""
    origins: tuple[str, ...] = ()


def access(
    bucket: Bucket = "others",
    *,
    in_lookup: bool = False,
    with_query: Bucket = "",
    only_for: Role = "",
    origins: tuple[str, ...] = (),
) -> Callable[[View], View]:
    """Declare who may call a route.

    Args:
        bucket: the rate limit for which a request counts.
        in_lookup: the look-up of the answer counts the request, in one trip to Redis. The view is
            called as `view(request, service)`, before Flask (`app.http.door`).
        with_query: the bucket of a request with `q`, if it is another one.
        only_for: the role whose token a request must have; a wrong token counts, too.
        origins: the methods that pages of the origins in the settings may use.
    """

    def declare(view: View) -> View:
        view.access = Access(bucket, in_lookup, with_query, only_for, origins)  # type: ignore[attr-defined]
        return view

    return declare


def allow_origins(
    environ: "WSGIEnvironment",
    headers: list[tuple[str, str]],
    origins: frozenset[str],
    methods: tuple[str, ...],
) -> None:
    """Add the CORS headers: whether a page of the request's origin may read the response."""
    if "*" not in origins:  # for caches: another origin gets other headers
        vary = [value for name, value in headers if name == "Vary"]
        headers[:] = [header for header in headers if header[0] != "Vary"]
        headers.append(("Vary", ", ".join([*vary, "Origin"])))
    origin = "*" if "*" in origins else environ.get("HTTP_ORIGIN")
    preflight = environ["REQUEST_METHOD"] == "OPTIONS"
    wanted = "HTTP_ACCESS_CONTROL_REQUEST_METHOD" if preflight else "REQUEST_METHOD"
    if environ.get(wanted) in methods and origin in origins:
        headers += [("Access-Control-Allow-Origin", origin), *(_PREFLIGHT if preflight else _READ)]
        if preflight:
            headers.append(("Access-Control-Allow-Methods", ", ".join(methods)))


def check_token(request: Request, role: Role, service: Service) -> None:
    """Check that a request has the token of this role.

    Raises:
        WritesClosed: no token is set.
        Unauthorized: none was sent, or a wrong one, which is logged, counted and answered late.
        RateLimited: too many wrong ones were sent.
    """
    what, setting, how = _TOKENS[role]
    tokens = _accepted(role, service.settings)
    if not tokens:
        raise WritesClosed(
            f"{what} is closed. Set {setting} to a long random string (`openssl rand -hex 32`), "
            f"restart the service, and {how}."
        )
    sent = _sent(request, role)
    if not sent:
        raise Unauthorized(f"The token of {setting} is needed: {how}.")
    # Compare all, so that the time does not depend on which one matches.
    matching = [hmac.compare_digest(sent.encode(), accepted.encode()) for accepted in tokens]
    if not any(matching):
        log.warning("a wrong token of %s was sent by %s", setting, request.remote_addr)
        service.count(client_names(request), "tokens")
        time.sleep(_WRONG_TOKEN_DELAY)
        raise Unauthorized(f"The token does not match {setting}.")


def _accepted(role: Role, settings: Settings) -> tuple[str, ...]:
    if role == "owner":
        return (settings.insights_token,) if settings.insights_token else ()
    if role == "monitor" and settings.metrics_token:
        return (settings.metrics_token, *settings.accepted_tokens)
    return settings.accepted_tokens


def _sent(request: Request, role: Role) -> str:
    """Return the token in a request, right or wrong; "" if there is none."""
    if role == "owner":
        try:
            sent = request.authorization
        except ValueError:  # it is not text
            sent = None
        return (sent and sent.password) or ""
    scheme, _, rest = request.headers.get("Authorization", "").partition(" ")
    return rest.strip() if scheme.lower() == "bearer" else ""
