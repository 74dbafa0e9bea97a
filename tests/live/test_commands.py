"""The commands that only look, on the sample posts, and what every command has in common."""

import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click
import pytest
from click.testing import CliRunner
from elasticsearch import Elasticsearch

from app.cli import main
from app.index.last_runs import record_run
from app.settings import Settings
from indexer.store.state import state_index
from tests.conftest import Run
from tests.tcp import listening


@pytest.fixture
def run(run: Run, settings: Settings) -> Run:
    """Runs commands on the sample posts."""
    return partial(run, settings=settings)


def test_search_prints_a_table(run: Run) -> None:
    whole = json.loads(run("search", "pythn", "--debug", "--json").output)
    assert whole["debug"]["words"][0]["variants"][0]["text"] == "python"
    explained = run("search", "pythn", "--debug", "--quiet").output
    assert '"variants"' in explained
    table = run("search", "pythn").output
    assert "corrected to 'python'" in table
    for hit, explained in zip(whole["hits"], whole["debug"]["hits"], strict=True):
        assert hit["score"] == explained["score"]
        assert f"{hit['score']}  {hit['pub_date'][:10]}  {hit['title']}" in table
        assert f" {hit['url']}  (oid {hit['oid']})\n" in table


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


def test_rebuild_applies_the_analysis_of_a_new_version(
    run: Run, own_settings: Settings, elastic: Elasticsearch
) -> None:
    run = partial(run, settings=own_settings, input=json.dumps({"oid": "a", "title": "Bread"}))
    index = f"{own_settings.index}-000001"
    assert run("reindex", "-").exit_code == 0
    assert f"{index} has the present" in run("rebuild").stdout
    meta = elastic.indices.get_mapping(index=index)[index]["mappings"]["_meta"]
    meta["blogsearch"]["analysis"] = "of another version"
    elastic.indices.put_mapping(index=index, meta=meta)
    assert "Run `blogsearch rebuild`" in run("sync", "-").stderr
    assert f"{own_settings.index}-000002 is live" in run("rebuild").stdout
    assert "`blogsearch rebuild`" not in run("sync", "-").stderr


def test_doctor_goes_back_if_the_live_index_was_deleted(
    run: Run, own_settings: Settings, elastic: Elasticsearch
) -> None:
    post = json.dumps({"oid": "a", "title": "Bread"})
    for _ in range(2):
        assert run("reindex", "-", settings=own_settings, input=post).exit_code == 0
    elastic.indices.delete(index=f"{own_settings.index}-000002")
    assert "`blogsearch rollback`" in _doctor(run, own_settings)["index"]["remedy"]
    assert run("rollback", settings=own_settings).exit_code == 0
    assert _doctor(run, own_settings)["index"]["status"] == "ok"


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
        ("http://no-such-host.invalid:9200", "There is no host of this name"),
        ("https://127.0.0.1:{port}", "http:// instead"),
        ("http://127.0.0.1:{port}/a", "does not know this path"),
        ("http://127.0.0.1:{port}/a/b", "no handler found for uri [/a/b/] and method [GET] ("),
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


