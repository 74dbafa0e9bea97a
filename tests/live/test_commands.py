"""The commands that only look, on the sample posts."""

import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from click.testing import Result
from elasticsearch import Elasticsearch

from app.settings import Settings
from devstack.servers import redis_server
from indexer.state import record_run, state_index
from tests.tcp import listening

Run = Callable[..., Result]


def test_search_prints_a_table(run: Run) -> None:
    whole = json.loads(run("search", "pythn", "--debug", "--json").output)
    assert whole["debug"]["words"][0]["variants"][0]["text"] == "python"
    table = run("search", "pythn").output
    assert "corrected to 'python'" in table
    for hit, explained in zip(whole["hits"], whole["debug"]["hits"], strict=True):
        assert hit["score"] == explained["score"]
        assert f"{hit['score']}  {hit['pub_date'][:10]}  {hit['title']}" in table
        assert f" {hit['url']}  (oid {hit['oid']})\n" in table


def test_a_search_takes_the_parameters_of_http(run: Run) -> None:
    options = ["-p", "sort=newest", "-p", "since=2016-01-01", "-p", "size=3", "--json"]
    body = json.loads(run("search", "python", *options).output)
    days = [hit["pub_date"][:10] for hit in body["hits"]]
    assert len(days) == 3
    assert days == sorted(days, reverse=True)
    assert days[-1] >= "2016-01-01"
    typed = json.loads(run("search", "pythn", "-p", "typos=off", "--json").output)
    assert "corrected" not in typed
    wrong = run("search", "python", "-p", "colour=red", "-p", "page=99", "-p", "since=yesterday")
    assert wrong.exit_code == 2
    assert all(name in wrong.output for name in ("colour", "page", "since", "category"))


def test_a_run_that_fails_says_what_it_left_out(
    run: Run, own_settings: Settings, tmp_path: Path
) -> None:
    for number in range(3):
        (tmp_path / f"{number}.md").write_text("---\ntitle: T\ndraft: true\n---\nx")
    done = run("reindex", tmp_path, settings=own_settings)
    assert (done.exit_code, "no posts" in done.output) == (1, True)
    assert "Left out: 3 draft" in done.output


@pytest.mark.parametrize(
    "words",
    [["search"], ["reindex", "--url-template"], ["rollback", "--no-such-option"]],
    ids=" ".join,
)
def test_a_wrong_call_exits_with_2(run: Run, words: list[str]) -> None:
    result = run(*words)
    assert result.exit_code == 2, result.output
    assert "Error: " in result.output


def test_a_pipe_that_closes_shows_no_traceback(settings: Settings) -> None:
    command = f"{sys.executable} -c 'from app.cli import main; main()' search python -p size=50"
    done = subprocess.run(
        ["bash", "-c", f"{command} | head -1"],
        env={**os.environ, "BLOGSEARCH_INDEX": settings.index},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "found for 'python'" in done.stdout


def test_analyze_names_the_rule(run: Run) -> None:
    result = run("analyze", "Going to the centre")
    assert result.exit_code == 0
    assert "british-american.synonyms:" in result.output
    steps = [line.split()[0] for line in result.output.splitlines()[1:]]
    wanted = ["standard", "lowercase", "blog_synonyms", "blog_stop", "blog_stemming_1"]
    assert [step for step in steps if step in wanted] == wanted


def test_analyze_shows_the_marks_of_character_filters(run: Run) -> None:
    shown = run("analyze", ".NET fooBar").output
    assert "⟦.⟧NET foo⟦⟧Bar" in shown
    assert not {"\ufdd0", "\ufdd1"} & set(shown)


def _doctor(run: Run, settings: Settings) -> dict[str, Any]:
    done = run("doctor", "--json", settings=settings)
    assert not isinstance(done.exception, Exception), done.exception
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def test_doctor_names_the_index_or_says_how_to_build_one(
    run: Run, settings: Settings, own_settings: Settings
) -> None:
    result = run("doctor")
    assert result.exit_code == 0, result.output
    assert settings.index in result.output
    assert run("doctor", settings=own_settings).exit_code == 1
    assert "blogsearch reindex" in _doctor(run, own_settings)["index"]["remedy"]


def test_doctor_recognizes_an_index_where_the_alias_should_be(
    run: Run, own_settings: Settings, elastic: Elasticsearch
) -> None:
    elastic.indices.create(index=own_settings.index)
    result = run("doctor", settings=own_settings)
    assert result.exit_code == 1
    assert "this service did not create" in result.output


def _response(status: str, body: object, product: str = "Elasticsearch") -> bytes:
    content = json.dumps(body)
    head = f"HTTP/1.1 {status}\r\nX-Elastic-Product: {product}\r\nConnection: close\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n"
    return f"{head}\r\n{content}".encode()


def _security(status: int) -> dict[str, Any]:
    return {"error": {"type": "security_exception", "reason": "no"}, "status": status}


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (_response("200 OK", {}, "x"), "not Elasticsearch"),
        (_response("401 Unauthorized", _security(401)), "ELASTICSEARCH_API_KEY"),
        (_response("403 Forbidden", _security(403)), "privilege"),
        (_response("200 OK", {"version": {"number": "8.19.1"}}), "is version 8.19.1"),
        (b"\x15\x03\x03\x00\x02\x02\x50", "https://"),  # an alert of TLS
        (None, "timed out"),
    ],
    ids=["another program", "no user", "no privilege", "version", "with TLS", "hangs"],
)
def test_doctor_explains_what_answers(
    run: Run, own_settings: Settings, answer: bytes | None, said: str
) -> None:
    over = threading.Event()

    def serve(connection: socket.socket) -> None:
        if answer is None:
            over.wait()
        else:
            connection.recv(65_536)
            connection.sendall(answer)

    with listening(serve) as port:
        url = f"http://127.0.0.1:{port}"
        changed = replace(own_settings, elasticsearch_url=url, elasticsearch_timeout=0.5)
        check = _doctor(run, changed)["elasticsearch"]
        over.set()
    assert check["status"] == "error"
    assert said in f"{check['seen']} {check['remedy']}"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://127.0.0.1:1", "docker compose up"),
        ("http://no-such-host.invalid:9200", "correct ELASTICSEARCH_URL"),
        ("https://127.0.0.1:{port}", "http:// instead"),
        ("http://me:secret@127.0.0.1:1", "(http://127.0.0.1:1)"),
    ],
)
def test_doctor_explains_why_it_cannot_connect(
    run: Run, own_settings: Settings, url: str, said: str
) -> None:
    url = url.format(port=urlsplit(own_settings.elasticsearch_url).port)
    report = _doctor(run, replace(own_settings, elasticsearch_url=url))
    check = report["elasticsearch"]
    assert said in f"{check['seen']} {check['remedy']}"
    assert "secret" not in str(report)
    assert report["sources"]["status"] != "ok"  # the last run is not known


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("redis://127.0.0.1:1/0", "refused"),
        ("redis://:two,secrets@127.0.0.1:1/0", "(redis://127.0.0.1:1/0)"),
        ("redis://127.0.0.1:1/0?password=with@secret", "(the URL)"),
    ],
)
def test_doctor_explains_why_redis_does_not_answer(
    run: Run, own_settings: Settings, url: str, said: str
) -> None:
    report = _doctor(run, replace(own_settings, redis_url=url))
    assert report["redis"]["status"] == "warning"
    assert said in report["redis"]["seen"]
    assert not {"two", "secret"} & set(re.findall(r"\w+", str(report)))


