"""`blogsearch reindex` and `add`, from a source to the live index."""

import gzip
import json
import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from click.testing import Result
from elasticsearch import Elasticsearch

from analyzers.rules.compile import NO_RULES
from app.settings import Settings
from indexer.build.builder import Built, IndexSettings, reindex
from indexer.bulk import BulkLimits, BulkTimeout
from indexer.generations import list_generations, live
from indexer.ingest import IngestOptions
from indexer.records import Origin, RawComment, RawPost, Reject
from indexer.retry import Retry
from indexer.state import state_index
from tests.tcp import forward, listening
from tests.writing import put_comments, put_post

Run = Callable[..., Result]
PostOids = Callable[[], set[str]]


def line(oid: Any, **fields: Any) -> str:
    return json.dumps({"oid": oid, "title": f"Post {oid}", "text": "<p>Text</p>", **fields}) + "\n"


@pytest.fixture
def settings(own_settings: Settings) -> Settings:
    """For commands that are run here: an index of the test's own."""
    return own_settings


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
        source, file = tmp_path / "posts.jsonl", tmp_path / "rejects.jsonl"
        source.write_text(line("good-1") + "".join(self.BAD) + line("good-2"))
        done = run("reindex", source, "--max-rejects", "80%", "--rejects", file)
        assert done.exit_code == 3, done.output
        assert post_oids() == {"good-1", "good-2"}
        rejects = [json.loads(reject) for reject in file.read_text().splitlines()]
        assert [reject["line"] for reject in rejects] == [2, 3, 4, 5, 6]
        assert all(reject["source"] == str(source) and reject["remedy"] for reject in rejects)
        assert "not JSON" in rejects[0]["reason"]
        assert "oid" in rejects[1]["reason"]
        assert "title" in rejects[2]["reason"]
        assert "pub_date" in rejects[3]["reason"]
        assert f"{source}:1" in rejects[4]["reason"]
        assert f"rejected: {source}:2: not JSON" in done.stderr

    @pytest.mark.parametrize(
        ("good", "bad", "options", "code"),
        [
            (5, 1, [], 3),
            (4, 3, [], 3),
            (40, 4, [], 3),
            (40, 5, [], 1),
            (1, 2, [], 1),
            (1, 2, ["--max-rejects", "2"], 3),
            (1, 2, ["--max-rejects", "1"], 1),
            (9, 1, ["--max-rejects", "5%"], 1),
            (9, 1, ["--max-rejects", "10%"], 3),
            (9, 0, ["--max-rejects", "101%"], 2),
        ],
    )
    def test_too_many_of_them_swap_nothing(
        self,
        run: Run,
        post_oids: PostOids,
        index_posts: Callable[[Iterable[RawPost]], Built],
        good: int,
        bad: int,
        options: list[str],
        code: int,
    ) -> None:
        index_posts([RawPost(Origin("s"), "before", "Before", "x")])
        lines = "".join(line(number) for number in range(good)) + "nonsense\n" * bad
        done = run("reindex", "-", *options, input=lines)
        assert done.exit_code == code, done.output
        assert (post_oids() == {"before"}) == (code != 3)

    def test_a_post_refused_by_elasticsearch_is_rejected_with_its_comments(
        self, elastic: Elasticsearch, alias: str, pipeline: str
    ) -> None:
        def raws() -> Iterator[RawPost]:
            elastic.indices.put_settings(
                index=f"{alias}-000001", settings={"index.default_pipeline": pipeline}
            )
            comments = (RawComment("c1", "First"), RawComment("c2", "Second"))
            yield RawPost(Origin("s", 1), "refused", "T", "x", comments=comments)
            yield RawPost(Origin("s", 2), "accepted", "T", "x")

        rejected: list[Reject] = []
        settings = IndexSettings(NO_RULES, 1, 0)
        built = reindex(elastic, alias, raws(), settings, rejected.append)
        assert (built.counts.posts, built.counts.comments) == (1, 0)
        (reject,) = rejected
        assert (reject.oid, str(reject.origin)) == ("refused", "s:1")
        assert "not this one" in reject.reason

    @pytest.fixture
    def pipeline(self, elastic: Elasticsearch, alias: str) -> Iterator[str]:
        """An ingest pipeline that refuses one post."""
        refuse = {"message": "not this one", "if": "ctx.oid == 'refused'"}
        elastic.ingest.put_pipeline(id=alias, processors=[{"fail": refuse}])
        yield alias
        # An index may not use a pipeline that is deleted.
        elastic.indices.put_settings(
            index=f"{alias}-0*", settings={"index.default_pipeline": None}, allow_no_indices=True
        )
        elastic.ingest.delete_pipeline(id=alias)


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
        self,
        run: Run,
        elastic: Elasticsearch,
        alias: str,
        post_oids: PostOids,
        tmp_path: Path,
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

    def test_one_without_posts_changes_nothing(
        self, run: Run, post_oids: PostOids, tmp_path: Path
    ) -> None:
        assert run("reindex", "-", input=line("before")).exit_code == 0
        assert run("reindex", "-", input="").exit_code == 1
        assert run("reindex", tmp_path / "nowhere.jsonl").exit_code == 1
        assert post_oids() == {"before"}


