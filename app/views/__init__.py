"""The HTTP layer: blueprints, error responses and headers."""

from typing import cast

from flask import current_app, request

from analyzers.languages import LANGUAGES
from app.insights.search_log import agrees
from app.rate_limit import network_of
from app.service import EXTENSION, Service


def current_service() -> Service:
    """The service of the application that answers this request."""
    return cast(Service, current_app.extensions[EXTENSION])


def default_language() -> str:
    """The code of the blog's language."""
    return LANGUAGES[current_service().settings.language].code


def counted_visitor() -> str:
    """Whose search the current request is, for the insights; "" if it is not counted."""
    return network_of(request.remote_addr) if agrees(request.environ) else ""
