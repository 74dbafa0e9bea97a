"""Prints the OpenAPI document of the HTTP API."""

import json

from app import create_app
from app.openapi import document
from app.settings import Settings

if __name__ == "__main__":
    print(json.dumps(document(create_app(Settings(redis_url="")))))
