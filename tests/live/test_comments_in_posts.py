"""The field `comments` of a post equals the texts of its comments, whoever writes what."""

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from elastic_transport import RequestsHttpNode
from elasticsearch import Elasticsearch

from analyzers.rules.compile import NO_RULES, RuleSet, read_rules
from indexer.build.builder import Built, IndexSettings, rebuild, reindex
from indexer.build.rollback import rollback
from indexer.generations import list_generations, require_live
from indexer.ingest import IngestOptions, MaxRejects
from indexer.lock import Lock
from indexer.normalise import comment_document, documents
from indexer.records import Document, Origin, Progress, RawComment, RawPost, Reject
from indexer.sync import add, sync
from indexer.write.live import Write, Written, delete_comment, delete_post, put

SETTINGS = IndexSettings(NO_RULES, 1, 0)
ORIGIN = Origin("test")


def post(
    oid: str = "a", text: str = "Text", comments: Iterable[str] = (), **fields: Any
) -> RawPost:
    raw_comments = tuple(RawComment(comment, f"About {comment}") for comment in comments)
    return RawPost(ORIGIN, oid, "A post", text, comments=raw_comments, **fields)


class Blog:
    """An index of the test's own, written one document at a time."""

    def __init__(self, elastic: Elasticsearch, alias: str) -> None:
        self.elastic = elastic
        self.alias = alias

    def put(self, raw: RawPost, *, newest: bool = True) -> list[Written]:
        made = [document for document in documents(raw) if isinstance(document, Document)]
        return put(self.elastic, self.alias, [Write(document, newest) for document in made])

    def comment(self, oid: str, post_oid: str = "a", text: str = "") -> Written:
        raw = RawComment(oid, text or f"About {oid}")
        document = comment_document(post_oid, raw, ORIGIN)
        assert isinstance(document, Document)
        (written,) = put(self.elastic, self.alias, [Write(document, newest=True)])
        return written

    def uncomment(self, oid: str, post_oid: str = "a") -> bool:
        return delete_comment(self.elastic, self.alias, post_oid, oid)

    def stored(self, oid: str = "a") -> dict[str, Any]:
        source: dict[str, Any] = self.elastic.get(index=self.alias, id=f"post:{oid}", routing=oid)[
            "_source"
        ]
        return source

    def comments(self, oid: str = "a") -> list[str]:
        """The field of the post, which must equal the comments themselves."""
        self.elastic.indices.refresh(index=self.alias)
        query = {"term": {"post_oid": oid}}
        hits = self.elastic.search(index=self.alias, query=query, size=1_000)["hits"]["hits"]
        children = sorted(hit["_source"]["comment"] for hit in hits)
        assert sorted(self.stored(oid).get("comments", [])) == children
        return [text.removeprefix("About ") for text in children]

    def comments_without_post(self) -> int:
        """The number of comments that have no post."""
        self.elastic.indices.refresh(index=self.alias)
        any_post = {"has_parent": {"parent_type": "post", "query": {"match_all": {}}}}
        query = {"bool": {"filter": {"exists": {"field": "post_oid"}}, "must_not": any_post}}
        return int(self.elastic.count(index=self.alias, query=query)["count"])


@pytest.fixture
def blog(
    elastic: Elasticsearch, alias: str, index_posts: Callable[[Iterable[RawPost]], Built]
) -> Blog:
    index_posts([post(comments=["c1"], pub_date="2024-01-01"), post("b", pub_date="2024-01-01")])
    return Blog(elastic, alias)


class TestSingleWrites:
    def test_of_comments_update_their_post(self, blog: Blog) -> None:
        assert blog.comments() == ["c1"]
        assert blog.comment("c2").status == 201
        assert blog.comments() == ["c1", "c2"]
        assert blog.comment("c2", text="About changed").status == 200
        assert blog.comments() == ["c1", "changed"]
        assert blog.uncomment("c1")
        assert blog.comments() == ["changed"]
        assert blog.uncomment("c2")
        assert blog.comments() == []

    def test_of_a_post_keep_its_comments(self, blog: Blog) -> None:
        blog.comment("c2")
        assert [written.status for written in blog.put(post(text="Another", comments=["c3"]))] == [
            200,
            201,
        ]
        assert blog.comments() == ["c1", "c2", "c3"]
        assert blog.stored()["text"] == "Another"

    def test_may_repeat_a_post_with_its_date_after_a_comment(self, blog: Blog) -> None:
        dated = post("d", modified="2024-05-02")
        blog.put(dated, newest=False)
        for _ in range(3):
            blog.comment("c", "d")
            assert [written.status for written in blog.put(dated, newest=False)] == [200]
        older = post("d", "Older", modified="2024-05-01")
        assert [written.status for written in blog.put(older, newest=False)] == [409]
        assert blog.comments("d") == ["c"]

    def test_of_a_deletion_repeated_after_a_crash_update_the_post(self, blog: Blog) -> None:
        """The first one was killed after it had deleted the comment."""
        blog.elastic.delete(index=blog.alias, id="comment:a:c1", routing="a")
        assert not blog.uncomment("c1")
        assert blog.comments() == []


