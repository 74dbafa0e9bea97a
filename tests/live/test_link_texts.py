"""The field `link_texts` of a post has the texts of the links to it, whoever writes what."""

from collections.abc import Callable, Iterable, Iterator

import pytest
from elasticsearch import Elasticsearch
from flask.testing import FlaskClient

from analyzers.rules.compile import NO_RULES
from app import create_app
from app.settings import Settings
from indexer.build.builder import Built, IndexSettings, rebuild, reindex
from indexer.build.rollback import rollback
from indexer.lock import Lock
from indexer.normalise import post_document
from indexer.records import Document, Origin, RawPost
from indexer.sync import add, sync
from indexer.write.live import Write, delete_post, put

SETTINGS = IndexSettings(NO_RULES, 1, 0)


def post(oid: str, links: str = "", title: str = "A post", **fields: str) -> RawPost:
    """`links`: `target text`, with commas between them."""
    parts = [link.strip().partition(" ") for link in links.split(",") if link]
    html = "".join(
        f'<p>See <a href="/posts/{target}/">{text}</a>.</p>' for target, _, text in parts
    )
    url = f"https://blog.example.com/posts/{oid}"
    return RawPost(Origin("test"), oid, title, html or "<p>Text.</p>", url=url, **fields)


class Blog:
    """An index of the test's own."""

    def __init__(self, elastic: Elasticsearch, alias: str) -> None:
        self.elastic = elastic
        self.alias = alias

    def put(self, *raws: RawPost) -> None:
        documents = [
            document for raw in raws if isinstance(document := post_document(raw), Document)
        ]
        writes = [Write(document, newest=True) for document in documents]
        assert all(written.status < 300 for written in put(self.elastic, self.alias, writes))

    def delete(self, oid: str) -> None:
        assert delete_post(self.elastic, self.alias, oid)[0]

    def reindex(self, raws: Iterable[RawPost]) -> Built:
        return reindex(self.elastic, self.alias, raws, SETTINGS, pytest.fail)

    def texts(self, oid: str = "target") -> list[str]:
        document = self.elastic.get(index=self.alias, id=f"post:{oid}", routing=oid)
        texts: list[str] = document["_source"].get("link_texts", [])
        return texts

    def version(self, oid: str = "target") -> int:
        return int(self.elastic.get(index=self.alias, id=f"post:{oid}", routing=oid)["_version"])


@pytest.fixture
def blog(
    elastic: Elasticsearch, alias: str, index_posts: Callable[[Iterable[RawPost]], Built]
) -> Blog:
    index_posts([post("target"), post("a", "target building from source,elsewhere not a post")])
    return Blog(elastic, alias)


class TestBuilds:
    def test_a_reindex_groups_links_by_their_target(self, blog: Blog) -> None:
        assert blog.texts() == ["building from source"]
        assert blog.texts("a") == []

    def test_a_reindex_starts_with_the_texts_of_the_live_index(self, blog: Blog) -> None:
        blog.reindex([post("target"), post("a", "target building from source")])
        assert blog.texts() == ["building from source"]
        assert blog.version() == 0  # written once
        blog.reindex([post("target"), post("a")])
        assert blog.texts() == []

    def test_a_rebuild_keeps_them(self, blog: Blog) -> None:
        with Lock(blog.elastic, blog.alias, "rebuild") as lock:
            rebuild(blog.elastic, lock, blog.alias, SETTINGS, lambda progress: None)
        assert blog.texts() == ["building from source"]

    def test_writes_during_a_reindex_count(self, blog: Blog) -> None:
        def raws() -> Iterator[RawPost]:
            yield from (post("target"), post("a", "target building from source"), post("b"))
            blog.put(post("a", "b another"), post("c", "target during"))

        blog.reindex(raws())
        assert blog.texts() == ["during"]
        assert blog.texts("b") == ["another"]

    def test_a_rollback_replays_them(self, blog: Blog) -> None:
        blog.reindex([post("target"), post("a", "target building from source")])
        blog.put(post("b", "target since"))
        blog.put(post("a"))
        rollback(blog.elastic, blog.alias)
        assert blog.texts() == ["since"]


class TestSources:
    def test_sync_updates_only_what_differs(self, blog: Blog) -> None:
        raws = [
            post("target"),
            post("a", "target building from source"),
            post("b", "target build it"),
        ]
        sync(blog.elastic, blog.alias, lambda _: raws, SETTINGS, pytest.fail)
        assert blog.texts() == ["build it", "building from source"]
        versions = [blog.version(oid) for oid in ("target", "a", "b")]
        result = sync(blog.elastic, blog.alias, lambda _: raws, SETTINGS, pytest.fail)
        assert not result.changed_anything
        assert [blog.version(oid) for oid in ("target", "a", "b")] == versions
        sync(blog.elastic, blog.alias, lambda _: raws[:2], SETTINGS, pytest.fail)
        assert blog.texts() == ["building from source"]

    def test_add_updates_them(self, blog: Blog) -> None:
        add(blog.elastic, blog.alias, [post("b", "target build it")], pytest.fail)
        assert blog.texts() == ["build it", "building from source"]


class TestSingleWrites:
    def test_update_the_former_and_the_new_targets(self, blog: Blog) -> None:
        blog.put(post("b", "target build it"))
        assert blog.texts() == ["build it", "building from source"]
        versions = {oid: blog.version(oid) for oid in ("target", "a")}
        blog.put(post("b", "a another"))
        assert blog.texts() == ["building from source"]
        assert blog.texts("a") == ["another"]
        blog.put(post("c"))
        assert blog.version() == versions["target"] + 1
        blog.delete("b")
        assert blog.texts("a") == []

    def test_of_a_target_keep_and_find_them(self, blog: Blog) -> None:
        blog.put(post("target", title="Another title"))
        assert blog.texts() == ["building from source"]
        blog.put(post("elsewhere"))
        assert blog.texts("elsewhere") == ["not a post"]

    def test_of_a_second_post_with_the_same_slug(self, blog: Blog) -> None:
        """A link to a former address leads to a post as long as no other one has its slug."""
        moved = "https://blog.example.com/2020/unmistakable"
        link = '<a href="/posts/unmistakable.html">building from source</a>'
        blog.put(
            RawPost(Origin("test"), "moved", "Moved", "Text", url=moved),
            RawPost(Origin("test"), "b", "B", link, url="https://blog.example.com/posts/b"),
        )
        assert blog.texts("moved") == ["building from source"]
        blog.put(post("unmistakable"))
        assert blog.texts("moved") == []
        assert blog.texts("unmistakable") == ["building from source"]
        blog.delete("unmistakable")
        assert blog.texts("moved") == ["building from source"]


def test_a_page_is_found_in_the_words_of_links_to_it(blog: Blog, own_settings: Settings) -> None:
    others = [post(f"other-{n}", title="Building a house from the source") for n in range(3)]
    blog.put(post("target", title="Build Instructions"), *others)
    visitor: FlaskClient = create_app(own_settings).test_client()
    query = {"q": "build from source", "debug-search": "true"}
    answer = visitor.get("/search", query_string=query).get_json()
    (hit,) = [hit for hit in answer["debug"]["hits"] if hit["oid"] == "target"]
    assert "most words in links to it" in {part["part"] for part in hit["parts"]}
