"""The field `link_texts` of a post has the texts of the links to it, after each build and sync."""

import pytest
from elasticsearch import Elasticsearch
from flask.testing import FlaskClient

from analyzers.rules.compile import NO_RULES
from app import create_app
from app.settings import Settings
from indexer.posts.records import Origin, RawPost
from indexer.runs.build import Built, IndexSettings, rebuild, reindex
from indexer.runs.sync import SyncResult, sync
from indexer.store.state import Lock
from tests.writing import no_reject

SETTINGS = IndexSettings(NO_RULES, 1, 0)


def post(oid: str, links: str = "", title: str = "A post", url: str = "") -> RawPost:
    """`links`: `target text`, with commas between them."""
    parts = [link.strip().partition(" ") for link in links.split(",") if link]
    html = "".join(
        f'<p>See <a href="/posts/{target}/">{text}</a>.</p>' for target, _, text in parts
    )
    url = url or f"https://blog.example.com/posts/{oid}"
    return RawPost(Origin("test"), oid, title, html or "<p>Text.</p>", url=url)


FIRST = [post("target"), post("a", "target building from source,elsewhere not a post")]


class Blog:
    """An index of the test's own."""

    def __init__(self, elastic: Elasticsearch, alias: str) -> None:
        self.elastic = elastic
        self.alias = alias

    def reindex(self, *raws: RawPost) -> Built:
        return reindex(self.elastic, self.alias, raws, SETTINGS, no_reject)

    def sync(self, *raws: RawPost) -> SyncResult:
        return sync(self.elastic, self.alias, lambda _: raws, SETTINGS, no_reject)

    def texts(self, oid: str = "target") -> list[str]:
        source = self.elastic.get(index=self.alias, id=oid)["_source"]
        texts: list[str] = source.get("link_texts", [])
        return texts

    def version(self, oid: str = "target") -> int:
        return int(self.elastic.get(index=self.alias, id=oid)["_version"])


@pytest.fixture
def alias(emptied: str) -> str:
    return emptied


@pytest.fixture
def blog(elastic: Elasticsearch, alias: str) -> Blog:
    blog = Blog(elastic, alias)
    blog.sync(*FIRST)
    return blog


def test_a_build_groups_links_by_their_target(elastic: Elasticsearch, own_alias: str) -> None:
    blog = Blog(elastic, own_alias)
    blog.reindex(*FIRST)
    assert blog.texts() == ["building from source"]
    assert blog.texts("a") == []
    blog.reindex(*FIRST)
    assert blog.texts() == ["building from source"]
    assert blog.version() == 1  # it had them from the live index
    with Lock(blog.elastic, blog.alias, "rebuild") as lock:
        rebuild(blog.elastic, lock, blog.alias, SETTINGS)
    assert blog.texts() == ["building from source"]
    blog.reindex(post("target"), post("a"))
    assert blog.texts() == []


def test_a_sync_writes_only_what_differs(blog: Blog) -> None:
    raws = [*FIRST, post("b", "target build it")]
    blog.sync(*raws)
    assert blog.texts() == ["build it", "building from source"]
    versions = [blog.version(raw.oid) for raw in raws]
    again = blog.sync(*raws)
    assert [*again.added, *again.changed, *again.removed] == []
    assert [blog.version(raw.oid) for raw in raws] == versions
    blog.sync(*raws[:2])
    assert blog.texts() == ["building from source"]


def test_a_page_is_found_in_the_words_of_links_to_it(blog: Blog, own_settings: Settings) -> None:
    others = [post(f"other-{n}", title="Building a house from the source") for n in range(3)]
    blog.sync(post("target", title="Build Instructions"), FIRST[1], *others)
    visitor: FlaskClient = create_app(own_settings).test_client()
    query = {"q": "build from source", "debug-search": "true"}
    answer = visitor.get("/search", query_string=query).get_json()
    (hit,) = [hit for hit in answer["debug"]["hits"] if hit["oid"] == "target"]
    assert "most words in links to it" in {part["part"] for part in hit["parts"]}
