"""The HTTP layer: blueprints, error responses and headers."""

from collections.abc import Collection
from typing import cast

from flask import Request, current_app

from app.http.clients import names_of
from app.insights.search_log import agrees
from app.service import EXTENSION, Service


def current_service() -> Service:
    """The service of the application that answers this request."""
    return cast(Service, current_app.extensions[EXTENSION])


def default_language() -> str:
    """The code of the blog's language."""
    return current_service().watch.language.code


def base_url(request: Request, service: Service) -> str:
    """The URL against which addresses of posts without a host are resolved."""
    return service.settings.site_url or request.url_root


def counted_visitor(request: Request, service: Service) -> str:
    """Whose search a request is, for the insights; "" if it is not counted.

    Of IPv6 it is the /48 network, in which a household can choose among many of /64.
    """
    is_counted = agrees(request.environ) and not is_foreign(
        request, service.settings.allowed_origins
    )
    return names_of(request.remote_addr)[-1] if is_counted else ""


def is_foreign(request: Request, allowed: Collection[str]) -> bool:
    """Whether a page of another site, and of none of these origins, made the visitor's browser send
    this request. A link or a form that the visitor used did not."""
    sent = request.headers
    origin, site = sent.get("Origin"), sent.get("Sec-Fetch-Site", "cross-site")
    if site != "cross-site" or "*" in allowed:
        return False
    if origin is None:
        return "Sec-Fetch-Site" in sent and "Sec-Fetch-User" not in sent
    return origin.partition("://")[2] != request.host and origin not in allowed
