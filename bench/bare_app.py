"""Serves the baseline over HTTP: a Flask view that sends the bare request and nothing else."""

import os

import orjson
from flask import Flask, Response, request

from app.engines.elastic import connect
from app.settings import load_settings
from bench.workload import bare_body


def create_app() -> Flask:
    """Return an application whose `/search` sends the hits of the bare request for `q`."""
    app = Flask(__name__)
    elastic = connect(load_settings())

    @app.get("/search")
    def search() -> Response:
        body = bare_body(request.args["q"])
        response = elastic.search(index=os.environ["BLOGSEARCH_INDEX"], body=body)
        return Response(orjson.dumps(response["hits"]), content_type="application/json")

    return app
