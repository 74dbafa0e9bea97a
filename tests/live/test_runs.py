"""How a run ends is kept and told: errors in the state index, pings, --json and --quiet."""

import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from elasticsearch import Elasticsearch

from app.index.last_runs import LastRun, read_runs
from app.settings import Settings
from indexer.store.state import Lock
from tests.conftest import Run as Command


@pytest.fixture
def alias(emptied: str) -> str:
    return emptied


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "posts.jsonl"
    path.write_text('{"oid": "a", "title": "A", "text": "x"}\n')
    return path


@pytest.fixture
def last_run(elastic: Elasticsearch, alias: str) -> Callable[[], LastRun | None]:
    return lambda: next(iter(read_runs(elastic, alias, ["sync"])), None)


def test_the_error_of_a_failed_run_is_kept_with_its_time(
    run: Command, source: Path, last_run: Callable[[], LastRun | None]
) -> None:
    assert run("sync", source).exit_code == 0
    first = last_run()
    assert first
    assert (first.succeeded, first.error, first.error_at) == (True, "", None)
    good = source.read_text()
    source.write_text("[]")
    assert run("sync", source).exit_code == 1
    failed = last_run()
    assert failed
    assert not failed.succeeded
    assert "Nothing was removed" in failed.error
    assert failed.error_at == failed.ended
    assert time.time() - 60 < failed.ended <= time.time()
    source.write_text(good)
    assert run("sync", source).exit_code == 0
    last = last_run()
    assert last
    assert last.succeeded
    assert (last.error, last.error_at) == (failed.error, failed.error_at)
    assert run("add", source).exit_code == 0
    source.write_text("[")
    assert run("add", source).exit_code == 1
    told = json.loads(run("doctor", "--json").stdout)["sources"]
    assert told["status"] == "warning"
    assert "`blogsearch add` failed a moment ago" in told["seen"]


def test_what_fails_before_anything_is_read_is_no_run(
    run: Command,
    source: Path,
    elastic: Elasticsearch,
    alias: str,
    last_run: Callable[[], LastRun | None],
) -> None:
    assert run("sync", source).exit_code == 0
    before = last_run()
    assert run("sync", "/nonexist").exit_code == 1
    export = source.with_suffix(".json")
    export.write_text("{}")
    assert run("sync", export, "--source", "ghost").exit_code == 1  # meant was another kind
    with Lock(elastic, alias, "another"):
        assert run("sync", source).exit_code == 1
    assert last_run() == before
    source.unlink()  # as if its disk were not mounted tonight
    assert run("sync", source).exit_code == 1
    failed = last_run()
    assert failed
    assert str(source) in failed.error


class Pings:
    """An address as that of healthchecks.io, and what it was told."""

    def __init__(self, server: Any) -> None:
        self.told: list[tuple[str, str]] = []
        self.url = server.url("/check")
        for end in ("", "/start", "/fail"):
            server.answers[f"/check{end}"] = self._keep

    def _keep(self, request: Any) -> None:
        body = request.rfile.read(int(request.headers["Content-Length"])).decode()
        self.told.append((request.path, body))
        request.send_response(200)
        request.send_header("Content-Length", "0")
        request.end_headers()


def test_a_sync_pings(
    run: Command, own_settings: Settings, elastic: Elasticsearch, server: Any, source: Path
) -> None:
    pings = Pings(server)
    settings = replace(own_settings, ping_url=pings.url)
    assert run("sync", source, settings=settings).exit_code == 0
    assert pings.told == [("/check/start", ""), ("/check", "")]
    pings.told.clear()
    assert run("sync", "/nonexist", settings=settings).exit_code == 1
    (start, (failed, reason)) = pings.told
    assert (start[0], failed, "/nonexist" in reason) == ("/check/start", "/check/fail", True)
    pings.told.clear()
    source.write_text("[]")
    assert run("sync", source, settings=settings).exit_code == 1
    assert "Nothing was removed" in pings.told[-1][1]
    with Lock(elastic, own_settings.index, "another"):
        assert run("sync", source, settings=settings).exit_code == 1
    assert [path for path, _ in pings.told[2:]] == ["/check/start"]


def test_quiet_prints_what_is_wrong(run: Command, own_settings: Settings, source: Path) -> None:
    """Such as rejected posts, and a ping that cannot be sent."""
    source.write_text(source.read_text() + "nonsense\n")
    settings = replace(own_settings, ping_url="http://127.0.0.1:1/secret")
    done = run("sync", source, "--quiet", settings=settings)
    assert (done.exit_code, done.stdout) == (3, "")
    assert "rejected" in done.stderr
    assert "BLOGSEARCH_PING_URL" in done.stderr
    assert "secret" not in done.stderr
