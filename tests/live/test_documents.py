"""Writing over HTTP: tokens, the result for each document, and when searches find it."""

import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import pytest
from elasticsearch import ConnectionTimeout, Elasticsearch
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from analyzers.rules.compile import NO_RULES
from app import create_app
from app.settings import Settings
from indexer.errors import NoIndex
from indexer.posts.normalise import check_post
from indexer.posts.records import Origin, RawComment, RawPost
from indexer.runs.build import IndexSettings, reindex
from indexer.store.generations import require_live
from indexer.store.retry import time_limit
from indexer.write.live import over_http, write
from tests.live.conftest import Faulty
from tests.writing import delete_post, no_reject, put_comments, put_post

TOKEN = "first-token-of-tests"


START = RawPost(Origin("test"), "start", "The first post", "<p>Hello</p>", pub_date="2020-01-01")


@pytest.fixture
def alias(emptied: str) -> str:
    return emptied


@pytest.fixture
def settings(own_settings: Settings, elastic: Elasticsearch) -> Settings:
    """A blog of one post, with a token."""
    put_post(elastic, own_settings.index, START)
    return replace(own_settings, write_tokens=TOKEN)


@pytest.fixture
def client(settings: Settings) -> FlaskClient:
    return create_app(settings).test_client()


class Blog:
    """The service as a client with a token sees it."""

    def __init__(self, client: FlaskClient) -> None:
        self._client = client

    def send(self, method: str, path: str, body: Any = None, **rest: Any) -> TestResponse:
        headers = {"Authorization": f"Bearer {TOKEN}", **rest.pop("headers", {})}
        if body is not None and "data" not in rest:
            rest["json"] = body
        return self._client.open(path, method=method, headers=headers, **rest)

    def put(self, oid: str, **fields: Any) -> TestResponse:
        entry = {"title": f"Post {oid}", "text": "<p>Text</p>", **fields}
        return self.send("PUT", f"/documents/{oid}", entry)

    def oids(self, q: str) -> set[str]:
        answer = self._client.get("/search", query_string={"q": q}).get_json()
        return {hit["oid"] for hit in answer["hits"]}


@pytest.fixture
def blog(client: FlaskClient) -> Blog:
    return Blog(client)


def test_without_tokens_writing_is_closed(own_settings: Settings) -> None:
    closed = replace(own_settings, write_tokens=" , ")
    answer = create_app(closed).test_client().post("/documents", json={"oid": "1"})
    assert answer.status_code == 403
    assert answer.get_json()["error"]["code"] == "writes_closed"