class TestFewer:
    def test_posts_need_force(self, run: Run, post_oids: PostOids) -> None:
        many = "".join(line(number) for number in range(20))
        assert run("reindex", "-", input=many).exit_code == 0
        done = run("reindex", "-", input=line("one"))
        assert done.exit_code == 1
        assert "1 posts, the live index 20" in done.stderr
        assert len(post_oids()) == 20
        assert run("reindex", "-", "--force", input=line("one")).exit_code == 0
        assert post_oids() == {"one"}

    def test_sample_posts_are_replaced_whatever_came_over_http(
        self, run: Run, elastic: Elasticsearch, alias: str, post_oids: PostOids
    ) -> None:
        samples = "".join(line(n, url=f"https://sample.example.org/{n}/") for n in range(9))
        assert run("reindex", "-", input=samples).exit_code == 0
        put_post(elastic, alias, "http")
        put_comments(elastic, alias, "0", "http")
        own = "".join(line(n, url=f"https://blog.example.org/{n}/") for n in range(9))
        assert run("reindex", "-", input=own.replace('"oid": ', '"oid": 1')).exit_code == 0
        assert post_oids() == {"http", *(f"1{n}" for n in range(9))}
        assert run("reindex", "-", input=line("one")).exit_code == 1

    def test_comments_need_force(self, run: Run) -> None:
        comments = [{"oid": str(number), "comment": "x"} for number in range(8)]
        assert run("reindex", "-", input=line("a", comments=comments)).exit_code == 0
        fewer = line("a", comments=comments[:1])
        done = run("reindex", "-", input=fewer)
        assert done.exit_code == 1
        assert "1 comments, the live index 8" in done.stderr
        assert run("reindex", "-", "--force", input=fewer).exit_code == 0

    def test_what_came_over_http_is_kept(
        self, run: Run, elastic: Elasticsearch, alias: str, post_oids: PostOids
    ) -> None:
        assert run("reindex", "-", input=line("a") + line("b")).exit_code == 0
        put_post(elastic, alias, "http")
        put_comments(elastic, alias, "http", "1")
        put_comments(elastic, alias, "a", "1")
        elastic.indices.refresh(index=alias)
        done = run("reindex", "-", input=line("a", title="New"))
        assert "Kept 1 post and 1 comment" in done.stdout
        stored = elastic.get(index=alias, id="a")["_source"]
        assert (stored["title"], len(stored["comments"])) == ("New", 1)
        done = run("reindex", "-", input=line("b"))
        assert done.exit_code == 1
        assert "1 posts that the source does not have (a)" in done.stderr
        assert run("reindex", "-", "--force", input=line("b")).exit_code == 0
        assert post_oids() == {"b", "http"}