def test_a_search_without_elasticsearch_is_one_error(
    run: Run, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    away = replace(settings, elasticsearch_url="http://127.0.0.1:9")
    result = run("search", "python", settings=away)
    assert result.exit_code == 1
    assert result.output.startswith("Error: Elasticsearch cannot be reached.")
    assert not [record for record in caplog.records if record.name.startswith("app.")]


def test_doctor_warns_of_a_sync_that_failed_or_is_long_ago(
    run: Run, own_settings: Settings, elastic: Elasticsearch
) -> None:
    alias = own_settings.index

    def sources(command: str, error: str | None, hours: float) -> dict[str, str]:
        record_run(elastic, alias, command, "posts.jsonl", 0, error)
        ended = {"ended": time.time() - hours * 3_600}
        elastic.update(index=state_index(alias), id=f"run:{command}", doc=ended, refresh=True)
        seen: dict[str, str] = _doctor(run, own_settings)["sources"]
        return seen

    for command, hours, status in (("sync", 2, "ok"), ("sync", 72, "warning")):
        check = sources(command, None, hours)
        assert (check["status"], bool(check["remedy"])) == (status, status == "warning")
    check = sources("sync", "No way.", 0)
    assert (check["status"], "No way." in check["seen"]) == ("warning", True)
    check = sources("sync", None, 0)  # that it was repeated hides no error
    assert (check["status"], "No way." in check["seen"]) == ("ok", True)


def test_doctor_tells_the_source_and_what_it_left_out_and_ends_with_3(
    run: Run, own_settings: Settings, elastic: Elasticsearch, tmp_path: Path
) -> None:
    source = tmp_path / "posts"
    source.mkdir()
    for name, head in (("a", ""), ("b", "draft: true\n")):
        (source / f"{name}.md").write_text(f"---\ntitle: {name}\n{head}---\nText.\n")
    assert run("reindex", source, settings=own_settings).exit_code == 0
    done = run("doctor", settings=own_settings)
    assert (done.exit_code, str(source) in done.output) == (0, True), done.output
    assert "left out: 1 (files or pages)" in done.output
    index = f"{own_settings.index}-000001"
    block = {"index.blocks.read_only_allow_delete": True}
    elastic.indices.put_settings(index=index, settings=block)
    done = run("doctor", settings=own_settings)
    assert (done.exit_code, "refuses writes" in done.output) == (3, True), done.output
    elastic.indices.put_settings(index=index, settings=dict.fromkeys(block))


Words = tuple[str, ...]


def _commands(group: click.Group, *words: str) -> Iterator[Words]:
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        if isinstance(command, click.Group):
            yield from _commands(command, *words, name)
        else:
            yield (*words, name)


EVERY = list(_commands(main))
CALLS: dict[Words, Words] = {
    ("reindex",): ("posts.jsonl",),
    ("rebuild",): ("--force",),
    ("sync",): ("posts.jsonl",),
    ("add",): ("posts.jsonl",),
    ("try",): ("posts.jsonl",),
    ("init",): ("posts.jsonl", "--force"),
    ("search",): ("post",),
    ("analyze",): ("a post",),
    ("synonyms", "check"): ("my.synonyms",),
    ("synonyms", "load"): ("my.synonyms",),
    ("golden", "add"): ("post", "/a/"),
    ("golden", "load"): ("golden.csv",),
    ("golden", "list"): (),
    ("popularity",): ("views.csv",),
    ("pins", "load"): ("my.pins",),
    ("pins", "list"): (),
    ("pins", "remove"): ("my",),
    ("indices",): (),
    ("export",): ("exported.jsonl",),
    ("doctor",): (),
    ("rollback",): (),
}


@pytest.mark.parametrize("words", EVERY, ids=" ".join)
def test_help_has_the_options_examples_and_exit_codes(words: Words) -> None:
    text = CliRunner().invoke(main, [*words, "--help"]).output
    for expected in ("--json ", "--quiet ", f"\n  blogsearch {' '.join(words)}", "Exit code 0: "):
        assert expected in text


BUILDING = {"reindex", "rebuild", "rollback"}
SHOWING = {("search",), ("analyze",), ("pins", "list"), ("indices",)}


def test_prints_one_json_value_or_only_what_was_asked_for(
    run: Run, own_settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    not_called = {("serve",), ("fetch-model",), ("meaning",)}
    assert {*EVERY} - {*CALLS} == not_called, "a new command: add a call"
    monkeypatch.chdir(tmp_path)
    Path("posts.jsonl").write_text('{"oid": "a", "title": "A post", "url": "/a/"}\n')

    Path("my.synonyms").write_text("post, article\n")
    Path("views.csv").write_text("/a/,3\n")
    Path("golden.csv").write_text("post,/a/\n")
    Path("my.pins").write_text("post => a\n")
    Path("rules").mkdir()
    settings = replace(own_settings, synonyms_dir=Path("rules"))
    for words, arguments in CALLS.items():
        done = run(*words, *arguments, "--json", settings=settings)
        assert done.exit_code == 0, (words, done.output)
        assert json.loads(done.stdout), words
    assert run("rebuild", settings=settings).exit_code == 0  # or doctor warns of other rules
    for words, arguments in CALLS.items():
        if words[0] not in BUILDING:
            done = run(*words, *arguments, "--quiet", settings=settings)
            # An index that another test is just creating makes the cluster red.
            printed = [line for line in done.output.splitlines() if "cluster red" not in line]
            assert (done.exit_code, bool(printed)) == (0, words in SHOWING), (words, printed)
