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

import pytest
from click.testing import Result
from elasticsearch import Elasticsearch

from app import create_app
from app.insights.counts import Counts
from app.search.request import SearchRequest
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
    options = ["--sort", "newest", "--since", "2016-01-01", "--size", "3", "--json"]
    body = json.loads(run("search", "python", *options).output)
    days = [hit["pub_date"][:10] for hit in body["hits"]]
    assert len(days) == 3
    assert days == sorted(days, reverse=True)
    assert days[-1] >= "2016-01-01"
    typed = json.loads(run("search", "pythn", "--typos", "off", "--json").output)
    assert "corrected" not in typed
    none = json.loads(run("search", "python", "--category", "no such", "--json").output)
    assert none["count"] == 0


def test_one_post_is_not_posts(run: Run, own_settings: Settings, posts: Path) -> None:
    assert run("reindex", posts, settings=own_settings).exit_code == 0
    assert run("search", "juggling", settings=own_settings).output.startswith("1 post found")


def test_a_run_that_fails_says_what_it_left_out(
    run: Run, own_settings: Settings, tmp_path: Path
) -> None:
    folder = tmp_path / "drafts"
    folder.mkdir()
    for number in range(10):
        (folder / f"{number}.md").write_text(f"---\ntitle: T\ndraft: {number > 5}\n---\nx")
    assert run("reindex", folder, "--drafts", settings=own_settings).exit_code == 0
    (folder / "5.md").write_text("---\ntitle: T\ndraft: true\n---\nx")
    (folder / "4.md").write_text("---\ntitle: T\ndraft: true\n---\nx")
    done = run("reindex", folder, settings=own_settings)
    assert (done.exit_code, "Left out: 6 draft" in done.output) == (1, True)
    for number in range(10):
        (folder / f"{number}.md").write_text("---\ntitle: T\ndraft: true\n---\nx")
    done = run("reindex", folder, settings=own_settings)
    assert (done.exit_code, "no posts" in done.output) == (1, True)
    assert "Left out: 10 draft" in done.output


@pytest.mark.parametrize(
    "words",
    [
        ["search", "python", "--page", "99"],
        ["search", "python", "--since", "yesterday"],
        ["search", "python", "--sort", "oldest"],
        ["search"],
        ["analyze"],
        ["reindex", "--max-rejects"],
        ["synonyms", "check", "--format"],
        ["rollback", "--no-such-option"],
        ["prune", "x"],
        ["doctor", "x"],
        ["try", "--posts", "0", "x"],
    ],
    ids=" ".join,
)
def test_a_wrong_call_exits_with_2(run: Run, words: list[str]) -> None:
    result = run(*words)
    assert result.exit_code == 2, result.output
    assert "Error: " in result.output


def test_a_pipe_that_closes_is_no_error(settings: Settings) -> None:
    command = f"{sys.executable} -c 'from app.cli import main; main()' search python --size 50"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command} | head -1"],
        env={**os.environ, "BLOGSEARCH_INDEX": settings.index},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "found for 'python'" in done.stdout


def test_completion_knows_commands_and_options() -> None:
    def completed(words: str, number: int) -> list[str]:
        done = subprocess.run(
            [Path(sys.executable).with_name("blogsearch")],
            env={
                **os.environ,
                "_BLOGSEARCH_COMPLETE": "bash_complete",
                "COMP_WORDS": words,
                "COMP_CWORD": str(number),
            },
            capture_output=True,
            text=True,
        )
        return [line.partition(",")[2] for line in done.stdout.splitlines()]

    assert completed("blogsearch pi", 1) == ["pins"]
    assert completed("blogsearch search --sort n", 3) == ["newest"]


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


def test_doctor_says_what_is_wrong_and_what_to_do(
    run: Run, settings: Settings, own_settings: Settings
) -> None:
    result = run("doctor")
    assert result.exit_code == 0, result.output
    assert settings.index in result.output
    result = run("doctor", "--json", settings=own_settings)
    assert result.exit_code == 1
    assert "blogsearch reindex" in json.loads(result.output)["index"]["remedy"]


def test_doctor_recognizes_an_index_where_the_alias_should_be(
    run: Run, own_settings: Settings, elastic: Elasticsearch
) -> None:
    elastic.indices.create(index=own_settings.index)
    result = run("doctor", settings=own_settings)
    assert result.exit_code == 1
    assert "exists where the alias should be" in result.output


def test_doctor_does_not_wait_long_for_an_elasticsearch_that_hangs(
    run: Run, settings: Settings
) -> None:
    over = threading.Event()

    def hang(connection: socket.socket) -> None:
        over.wait()

    with listening(hang) as port:
        url = f"http://127.0.0.1:{port}"
        hanging = replace(settings, elasticsearch_url=url, elasticsearch_timeout=0.2)
        started = time.monotonic()
        result = run("doctor", settings=hanging)
        assert time.monotonic() - started < 30  # each request of another command may take 120 s
        over.set()
    assert result.exit_code == 1
    assert "does not answer in time" in result.output