class TestAdd:
    def test_adds_and_replaces_but_not_newer_versions(
        self, run: Run, elastic: Elasticsearch, alias: str, post_oids: PostOids
    ) -> None:
        first = line("a", modified="2024-01-02") + line("b")
        assert run("reindex", "-", input=first).exit_code == 0
        more = line("a", title="Older", modified="2024-01-01") + line("b", title="B") + line("c")
        done = run("add", "-", input=more)
        assert done.exit_code == 0
        assert "1 posts added, 1 replaced, 1 left as they are" in done.stdout
        assert post_oids() == {"a", "b", "c"}
        assert elastic.get(index=alias, id="a")["_source"]["title"] == "Post a"

    def test_keeps_comments_that_are_not_in_the_source(
        self, run: Run, elastic: Elasticsearch, alias: str
    ) -> None:
        comments = [{"oid": "1", "comment": "One"}]
        assert run("reindex", "-", input=line("a", comments=comments)).exit_code == 0
        put_comments(elastic, alias, "a", "2")
        assert run("add", "-", input=line("a", title="New")).exit_code == 0
        stored = elastic.get(index=alias, id="a")["_source"]
        assert (stored["title"], len(stored["comments"])) == ("New", 2)

    def test_a_post_of_a_feed_is_the_post_of_the_folder(
        self, run: Run, elastic: Elasticsearch, alias: str, post_oids: PostOids, tmp_path: Path
    ) -> None:
        """`reindex content/` and then `add feed.xml`: other oids, the same addresses. A summary
        is left out, however new it is."""
        (tmp_path / "posts").mkdir()
        for name in ("one", "two"):
            text = f"---\ntitle: {name}\ndate: 2024-01-31\n---\nThe whole text."
            (tmp_path / f"posts/{name}.md").write_text(text)
        site = ("--site", "https://example.org")
        assert run("reindex", tmp_path / "posts", *site).exit_code == 0
        items = "".join(
            f"<entry><title>{name}</title><id>urn:{name}</id>"
            f"<published>2024-02-01T00:00:00Z</published><{element}>Short</{element}>"
            f"<link href='https://www.example.org/{name}.html?utm_source=feed'/></entry>"
            for name, element in (("one", "summary"), ("two", "content"), ("three", "summary"))
        )
        feed = tmp_path / "feed.xml"
        feed.write_text(f"<feed xmlns='http://www.w3.org/2005/Atom'>{items}</feed>")
        done = run("add", feed)
        assert "1 posts added, 1 replaced" in done.stdout
        assert "1 in the index already, by its address" in done.stderr
        assert post_oids() == {"one", "two", "urn:three"}
        texts = [elastic.get(index=alias, id=oid)["_source"]["text"] for oid in ("one", "two")]
        assert texts == ["The whole text.", "Short"]

    def test_needs_an_index(self, run: Run) -> None:
        done = run("add", "-", input=line("a"))
        assert done.exit_code == 1
        assert "blogsearch reindex" in done.stderr


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
        assert stale in done.stdout
        assert not elastic.indices.exists(index=stale)
        assert post_oids() == {"after"}
        assert [generation.number for generation in list_generations(elastic, alias)] == [1, 3]

    def test_by_sigterm_it_removes_what_it_built(
        self,
        run: Run,
        start: Callable[..., subprocess.Popen[str]],
        elastic: Elasticsearch,
        alias: str,
    ) -> None:
        assert run("reindex", "-", input=line("before")).exit_code == 0
        process = start("reindex", "-")
        stale = feed_until_indexed(process, elastic, alias)
        process.terminate()
        assert process.wait(30) != 0
        assert not elastic.indices.exists(index=stale)
        assert run("prune").exit_code == 0


@dataclass(frozen=True)
class Wire:
    """A TCP proxy to Elasticsearch whose connections can be cut."""

    url: str
    _whole: threading.Event

    def cut(self) -> None:
        self._whole.clear()

    def restore(self) -> None:
        self._whole.set()


@pytest.fixture
def wire(elasticsearch_url: str) -> Iterator[Wire]:
    parts = urlsplit(elasticsearch_url)
    address = (parts.hostname or "", parts.port or 9200)
    whole = threading.Event()
    whole.set()

    def serve(near: socket.socket) -> None:
        if whole.is_set():
            forward(near, address, lambda _: whole.is_set())

    with listening(serve) as port:
        yield Wire(f"http://127.0.0.1:{port}", whole)


class TestElasticsearchGoesAway:
    LIMITS = BulkLimits(chunk_documents=100, retry=Retry(total=1.0), timeout=5.0)
    POSTS = 800

    def raws(self, after: Callable[[], None]) -> Iterator[RawPost]:
        for number in range(self.POSTS):
            yield RawPost(Origin("s", number), str(number), "T", "<p>Text</p>")
            if number == self.POSTS // 2:
                after()

    def test_for_good_it_says_so_and_the_next_run_clears_up(
        self,
        elastic: Elasticsearch,
        alias: str,
        wire: Wire,
        index_posts: Callable[[Iterable[RawPost]], Built],
    ) -> None:
        settings = IndexSettings(NO_RULES, 1, 0)
        options = IngestOptions(limits=self.LIMITS)
        with (
            Elasticsearch(wire.url, request_timeout=5) as client,
            pytest.raises(BulkTimeout, match="did not accept"),
        ):
            reindex(client, alias, self.raws(wire.cut), settings, pytest.fail, options)
        assert live(elastic, alias) is None
        assert len(list_generations(elastic, alias)) == 1
        # It could not release the lock either; the lease is not waited for here.
        elastic.delete(index=state_index(alias), id="lock")
        built = index_posts(self.raws(lambda: None))
        assert built.stale_builds == (f"{alias}-000001",)
        assert built.counts.posts == self.POSTS

    def test_for_a_moment_it_tries_again(
        self, elastic: Elasticsearch, alias: str, wire: Wire
    ) -> None:
        def cut() -> None:
            wire.cut()
            threading.Timer(0.5, wire.restore).start()

        with Elasticsearch(wire.url, request_timeout=30) as client:
            settings = IndexSettings(NO_RULES, 1, 0)
            options = IngestOptions(
                limits=replace(self.LIMITS, retry=Retry(total=30.0), timeout=30.0)
            )
            built = reindex(client, alias, self.raws(cut), settings, pytest.fail, options)
        assert built.counts.posts == self.POSTS