class TestTogether:
    def test_nothing_is_lost(self, blog: Blog) -> None:
        """Two threads replace the post with the same date; three write and delete its comments."""
        rounds = 9
        assert blog.put(post(modified="2100-01-01"))[0].status == 200

        def replace_post(thread: int) -> None:
            for number in range(rounds):
                raw = post(text=f"Round {number} of {thread}", modified="2200-01-01")
                (written,) = blog.put(raw, newest=False)
                assert written.status == 200, written

        def write_comments(thread: int) -> None:
            for number in range(rounds):
                oid = f"{thread}-{number}"
                assert blog.comment(oid).status == 201
                assert blog.comment(oid, text=f"About {oid} again").status == 200
                if number % 3 == 2:
                    assert blog.uncomment(oid)

        with ThreadPoolExecutor() as pool:
            running = [pool.submit(replace_post, thread) for thread in range(2)]
            running += [pool.submit(write_comments, thread) for thread in range(3)]
        for future in running:
            future.result()
        left = [f"{t}-{n} again" for t in range(3) for n in range(rounds) if n % 3 != 2]
        assert blog.comments() == sorted(["c1", *left])
        assert blog.stored()["text"].startswith(f"Round {rounds - 1} of")

    def test_a_deleted_post_leaves_no_comment(self, blog: Blog) -> None:
        failures: list[object] = []

        def write_comments(thread: int) -> None:
            for number in range(30):
                status = blog.comment(f"{thread}-{number}", "b").status
                if status not in {201, 404}:
                    failures.append(status)

        def delete_and_write() -> None:
            for _ in range(10):
                delete_post(blog.elastic, blog.alias, "b")
                blog.put(post("b"))
            delete_post(blog.elastic, blog.alias, "b")

        threads = [threading.Thread(target=write_comments, args=(n,)) for n in range(3)]
        threads.append(threading.Thread(target=delete_and_write))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert blog.comments_without_post() == 0


class TestBuilds:
    def test_an_update_for_a_deleted_generation_changes_no_other(
        self, blog: Blog, elasticsearch_url: str
    ) -> None:
        """Nor does it create the deleted one again, without a mapping."""
        swapped: list[Built] = []
        raws = [post(text="Changed", comments=["c1"], pub_date="2024-01-01"), post("b")]

        def swap() -> None:
            swapped.append(reindex(blog.elastic, blog.alias, raws, SETTINGS, pytest.fail))
            blog.elastic.indices.delete(index=f"{blog.alias}-000001")

        class Node(RequestsHttpNode):
            def perform_request(
                self, method: str, target: str, body: bytes | None = None, *rest: Any, **more: Any
            ) -> Any:
                if body and b"if_seq_no" in body and not swapped:
                    swap()
                return super().perform_request(method, target, body, *rest, **more)

        with Elasticsearch(elasticsearch_url, node_class=Node, request_timeout=30) as client:
            Blog(client, blog.alias).comment("during")
        assert len(swapped) == 1
        assert blog.stored()["text"] == "Changed"
        assert blog.comments() == ["c1", "during"]
        generations = list_generations(blog.elastic, blog.alias)
        assert [generation.name for generation in generations] == [f"{blog.alias}-000002"]

    @pytest.fixture
    def rules(self, tmp_path: Path) -> RuleSet:
        file = tmp_path / "some.synonyms"
        file.write_text("reactjs, react\n")
        return read_rules([file])

    @staticmethod
    def once(phase: str, work: Callable[[], object]) -> Callable[[Progress], None]:
        done: list[bool] = []

        def report(progress: Progress) -> None:
            if progress.phase == phase and not done:
                done.append(True)
                work()

        return report

    def test_a_rebuild_replays_comments(self, blog: Blog, rules: RuleSet) -> None:
        def write() -> None:
            blog.comment("during")
            blog.uncomment("c1")

        report = self.once("copying", write)
        with Lock(blog.elastic, blog.alias, "rebuild") as lock:
            settings = IndexSettings(rules, 1, 0)
            rebuild(blog.elastic, lock, blog.alias, settings, report)
        assert blog.comments() == ["during"]
        assert blog.comment("after").status == 201
        assert blog.comments() == ["after", "during"]

    def test_a_rebuild_of_an_older_schema_adds_the_fields(self, blog: Blog) -> None:
        name = require_live(blog.elastic, blog.alias).name
        source = {**blog.stored()}
        del source["comments"], source["day"]
        blog.elastic.index(index=name, id="post:a", routing="a", document=source)
        meta = blog.elastic.indices.get_mapping(index=name)[name]["mappings"]["_meta"]
        meta["blogsearch"]["schema"] = 1
        blog.elastic.indices.put_mapping(index=name, meta=meta)
        with Lock(blog.elastic, blog.alias, "rebuild") as lock:
            rebuild(blog.elastic, lock, blog.alias, SETTINGS, lambda progress: None)
        assert blog.comments() == ["c1"]
        assert blog.stored()["day"] == "2024-01-01"

    def test_a_comment_during_a_reindex_does_not_bring_back_the_old_post(self, blog: Blog) -> None:
        def raws() -> Iterator[RawPost]:
            yield post(text="New text", pub_date="2024-01-01")
            assert blog.comment("during").status == 201
            assert blog.comment("lost", "b").status == 201

        options = IngestOptions(force=True)  # a comment that came over HTTP goes with its post
        reindex(blog.elastic, blog.alias, raws(), SETTINGS, pytest.fail, options)
        assert blog.stored()["text"] == "New text"
        assert blog.comments() == ["during"]
        assert blog.comments_without_post() == 0

    def test_a_post_replaced_with_the_same_date_during_a_reindex(self, blog: Blog) -> None:
        def raws() -> Iterator[RawPost]:
            yield post(text="From the source", pub_date="2024-01-01")
            blog.comment("during")
            again = post(text="Over HTTP", pub_date="2024-01-01")
            assert [written.status for written in blog.put(again, newest=False)] == [200]
            blog.comment("after")

        reindex(blog.elastic, blog.alias, raws(), SETTINGS, pytest.fail)
        assert blog.stored()["text"] == "Over HTTP"
        assert blog.comments() == ["after", "during"]

    def test_a_deletion_in_the_future_is_replayed(self, blog: Blog) -> None:
        future = post("f", comments=["c"], modified="2100-01-01")
        blog.put(future, newest=False)

        def raws() -> Iterator[RawPost]:
            yield post(comments=["c1"])
            yield future
            for number in range(3):
                blog.comment(f"more-{number}", "f")
            assert delete_post(blog.elastic, blog.alias, "f") == (True, 4)

        reindex(blog.elastic, blog.alias, raws(), SETTINGS, pytest.fail)
        assert not blog.elastic.exists(index=blog.alias, id="post:f", routing="f")
        assert blog.comments_without_post() == 0

    def test_a_rollback_keeps_them(self, blog: Blog) -> None:
        blog.comment("before")
        reindex(blog.elastic, blog.alias, [post(text="New", comments=["x"])], SETTINGS, pytest.fail)
        blog.comment("since")
        rollback(blog.elastic, blog.alias)
        assert blog.stored()["text"] == "Text"
        assert blog.comments() == ["before", "c1", "since"]
        rollback(blog.elastic, blog.alias)
        assert blog.stored()["text"] == "New"
        assert blog.comments() == ["before", "since", "x"]


