"""The HTTP layer: blueprints, error responses and headers; here, what several views need."""

from collections.abc import Collection
from typing import cast

from flask import Request, current_app

from app.http.clients import names_of
from app.insights.search_log import agrees
from app.service import EXTENSION, Service


def current_service() -> Service:
    """Return the service of the application that answers this request."""
    return cast(Service, current_app.extensions[EXTENSION])


def default_language() -> str:
    """Return the code of the blog's language."""
    return current_service().watch.language.code


def base_url(request: Request, service: Service) -> str:
    """Return the URL against which post addresses without a host are resolved."""
    return service.settings.site_url or request.url_root


def counted_visitor(request: Request, service: Service) -> str:
    """Return the visitor's name for the insights; "" if they do not count the request.

    For IPv6 it is the /48 network, as one household can choose among many /64 networks in it.
    """
    is_counted = agrees(request.environ) and not is_foreign(
        request, service.settings.allowed_origins
    )
    return names_of(request.remote_addr)[-1] if is_counted else ""


def is_foreign(request: Request, allowed: Collection[str]) -> bool:
    """Whether a page of another site that is not in `allowed` made the browser send this request,
    and not a link or a form that the visitor used."""
    sent = request.headers
    origin, site = sent.get("Origin"), sent.get("Sec-Fetch-Site", "cross-site")
    if site != "cross-site" or "*" in allowed:
        return False
    if origin is None:
        return "Sec-Fetch-Site" in sent and "Sec-Fetch-User" not in sent
    return origin.partition("://")[2] != request.host and origin not in allowed
