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
from indexer.ingest import IngestOptions, MaxRejects
from indexer.records import Origin, RawComment, RawPost, Reject
from indexer.retry import Retry
from indexer.state import state_index
from tests.tcp import forward, listening

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

    def test_too_many_of_them_swap_nothing(
        self,
        run: Run,
        elastic: Elasticsearch,
        alias: str,
        post_oids: PostOids,
        tmp_path: Path,
    ) -> None:
        source = tmp_path / "posts.jsonl"
        source.write_text(line("before"))
        assert run("reindex", source).exit_code == 0
        source.write_text("".join(line(number) for number in range(9)) + "nonsense\n")
        assert run("reindex", source).exit_code == 3
        source.write_text("".join(line(number) for number in range(8)) + "nonsense\n")
        done = run("reindex", source)
        assert done.exit_code == 1
        assert "1 of 9 posts" in done.stderr
        assert "--max-rejects" in done.stderr
        live = [
            generation.number
            for generation in list_generations(elastic, alias)
            if generation.state == "live"
        ]
        assert live == [2]
        assert len(post_oids()) == 9

    def test_can_be_allowed_by_number(self, run: Run, tmp_path: Path) -> None:
        source = tmp_path / "posts.jsonl"
        source.write_text(line("good") + "nonsense\n" * 3)
        assert run("reindex", source, "--max-rejects", "2").exit_code == 1
        assert run("reindex", source, "--max-rejects", "3").exit_code == 3
        assert run("reindex", source, "--max-rejects", "101%").exit_code == 2
        assert run("reindex", source, "--max-rejects", "some").exit_code == 2

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
        options = IngestOptions(MaxRejects(share=0.9))
        settings = IndexSettings(NO_RULES, 1, 0)
        built = reindex(elastic, alias, raws(), settings, rejected.append, options)
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

    def test_sample_posts_are_replaced(self, run: Run, post_oids: PostOids) -> None:
        samples = "".join(line(n, url=f"https://blog.example.org/{n}/") for n in range(9))
        assert run("reindex", "-", input=samples).exit_code == 0
        assert run("reindex", "-", input=line("one")).exit_code == 0
        assert post_oids() == {"one"}

    def test_comments_need_force(self, run: Run) -> None:
        comments = [{"oid": str(number), "comment": "x"} for number in range(8)]
        assert run("reindex", "-", input=line("a", comments=comments)).exit_code == 0
        done = run("reindex", "-", input=line("a", comments=comments[:1]))
        assert done.exit_code == 1
        assert "1 comments, the live index 8" in done.stderr
        again = line("a", comments=comments[:1])
        assert run("reindex", "-", "--force", input=again).exit_code == 0


class TestAdd:
    def test_adds_and_replaces_but_not_newer_versions(
        self, run: Run, elastic: Elasticsearch, alias: str, post_oids: PostOids
    ) -> None:
        first = line("a", modified="2024-01-02") + line("b")
        assert run("reindex", "-", input=first).exit_code == 0
        more = line("a", title="Older", modified="2024-01-01") + line("b", title="B") + line("c")
        done = run("add", "-", input=more)
        assert done.exit_code == 0
        assert "1 documents added, 1 replaced, 1 left unchanged" in done.stdout
        assert "1 older than in the index" in done.stderr
        assert post_oids() == {"a", "b", "c"}
        stored = elastic.get(index=alias, id="a")["_source"]["title"]
        assert stored == "Post a"
        assert "1 replaced" in run("add", "-", "--as-new", input=more).stdout
        stored = elastic.get(index=alias, id="a")["_source"]["title"]
        assert stored == "Older"

    def test_replaces_with_as_new_also_what_has_a_date_in_the_future(
        self, run: Run, elastic: Elasticsearch, alias: str
    ) -> None:
        comments = [{"oid": "c", "comment": "Old", "pub_date": "2099-01-02"}]
        future = line("a", modified="2099-01-01", comments=comments)
        assert run("reindex", "-", input=future).exit_code == 0
        comments = [{"oid": "c", "comment": "New", "pub_date": "2020-01-01"}]
        done = run("add", "-", "--as-new", input=line("a", title="New", comments=comments))
        assert "0 documents added, 1 replaced." in done.stdout
        stored = elastic.get(index=alias, id="a")["_source"]
        assert (stored["title"], stored["comments"][0]["comment"]) == ("New", "New")

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
        assert "1 documents added, 1 replaced" in done.stdout
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


def test_a_redis_that_cannot_be_updated_is_reported(run: Run, settings: Settings) -> None:
    down = replace(settings, redis_url="redis://127.0.0.1:1/0")
    done = run("reindex", "-", input=line("a"), settings=down)
    assert done.exit_code == 0
    assert "Redis" in done.stderr
    uncached = replace(settings, redis_url="")
    assert "Redis" not in run("reindex", "-", input=line("a"), settings=uncached).stderr


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
