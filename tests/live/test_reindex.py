"""`blogsearch reindex`, from a source to the live index."""

import gzip
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from elasticsearch import Elasticsearch

from indexer.store.generations import list_generations
from indexer.store.state import state_index
from tests.conftest import Run
from tests.writing import put_comments, put_post

PostOids = Callable[[], set[str]]


def line(oid: Any, **fields: Any) -> str:
    return json.dumps({"oid": oid, "title": f"Post {oid}", "text": "<p>Text</p>", **fields}) + "\n"


class TestRejects:
    BAD = (
        '{"oid": "x", "title"\n',
        line(None),
        '{"oid": "no-title", "text": "x"}\n',
        line("bad-date", pub_date="the day after"),
        line("good-1"),
    )

    def test_are_told_with_line_and_reason_and_the_rest_is_indexed(
        self, run: Run, post_oids: PostOids, tmp_path: Path
    ) -> None:
        source = tmp_path / "posts.jsonl"
        source.write_text(line("good-1") + "".join(self.BAD) + line("good-2"))
        done = run("reindex", source, "--force")
        assert done.exit_code == 3, done.output
        assert post_oids() == {"good-1", "good-2"}
        rejects = [told for told in done.stderr.splitlines() if told.startswith("rejected: ")]
        wanted = ("not JSON", "oid", "title", "pub_date", f"({source}:1)")
        for number, (reject, reason) in enumerate(zip(rejects, wanted, strict=True), 2):
            assert reject.startswith(f"rejected: {source}:{number}")
            assert reason in reject

    def test_too_many_of_them_swap_nothing(self, run: Run, post_oids: PostOids) -> None:
        assert run("reindex", "-", input=line("before")).exit_code == 0
        lines = "".join(line(number) for number in range(3)) + "nonsense\n" * 4
        done = run("reindex", "-", input=lines)
        assert done.exit_code == 1, done.output
        assert "4 of 7 posts were rejected" in done.stderr
        assert post_oids() == {"before"}
        assert run("reindex", "-", "--force", input=lines).exit_code == 3
        assert post_oids() == {"0", "1", "2"}