def test_a_search_without_elasticsearch_is_one_error(
    run: Run, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    away = replace(settings, elasticsearch_url="http://127.0.0.1:9")
    result = run("search", "python", settings=away)
    assert result.exit_code == 1
    assert result.output.startswith("Error: Elasticsearch cannot be reached.")
    assert not [record for record in caplog.records if record.name.startswith("app.")]


class TestDoctorExplains:
    """What the first minutes with engines of one's own run into."""

    @staticmethod
    def _report(run: Run, settings: Settings, **changed: Any) -> dict[str, Any]:
        done = run("doctor", "--json", settings=replace(settings, **changed))
        assert not isinstance(done.exception, Exception), done.exception
        report: dict[str, Any] = json.loads(done.stdout)
        return report

    def _elasticsearch(self, run: Run, own_settings: Settings, answer: bytes) -> tuple[str, str]:
        def serve(connection: socket.socket) -> None:
            connection.recv(65_536)
            connection.sendall(answer)

        with listening(serve) as port:
            url = f"http://127.0.0.1:{port}"
            check = self._report(run, own_settings, elasticsearch_url=url)["elasticsearch"]
        assert check["status"] == "error"
        return check["seen"], check["remedy"]

    @staticmethod
    def _response(status: str, kind: str, product: str) -> bytes:
        body = json.dumps({"error": {"type": kind, "reason": kind}, "status": int(status[:3])})
        head = f"HTTP/1.1 {status}\r\nX-Elastic-Product: {product}\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        return f"{head}Connection: close\r\n\r\n{body}".encode()

    @pytest.mark.parametrize(
        ("status", "kind", "product", "said"),
        [
            ("200 OK", "", "x", "not Elasticsearch"),
            ("401 Unauthorized", "security_exception", "Elasticsearch", "ELASTICSEARCH_API_KEY"),
            ("403 Forbidden", "security_exception", "Elasticsearch", "privilege"),
        ],
    )
    def test_a_response_that_is_a_refusal(
        self, run: Run, own_settings: Settings, status: str, kind: str, product: str, said: str
    ) -> None:
        answer = self._response(status, kind, product)
        assert said in self._elasticsearch(run, own_settings, answer)[1]

    def test_an_elasticsearch_of_another_version(self, run: Run, own_settings: Settings) -> None:
        body = json.dumps({"version": {"number": "8.19.1"}})
        answer = (
            "HTTP/1.1 200 OK\r\nX-Elastic-Product: Elasticsearch\r\nConnection: close\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}"
        )
        seen, remedy = self._elasticsearch(run, own_settings, answer.encode())
        assert "8.19.1" in seen
        assert "9" in remedy

    def test_an_elasticsearch_that_uses_tls(self, run: Run, own_settings: Settings) -> None:
        alert = b"\x15\x03\x03\x00\x02\x02\x50"
        assert "https://" in self._elasticsearch(run, own_settings, alert)[1]

    @pytest.mark.parametrize(
        ("url", "remedy"),
        [
            ("http://127.0.0.1:1", "docker compose up"),
            ("http://no-such-host.invalid:9200", "Correct the host"),
        ],
    )
    def test_no_connection(self, url: str, remedy: str, run: Run, own_settings: Settings) -> None:
        check = self._report(run, own_settings, elasticsearch_url=url)["elasticsearch"]
        assert remedy in check["remedy"]

    def test_an_elasticsearch_without_tls(self, run: Run, own_settings: Settings) -> None:
        url = own_settings.elasticsearch_url.replace("http://", "https://")
        check = self._report(run, own_settings, elasticsearch_url=url)["elasticsearch"]
        assert "http:// instead" in check["remedy"]

    def test_redis(self, run: Run, own_settings: Settings) -> None:
        gone = self._report(run, own_settings, redis_url="redis://127.0.0.1:1/0")["redis"]
        assert (gone["status"], "refused" in gone["seen"]) == ("warning", True)
        with redis_server("--requirepass", "right") as server:
            wrong = server.url.replace("redis://", "redis://:wrong@")
            denied = self._report(run, own_settings, redis_url=wrong)["redis"]
        assert "password" in denied["seen"]


@pytest.mark.parametrize(
    ("command", "error", "age", "status", "seen"),
    [
        ("sync", None, 7_200, "ok", "ended 2 hours ago"),
        ("sync", None, 3 * 86_400, "warning", "ended 3 days ago"),
        ("reindex", None, 3 * 86_400, "ok", "ended 3 days ago"),
        ("sync", "No way.", 10, "warning", "failed less than a minute ago: No way."),
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
    record_run(elastic, own_settings.index, command, rejected=0, error=error)
    elastic.update(
        index=state_index(own_settings.index),
        id=f"run:{command}",
        doc={"ended": time.time() - age},
        refresh=True,
    )
    report = json.loads(run("doctor", "--json", settings=own_settings).stdout)
    assert report["sources"]["status"] == status
    assert report["sources"]["seen"] == f"`blogsearch {command}` {seen}"
    assert ("remedy" in report["sources"]) == (status == "warning")


def test_doctor_tells_the_errors_of_runs_that_were_repeated(
    run: Run, own_settings: Settings, elastic: Elasticsearch
) -> None:
    record_run(elastic, own_settings.index, "sync", rejected=0, error="the feed is gone")
    record_run(elastic, own_settings.index, "sync", rejected=0, error=None)
    report = json.loads(run("doctor", "--json", settings=own_settings).stdout)
    assert report["sources"]["status"] == "ok"
    assert "failed less than a minute ago: the feed is gone" in report["sources"]["seen"]


def test_doctor_does_not_call_unknown_runs_ok(run: Run, own_settings: Settings) -> None:
    away = replace(own_settings, elasticsearch_url="http://127.0.0.1:9")
    assert json.loads(run("doctor", "--json", settings=away).stdout)["sources"]["status"] != "ok"


def test_doctor_says_which_file_it_read(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "other.toml"
    file.write_text("drafts = true\n")
    monkeypatch.setenv("BLOGSEARCH_CONFIG", str(file))
    report = json.loads(run("doctor", "--json").stdout)
    assert str(file) in next(iter(report.values()))["seen"]


def test_doctor_names_the_address_without_the_password(run: Run, own_settings: Settings) -> None:
    away = replace(own_settings, elasticsearch_url="http://me:secret@127.0.0.1:9")
    result = run("doctor", settings=away)
    assert result.exit_code == 1
    assert "(http://127.0.0.1:9)" in result.output
    assert "secret" not in result.output
    assert "blogsearch doctor" not in result.output


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://:two,secrets@127.0.0.1:9/0", "(redis://127.0.0.1:9/0)"),
        ("redis://127.0.0.1:9/0?password=with@secret", "(the URL)"),
    ],
)
def test_doctor_names_redis_without_the_password(
    run: Run, own_settings: Settings, url: str, shown: str
) -> None:
    result = run("doctor", settings=replace(own_settings, redis_url=url))
    assert shown in result.output
    assert "secret" not in result.output
    assert "two" not in result.output


def test_doctor_leaves_out_what_the_setting_leaves_out(run: Run, settings: Settings) -> None:
    every = run("doctor").output
    less = replace(settings, synonyms_without="tech, misspellings.synonyms")
    result = run("doctor", settings=less)
    assert "in 3 file(s)" in every
    assert "in 1 file(s)" in result.output


def test_doctor_finds_a_misspelt_synonym_setting(
    run: Run, settings: Settings, tmp_path: Path
) -> None:
    for change in ({"synonyms_without": "tec"}, {"synonyms_dir": tmp_path / "nowhere"}):
        away = replace(settings, **change)
        result = run("doctor", "--json", settings=away)
        synonyms = json.loads(result.output)["synonyms"]
        assert synonyms["status"] == "warning"
        assert {"tec", "nowhere"} & set(re.findall(r"\w+", synonyms["seen"] + synonyms["remedy"]))


def test_what_elasticsearch_refuses_comes_with_its_reason(run: Run) -> None:
    result = run("analyze", "word " * 20_000)
    assert result.exit_code == 1
    assert "10000" in result.output


@pytest.fixture
def posts(tmp_path: Path) -> Path:
    """A file with one post."""
    path = tmp_path / "posts.jsonl"
    path.write_text(json.dumps({"oid": "three-balls", "title": "Juggling three balls"}))
    return path


def test_frequent_searches_are_cached_again_after_a_swap(
    run: Run, own_settings: Settings, posts: Path, count_searches: Callable[..., Counts]
) -> None:
    assert run("reindex", posts, settings=own_settings).exit_code == 0
    visitor = create_app(own_settings).test_client()
    assert visitor.get("/search?q=juggling").headers["X-Cache"] == "MISS"
    count_searches(own_settings, SearchRequest("juggling"))
    again = run("reindex", posts, settings=own_settings)
    assert "most frequent" in again.output
    assert visitor.get("/search?q=juggling").headers["X-Cache"] == "HIT"


def test_old_generations_are_deleted(
    run: Run, own_settings: Settings, alias: str, posts: Path
) -> None:
    for _ in range(3):
        last = run("reindex", posts, settings=own_settings)
        assert last.exit_code == 0, last.output
    assert f"{alias}-000001" in last.output
    listed = run("indices", "--json", settings=own_settings)
    states = {
        generation["generation"]: generation["state"] for generation in json.loads(listed.output)
    }
    assert states == {f"{alias}-000002": "previous", f"{alias}-000003": "live"}
