"""Writing over HTTP: who may, what is answered for each document, and how soon it is found."""

import io
import json
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
import requests
from elasticsearch import ConnectionTimeout, Elasticsearch
from flask.testing import FlaskClient
from gunicorn.http.errors import ParseException
from pydantic import SecretStr
from werkzeug.serving import make_server
from werkzeug.test import TestResponse

from analyzers.rules import NO_RULES
from app import create_app
from app.settings import Settings
from app.views import documents
from bench.servers import redis_server
from indexer.build.builder import IndexSettings
from indexer.build.reindex import reindex
from indexer.generations import block_writes, require_live
from indexer.records import Origin, RawPost
from indexer.write.delete import delete_post

TOKEN = "first-token"
NDJSON = "application/x-ndjson"


@pytest.fixture
def settings(
    elastic: Elasticsearch, alias: str, elasticsearch_url: str, redis_url: str
) -> Settings:
    """A blog of one post, with two tokens."""
    start = RawPost(
        Origin("test"), "start", "The first post", "<p>Hello</p>", pub_date="2020-01-01"
    )
    reindex(elastic, alias, [start], IndexSettings(NO_RULES, 1, 0), pytest.fail)
    return Settings(
        elasticsearch_url=elasticsearch_url,
        redis_url=redis_url,
        index=alias,
        write_tokens=SecretStr(f"{TOKEN}, second-token"),
        write_max_bytes=20_000,
    )


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

    def found(self, q: str) -> set[str]:
        answer = self._client.get("/search", query_string={"q": q}).get_json()
        return {hit["oid"] for hit in answer["hits"]}


@pytest.fixture
def blog(client: FlaskClient) -> Blog:
    return Blog(client)


class TestWhoMay:
    def test_nobody_without_tokens_in_the_settings(self, settings: Settings) -> None:
        closed = settings.model_copy(update={"write_tokens": SecretStr(" , ")})
        answer = create_app(closed).test_client().post("/documents", json={"oid": "1"})
        assert answer.status_code == 403
        assert answer.get_json()["error"]["code"] == "writes_closed"
        assert "BLOGSEARCH_WRITE_TOKENS" in answer.get_json()["error"]["message"]

    @pytest.mark.parametrize(
        "header", [None, "", "Bearer", "Bearer ", "Bearer first", f"Basic {TOKEN}", "Bearer \xfc"]
    )
    def test_not_with_another_token(self, client: FlaskClient, header: str | None) -> None:
        headers = {} if header is None else {"Authorization": header}
        answer = client.delete("/documents/start", headers=headers)
        assert answer.status_code == 401
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")
        assert answer.get_json()["error"]["code"] == "unauthorized"

    @pytest.mark.parametrize("token", [TOKEN, "second-token"])
    def test_each_token(self, client: FlaskClient, token: str) -> None:
        headers = {"Authorization": f"bearer {token}"}
        entry = {"oid": token, "title": "x", "text": "y"}
        assert client.post("/documents", json=entry, headers=headers).status_code == 200


class TestPut:
    def test_creates_then_replaces_and_is_found(self, blog: Blog) -> None:
        assert blog.found("zebra") == set()
        first = blog.put("z/1", title="About zebras")
        assert (first.status_code, first.get_json()) == (
            201,
            {
                "errors": False,
                "results": [{"kind": "post", "oid": "z/1", "status": 201, "result": "created"}],
            },
        )
        assert blog.found("zebra") == {"z/1"}
        second = blog.put("z/1", title="About antelopes")
        assert second.status_code == 200
        assert blog.found("zebra") == set()
        assert blog.found("antelope") == {"z/1"}

    def test_an_older_version_does_not_overwrite_a_newer_one(self, blog: Blog) -> None:
        assert blog.put("v", title="Newer", modified="2024-05-02").status_code == 201
        older = blog.put("v", title="Older", modified="2024-05-01")
        assert older.status_code == 409
        assert older.get_json()["error"]["code"] == "conflict"
        same = blog.put("v", title="Newer", modified="2024-05-02")
        assert same.status_code == 200
        assert blog.found("older") == set()

    def test_one_without_a_date_is_the_newest_even_after_a_date_in_the_future(
        self, blog: Blog
    ) -> None:
        assert blog.put("f", title="Tomorrow", modified="2100-01-01").status_code == 201
        assert blog.put("f", title="Today").status_code == 200
        assert blog.found("today") == {"f"}

    def test_a_deleted_post_is_not_brought_back_by_an_older_version(self, blog: Blog) -> None:
        blog.put("gone", modified="2024-05-02")
        assert blog.send("DELETE", "/documents/gone").status_code == 200
        older = blog.put("gone", modified="2024-06-01", comments=[{"oid": "c", "comment": "x"}])
        assert older.status_code == 422
        assert {one["status"] for one in older.get_json()["error"]["details"]} == {409, 404}
        assert blog.put("gone").status_code == 201

    def test_says_what_is_wrong_with_it(self, blog: Blog) -> None:
        answer = blog.put("bad", title="", pub_date="tomorrow")
        assert answer.status_code == 422
        (detail,) = answer.get_json()["error"]["details"]
        assert detail["oid"] == "bad"
        assert detail["reason"]
        assert detail["remedy"]

    @pytest.mark.parametrize(
        ("body", "said"),
        [
            ({"oid": "other", "title": "x"}, "the address 'here'"),
            ([{"title": "x"}], None),
            ([{"title": "x"}, {"title": "y"}], "one JSON object"),
            ("text", "one JSON object"),
        ],
    )
    def test_takes_one_under_the_oid_of_the_address(
        self, blog: Blog, body: Any, said: str | None
    ) -> None:
        answer = blog.send("PUT", "/documents/here", body)
        assert answer.status_code == (400 if said else 201)
        assert said is None or said in answer.get_json()["error"]["message"]


