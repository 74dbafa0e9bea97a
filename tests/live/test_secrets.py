"""No secret is in an answer, a log line or the output of a command, whatever goes wrong."""

import logging
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner
from elasticsearch import Elasticsearch

from app import create_app
from app.cli import main
from app.commands.tools import Tools
from app.errors import BadSettings
from app.settings import Settings, load_settings
from devstack.servers import free_port
from indexer.posts.records import Origin, RawPost
from tests.writing import index_at_once

Server = Any  # tests/live/conftest.py

MARK = "s3cret"
TOKEN = f"{MARK}-write-token"

COMMANDS = [
    ("doctor",),
    ("doctor", "--json"),
    ("search", "juggling"),
    ("search", "juggling", "--debug"),
    ("analyze", "juggling"),
    ("indices",),
]
REQUESTS = [
    ("GET", "/search?q=juggling"),
    ("GET", "/search?q=juggling&debug-search"),
    ("GET", "/search?q=juggling&debug-search=requests"),
    ("GET", "/?q=juggling"),
    ("GET", "/__heartbeat__"),
    ("GET", "/__version__"),
    ("GET", "/metrics"),
    ("PUT", "/documents/a"),
    ("DELETE", "/documents/a"),
]


def _with_password(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=f"user:{MARK}-password@{parts.netloc}").geturl()


@pytest.fixture(params=["works", "gone", "api key"])
def secretive(
    request: pytest.FixtureRequest,
    own_settings: Settings,
    elastic: Elasticsearch,
) -> Settings:
    """Settings with a secret wherever one can be; Redis denies access, as it has no such user."""
    if request.param == "works":
        post = RawPost(Origin("test"), "a", "juggling", "")
        index_at_once(elastic, own_settings.index, [post])
    gone = f"http://127.0.0.1:{free_port()}"
    url = own_settings.elasticsearch_url if request.param == "works" else gone
    key = request.param == "api key"
    return replace(
        own_settings,
        elasticsearch_url=url if key else _with_password(url),
        elasticsearch_api_key=f"{MARK}-key" if key else "",
        redis_url=f"{_with_password(own_settings.redis_url)}?password={MARK}-other",
        write_tokens=TOKEN,
    )


def test_answers_and_log_lines(secretive: Settings, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    client = create_app(secretive).test_client()
    for method, path in REQUESTS:
        # A write would wait for an Elasticsearch that is gone.
        for token in (TOKEN, f"{TOKEN}-wrong", "")[method != "GET" :]:
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            body = {"title": "juggling"} if method == "PUT" else None
            answer = client.open(path, method=method, json=body, headers=headers)
            assert MARK not in f"{answer.headers}{answer.text}", path
    assert caplog.records
    _nothing_logged(caplog)


def _nothing_logged(caplog: pytest.LogCaptureFixture) -> None:
    lines = [
        f"{record.getMessage()} {record.__dict__} {record.exc_text}" for record in caplog.records
    ]
    assert [line for line in lines if MARK in line] == []


def test_commands(secretive: Settings, caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    caplog.set_level(logging.DEBUG)
    posts, rules = tmp_path / "posts.jsonl", tmp_path / "mine.synonyms"
    posts.write_text('{"oid": "a", "title": "juggling"}\n{"oid": "without a title"}')
    rules.write_text("juggling, balls\n")
    writing = (("sync", posts, "--verbose"), ("synonyms", "load", rules))
    for words in (*COMMANDS, *writing):
        _run_and_look(secretive, *words)
    _nothing_logged(caplog)
    assert MARK not in f"{secretive!r} {secretive}"


SOURCES = [
    f"http://user:{MARK}@127.0.0.1:1/feed.xml",
    f"HTTP://{MARK}@127.0.0.1:1/feed.xml",
    f"http://user:{MARK}/x@127.0.0.1:1/feed.xml",
    f"http://user:{MARK}%@[::1/feed.xml",
    f"ftp://user:{MARK}@127.0.0.1/feed.xml",
    f"file://user:{MARK}@127.0.0.1/feed.xml",
]


def test_sources(
    own_settings: Settings, caplog: pytest.LogCaptureFixture, elastic: Elasticsearch
) -> None:
    caplog.set_level(logging.DEBUG)
    for source in SOURCES:
        for options in ((), ("--source", "feed", "--verbose"), ("--source", "sitemap")):
            _run_and_look(own_settings, "sync", source, *options)
    _nothing_logged(caplog)
    state = f"{own_settings.index}-state"
    assert MARK not in str(elastic.search(index=state, ignore_unavailable=True).body)


def test_a_redirect_to_a_url_with_a_password(own_settings: Settings, server: Server) -> None:
    targets = (f"http://user:{MARK}@127.0.0.1:1/", f"http://user:{MARK}/x@127.0.0.1:1/")
    private = replace(own_settings, fetch_allow_private=True)
    for target in targets:

        def moved(request: BaseHTTPRequestHandler, target: str = target) -> None:
            request.send_response(302)
            request.send_header("Location", target)
            request.send_header("Content-Length", "0")
            request.end_headers()

        server.answers["/feed.xml"] = moved
        output = _run_and_look(private, "sync", server.url("/feed.xml"), "--verbose")
        assert "Error" in output


def _run_and_look(settings: Settings, *words: object) -> str:
    """The output of a command, in which there is no secret."""
    done = CliRunner().invoke(main, [str(word) for word in words], obj=Tools(settings))
    output = f"{done.output}{done.exception!r}"
    assert MARK not in output, words
    return output


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("BLOGSEARCH_WRITE_TOKENS", MARK),
        ("ELASTICSEARCH_URL", f"https://user:{MARK}/x@127.0.0.1:port"),
        ("REDIS_URL", f"redis://user:{MARK}/x@127.0.0.1:port/0?password={MARK}"),
    ],
)
def test_complaints_about_settings(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for variable, given in ((name, value), (f"{name}_FILE", str(tmp_path / "secret"))):
        (tmp_path / "secret").write_text(value)
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(f"{name}_FILE", raising=False)
        monkeypatch.setenv(variable, given)
        with pytest.raises(BadSettings) as raised:
            create_app(load_settings())
        assert MARK not in str(raised.value)
        done = CliRunner().invoke(main, ["doctor"])
        assert done.exit_code == 1
        assert MARK not in done.output