class TestWrites:
    def test_put_creates_then_replaces_and_is_found(self, blog: Blog) -> None:
        assert blog.oids("zebra") == set()
        first = blog.put("z/1", title="About zebras")
        assert (first.status_code, first.get_json()["results"][0]["result"]) == (201, "created")
        assert blog.oids("zebra") == {"z/1"}
        assert blog.put("z/1", title="About antelopes", modified="2020-01-01").status_code == 200
        assert blog.oids("zebra") == set()
        assert blog.oids("antelope") == {"z/1"}
        again = blog.put("z/1", title="About antelopes", modified="2020-01-01")
        assert (again.status_code, again.get_json()["results"][0]["result"]) == (200, "unchanged")

    def test_the_second_of_two_posts_with_one_oid_replaces_the_first(self, blog: Blog) -> None:
        twice = [{"oid": "z/2", "title": title, "text": "x"} for title in ("First", "Second")]
        answer = blog.send("POST", "/documents", json=twice)
        results = [(one["status"], one["result"]) for one in answer.get_json()["results"]]
        assert results == [(201, "created"), (200, "updated")]

    def test_get_gives_back_what_is_live(self, blog: Blog) -> None:
        comment = {"oid": "c", "comment": "No &amp; yes", "author": "Ann"}
        blog.put("g/1", title="A <b> & c", url="/g", comments=[comment])
        answer = blog.send("GET", "/documents/g/1")
        assert answer.status_code == 200
        stored = answer.get_json()
        assert (stored["oid"], stored["title"], stored["address"]) == (
            "g/1",
            "A &lt;b&gt; &amp; c",
            "/g",
        )
        assert stored["comments"] == [{**comment, "over_http": True}]
        assert blog.send("GET", "/documents/g/2").status_code == 404

    def test_post_has_a_result_for_each_of_an_array(self, blog: Blog) -> None:
        comments = [{"oid": "c", "comment": "Well said"}]
        answer = blog.send(
            "POST",
            "/documents",
            [
                {"oid": "a", "title": "A", "category": "x", "comments": comments},
                {"oid": "b"},
                {"oid": "d", "title": "D", "comments": [*comments, {"oid": "e", "comment": ""}]},
                17,
                {"oid": "p", "title": "P", "popularity": -1},
            ],
        )
        assert answer.status_code == 207
        body = answer.get_json()
        assert body["errors"] is True
        assert [(result["oid"], result["status"]) for result in body["results"]] == [
            ("a", 201),
            ("b", 422),
            ("d", 422),
            (None, 422),
            ("p", 422),
        ]
        assert "did you mean 'categories'?" in body["results"][0]["note"]
        assert "comment e" in body["results"][2]["reason"]
        refused = blog.send("POST", "/documents", [17] * 30).get_json()["error"]
        assert len(refused["details"]) == 20

    def test_a_url_names_exactly_that_oid(self, blog: Blog) -> None:
        blog.put("lead", title="Lead")
        for oid in ("/lead", "a//b/", "https://example.org/a", "a b?c%d", "ä"):
            path = f"/documents/{quote(oid, safe='/')}"
            (written,) = blog.send("PUT", path, {"title": "Kiwi"}).get_json()["results"]
            assert written["oid"] == oid
            comment = blog.send("PUT", f"{path}/comments//1/", {"comment": "Moa"})
            (written,) = comment.get_json()["results"]
            assert (written["oid"], written["post_oid"]) == ("/1/", oid)
            assert blog.send("DELETE", path).get_json()["results"][0]["comments"] == 1
            assert (blog.oids("kiwi"), blog.oids("lead")) == (set(), {"lead"})

    def test_comments_are_written_and_deleted(
        self, blog: Blog, elastic: Elasticsearch, alias: str
    ) -> None:
        path = "/documents/start/comments/c1"
        assert blog.send("PUT", path, {"comment": "A <b>numbat</b>"}).status_code == 201
        (stored,) = elastic.get(index=alias, id="start")["_source"]["comments"]
        assert stored == {"oid": "c1", "author": "", "comment": "A numbat", "over_http": True}
        again = blog.send("PUT", path, {"comment": "A numbat"})
        assert again.get_json()["results"][0]["result"] == "unchanged"
        assert blog.send("DELETE", path).status_code == 200
        assert blog.send("DELETE", path).status_code == 404
        many = [{"oid": "c2", "comment": "x"}, {"oid": "c3", "comment": ""}, "text"]
        answer = blog.send("POST", "/documents/start/comments", many)
        assert answer.status_code == 207
        assert [result["status"] for result in answer.get_json()["results"]] == [201, 422, 422]
        missing = blog.send("PUT", "/documents/nowhere/comments/c1", {"comment": "Hello?"})
        assert missing.status_code == 404
        assert "nowhere" in missing.get_json()["error"]["message"]

    def test_a_post_may_have_as_many_comments_as_elasticsearch_takes(
        self, blog: Blog, elastic: Elasticsearch, alias: str
    ) -> None:
        blog.put("full")
        elastic.indices.put_settings(
            index=alias, settings={"index.mapping.nested_objects.limit": 2}
        )
        try:
            many = [{"oid": f"c{n}", "comment": "x"} for n in range(3)]
            assert blog.send("POST", "/documents/full/comments", many[:2]).status_code == 200
            for answer in (
                blog.send("PUT", "/documents/full/comments/c2", {"comment": "x"}),
                blog.put("fuller", comments=many),
            ):
                assert answer.status_code == 400
                message = answer.get_json()["error"]["message"]
                assert "index.mapping.nested_objects.limit" in message
        finally:
            elastic.indices.put_settings(
                index=alias, settings={"index.mapping.nested_objects.limit": None}
            )

    def test_comments_of_all_clients_stay_when_they_write_at_the_same_time(
        self, blog: Blog
    ) -> None:
        blog.put("busy")

        def comment(number: int) -> int:
            path = f"/documents/busy/comments/c{number}"
            return blog.send("PUT", path, {"comment": f"Number {number}"}).status_code

        with ThreadPoolExecutor(8) as pool:
            assert set(pool.map(comment, range(40))) == {201}
        assert len(blog.send("GET", "/documents/busy").get_json()["comments"]) == 40

    def test_comments_of_a_bulk_are_one_read_and_one_write(
        self, settings: Settings, faulty: Faulty
    ) -> None:
        sent = 0

        def count(send: Callable[[], Any]) -> Any:
            nonlocal sent
            sent += 1
            return send()

        client = faulty("_mget|_bulk", count)
        blog = Blog(create_app(settings, elastic=client).test_client())
        many = [{"oid": f"c{n}", "comment": f"Number {n}"} for n in range(1_000)]
        blog.put("many", comments=many[:10])
        sent = 0
        answer = blog.send("POST", "/documents/many/comments", many)
        statuses = [result["status"] for result in answer.get_json()["results"]]
        assert (statuses, sent) == ([200] * 10 + [201] * 990, 2)

    def test_finds_a_post_by_a_comment_written_alone(self, blog: Blog) -> None:
        blog.put("commented")
        path = "/documents/commented/comments/c1"
        assert blog.send("PUT", path, {"comment": "An okapi"}).status_code == 201
        assert blog.oids("okapi") == {"commented"}
        assert blog.put("commented", title="Replaced").status_code == 200
        assert blog.oids("okapi") == {"commented"}
        assert blog.send("DELETE", path).status_code == 200
        assert blog.oids("okapi") == set()


