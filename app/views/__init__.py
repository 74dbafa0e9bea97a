"""The HTTP layer: blueprints, error responses and headers."""

from typing import cast

from flask import current_app

from analyzers.languages import LANGUAGES
from app.service import EXTENSION, Service


def current_service() -> Service:
    """The service of the application that answers this request."""
    return cast(Service, current_app.extensions[EXTENSION])


def default_language() -> str:
    """The code of the blog's language."""
    return LANGUAGES[current_service().settings.language].code
