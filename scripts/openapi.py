"""Prints the OpenAPI document of the HTTP API."""

import json

from app.openapi import document

if __name__ == "__main__":
    print(json.dumps(document()))