class TestSources:
    def test_sync_and_add_keep_comments_over_http(self, blog: Blog) -> None:
        blog.comment("http")
        same = post(comments=["c1"], pub_date="2024-01-01")
        changed = [post("b", "Changed", pub_date="2024-01-01"), same]
        blog.comment("http", "b")
        add(blog.elastic, blog.alias, changed, pytest.fail)
        assert blog.comments() == ["c1", "http"]
        assert blog.comments("b") == ["http"]
        text = blog.stored("b")["text"]
        assert text == "Changed"
        again = [post("b", "Again"), post(text="Again", pub_date="2024-01-01")]
        sync(blog.elastic, blog.alias, lambda _: again, SETTINGS, pytest.fail)
        assert blog.comments() == ["c1", "http"]
        assert blog.comments("b") == ["http"]
        assert blog.stored()["text"] == "Again"

    def test_add_compares_a_post_written_again_after_its_deletion(self, blog: Blog) -> None:
        """Not with its deletion: then new comments would be left out with the post."""
        delete_post(blog.elastic, blog.alias, "a")
        blog.put(post(text="Again"))
        old = post(comments=["new"], pub_date="2024-01-01", modified="2024-01-01")
        (refused,) = blog.put(replace(old, comments=()), newest=False)
        assert (refused.status, refused.reason) == (409, "the index has a newer version")
        added = add(blog.elastic, blog.alias, [old], pytest.fail)
        assert (added.created, added.older, added.deleted) == (1, 1, 0)
        assert blog.comments() == ["new"]
        assert blog.stored()["text"] == "Again"

    def test_sync_adds_and_removes_comments_alone(self, blog: Blog) -> None:
        unchanged = post("b", pub_date="2024-01-01")
        more = post(comments=["c1", "c2"], pub_date="2024-01-01")
        sync(blog.elastic, blog.alias, lambda _: [more, unchanged], SETTINGS, pytest.fail)
        assert blog.comments() == ["c1", "c2"]
        less = post(comments=["c2"], pub_date="2024-01-01")
        force = IngestOptions(force=True)
        sync(blog.elastic, blog.alias, lambda _: [less, unchanged], SETTINGS, pytest.fail, force)
        assert blog.comments() == ["c2"]

    def test_a_duplicate_comment_is_not_in_the_post(
        self, elastic: Elasticsearch, alias: str
    ) -> None:
        twice = (RawComment("c", "First"), RawComment("c", "Second"))
        raw = RawPost(ORIGIN, "a", "T", "x", comments=twice)
        rejected: list[Reject] = []
        options = IngestOptions(MaxRejects(share=1))
        reindex(elastic, alias, [raw], SETTINGS, rejected.append, options)
        assert len(rejected) == 1
        assert Blog(elastic, alias).comments() == ["First"]
