"""Writing over HTTP: tokens, the result for each document, and when searches find it."""

import io
import json
import signal
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, ClassVar
from urllib.parse import quote

import pytest
import requests
from elastic_transport import RequestsHttpNode
from elasticsearch import ConnectionTimeout, Elasticsearch
from flask.testing import FlaskClient
from gunicorn.http.errors import ParseException
from werkzeug.serving import make_server
from werkzeug.test import TestResponse

from app import create_app
from app.settings import Settings
from devstack.servers import redis_server
from indexer.build.builder import Built
from indexer.generations import block_writes, require_live
from indexer.normalise import documents
from indexer.records import Document, Origin, RawPost
from indexer.retry import time_limit
from indexer.state import ensure_state
from indexer.write.live import Write, put
from tests.tcp import in_thread
from tests.waiting import wait_until

TOKEN = "first-token-of-tests"
NDJSON = "application/x-ndjson"


START = RawPost(Origin("test"), "start", "The first post", "<p>Hello</p>", pub_date="2020-01-01")


@pytest.fixture
def settings(own_settings: Settings, index_posts: Callable[[Iterable[RawPost]], Built]) -> Settings:
    """A blog of one post, with a token."""
    index_posts([START])
    return replace(own_settings, write_tokens=TOKEN)


@pytest.fixture(scope="module")
def shared_settings(
    engine_settings: Settings,
    module_index: Callable[[Iterable[RawPost]], str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Settings:
    """As `settings`, for an index that many tests share."""
    return replace(
        engine_settings,
        index=module_index([START]),
        synonyms_dir=tmp_path_factory.mktemp("synonyms"),
        write_tokens=TOKEN,
    )


class SharedIndex:
    """Tests that share an index, and write posts whose oids and words no other test has."""

    @pytest.fixture
    def settings(self, shared_settings: Settings) -> Settings:
        return shared_settings

    @pytest.fixture
    def alias(self, shared_settings: Settings) -> str:
        return shared_settings.index


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


@pytest.fixture
def without_index(engine_settings: Settings) -> Blog:
    """For requests that are refused before the index is needed."""
    settings = replace(engine_settings, index="test-no-index", write_tokens=TOKEN)
    return Blog(create_app(settings).test_client())


class TestTokens:
    def test_without_tokens_writing_is_closed(self, own_settings: Settings) -> None:
        closed = replace(own_settings, write_tokens=" , ")
        answer = create_app(closed).test_client().post("/documents", json={"oid": "1"})
        assert answer.status_code == 403
        assert answer.get_json()["error"]["code"] == "writes_closed"
        assert "BLOGSEARCH_WRITE_TOKENS" in answer.get_json()["error"]["message"]

    @pytest.mark.parametrize(
        "header", [None, "", "Bearer", "Bearer ", "Bearer first", f"Basic {TOKEN}", "Bearer \xfc"]
    )
    def test_another_token_is_refused(self, own_settings: Settings, header: str | None) -> None:
        client = create_app(replace(own_settings, write_tokens=TOKEN)).test_client()
        headers = {} if header is None else {"Authorization": header}
        answer = client.delete("/documents/start", headers=headers)
        assert answer.status_code == 401
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")
        assert answer.get_json()["error"]["code"] == "unauthorized"


class TestPut(SharedIndex):
    def test_creates_then_replaces_and_is_found(self, blog: Blog) -> None:
        assert blog.oids("zebra") == set()
        first = blog.put("z/1", title="About zebras")
        assert (first.status_code, first.get_json()) == (
            201,
            {
                "errors": False,
                "results": [{"kind": "post", "oid": "z/1", "status": 201, "result": "created"}],
            },
        )
        assert blog.oids("zebra") == {"z/1"}
        second = blog.put("z/1", title="About antelopes")
        assert second.status_code == 200
        assert blog.oids("zebra") == set()
        assert blog.oids("antelope") == {"z/1"}

    def test_an_older_version_does_not_overwrite_a_newer_one(self, blog: Blog) -> None:
        assert blog.put("v", title="Newer", modified="2024-05-02").status_code == 201
        older = blog.put("v", title="Older", modified="2024-05-01")
        assert older.status_code == 409
        assert older.get_json()["error"]["code"] == "conflict"
        same = blog.put("v", title="Newer", modified="2024-05-02")
        assert same.status_code == 200
        assert blog.oids("older") == set()

    def test_one_without_a_date_replaces_even_a_date_in_the_future(self, blog: Blog) -> None:
        assert blog.put("f", title="Tomorrow", modified="2100-01-01").status_code == 201
        assert blog.put("f", title="Today").status_code == 200
        assert blog.oids("today") == {"f"}

    def test_an_older_version_does_not_restore_a_deleted_post(self, blog: Blog) -> None:
        blog.put("gone", modified="2024-05-02")
        assert blog.send("DELETE", "/documents/gone").status_code == 200
        older = blog.put("gone", modified="2024-06-01", comments=[{"oid": "c", "comment": "x"}])
        assert older.status_code == 422
        assert {detail["status"] for detail in older.get_json()["error"]["details"]} == {409, 404}
        assert blog.put("gone").status_code == 201

    def test_reports_what_is_invalid(self, blog: Blog) -> None:
        answer = blog.put("bad", title="", pub_date="tomorrow")
        assert answer.status_code == 422
        (detail,) = answer.get_json()["error"]["details"]
        assert detail["oid"] == "bad"
        assert detail["reason"]
        assert detail["remedy"]

    @pytest.mark.parametrize(
        ("body", "said"),
        [
            ({"oid": "other", "title": "x"}, "'here'"),
            ([{"title": "x"}], None),
            ([{"title": "x"}, {"title": "y"}], "POST"),
            ("text", "POST"),
        ],
    )
    def test_needs_one_object_with_the_oid_of_the_url(
        self, blog: Blog, body: Any, said: str | None
    ) -> None:
        answer = blog.send("PUT", "/documents/here", body)
        assert answer.status_code == (400 if said else 201)
        assert said is None or said in answer.get_json()["error"]["message"]


class TestPost(SharedIndex):
    def test_has_a_result_for_each_of_an_array(self, blog: Blog) -> None:
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
        assert [(result["oid"], result["status"]) for result in body["results"]] == [
            ("a", 201),
            ("c", 201),
            ("b", 422),
            ("old", 409),
            (None, 422),
        ]
        assert body["results"][1]["post_oid"] == "a"

    def test_accepts_ndjson_and_reports_the_lines(self, blog: Blog) -> None:
        lines = b'{"oid":"n1","title":"One"}\n\n{"oid":"n2"}\n'
        answer = blog.send("POST", "/documents", data=lines, content_type=NDJSON)
        assert answer.status_code == 207
        assert [result["line"] for result in answer.get_json()["results"]] == [1, 3]

    def test_writes_nothing_if_a_line_is_not_json(self, blog: Blog) -> None:
        lines = b'{"oid":"n1","title":"Narwhal"}\n{"oid":\nnonsense\n'
        answer = blog.send("POST", "/documents", data=lines, content_type=NDJSON)
        assert answer.status_code == 400
        assert [detail["line"] for detail in answer.get_json()["error"]["details"]] == [2, 3]
        assert blog.oids("narwhal") == set()

    def test_the_later_of_two_same_oids_wins(self, blog: Blog) -> None:
        twice = [{"oid": "t", "title": "Walrus"}, {"oid": "t", "title": "Octopus"}]
        assert blog.send("POST", "/documents", twice).status_code == 200
        assert (blog.oids("walrus"), blog.oids("octopus")) == (set(), {"t"})

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
            (b'{"oid":"x","title":"' + b"y" * 10_000_000 + b'"}', "application/json", 413),
        ],
    )
    def test_refuses_an_invalid_body(
        self, without_index: Blog, data: bytes, kind: str, status: int
    ) -> None:
        answer = without_index.send("POST", "/documents", data=data, content_type=kind)
        assert answer.status_code == status
        assert answer.get_json()["error"]["message"]

    @pytest.mark.parametrize("error", [None, OSError("cut"), ParseException("no chunk")])
    def test_writes_nothing_of_an_incomplete_body(
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
        assert blog.oids("numbat") == set()

    def test_reports_invalid_parameters_before_reading_the_body(self, without_index: Blog) -> None:
        answer = without_index.send(
            "POST", "/documents?refresh=maybe&upsert=1", data=b"x" * 30_000, content_type="text/x"
        )
        assert answer.status_code == 400
        named = {detail["parameter"] for detail in answer.get_json()["error"]["details"]}
        assert named == {"refresh", "upsert"}

    @pytest.mark.parametrize(
        "oid", ["a/b", "/lead", "//two", "a//b", "trail/", "https://example.org/a", "a b?c%d", "ä"]
    )
    def test_a_url_names_exactly_that_oid(self, blog: Blog, oid: str) -> None:
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
        assert (blog.oids("kiwi"), blog.oids("lead")) == (set(), {"lead"})

    @pytest.mark.parametrize("method", ["PUT", "DELETE"])
    def test_a_url_that_is_not_utf_8_is_refused(self, without_index: Blog, method: str) -> None:
        # What a server passes for `caf%E9`; the test client would replace it.
        raw = {"PATH_INFO": "/documents/caf\xe9"}
        answer = without_index.send(method, "/documents/x", {"title": "x"}, environ_overrides=raw)
        assert answer.status_code == 400
        assert "UTF-8" in answer.get_json()["error"]["message"]

    def test_without_an_index_it_is_a_503(self, without_index: Blog) -> None:
        answer = without_index.put("x")
        assert answer.status_code == 503
        assert answer.get_json()["error"]["code"] == "no_index"


class TestDelete(SharedIndex):
    @pytest.mark.parametrize("comment", ["", "/comments/1"])
    def test_does_not_take_what_others_keep_writing_for_missing(
        self, blog: Blog, settings: Settings, elastic: Elasticsearch, comment: str
    ) -> None:
        oid = "contested-comment" if comment else "contested-post"
        blog.put(oid, comments=[{"oid": "1", "comment": "Text"}])
        id_ = f"comment:{oid}:1" if comment else f"post:{oid}"
        source = elastic.get(index=settings.index, id=id_, routing=oid)["_source"]
        versions = iter(range(10**15, 10**16, 10))

        class Node(RequestsHttpNode):
            def perform_request(self, *args: Any, **options: Any) -> Any:
                if f'"delete":{{"_id":"{id_}"' in str((args, options)):
                    elastic.index(
                        index=settings.index,
                        id=id_,
                        routing=oid,
                        document=source,
                        version=next(versions),
                        version_type="external",
                    )
                return super().perform_request(*args, **options)

        with Elasticsearch(settings.elasticsearch_url, node_class=Node) as busy:
            client = create_app(settings, elastic=busy).test_client()
            answer = Blog(client).send("DELETE", f"/documents/{oid}{comment}")
        assert answer.status_code == 503, answer.text
        assert elastic.exists(index=settings.index, id=id_, routing=oid)

    def test_takes_the_url_that_the_post_was_put_to(self, blog: Blog) -> None:
        for url, body in (("%20spaced%20", {"oid": " spaced "}), ("%20spaced/comments/%091", {})):
            entry = {"title": "A title", "comment": "Text", **body}
            assert blog.send("PUT", f"/documents/{url}", entry).status_code == 201
        for url in ("%20spaced/comments/%091", "%20spaced%20"):
            assert blog.send("DELETE", f"/documents/{url}").status_code == 200

    def test_deletes_the_comments_too(self, blog: Blog, elastic: Elasticsearch, alias: str) -> None:
        comments = [{"oid": f"c{n}", "comment": "Splendid"} for n in range(5)]
        blog.put("quokka", title="Quokka", comments=comments)
        answer = blog.send("DELETE", "/documents/quokka")
        assert answer.get_json()["results"] == [
            {"kind": "post", "oid": "quokka", "comments": 5, "status": 200, "result": "deleted"}
        ]
        assert blog.oids("quokka") == set()
        left = elastic.count(index=alias, query={"term": {"post_oid": "quokka"}})
        assert left["count"] == 0
        assert blog.send("DELETE", "/documents/quokka").status_code == 404

    def test_works_on_a_date_in_the_future(self, blog: Blog) -> None:
        blog.put("d", modified="2100-01-01")
        assert blog.send("DELETE", "/documents/d").status_code == 200
        assert blog.send("DELETE", "/documents/d").status_code == 404


class TestComments(SharedIndex):
    def test_are_written_and_deleted(self, blog: Blog, elastic: Elasticsearch, alias: str) -> None:
        path = "/documents/start/comments/c1"
        assert blog.send("PUT", path, {"comment": "A <b>numbat</b>"}).status_code == 201
        stored = elastic.get(index=alias, id="comment:start:c1", routing="start")["_source"]
        assert stored["kind"] == {"name": "comment", "parent": "post:start"}
        assert blog.send("DELETE", path).status_code == 200
        assert blog.send("DELETE", path).status_code == 404
        many = [{"oid": "c2", "comment": "x"}, {"oid": "c3", "comment": ""}, "text"]
        answer = blog.send("POST", "/documents/start/comments", many)
        assert answer.status_code == 207
        assert [result["status"] for result in answer.get_json()["results"]] == [201, 422, 422]

    def test_need_a_post(self, blog: Blog) -> None:
        answer = blog.send("PUT", "/documents/nowhere/comments/c1", {"comment": "Hello?"})
        assert answer.status_code == 404
        assert "nowhere" in answer.get_json()["error"]["message"]

    def test_an_older_version_does_not_overwrite_a_newer_one(self, blog: Blog) -> None:
        path = "/documents/start/comments/versions"
        newer = {"comment": "Newer", "modified": "2024-05-02"}
        older = {"comment": "Older", "modified": "2024-05-01"}
        assert blog.send("PUT", path, newer).status_code == 201
        assert blog.send("PUT", path, older).status_code == 409
        assert blog.send("PUT", path, {"comment": "x", "modified": "soon"}).status_code == 422


class TestSearch(SharedIndex):
    def test_finds_a_post_by_a_comment_written_alone(self, blog: Blog) -> None:
        blog.put("commented")
        path = "/documents/commented/comments/c1"
        assert blog.send("PUT", path, {"comment": "An okapi"}).status_code == 201
        assert blog.oids("okapi") == {"commented"}
        assert blog.put("commented", title="Replaced").status_code == 200
        assert blog.oids("okapi") == {"commented"}
        assert blog.send("DELETE", path).status_code == 200
        assert blog.oids("okapi") == set()


class TestFullDisk:
    """At the flood stage, Elasticsearch makes every index read-only."""

    @pytest.fixture
    def fill(self, elastic: Elasticsearch, alias: str) -> Iterator[Callable[..., None]]:
        ensure_state(elastic, alias)

        def block(*names: str, full: bool | None = True) -> None:
            for name in names:
                elastic.indices.put_settings(
                    index=name,
                    settings={"index.blocks.read_only_allow_delete": full},
                    expand_wildcards="all",
                )

        yield block
        block(f"{alias}*", full=None)

    def test_is_a_503_that_says_so(
        self, blog: Blog, fill: Callable[..., None], alias: str, run: Callable[..., Any]
    ) -> None:
        fill(alias)
        for answer in (
            blog.send("DELETE", "/documents/start"),
            blog.put("new", comments=[{"oid": "c", "comment": "x"}]),
            blog.send("PUT", "/documents/start/comments/c1", {"comment": "x"}),
        ):
            assert answer.status_code == 503, answer.get_json()
            assert "disk" in answer.get_json()["error"]["message"]
        assert "disk" in run("doctor").output

    def test_of_the_state_index_alone_stops_deletions_and_builds(
        self, blog: Blog, fill: Callable[..., None], alias: str, run: Callable[..., Any]
    ) -> None:
        fill(f"{alias}-state")
        assert blog.put("new").status_code == 201
        answer = blog.send("DELETE", "/documents/start")
        assert answer.status_code == 503
        assert "disk" in answer.get_json()["error"]["message"]
        done = run("reindex", "-", input='{"oid": "start", "title": "x"}')
        assert done.exit_code == 1
        assert "disk" in done.output

    def test_can_be_freed(
        self, blog: Blog, fill: Callable[..., None], alias: str, run: Callable[..., Any]
    ) -> None:
        assert run("reindex", "-", input='{"oid": "start", "title": "x"}').exit_code == 0
        fill(f"{alias}*")
        done = run("prune", "--keep", "0")
        assert done.exit_code == 0, done.output
        assert "Deleted" in done.output


class TestBlocks:
    """Somebody has made the index read-only."""

    @pytest.mark.parametrize("block", ["read_only", "metadata"])
    def test_is_told_at_once_with_the_block(
        self,
        blog: Blog,
        elastic: Elasticsearch,
        alias: str,
        run: Callable[..., Any],
        block: str,
    ) -> None:
        elastic.indices.put_settings(index=alias, settings={f"index.blocks.{block}": True})
        try:
            shown = {"read_only": "index.blocks.read_only", "metadata": "index metadata"}[block]
            assert shown in run("doctor").output
            if block == "read_only":
                answer = blog.put("new")
                assert answer.status_code != 201
                message = answer.get_json()["error"]["message"]
                assert "read-only" in message
                assert "being replaced" not in message
        finally:
            elastic.indices.put_settings(index=alias, settings={f"index.blocks.{block}": None})


class TestFullWriteQueue:
    """Elasticsearch responds 429 for each document of a bulk request, and to none at the end."""

    def test_is_waited_for(self, settings: Settings) -> None:
        class Rejects(RequestsHttpNode):
            """Rejects the first bulk requests to each index."""

            left: ClassVar[dict[str, int]]

            def perform_request(
                self, method: str, target: str, body: bytes | None = None, *rest: Any, **more: Any
            ) -> Any:
                if "_bulk" not in target or not body or not self.left[target]:
                    return super().perform_request(method, target, body, *rest, **more)
                self.left[target] -= 1
                accepted = super().perform_request("GET", "/", None, *rest, **more)
                rejected = {"error": {"type": "es_rejected_execution_exception"}, "status": 429}
                lines = [json.loads(line).keys() for line in body.splitlines()]
                items = [{name: rejected} for line in lines for name in line & {"index", "delete"}]
                return accepted._replace(body=json.dumps({"errors": True, "items": items}).encode())

        with Elasticsearch(settings.elasticsearch_url, node_class=Rejects) as elastic:
            blog = Blog(create_app(settings, elastic=elastic).test_client())
            comment = "/documents/vole/comments/c"
            for method, path, body in [
                ("PUT", "/documents/vole", {"title": "Vole"}),
                ("PUT", comment, {"comment": "x"}),
                ("DELETE", comment, None),
                ("DELETE", "/documents/vole", None),
            ]:
                Rejects.left = defaultdict(lambda: 2)
                assert blog.send(method, path, body).status_code in (200, 201), (method, path)
                assert 0 in Rejects.left.values()


class TestStaleWriteBlock:
    """A build that was killed just before its swap leaves the live index blocked."""

    def test_is_cleared(self, blog: Blog, elastic: Elasticsearch, alias: str) -> None:
        block_writes(elastic, require_live(elastic, alias).name)
        assert blog.put("x").status_code == 201
        assert blog.put("y").status_code == 201


@pytest.fixture
def address(settings: Settings) -> Iterator[str]:
    """The service on a port of its own, with several threads."""
    with in_thread(make_server("127.0.0.1", 0, create_app(settings), threaded=True)) as url:
        yield url

    def test_a_cache_that_was_unavailable_is_updated_later(self, settings: Settings) -> None:
        with redis_server() as server:
            changed = {"redis_url": server.url, "cache_timeout": 0.2}
            client = create_app(replace(settings, **changed)).test_client()
            blog = Blog(client)
            assert blog.oids("quetzal") == set()
            server.process.send_signal(signal.SIGSTOP)
            # After these, Redis is not tried for a second or two.
            assert [blog.oids(word) for word in ("one", "two")] == [set(), set()]
            time.sleep(0.6)
            assert blog.oids("three") == set()
            assert blog.put("bird", title="Quetzal").status_code == 201
            server.process.send_signal(signal.SIGCONT)
            wait_until(lambda: self._state(client, "quetzal") == ("HIT", 1))

    @staticmethod
    def _state(client: FlaskClient, q: str) -> tuple[str, int]:
        answer = client.get("/search", query_string={"q": q})
        return answer.headers["X-Cache"], answer.get_json()["count"]

    def test_a_deletion_of_unknown_outcome_updates_the_cache(self, settings: Settings) -> None:
        class LosesResponses(RequestsHttpNode):
            """Loses the responses to deletions, which have been made by then."""

            losing = False

            def perform_request(
                self, method: str, target: str, body: bytes | None = None, *rest: Any, **more: Any
            ) -> Any:
                response = super().perform_request(method, target, body, *rest, **more)
                if self.losing and body and body.startswith(b'{"delete"'):
                    raise ConnectionTimeout("no response")
                return response

        with Elasticsearch(settings.elasticsearch_url, node_class=LosesResponses) as elastic:
            client = create_app(settings, elastic=elastic).test_client()
            blog = Blog(client)
            blog.put("vole", title="Vole")
            assert [blog.oids("vole") for _ in range(2)] == [{"vole"}] * 2
            LosesResponses.losing = True
            with time_limit(1.0):
                assert blog.send("DELETE", "/documents/vole").status_code == 503
            LosesResponses.losing = False
            assert blog.send("DELETE", "/documents/vole").status_code == 404
            wait_until(lambda: not blog.oids("vole"))

    @pytest.mark.parametrize("refresh", ["wait_for", "false"])
    def test_a_write_becomes_visible_although_searches_go_on(
        self, address: str, refresh: str
    ) -> None:
        """With `wait_for` once it is answered, otherwise soon: nothing else has to happen."""
        stop = threading.Event()
        session = requests.Session()
        session.headers["Authorization"] = f"Bearer {TOKEN}"

        def keep_searching() -> None:
            # Caches answers without the post all the time.
            with requests.Session() as other:
                while not stop.is_set():
                    other.get(f"{address}/search?q=axolotl", timeout=30)

        def count() -> int:
            answer = session.get(f"{address}/search?q=axolotl", timeout=30).json()
            return int(answer["count"])

        def wait_until_visible(expected: int) -> None:
            deadline = time.monotonic() + 60  # only so that a failure ends
            while refresh == "false" and count() != expected and time.monotonic() < deadline:
                time.sleep(0.02)
            # It stays so.
            assert [count(), count()] == [expected, expected]

        threads = [threading.Thread(target=keep_searching) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            for number in range(1, 6):
                entry = {"title": f"Axolotl {number}", "text": "In a pond"}
                path = f"{address}/documents/axo-{number}?refresh={refresh}"
                assert session.put(path, json=entry, timeout=30).status_code == 201
                wait_until_visible(number)
            session.delete(f"{address}/documents/axo-1?refresh={refresh}", timeout=30)
            wait_until_visible(4)
        finally:
            stop.set()
            for thread in threads:
                thread.join()
            session.close()


def test_what_is_not_sent_in_time_is_named(
    elastic: Elasticsearch,
    elasticsearch_url: str,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = time.monotonic
    late = 0.0

    class Slow(RequestsHttpNode):
        """After the first request that writes, the time of the request is over."""

        def perform_request(self, method: str, target: str, *args: Any, **options: Any) -> Any:
            nonlocal late
            response = super().perform_request(method, target, *args, **options)
            late += 1_000 * ("_bulk" in target)
            return response

    monkeypatch.setattr("time.monotonic", lambda: clock() + late)
    posts = [RawPost(Origin("test"), f"p{number}", "P", "x") for number in range(1_200)]
    writes = [
        Write(document, newest=True)
        for post in posts
        for document in documents(post)
        if isinstance(document, Document)
    ]
    with Elasticsearch(elasticsearch_url, node_class=Slow) as client, time_limit(900):
        results = put(client, settings.index, writes)
    written = [result.id for result in results if result.status == 201]
    named = {result.result for result in results if result.status == 503}
    assert named == {"not sent"}
    assert len(written) == 500
    elastic.indices.refresh(index=settings.index)
    assert elastic.count(index=settings.index)["count"] == 1 + len(written)
    assert {result.status for result in put(elastic, settings.index, writes)} == {200, 201}
