"""Log lines, request ids and metrics, as an operator sees them."""

import json
import logging
import re
import socket
import time
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from flask.testing import FlaskClient

from app import create_app
from app.settings import Settings
from devstack.servers import free_port, redis_server
from tests.conftest import Run
from tests.tcp import forward, listening

REPOSITORY = Path(__file__).resolve().parents[2]
TOKEN = "a-token-for-these-tests"
AUTHORIZED = {"Authorization": f"Bearer {TOKEN}"}


def _client(settings: Settings, **changed: Any) -> FlaskClient:
    update = {"write_tokens": TOKEN, **changed}
    return create_app(replace(settings, **update)).test_client()


def _lines(caplog: pytest.LogCaptureFixture, message: str = "request") -> list[dict[str, Any]]:
    records = (one.__dict__ for one in caplog.records if one.name == "blogsearch.requests")
    return [record for record in records if record["msg"] == message]


def test_a_line_a_request_with_its_cache_state_and_times(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    with redis_server() as server:
        client = _client(settings, redis_url=server.url)
        # The first one is not kept if reading the view takes seconds.
        for query in ("first", "secret words", "secret words", ""):
            client.get("/search", query_string={"q": query})
    _, miss, hit, wrong = _lines(caplog)
    assert (miss["cache"], hit["cache"]) == ("MISS", "HIT")
    assert (miss["status"], wrong["status"], wrong["error"]) == (200, 400, "bad_request")
    assert miss["engine_requests"] >= 1
    assert miss["total_ms"] >= miss["engine_ms"] > 0
    assert hit["redis_ms"] > 0
    assert "engine_ms" not in hit
    assert not any("secret" in json.dumps(line, default=str) for line in (miss, hit))


def test_the_request_id_is_the_proxys(settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    client = _client(settings)
    for sent, same in (("abc-123", True), ("a b", False), ("x" * 200, False), ("", False)):
        answer = client.get("/__version__", headers={"X-Request-ID": sent})
        assert (answer.headers["X-Request-ID"] == sent) == same
        assert _lines(caplog)[-1]["request_id"] == answer.headers["X-Request-ID"]


def test_a_slow_search_is_logged_with_its_query(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    url = urlsplit(settings.elasticsearch_url)

    def delayed(connection: socket.socket) -> None:
        time.sleep(1.1)
        forward(connection, (url.hostname or "", url.port or 0))

    with listening(delayed) as port:
        slow = f"http://127.0.0.1:{port}"
        _client(settings, elasticsearch_url=slow).get("/search?q=slowness")
    (line,) = _lines(caplog, "slow search")
    assert line["query"] == "q=slowness"


def test_a_monitor_fills_no_log(settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    client = _client(settings)
    assert client.get("/metrics").status_code == 401
    assert _client(settings, write_tokens="").get("/metrics").status_code == 403
    own = {"Authorization": "Bearer for-prometheus-only"}
    watched = _client(settings, write_tokens="", metrics_token="for-prometheus-only")
    assert watched.get("/metrics", headers=own).status_code == 200
    assert watched.get("/metrics", headers=AUTHORIZED).status_code == 401
    assert watched.delete("/documents/one", headers=own).status_code == 403
    caplog.clear()
    for path in ("/__lbheartbeat__", "/__heartbeat__", "/__version__"):
        assert client.get(path).status_code == 200
    assert [line["path"] for line in _lines(caplog)] == ["/__version__"]


def _metrics(client: FlaskClient) -> dict[str, float]:
    text = client.get("/metrics", headers=AUTHORIZED).text
    return {name: float(value) for name, value in re.findall(r"^([^#\s]\S*) (\S+)$", text, re.M)}


def test_metrics(settings: Settings) -> None:
    with redis_server() as server:
        client = _client(settings, redis_url=server.url)
        for query in ("first", "python", "python", ""):
            client.get("/search", query_string={"q": query})
        metrics = _metrics(client)
    requests = 'blogsearch_request_seconds_count{endpoint="search.search",outcome='
    assert metrics[f'{requests}"miss"}}'] == 2
    assert metrics[f'{requests}"hit"}}'] == 1
    assert metrics[f'{requests}"400"}}'] == 1
    assert metrics['blogsearch_available{engine="elasticsearch"}'] == 1
    assert metrics["blogsearch_posts"] > 50


def test_metrics_are_served_while_both_engines_are_gone(settings: Settings) -> None:
    gone = f"127.0.0.1:{free_port()}"
    client = _client(settings, elasticsearch_url=f"http://{gone}", redis_url=f"redis://{gone}/0")
    client.get("/search?q=python")
    metrics = _metrics(client)
    assert metrics['blogsearch_available{engine="redis"}'] == 0
    assert "blogsearch_posts" not in metrics


def test_the_last_run_of_a_command_is_in_the_metrics(
    own_settings: Settings, run: Run, tmp_path: Path
) -> None:
    client, posts = _client(own_settings), tmp_path / "posts.jsonl"
    lines = [f'{{"oid": "{n}", "title": "Post {n}"}}' for n in range(20)]
    posts.write_text("\n".join([*lines, '{"oid": "without a title"}', "no JSON"]))
    assert run("sync", posts).exit_code == 3
    metrics = _metrics(client)
    assert metrics['blogsearch_run_rejected_documents{command="sync"}'] == 2
    assert metrics['blogsearch_run_succeeded{command="sync"}'] == 1
    posts.write_text(lines[0])
    assert run("sync", posts).exit_code == 1
    metrics = _metrics(client)
    assert metrics['blogsearch_run_succeeded{command="sync"}'] == 0
    # The dashboard and the alerts use metrics that exist.
    client.get("/search", query_string={"q": "a query of this test only"})
    names = {name.partition("{")[0] for name in _metrics(client)}
    folder = REPOSITORY / "deploy" / "monitoring"
    panels = json.loads((folder / "grafana-dashboard.json").read_text())["panels"]
    used = json.dumps([target["expr"] for panel in panels for target in panel["targets"]])
    used += (folder / "alerts.yml").read_text()
    assert {*re.findall(r"\bblogsearch_\w+", used)} <= names