def test_what_elasticsearch_does_not_take_at_once_is_sent_again(
    settings: Settings, faulty: Faulty
) -> None:
    lost: list[bool] = []

    def lose(send: Callable[[], Any]) -> Any:
        if lost and lost.pop(0):
            raise ConnectionTimeout("not sent")
        return send()

    blog = Blog(create_app(settings, elastic=faulty("_mget|_bulk", lose)).test_client())
    comment = "/documents/vole/comments/c"
    for method, path, body in [
        ("PUT", "/documents/vole", {"title": "Vole"}),
        ("PUT", comment, {"comment": "x"}),
        ("DELETE", comment, None),
        ("DELETE", "/documents/vole", None),
    ]:
        lost[:] = [False, True, True, False, True]  # read, written, read, read, written
        assert blog.send(method, path, body).status_code in (200, 201), (method, path)
        assert not lost


def test_a_block_that_a_killed_build_left_is_cleared(
    blog: Blog, elastic: Elasticsearch, alias: str
) -> None:
    elastic.indices.add_block(index=require_live(elastic, alias).name, block="write")
    assert blog.put("x").status_code == 201
    assert blog.put("y").status_code == 201


def test_a_deletion_of_unknown_outcome_updates_the_cache(
    settings: Settings, faulty: Faulty
) -> None:
    def lose(send: Callable[[], Any]) -> Any:
        send()
        raise ConnectionTimeout("no response")

    client = faulty('_bulk.*{"delete"', lose)
    blog = Blog(create_app(settings, elastic=client).test_client())
    blog.put("vole", title="Vole")
    assert [blog.oids("vole") for _ in range(2)] == [{"vole"}] * 2
    # It is read again, and is gone.
    assert blog.send("DELETE", "/documents/vole").status_code == 404
    assert not blog.oids("vole")


