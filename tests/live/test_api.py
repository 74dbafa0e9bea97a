"""The answers of the service are as `/openapi.json` describes them, and docs/api.md shows them."""

import copy
import json
import re
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from elasticsearch import Elasticsearch
from flask import Flask
from jsonschema import Draft202012Validator
from werkzeug.serving import make_server
from werkzeug.test import TestResponse

from app import create_app
from app.settings import Settings
from indexer.posts.records import RawPost
from indexer.sources import SourceOptions
from indexer.sources.json_lines import JSONLines
from tests.tcp import in_thread
from tests.writing import index_at_once

REPOSITORY = Path(__file__).resolve().parents[2]
TOKEN = "a-token-for-these-tests"
HEADERS = {"Authorization": f"Bearer {TOKEN}"}
POST = {"oid": "a/b", "title": "Three balls", "text": "<p>Start with one.</p>", "url": "/balls/"}


@pytest.fixture
def writable(own_settings: Settings, elastic: Elasticsearch) -> Flask:
    """The service with the sample posts in an index of the test's own."""
    tokens = replace(own_settings, write_tokens=TOKEN)
    sample = JSONLines(str(REPOSITORY / "sample" / "posts.jsonl"), SourceOptions())
    posts = [item for item in sample.read() if isinstance(item, RawPost)]
    index_at_once(elastic, tokens.index, posts)
    return create_app(tokens)


def _described(app: Flask) -> dict[str, Any]:
    """The document of the service; its objects must not have fields that it does not describe."""
    description: dict[str, Any] = app.test_client().get("/openapi.json").get_json()
    for schema in description["components"]["schemas"].values():
        schema["additionalProperties"] = False
    return description


def _check(described: dict[str, Any], path: str, method: str, response: TestResponse) -> None:
    """Raises ValidationError or KeyError if the answer is not as described."""
    answer = described["paths"][path][method]["responses"][str(response.status_code)]
    if "$ref" in answer:
        answer = described["components"]["responses"][answer["$ref"].rpartition("/")[2]]
    schema = copy.deepcopy(answer["content"][response.mimetype]["schema"])
    body = response.get_json() if response.is_json else response.text
    Draft202012Validator({**schema, "components": described["components"]}).validate(body)


@pytest.mark.parametrize("strategy", ["blended", "fallback"])
def test_searches_are_answered_as_described(settings: Settings, strategy: Any) -> None:
    app = create_app(replace(settings, strategy=strategy))
    described, client = _described(app), app.test_client()
    statuses = []
    for query in (
        "q=pythn",
        "q=date+format&sort=newest&size=50",
        "q=thanks&debug-search=requests",
        "q=python+xyzzyq",
        "q=xyzzyqq",
        "q=python&page=51&colour=red",
        "",
    ):
        response = client.get(f"/search?{query}")
        while response.status_code == 503:  # another test keeps Elasticsearch busy
            _check(described, "/search", "get", response)
            time.sleep(1)
            response = client.get(f"/search?{query}")
        statuses.append(response.status_code)
        _check(described, "/search", "get", response)
    assert statuses == [200] * 5 + [400] * 2
    _check(described, "/start", "get", client.get("/start"))
    for query in ("q=py", "q=xyzzyqq", "q=p&size=11"):
        _check(described, "/suggest", "get", client.get(f"/suggest?{query}"))
    for query in ("url=/goodbye-python24", "url=/python-of-old", "oid=a&url=/a"):
        _check(described, "/similar", "get", client.get(f"/similar?{query}"))


def test_writes_are_answered_as_described(writable: Flask) -> None:
    described, client = _described(writable), writable.test_client()
    post, comment = "/documents/{oid}", "/documents/{post_oid}/comments/{oid}"
    balls = {"title": "Balls", "modified": "2020-01-01"}
    requests: list[tuple[str, str, str, Any, int]] = [
        ("/documents", "post", "", [POST, {"oid": "c", "title": "Clubs"}], 200),
        ("/documents", "post", "", [POST, {"oid": "c"}, 7], 207),
        ("/documents", "post", "", {"oid": "c"}, 422),
        ("/documents", "post", "?refresh=maybe", POST, 400),
        (post, "put", "/a/b", balls, 200),
        (post, "get", "/a/b", None, 200),
        (post, "get", "/none", None, 404),
        (post, "put", "/new", balls, 201),
        (post, "put", "/new", {"oid": "old", "title": "Balls"}, 400),
        (post.replace("oid", "post_oid") + "/comments", "post", "/a/b/comments",
         {"oid": "1", "comment": "Yes", "author": "Ann", "pub_date": "2020-01-01"}, 200),
        (comment, "put", "/a/b/comments/2", {"comment": "No"}, 201),
        (comment, "put", "/none/comments/2", {"comment": "No"}, 404),
        (comment, "delete", "/a/b/comments/1", None, 200),
        (comment, "delete", "/a/b/comments/1", None, 404),
        (post, "delete", "/a/b", None, 200),
        (post, "delete", "/a/b", None, 404),
    ]  # fmt: skip
    for path, method, rest, body, status in requests:
        url = f"/documents{rest}"
        response = client.open(url, method=method.upper(), json=body, headers=HEADERS)
        assert response.status_code == status, (url, response.text)
        _check(described, path, method, response)
    refused = client.post("/documents", json=POST)
    assert refused.status_code == 401
    _check(described, "/documents", "post", refused)
    large = client.post("/documents", data=b" " * 10_000_001, content_type="application/json",
                        headers=HEADERS)  # fmt: skip
    assert large.status_code == 413
    _check(described, "/documents", "post", large)


@pytest.fixture
def address(writable: Flask) -> Iterator[str]:
    with in_thread(make_server("127.0.0.1", 0, writable, threaded=True)) as url:
        yield url


def _examples() -> list[tuple[str, Any]]:
    """The commands in docs/api.md, each with the answer below it."""
    page = (REPOSITORY / "docs" / "api.md").read_text()
    examples = re.findall(r"```sh\n(.*?)```\n\n```json\n(.*?)```", page, re.DOTALL)
    return [(command, json.loads(answer)) for command, answer in examples]


def _shape(shown: Any, got: Any) -> Any:
    """What was got, with only those fields and entries that are shown, and types for values."""
    if isinstance(shown, dict) and isinstance(got, dict):
        return {name: _shape(shown[name], got[name]) for name in shown if name in got}
    if isinstance(shown, list) and isinstance(got, list):
        return [_shape(*pair) for pair in zip(shown, got, strict=False)]
    return type(got)


def test_the_examples_of_the_documentation_work(address: str) -> None:
    examples = _examples()
    assert len(examples) >= 6
    for command, shown in examples:
        script = command.replace("http://127.0.0.1:8000", address)
        done = subprocess.run(
            ["sh", "-ec", script],
            env={"PATH": "/usr/bin:/bin:/usr/local/bin", "BLOGSEARCH_WRITE_TOKENS": TOKEN},
            capture_output=True,
            text=True,
            timeout=30,
        )
        assert done.returncode == 0, done.stderr
        assert _shape(shown, json.loads(done.stdout)) == _shape(shown, shown), done.stdout
