"""The search service: `create_app()` is the WSGI application's factory and where parts meet."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch
    from flask import Flask

    from app.cache import AnswerCache
    from app.settings import Settings


def create_app(
    settings: "Settings | None" = None,
    elastic: "Elasticsearch | None" = None,
    cache: "AnswerCache | None" = None,
) -> "Flask":
    """Build the application; production passes nothing, a test passes what it replaces.

    No connection is opened: an engine that is down is an answer to a search, not a start that
    fails.

    Raises:
        BadSettings: a setting in the environment cannot be used.
    """
    # Imported here, so that a command or a module that needs only the settings loads no Flask.
    from app.factory import build

    return build(settings, elastic, cache)
