"""No secret is in an answer, a log line or the output of a command, whatever goes wrong."""

import logging
from collections.abc import Callable, Iterable
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner
from pydantic import SecretStr

from app import create_app
from app.cli import main
from app.commands.tools import Tools
from app.errors import BadSettings
from app.settings import Settings, load_settings
from bench.servers import free_port
from indexer.records import Origin, RawPost

MARK = "s3cret"
TOKEN = f"{MARK}-write-token"

COMMANDS = [
    ("doctor",),
    ("doctor", "--format", "json"),
    ("search", "juggling"),
    ("search", "juggling", "--debug"),
    ("analyze", "juggling"),
    ("indices",),
    ("cache", "stats"),
    ("cache", "warm"),
    ("--traceback", "cache", "clear", "--yes"),
    ("--traceback", "indices"),
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
    index_posts: Callable[[Iterable[RawPost]], object],
) -> Settings:
    """Settings with a secret wherever one can be; Redis denies access, as it has no such user."""
    if request.param == "works":
        index_posts([RawPost(Origin("test"), "a", "juggling", "")])
    gone = f"http://127.0.0.1:{free_port()}"
    url = own_settings.elasticsearch_url if request.param == "works" else gone
    key = request.param == "api key"
    return own_settings.model_copy(
        update={
            "elasticsearch_url": url if key else _with_password(url),
            "elasticsearch_api_key": SecretStr(f"{MARK}-key" if key else ""),
            "redis_url": f"{_with_password(own_settings.redis_url)}?password={MARK}-other",
            "cache_secret": SecretStr(f"{MARK}-signature"),
            "write_tokens": SecretStr(TOKEN),
            "slow_search": 0.000001,
        }
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
    lines = [f"{each.getMessage()} {each.__dict__} {each.exc_text}" for each in caplog.records]
    assert [line for line in lines if MARK in line] == []


def test_commands(secretive: Settings, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    for words in COMMANDS:
        done = CliRunner().invoke(main, list(words), obj=Tools(secretive))
        shown = f"{done.output}{done.exception!r}"
        assert MARK not in shown, words
    _nothing_logged(caplog)
    assert MARK not in f"{secretive!r} {secretive}"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("BLOGSEARCH_WRITE_TOKENS", MARK),
        ("ELASTICSEARCH_URL", f"ftp://user:{MARK}@127.0.0.1"),
        ("ELASTICSEARCH_URL", f"https://user:{MARK}/x@127.0.0.1:port"),
        ("REDIS_URL", f"http://user:{MARK}@127.0.0.1"),
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