class TestPost:
    def test_answers_for_each_of_an_array(self, blog: Blog) -> None:
        blog.put("old", modified="2030-01-01")
        answer = blog.send(
            "POST",
            "/documents",
            [
                {"oid": "a", "title": "A", "comments": [{"oid": "c", "comment": "Well said"}]},
                {"oid": "b"},
                {"oid": "old", "title": "Older", "modified": "2020-01-01"},
                17,
            ],
        )
        assert answer.status_code == 207
        body = answer.get_json()
        assert body["errors"] is True
        assert [(one["oid"], one["status"]) for one in body["results"]] == [
            ("a", 201),
            ("c", 201),
            ("b", 422),
            ("old", 409),
            (None, 422),
        ]
        assert body["results"][1]["post_oid"] == "a"

    def test_takes_ndjson_and_names_the_lines(self, blog: Blog) -> None:
        lines = b'{"oid":"n1","title":"One"}\n\n{"oid":"n2"}\n'
        answer = blog.send("POST", "/documents", data=lines, content_type=NDJSON)
        assert answer.status_code == 207
        assert [one["line"] for one in answer.get_json()["results"]] == [1, 3]

    def test_takes_nothing_when_a_line_is_not_json(self, blog: Blog) -> None:
        lines = b'{"oid":"n1","title":"Narwhal"}\n{"oid":\nnonsense\n'
        answer = blog.send("POST", "/documents", data=lines, content_type=NDJSON)
        assert answer.status_code == 400
        assert [one["line"] for one in answer.get_json()["error"]["details"]] == [2, 3]
        assert blog.found("narwhal") == set()

    def test_the_later_of_two_same_oids_wins(self, blog: Blog) -> None:
        twice = [{"oid": "t", "title": "Walrus"}, {"oid": "t", "title": "Octopus"}]
        assert blog.send("POST", "/documents", twice).status_code == 200
        assert (blog.found("walrus"), blog.found("octopus")) == (set(), {"t"})

    @pytest.mark.parametrize(
        ("data", "kind", "status"),
        [
            (b'{"oid": ', "application/json", 400),
            (b"", "application/json", 400),
            (b"[]", "application/json", 400),
            (b"\n\n", NDJSON, 400),
            (b"oid=1", "application/x-www-form-urlencoded", 400),
            (b"\xff\xfe", "application/json", 400),
            (b"[" * 5000, "application/json", 400),
            (b'{"oid":"x","title":"' + b"y" * 20_000 + b'"}', "application/json", 413),
        ],
    )
    def test_refuses_a_body_it_cannot_use(
        self, blog: Blog, data: bytes, kind: str, status: int
    ) -> None:
        answer = blog.send("POST", "/documents", data=data, content_type=kind)
        assert answer.status_code == status
        assert answer.get_json()["error"]["message"]

    @pytest.mark.parametrize("error", [None, OSError("cut"), ParseException("no chunk")])
    def test_takes_nothing_of_a_body_that_broke_off(
        self, blog: Blog, error: Exception | None
    ) -> None:
        class Cut(io.BytesIO):
            def read(self, size: int | None = -1, /) -> bytes:
                if error:
                    raise error
                return super().read(size)

        answer = blog.send(
            "POST",
            "/documents",
            data=b"",
            content_type=NDJSON,
            environ_overrides={
                "wsgi.input": Cut(b'{"oid":"n1","title":"Numbat"}\n'),
                "CONTENT_LENGTH": "60",
            },
        )
        assert answer.status_code == 400
        assert "broke off" in answer.get_json()["error"]["message"]
        assert blog.found("numbat") == set()

    def test_says_what_is_wrong_with_the_parameters_before_it_reads_the_body(
        self, blog: Blog
    ) -> None:
        answer = blog.send(
            "POST", "/documents?refresh=maybe&upsert=1", data=b"x" * 30_000, content_type="text/x"
        )
        assert answer.status_code == 400
        named = {one["parameter"] for one in answer.get_json()["error"]["details"]}
        assert named == {"refresh", "upsert"}

    def test_hostile_text_is_no_way_in(self, blog: Blog) -> None:
        text = "<script>alert(1)</script><p>Platypus &lt;b&gt;</p>\u0000\u202e"
        assert blog.put("h", title="<img src=x onerror=alert(1)> Platypus", text=text)
        answer = blog.send("GET", "/search?q=platypus").get_json()
        shown = json.dumps(answer["hits"][0]["highlight"])
        assert "<img" not in shown
        assert "<script" not in shown

    @pytest.mark.parametrize(
        "oid", ["a/b", "/lead", "//two", "a//b", "trail/", "https://example.org/a", "a b?c%d", "ä"]
    )
    def test_an_address_names_just_that_oid(self, blog: Blog, oid: str) -> None:
        blog.put("lead", title="Lead")
        path = f"/documents/{quote(oid, safe='/')}"
        entry = {"title": "Kiwi"}
        assert blog.send("PUT", path, entry).get_json()["results"][0]["oid"] == oid
        comment = blog.send("PUT", f"{path}/comments//1/", {"comment": "Moa"})
        assert comment.get_json()["results"][0] == {
            "kind": "comment",
            "oid": "/1/",
            "post_oid": oid,
            "status": 201,
            "result": "created",
        }
        assert blog.send("DELETE", path).get_json()["results"][0]["comments"] == 1
        assert (blog.found("kiwi"), blog.found("lead")) == (set(), {"lead"})

    @pytest.mark.parametrize("method", ["PUT", "DELETE"])
    def test_an_address_that_is_no_text_is_refused(self, blog: Blog, method: str) -> None:
        # As a server hands over `caf%E9`; the client of the tests mends it.
        raw = {"PATH_INFO": "/documents/caf\xe9"}
        answer = blog.send(method, "/documents/x", {"title": "x"}, environ_overrides=raw)
        assert answer.status_code == 400
        assert "UTF-8" in answer.get_json()["error"]["message"]

    def test_without_an_index_it_says_so(self, settings: Settings) -> None:
        nowhere = settings.model_copy(update={"index": f"{settings.index}-none"})
        answer = Blog(create_app(nowhere).test_client()).put("x")
        assert answer.status_code == 503
        assert answer.get_json()["error"]["code"] == "no_index"


