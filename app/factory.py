"""Puts the rooms together into one Flask application."""

from elasticsearch import Elasticsearch
from flask import Flask

from app.cache import AnswerCache, open_cache
from app.elastic import connect
from app.service import EXTENSION, Service
from app.settings import Settings, load_settings
from app.views import documents, errors, headers, operations, page, search


def build(
    settings: Settings | None, elastic: Elasticsearch | None, cache: AnswerCache | None
) -> Flask:
    """See `app.create_app`."""
    settings = settings or load_settings()
    app = Flask("app")
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