class TestSources:
    def test_standard_input_gzip_and_several(
        self, run: Run, post_oids: PostOids, tmp_path: Path
    ) -> None:
        packed, plain = tmp_path / "a.jsonl.gz", tmp_path / "b.jsonl"
        packed.write_bytes(gzip.compress(line("a").encode()))
        plain.write_text(line("b"))
        assert run("reindex", packed, plain).exit_code == 0
        assert post_oids() == {"a", "b"}
        assert run("reindex", "-", input=line("from a pipe")).exit_code == 0
        assert post_oids() == {"from a pipe"}

    def test_one_that_breaks_off_changes_nothing(
        self, run: Run, elastic: Elasticsearch, alias: str, post_oids: PostOids, tmp_path: Path
    ) -> None:
        assert run("reindex", "-", input=line("before")).exit_code == 0
        torn = tmp_path / "torn.jsonl.gz"
        whole = gzip.compress("".join(line(os.urandom(50).hex()) for _ in range(500)).encode())
        torn.write_bytes(whole[: len(whole) // 2])
        done = run("reindex", torn)
        assert done.exit_code == 1
        assert str(torn) in done.stderr
        assert post_oids() == {"before"}
        assert [generation.number for generation in list_generations(elastic, alias)] == [1]
        assert run("reindex", "-", input="").exit_code == 1
        assert run("reindex", tmp_path / "nowhere.jsonl").exit_code == 1
        assert post_oids() == {"before"}


class TestFewer:
    def test_posts_or_comments_need_force(self, run: Run, post_oids: PostOids) -> None:
        many = "".join(line(number) for number in range(20))
        assert run("reindex", "-", input=many).exit_code == 0
        done = run("reindex", "-", input=line("one"))
        assert done.exit_code == 1
        assert "1 posts, the live index 20" in done.stderr
        assert len(post_oids()) == 20
        comments = [{"oid": str(number), "comment": "x"} for number in range(8)]
        assert run("reindex", "-", "--force", input=line("a", comments=comments)).exit_code == 0
        assert post_oids() == {"a"}
        done = run("reindex", "-", input=line("a", comments=comments[:1]))
        assert (done.exit_code, "1 comments, the live index 8" in done.stderr) == (1, True)

    def test_what_came_over_http_is_kept(
        self, run: Run, elastic: Elasticsearch, alias: str, post_oids: PostOids
    ) -> None:
        assert run("reindex", "-", input=line("a") + line("b")).exit_code == 0
        put_post(elastic, alias, "http")
        put_comments(elastic, alias, "http", "1")
        put_comments(elastic, alias, "a", "1")
        elastic.indices.refresh(index=alias)
        done = run("reindex", "-", input=line("a", title="New"))
        assert "2 posts" in done.stdout
        stored = elastic.get(index=alias, id="a")["_source"]
        assert (stored["title"], len(stored["comments"])) == ("New", 1)
        done = run("reindex", "-", input=line("b"))
        assert done.exit_code == 1
        assert (
            "The source does not have 1 post with comments that came over HTTP (a)" in done.stderr
        )
        assert run("reindex", "-", "--force", input=line("b")).exit_code == 0
        assert post_oids() == {"b", "http"}


def feed_until_indexed(process: subprocess.Popen[str], elastic: Elasticsearch, alias: str) -> str:
    """Write lines to `reindex -` until it has sent some to the new generation; returns its name."""
    assert process.stdin
    name = f"{alias}-000002"
    deadline = time.monotonic() + 60
    number = 0
    while True:
        assert process.poll() is None, process.stderr and process.stderr.read()
        with suppress(BrokenPipeError):
            for _ in range(600):
                process.stdin.write(line(f"new-{number}"))
                number += 1
            process.stdin.flush()
        stats = elastic.options(ignore_status=404).indices.stats(index=name, metric="indexing")
        if "_all" in stats and stats["_all"]["primaries"]["indexing"]["index_total"]:
            return name
        assert time.monotonic() < deadline


class TestKilled:
    def test_by_sigkill_the_live_index_answers_and_the_next_run_clears_up(
        self,
        run: Run,
        start: Callable[..., subprocess.Popen[str]],
        elastic: Elasticsearch,
        alias: str,
        post_oids: PostOids,
    ) -> None:
        assert run("reindex", "-", input=line("before")).exit_code == 0
        process = start("reindex", "-")
        stale = feed_until_indexed(process, elastic, alias)
        locked_out = run("reindex", "-", input=line("x"))
        assert locked_out.exit_code == 1
        assert f"process {process.pid} " in locked_out.stderr
        process.kill()
        process.wait()
        assert post_oids() == {"before"}
        assert elastic.indices.exists(index=stale)
        elastic.delete(index=state_index(alias), id="lock")  # the lease is not waited for here
        done = run("reindex", "-", input=line("after"))
        assert done.exit_code == 0
        assert not elastic.indices.exists(index=stale)
        assert post_oids() == {"after"}
        assert [generation.number for generation in list_generations(elastic, alias)] == [1, 3]

    @pytest.mark.parametrize(
        ("number", "code", "name"),
        [
            (signal.SIGINT, 130, "Ctrl-C"),
            (signal.SIGTERM, 143, "SIGTERM"),
            (signal.SIGHUP, 129, "SIGHUP"),
        ],
    )
    def test_when_it_is_interrupted_it_says_that_nothing_was_changed(
        self,
        number: signal.Signals,
        code: int,
        name: str,
        run: Run,
        start: Callable[..., subprocess.Popen[str]],
        elastic: Elasticsearch,
        alias: str,
        post_oids: PostOids,
    ) -> None:
        assert run("reindex", "-", input=line("before")).exit_code == 0
        process = start("reindex", "-")
        unfinished = feed_until_indexed(process, elastic, alias)
        process.send_signal(number)
        assert process.stderr
        said = process.stderr.read()
        assert f"Nothing was changed: {alias}-000001 is still live." in said
        assert process.wait(60) == code
        assert post_oids() == {"before"}
        assert not elastic.indices.exists(index=unfinished)
        told = json.loads(run("doctor", "--json").stdout)["sources"]["seen"]
        assert told.endswith(f"failed a moment ago: it was stopped by {name}")
