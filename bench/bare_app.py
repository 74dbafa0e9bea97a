"""The yardsticks over HTTP: a Flask view for each that does one thing and nothing else."""

import os

import orjson
import redis
from flask import Flask, Response, request

from app.engines.elastic import connect
from app.settings import load_settings
from bench.workload import bare_body


def create_app() -> Flask:
    """`/bare` sends the value of the key `bare` of REDIS_URL; `/search` sends what the bare
    request for `q` finds."""
    app = Flask(__name__)
    settings = load_settings()
    elastic = connect(settings)
    store = redis.Redis.from_url(settings.redis_url) if settings.redis_url else None

    @app.get("/bare")
    def bare() -> Response:
        return Response(store.get("bare") if store else b"", content_type="application/json")

    @app.get("/search")
    def search() -> Response:
        body = bare_body(request.args["q"])
        response = elastic.search(index=os.environ["BLOGSEARCH_INDEX"], body=body)
        return Response(orjson.dumps(response["hits"]), content_type="application/json")

    return app
