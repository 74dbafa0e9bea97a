"""`blogsearch reindex` and `add` from a source to the live index, and every way it may end."""

import gzip
import json
import os
import signal
import socket
import socketserver
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from elasticsearch import Elasticsearch

from analyzers.rules import NO_RULES
from app.cli import main
from indexer import lock
from indexer.build.builder import IndexSettings
from indexer.build.reindex import ReindexOptions, reindex
from indexer.bulk.operations import BulkLimits
from indexer.bulk.sender import BulkTimeout
from indexer.errors import Locked, TooManyRejects
from indexer.generations import list_generations, live
from indexer.ingest import MaxRejects
from indexer.records import Origin, RawComment, RawPost, Reject
from indexer.write.delete import delete_post

Run = Callable[..., Result]


def line(oid: Any, **fields: Any) -> str:
    return json.dumps({"oid": oid, "title": f"Post {oid}", "text": "<p>Text</p>", **fields}) + "\n"


@pytest.fixture
def run(
    alias: str,
    elasticsearch_url: str,
    redis_url: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Run:
    """Runs the command as a shell would, on an index of its own and without synonym rules."""
    monkeypatch.setenv("ELASTICSEARCH_URL", elasticsearch_url)
    monkeypatch.setenv("REDIS_URL", redis_url)
    monkeypatch.setenv("BLOGSEARCH_INDEX", alias)
    monkeypatch.setenv("BLOGSEARCH_SYNONYMS_DIR", str(tmp_path))

    def invoke(*arguments: str | Path, **rest: Any) -> Result:
        return CliRunner().invoke(main, [str(one) for one in arguments], **rest)

    return invoke


def live_oids(elastic: Elasticsearch, alias: str) -> set[str]:
    elastic.indices.refresh(index=alias)
    found = elastic.search(index=alias, query={"term": {"kind": "post"}}, size=1_000)
    return {hit["_source"]["oid"] for hit in found["hits"]["hits"]}


class TestRejects:
    BAD = (
        '{"oid": "x", "title"\n',
        line(None),
        '{"oid": "no-title", "text": "x"}\n',
        line("bad-date", pub_date="the day after"),
        line("good-1"),
    )

    def test_are_told_with_line_and_reason_and_the_rest_is_indexed(
        self, run: Run, elastic: Elasticsearch, alias: str, tmp_path: Path
    ) -> None:
        source, file = tmp_path / "posts.jsonl", tmp_path / "rejects.jsonl"
        source.write_text(line("good-1") + "".join(self.BAD) + line("good-2"))
        done = run("reindex", source, "--max-rejects", "80%", "--rejects", file)
        assert done.exit_code == 3, done.output
        assert live_oids(elastic, alias) == {"good-1", "good-2"}
        told = [json.loads(one) for one in file.read_text().splitlines()]
        assert [one["line"] for one in told] == [2, 3, 4, 5, 6]
        assert all(one["source"] == str(source) and one["remedy"] for one in told)
        assert "not JSON" in told[0]["reason"]
        assert "oid" in told[1]["reason"]
        assert "title" in told[2]["reason"]
        assert "pub_date" in told[3]["reason"]
        assert f"{source}:1" in told[4]["reason"]
        assert f"rejected: {source}:2: not JSON" in done.stderr

    def test_too_many_of_them_swap_nothing(
        self, run: Run, elastic: Elasticsearch, alias: str, tmp_path: Path
    ) -> None:
        source = tmp_path / "posts.jsonl"
        source.write_text(line("before"))
        assert run("reindex", source).exit_code == 0
        source.write_text("".join(line(number) for number in range(199)) + "nonsense\n")
        assert run("reindex", source).exit_code == 3
        source.write_text("".join(line(number) for number in range(198)) + "nonsense\n")
        done = run("reindex", source)
        assert done.exit_code == 1
        assert "1 of 199 lines were rejected (0.5%), more than the 0.5 % allowed" in done.stderr
        assert "--max-rejects" in done.stderr
        assert [one.number for one in list_generations(elastic, alias)] == [1, 2]
        assert len(live_oids(elastic, alias)) == 199

    def test_can_be_allowed_by_number(self, run: Run, tmp_path: Path) -> None:
        source = tmp_path / "posts.jsonl"
        source.write_text(line("good") + "nonsense\n" * 3)
        assert run("reindex", source, "--max-rejects", "2").exit_code == 1
        assert run("reindex", source, "--max-rejects", "3").exit_code == 3
        assert run("reindex", source, "--max-rejects", "101%").exit_code == 2
        assert run("reindex", source, "--max-rejects", "some").exit_code == 2

    def test_those_of_elasticsearch_take_their_comments_along(
        self, elastic: Elasticsearch, alias: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def spoilt(number: int) -> RawPost:
            comments = (RawComment("c1", "First"), RawComment("c2", "Second"))
            return RawPost(Origin("s", number), str(number), "T", "x", comments=comments)

        def body(*_: Any, **__: Any) -> Any:
            fields = {"oid": {"type": "keyword"}, "comment": {"type": "text"}}
            fields |= {"post_oid": {"type": "keyword"}, "title": {"type": "keyword"}}
            fields |= {"kind": {"type": "join", "relations": {"post": "comment"}}}
            fields |= {"text": {"type": "text"}, "digest": {"type": "keyword"}}
            return {
                "settings": {},
                # Refuses a title, which nothing of ours can do after `normalise`.
                "mappings": {"properties": {**fields, "title": {"type": "date"}}},
            }

        monkeypatch.setattr("indexer.build.builder.index_body", body)
        rejected: list[Reject] = []
        raws = [spoilt(1), RawPost(Origin("s", 2), "2", "2024", "x")]
        options = ReindexOptions(MaxRejects(share=0.9))
        built = reindex(
            elastic, alias, raws, IndexSettings(NO_RULES, 1, 0), rejected.append, options
        )
        assert (built.counts.posts, built.counts.comments) == (1, 0)
        (reject,) = rejected
        assert (reject.oid, str(reject.origin)) == ("1", "s:1")
        assert "title" in reject.reason


class TestSources:
    def test_standard_input_gzip_and_several(
        self, run: Run, elastic: Elasticsearch, alias: str, tmp_path: Path
    ) -> None:
        packed, plain = tmp_path / "a.jsonl.gz", tmp_path / "b.jsonl"
        packed.write_bytes(gzip.compress(line("a").encode()))
        plain.write_text(line("b"))
        assert run("reindex", packed, plain).exit_code == 0
        assert live_oids(elastic, alias) == {"a", "b"}
        assert run("reindex", "-", input=line("from a pipe")).exit_code == 0
        assert live_oids(elastic, alias) == {"from a pipe"}

    def test_one_that_breaks_off_changes_nothing(
        self, run: Run, elastic: Elasticsearch, alias: str, tmp_path: Path
    ) -> None:
        assert run("reindex", "-", input=line("before")).exit_code == 0
        torn = tmp_path / "torn.jsonl.gz"
        whole = gzip.compress("".join(line(os.urandom(50).hex()) for _ in range(500)).encode())
        torn.write_bytes(whole[: len(whole) // 2])
        done = run("reindex", torn)
        assert done.exit_code == 1
        assert "damaged" in done.stderr
        assert live_oids(elastic, alias) == {"before"}
        assert [one.number for one in list_generations(elastic, alias)] == [1]

    def test_one_without_posts_changes_nothing(
        self, run: Run, elastic: Elasticsearch, alias: str, tmp_path: Path
    ) -> None:
        assert run("reindex", "-", input=line("before")).exit_code == 0
        assert run("reindex", "-", input="").exit_code == 1
        assert run("reindex", tmp_path / "nowhere.jsonl").exit_code == 1
        assert live_oids(elastic, alias) == {"before"}


class TestAdd:
    def test_adds_replaces_and_leaves_newer_ones_alone(
        self, run: Run, elastic: Elasticsearch, alias: str
    ) -> None:
        first = line("a", modified="2024-01-02") + line("b")
        assert run("reindex", "-", input=first).exit_code == 0
        more = line("a", title="Older", modified="2024-01-01") + line("b", title="B") + line("c")
        done = run("add", "-", input=more)
        assert done.exit_code == 0
        assert "1 documents added, 1 replaced, 1 left alone" in done.stdout
        assert live_oids(elastic, alias) == {"a", "b", "c"}
        stored = elastic.get(index=alias, id="post:a", routing="a")["_source"]["title"]
        assert stored == "Post a"
        assert "3 replaced" in run("add", "-", "--as-new", input=more).stdout
        stored = elastic.get(index=alias, id="post:a", routing="a")["_source"]["title"]
        assert stored == "Older"

    def test_does_not_bring_back_what_was_deleted_since(
        self, run: Run, elastic: Elasticsearch, alias: str
    ) -> None:
        lines = line("a", pub_date="2024-01-01", comments=[{"oid": "c", "comment": "x"}])
        assert run("reindex", "-", input=lines + line("b")).exit_code == 0
        assert delete_post(elastic, alias, "a") == (True, 1)
        done = run("add", "-", input=lines)
        assert "0 documents added, 0 replaced, 2 left alone" in done.stdout
        assert "2 documents added" in run("add", "-", "--as-new", input=lines).stdout
        assert live_oids(elastic, alias) == {"a", "b"}

    def test_needs_an_index(self, run: Run) -> None:
        done = run("add", "-", input=line("a"))
        assert done.exit_code == 1
        assert "blogsearch reindex" in done.stderr


@pytest.fixture
def started(run: Run) -> Iterator[subprocess.Popen[bytes]]:
    """`blogsearch reindex -` in a process of its own, waiting for lines; before it, one post."""
    assert run("reindex", "-", input=line("before")).exit_code == 0
    process = subprocess.Popen(
        [sys.executable, "-c", "from app.cli import main; main()", "reindex", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    yield process
    process.kill()
    with suppress(BrokenPipeError):
        process.communicate()


def half_way(process: subprocess.Popen[bytes], elastic: Elasticsearch, alias: str) -> str:
    """Feed the process until documents are in the new generation; its name."""
    assert process.stdin
    name = f"{alias}-000002"
    deadline = time.monotonic() + 60
    number = 0
    while True:
        assert process.poll() is None, process.stderr and process.stderr.read().decode()
        with suppress(BrokenPipeError):
            for _ in range(600):
                process.stdin.write(line(f"new-{number}").encode())
                number += 1
            process.stdin.flush()
        stats = elastic.options(ignore_status=404).indices.stats(index=name, metric="indexing")
        if "_all" in stats and stats["_all"]["primaries"]["indexing"]["index_total"]:
            return name
        assert time.monotonic() < deadline


def test_without_redis_it_says_that_answers_may_be_old(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:1/0")
    done = run("reindex", "-", input=line("a"))
    assert done.exit_code == 0
    assert "Redis did not take note" in done.stderr
    monkeypatch.setenv("REDIS_URL", "")
    assert "Redis" not in run("reindex", "-", input=line("a")).stderr


class TestKilled:
    def test_by_sigkill_the_live_index_answers_and_the_next_run_clears_up(
        self,
        run: Run,
        elastic: Elasticsearch,
        alias: str,
        started: subprocess.Popen[bytes],
    ) -> None:
        orphan = half_way(started, elastic, alias)
        assert "is being changed by process" in run("reindex", "-", input=line("x")).stderr
        started.send_signal(signal.SIGKILL)
        started.wait()
        assert live_oids(elastic, alias) == {"before"}
        assert elastic.indices.exists(index=orphan)
        done = run("reindex", "-", input=line("after"))
        assert done.exit_code == 0
        assert f"Removed {orphan}" in done.stdout
        assert not elastic.indices.exists(index=orphan)
        assert live_oids(elastic, alias) == {"after"}
        assert [one.number for one in list_generations(elastic, alias)] == [1, 3]

    def test_by_sigterm_it_removes_what_it_built(
        self,
        run: Run,
        elastic: Elasticsearch,
        alias: str,
        started: subprocess.Popen[bytes],
    ) -> None:
        orphan = half_way(started, elastic, alias)
        started.terminate()
        assert started.wait(30) != 0
        assert not elastic.indices.exists(index=orphan)
        assert run("prune").exit_code == 0


class Wire(socketserver.ThreadingTCPServer):
    """A wire to Elasticsearch that can be cut."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, host: str, port: int) -> None:
        self._there = (host, port)
        self._cut = threading.Event()
        super().__init__(("127.0.0.1", 0), socketserver.BaseRequestHandler)

    def finish_request(self, request: Any, client_address: Any) -> None:
        if self._cut.is_set():
            return
        with socket.create_connection(self._there) as there:
            back = threading.Thread(target=self._pass_on, args=(there, request), daemon=True)
            back.start()
            self._pass_on(request, there)

    def cut(self) -> None:
        self._cut.set()

    def mend(self) -> None:
        self._cut.clear()

    def _pass_on(self, source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                if self._cut.is_set():
                    break
                sink.sendall(data)
        except OSError:
            pass
        for one in (source, sink):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue


@pytest.fixture
def wire(elasticsearch_url: str) -> Iterator[Wire]:
    host, _, port = elasticsearch_url.removeprefix("http://").rstrip("/").partition(":")
    with Wire(host, int(port or 9200)) as made:
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        yield made
        made.shutdown()
        thread.join()


class TestElasticsearchGoesAway:
    def raws(self, after: Callable[[], None]) -> Iterator[RawPost]:
        for number in range(3_000):
            yield RawPost(Origin("s", number), str(number), "T", "<p>Text</p>")
            if number == 1_500:
                after()

    def test_for_good_it_says_so_and_the_next_run_clears_up(
        self,
        elastic: Elasticsearch,
        alias: str,
        wire: Wire,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        shape = IndexSettings(NO_RULES, 1, 0)
        address = f"http://127.0.0.1:{wire.server_address[1]}"
        options = ReindexOptions(limits=BulkLimits(retry_for=1.0, timeout=5.0))
        with (
            Elasticsearch(address, request_timeout=5) as client,
            pytest.raises(BulkTimeout, match="did not accept"),
        ):
            reindex(client, alias, self.raws(wire.cut), shape, pytest.fail, options)
        assert live(elastic, alias) is None
        assert len(list_generations(elastic, alias)) == 1
        with pytest.raises(Locked):  # it could not even give the lock back
            reindex(elastic, alias, self.raws(lambda: None), shape, pytest.fail)
        monkeypatch.setattr(lock, "LEASE", 0.0)
        built = reindex(elastic, alias, self.raws(lambda: None), shape, pytest.fail)
        assert built.stale_builds == (f"{alias}-000001",)
        assert built.counts.posts == 3_000

    def test_for_a_moment_it_tries_again(
        self, elastic: Elasticsearch, alias: str, wire: Wire
    ) -> None:
        def cut() -> None:
            wire.cut()
            threading.Timer(1.0, wire.mend).start()

        address = f"http://127.0.0.1:{wire.server_address[1]}"
        with Elasticsearch(address, request_timeout=5) as client:
            built = reindex(
                client, alias, self.raws(cut), IndexSettings(NO_RULES, 1, 0), pytest.fail
            )
        assert built.counts.posts == 3_000


def test_an_allowance_of_nothing_is_exceeded_by_one() -> None:
    MaxRejects(share=0.0).check(0, 10)
    with pytest.raises(TooManyRejects, match="1 of 10"):
        MaxRejects(share=0.0).check(1, 10)
