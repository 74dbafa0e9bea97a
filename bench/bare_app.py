"""The yardstick of a cached search: a Flask view that sends bytes from Redis, and nothing else."""

import os

import redis
from flask import Flask, Response


def create_app() -> Flask:
    """`/bare` sends the value of the key `bare` of REDIS_URL."""
    app = Flask(__name__)
    client = redis.Redis.from_url(os.environ["REDIS_URL"])

    @app.get("/bare")
    def bare() -> Response:
        return Response(client.get("bare"), content_type="application/json")

    return app