def test_what_is_not_sent_in_time_is_named(
    elastic: Elasticsearch, settings: Settings, faulty: Faulty, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, late = time.monotonic, 0.0

    def slow(send: Callable[[], Any]) -> Any:
        """After the first request that writes, the time of the whole is over."""
        nonlocal late
        response = send()
        late = 1_000
        return response

    monkeypatch.setattr("time.monotonic", lambda: clock() + late)
    made = [check_post(RawPost(Origin("test"), f"p{n}", "P", "x"))[0] for n in range(500)]
    changes = {post.oid: over_http(post) for post in made if post}
    with time_limit(900):
        results = write(faulty("_bulk", slow), settings.index, changes)
    assert Counter(post.result for post in results.values()) == {"created": 200, "unknown": 300}
    assert {post.refusal.status for post in results.values() if post.refusal} == {503}
    again = write(elastic, settings.index, changes)
    assert Counter(post.result for post in again.values()) == {"unchanged": 200, "created": 300}


Interrupted = Callable[[Callable[[], object]], Elasticsearch]


@pytest.fixture
def interrupted(faulty: Faulty) -> Interrupted:
    """Makes a client that does something once, between its reading of a post and its writing."""

    def client(work: Callable[[], object]) -> Elasticsearch:
        left = [work]

        def first(send: Callable[[], Any]) -> Any:
            if left:
                left.pop()()
            return send()

        return faulty("_bulk", first)

    return client


class TestConditions:
    """Whatever happens between reading a post and writing it, nothing is lost or made again."""

    @pytest.fixture
    def commented(self, elastic: Elasticsearch, settings: Settings) -> list[str]:
        put_comments(elastic, settings.index, "start", "c1")
        return ["c1"]

    @staticmethod
    def comments(elastic: Elasticsearch, alias: str) -> list[str]:
        source = elastic.get(index=alias, id="start")["_source"]
        return sorted(comment["oid"] for comment in source.get("comments", ()))

    @pytest.mark.usefixtures("commented")
    def test_another_write_and_a_deletion(
        self, elastic: Elasticsearch, alias: str, interrupted: Interrupted
    ) -> None:
        client = interrupted(lambda: put_comments(elastic, alias, "start", "c2"))
        assert put_comments(client, alias, "start", "c3").result == "updated"
        assert self.comments(elastic, alias) == ["c1", "c2", "c3"]
        client = interrupted(lambda: delete_post(elastic, alias, "start"))
        written = put_comments(client, alias, "start", "c4")
        assert (written.result, written.before) == ("unchanged", None)
        assert not elastic.exists(index=alias, id="start")

    def test_a_swap_whose_sequence_numbers_are_the_same(
        self, elastic: Elasticsearch, own_alias: str, interrupted: Interrupted
    ) -> None:
        builds = IndexSettings(NO_RULES, 1, 0)
        reindex(elastic, own_alias, [START], builds, no_reject)

        def swap() -> None:
            # The post has the same number in the new index as in the old one.
            other = [replace(START, oid="first"), replace(START, title="The other index")]
            reindex(elastic, own_alias, other, builds, no_reject)

        client = interrupted(swap)
        assert put_comments(client, own_alias, "start", "c2").result == "updated"
        source = elastic.get(index=own_alias, id="start")["_source"]
        assert source["title"] == "The other index"
        assert self.comments(elastic, own_alias) == ["c2"]

        def delete_all() -> None:
            elastic.indices.delete(index=[f"{own_alias}-000001", f"{own_alias}-000002"])

        with pytest.raises(NoIndex):
            put_comments(interrupted(delete_all), own_alias, "start", "c3")
        assert not elastic.indices.exists(index=f"{own_alias}-0*", allow_no_indices=False)


def test_a_comment_on_a_post_of_800_takes_little_time(
    elastic: Elasticsearch, settings: Settings
) -> None:
    many = [f"c{number}" for number in range(800)]
    put_comments(elastic, settings.index, "start", *many)
    started = time.monotonic()
    assert put_comments(elastic, settings.index, "start", "one").result == "updated"
    assert time.monotonic() - started < 10


def test_comments_count_neither_as_posts_nor_in_the_statistics_of_words(
    elastic: Elasticsearch, module_index: Callable[[Iterable[RawPost]], str]
) -> None:
    def seen(index: str) -> Any:
        hits = elastic.search(index=index, query={"match": {"title": "first"}})["hits"]
        return elastic.count(index=index)["count"], hits["max_score"], hits["total"]

    many = tuple(RawComment(f"c{number}", "The first") for number in range(50))
    with_comments = module_index([replace(START, comments=many)])
    assert seen(with_comments) == seen(module_index([START]))