class TestDelete:
    def test_takes_the_comments_along(self, blog: Blog, elastic: Elasticsearch, alias: str) -> None:
        comments = [{"oid": f"c{n}", "comment": "Splendid"} for n in range(5)]
        blog.put("d", title="Quokka", comments=comments)
        answer = blog.send("DELETE", "/documents/d")
        assert answer.get_json()["results"] == [
            {"kind": "post", "oid": "d", "comments": 5, "status": 200, "result": "deleted"}
        ]
        assert blog.found("quokka") == set()
        left = elastic.count(index=alias, query={"term": {"post_oid": "d"}})
        assert left["count"] == 0
        assert blog.send("DELETE", "/documents/d").status_code == 404

    def test_works_on_a_date_in_the_future(self, blog: Blog) -> None:
        blog.put("d", modified="2100-01-01")
        assert blog.send("DELETE", "/documents/d").status_code == 200
        assert blog.send("DELETE", "/documents/d").status_code == 404


class TestComments:
    def test_come_and_go_under_their_post(
        self, blog: Blog, elastic: Elasticsearch, alias: str
    ) -> None:
        path = "/documents/start/comments/c1"
        assert blog.send("PUT", path, {"comment": "A <b>numbat</b>"}).status_code == 201
        stored = elastic.get(index=alias, id="comment:start:c1", routing="start")["_source"]
        assert stored["kind"] == {"name": "comment", "parent": "post:start"}
        assert blog.send("DELETE", path).status_code == 200
        assert blog.send("DELETE", path).status_code == 404
        many = [{"oid": "c2", "comment": "x"}, {"oid": "c3", "comment": ""}, "text"]
        answer = blog.send("POST", "/documents/start/comments", many)
        assert answer.status_code == 207
        assert [one["status"] for one in answer.get_json()["results"]] == [201, 422, 422]

    def test_need_a_post(self, blog: Blog) -> None:
        answer = blog.send("PUT", "/documents/nowhere/comments/c1", {"comment": "Hello?"})
        assert answer.status_code == 404
        assert "no post 'nowhere'" in answer.get_json()["error"]["message"]

    def test_an_older_version_does_not_overwrite_a_newer_one(self, blog: Blog) -> None:
        path = "/documents/start/comments/c1"
        newer = {"comment": "Newer", "modified": "2024-05-02"}
        older = {"comment": "Older", "modified": "2024-05-01"}
        assert blog.send("PUT", path, newer).status_code == 201
        assert blog.send("PUT", path, older).status_code == 409
        assert blog.send("PUT", path, {"comment": "x", "modified": "soon"}).status_code == 422