def test_doctor_says_that_redis_denies_access(run: Run, own_settings: Settings) -> None:
    with redis_server("--requirepass", "right") as server:
        wrong = server.url.replace("redis://", "redis://:wrong@")
        assert "password" in _doctor(run, replace(own_settings, redis_url=wrong))["redis"]["seen"]


def test_a_search_without_elasticsearch_is_one_error(
    run: Run, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    away = replace(settings, elasticsearch_url="http://127.0.0.1:9")
    result = run("search", "python", settings=away)
    assert result.exit_code == 1
    assert result.output.startswith("Error: Elasticsearch cannot be reached.")
    assert not [record for record in caplog.records if record.name.startswith("app.")]


@pytest.mark.parametrize(
    ("command", "error", "age", "status", "seen"),
    [
        ("sync", None, 7_200, "ok", "ended 2 hours ago"),
        ("sync", None, 3 * 86_400, "warning", "ended 3 days ago"),
        ("reindex", None, 3 * 86_400, "ok", "ended 3 days ago"),
        ("sync", "No way.", 10, "warning", "failed a moment ago: No way."),
    ],
)
def test_doctor_warns_of_a_sync_that_failed_or_is_long_ago(
    command: str,
    error: str | None,
    age: float,
    status: str,
    seen: str,
    run: Run,
    own_settings: Settings,
    elastic: Elasticsearch,
) -> None:
    record_run(elastic, own_settings.index, command, "posts.jsonl", 0, error)
    elastic.update(
        index=state_index(own_settings.index),
        id=f"run:{command}",
        doc={"ended": time.time() - age},
        refresh=True,
    )
    sources = _doctor(run, own_settings)["sources"]
    assert (sources["status"], sources["seen"]) == (status, f"`blogsearch {command}` {seen}")
    assert bool(sources["remedy"]) == (status == "warning")


def test_doctor_tells_the_errors_of_runs_that_were_repeated(
    run: Run, own_settings: Settings, elastic: Elasticsearch
) -> None:
    record_run(elastic, own_settings.index, "sync", "posts.jsonl", 0, "the feed is gone")
    record_run(elastic, own_settings.index, "sync", "posts.jsonl", 0, None)
    sources = _doctor(run, own_settings)["sources"]
    assert sources["status"] == "ok"
    assert "failed a moment ago: the feed is gone" in sources["seen"]


def test_doctor_says_which_file_it_read(
    run: Run, settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "other.toml"
    file.write_text("drafts = true\n")
    monkeypatch.setenv("BLOGSEARCH_CONFIG", str(file))
    assert str(file) in next(iter(_doctor(run, settings).values()))["seen"]


def test_doctor_finds_a_misspelt_synonym_setting(
    run: Run, settings: Settings, tmp_path: Path
) -> None:
    assert "in 3 file(s)" in _doctor(run, settings)["synonyms"]["seen"]
    synonyms = _doctor(run, replace(settings, synonyms_dir=tmp_path / "nowhere"))["synonyms"]
    assert synonyms["status"] == "warning"
    assert "nowhere" in synonyms["remedy"]


def test_what_elasticsearch_refuses_comes_with_its_reason(run: Run) -> None:
    assert "[nope]" in run("analyze", "text", "--analyzer", "nope").output
    result = run("analyze", "word " * 20_000)
    assert result.exit_code == 1
    assert "10000" in result.output
