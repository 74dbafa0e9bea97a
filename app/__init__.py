"""The search service: `create_app()` is the WSGI application's factory."""

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
    """Build the application; production passes no arguments, tests pass what they replace.

    Opens no connection: the application starts without Elasticsearch and Redis.

    Raises:
        BadSettings: a setting is invalid.
    """
    # Imported here, so that commands that need only the settings do not load Flask.
    from flask import Flask

    from app.cache import open_cache
    from app.engines.elastic import connect
    from app.http import clients
    from app.http.door import Door
    from app.http.metrics import METRICS, Metrics
    from app.service import EXTENSION, Service
    from app.settings import process_settings
    from app.views import (
        api,
        documents,
        insights,
        machines,
        mcp,
        operations,
        page,
        responses,
        search,
        widget,
    )

    settings = settings or process_settings()
    app = Flask("app")
    app.json.sort_keys = False  # type: ignore[attr-defined]  # Flask types the interface only
    # A redirect from //path to /path would lead to the host that the client names.
    app.url_map.merge_slashes = False
    service = Service(settings, elastic or connect(settings), cache or open_cache(settings))
    app.extensions[EXTENSION] = service
    app.extensions[METRICS] = Metrics()
    responses.register(app)
    modules = (page, insights, widget, documents, operations, api, mcp, machines)
    for blueprint in (search.blueprint, search.suggestions, *(part.blueprint for part in modules)):
        app.register_blueprint(blueprint)
    app.wsgi_app = Door(app, service)  # type: ignore[method-assign]
    clients.register(app, settings)
    return app