class TestAClosedIndex:
    """What a build that was killed in the blink before its swap leaves behind."""

    def test_is_opened_again(self, blog: Blog, elastic: Elasticsearch, alias: str) -> None:
        block_writes(elastic, require_live(elastic, alias).name)
        assert blog.put("x").status_code == 201
        assert blog.put("y").status_code == 201


@pytest.fixture
def address(settings: Settings) -> Iterator[str]:
    """The service on a port of its own, several requests at a time."""
    server = make_server("127.0.0.1", 0, create_app(settings), threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.port}"
    server.shutdown()
    thread.join()
    server.server_close()


class TestFreshness:
    def test_a_cache_that_was_away_is_told_when_it_is_back(self, settings: Settings) -> None:
        with redis_server() as server:
            changed = {"redis_url": server.url, "cache_timeout": 0.2}
            client = create_app(settings.model_copy(update=changed)).test_client()
            blog = Blog(client)
            assert blog.found("quetzal") == set()
            server.process.send_signal(signal.SIGSTOP)
            # Redis is left alone for a second or two after these.
            assert [blog.found(word) for word in ("one", "two")] == [set(), set()]
            time.sleep(0.6)
            assert blog.found("three") == set()
            assert blog.put("bird", title="Quetzal").status_code == 201
            server.process.send_signal(signal.SIGCONT)
            deadline = time.monotonic() + 5
            while self._state(client, "quetzal") != ("HIT", 1):
                assert time.monotonic() < deadline
                time.sleep(0.1)

    @staticmethod
    def _state(client: FlaskClient, q: str) -> tuple[str, int]:
        answer = client.get("/search", query_string={"q": q})
        return answer.headers["X-Cache"], answer.get_json()["count"]

    def test_a_deletion_of_unknown_outcome_is_told_all_the_same(
        self, client: FlaskClient, blog: Blog, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        blog.put("vole", title="Vole")
        assert [blog.found("vole") for _ in range(2)] == [{"vole"}] * 2

        def taken_but_unanswered(elastic: Elasticsearch, alias: str, oid: str) -> None:
            delete_post(elastic, alias, oid)
            raise ConnectionTimeout("no answer")

        monkeypatch.setattr(documents, "delete_post", taken_but_unanswered)
        assert blog.send("DELETE", "/documents/vole").status_code == 503
        monkeypatch.undo()
        assert blog.send("DELETE", "/documents/vole").status_code == 404
        time.sleep(1)
        assert blog.found("vole") == set()

    @pytest.mark.parametrize("refresh", ["wait_for", "false"])
    def test_within_a_second_whatever_is_being_searched(self, address: str, refresh: str) -> None:
        stop = threading.Event()
        session = requests.Session()
        session.headers["Authorization"] = f"Bearer {TOKEN}"

        def keep_searching() -> None:
            # Puts answers without the post into the cache all the time.
            with requests.Session() as other:
                while not stop.is_set():
                    other.get(f"{address}/search?q=axolotl", timeout=10)

        threads = [threading.Thread(target=keep_searching) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            for number in range(1, 6):
                entry = {"title": f"Axolotl {number}", "text": "In a pond"}
                path = f"{address}/documents/axo-{number}?refresh={refresh}"
                started = time.monotonic()
                assert session.put(path, json=entry, timeout=10).status_code == 201
                while number != session.get(f"{address}/search?q=axolotl").json()["count"]:
                    assert time.monotonic() - started < 1
                    assert refresh == "false"
                # And not gone again.
                again = session.get(f"{address}/search?q=axolotl").json()
                assert again["count"] == number
            session.delete(f"{address}/documents/axo-1?refresh={refresh}", timeout=10)
            time.sleep(0 if refresh == "wait_for" else 1)
            assert session.get(f"{address}/search?q=axolotl").json()["count"] == 4
        finally:
            stop.set()
            for thread in threads:
                thread.join()
            session.close()
