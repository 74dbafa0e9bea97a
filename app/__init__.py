"""The search service: `create_app()` is the WSGI application's factory and where parts meet."""

from elasticsearch import Elasticsearch
from flask import Flask

from app.cache import AnswerCache, open_cache
from app.elastic import connect
from app.service import EXTENSION, Service
from app.settings import Settings, load_settings
from app.views import documents, errors, headers, operations, page, search


def create_app(
    settings: Settings | None = None,
    elastic: Elasticsearch | None = None,
    cache: AnswerCache | None = None,
) -> Flask:
    """Build the application; production passes nothing, a test passes what it replaces.

    No connection is opened: an engine that is down is an answer to a search, not a start that
    fails.

    Raises:
        BadSettings: a setting in the environment cannot be used.
    """
    settings = settings or load_settings()
    app = Flask(__name__)
    app.json.sort_keys = False  # type: ignore[attr-defined]  # Flask types the interface only
    app.extensions[EXTENSION] = Service(
        settings=settings,
        elastic=elastic or connect(settings),
        cache=cache or open_cache(settings),
    )
    errors.register(app)
    headers.register(app)
    for room in (search, page, documents, operations):
        app.register_blueprint(room.blueprint)
    return app
