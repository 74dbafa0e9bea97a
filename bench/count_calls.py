"""Counts the functions of this project that a cached search passes through.

    .venv/bin/python -m bench.count_calls

It answers one `GET /search` from the cache through the WSGI application, in this process, with a
rate limit, a CORS list and compression, and counts with `sys.setprofile` every call of a Python
function that is defined in app, indexer or analyzers (generators and comprehensions included). It
starts a Redis; Elasticsearch is not needed.

The first column is the first request of a worker with this query string, the second one every
later one: a worker keeps parsed query strings.
"""

import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

from flask import Flask
from werkzeug.test import EnvironBuilder, run_wsgi_app

from app import create_app
from app.cache import Computed
from app.search.request import SearchRequest
from app.service import cache_key
from app.settings import Settings
from app.views.search import parse
from devstack.servers import REPOSITORY, redis_server

_OURS = tuple(f"{REPOSITORY / package}/" for package in ("app", "indexer", "analyzers"))
_QUERY = "python"
# What SECURITY.md tells a public site to set, besides the rate limit, which is the default.
_PUBLIC: dict[str, Any] = {
    "cors_origins": "https://blog.example.org,https://www.example.org",
    "cache_serializer": "bytes+zlib",
}
_HEADERS = [("Origin", "https://blog.example.org"), ("Accept-Encoding", "gzip, deflate")]


def main() -> None:
    """Print the number of calls by module."""
    with redis_server() as server:
        app = create_app(Settings(redis_url=server.url, index="count-calls", **_PUBLIC))
        body = {"q": _QUERY, "count": 0, "hits": []}
        app.extensions["blogsearch"].cache.get_or_compute(
            cache_key(SearchRequest(q=_QUERY)), lambda: Computed(body, index="", has_hits=True)
        )
        _get(app)  # opens the connection to Redis
        parse.cache_clear()
        first, later = _count_calls(app), _count_calls(app)
    for module in sorted(first | later, key=lambda name: -first[name]):
        print(f"{first[module]:5} {later[module]:5}  {module}")
    print(f"{first.total():5} {later.total():5}  in all")


def _get(app: Flask) -> None:
    builder = EnvironBuilder(path="/search", query_string={"q": _QUERY}, headers=_HEADERS)
    environ = {**builder.get_environ(), "REMOTE_ADDR": "192.0.2.1"}
    _, status, headers = run_wsgi_app(app, environ, buffered=True)
    if not status.startswith("200") or headers["X-Cache"] != "HIT":
        raise AssertionError(f"not a cached answer: {status}, {headers}")


def _count_calls(app: Flask) -> "Counter[str]":
    calls: Counter[str] = Counter()

    def profile(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(_OURS):
            calls[str(Path(frame.f_code.co_filename).relative_to(REPOSITORY))] += 1

    sys.setprofile(profile)
    try:
        _get(app)
    finally:
        sys.setprofile(None)
    return calls


if __name__ == "__main__":
    main()
