"""An index that is closed or red, or lacks a shard: what works, and what is said."""

import json
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from elasticsearch import ApiError, Elasticsearch
from flask.testing import FlaskClient
from prometheus_client import generate_latest

from app import create_app
from app.cache import open_cache
from app.http.metrics import IndexMetrics
from app.index.watch import IndexWatch, Intervals
from app.search.pins import PinRule, PinStore
from app.search.view import read_view
from app.service import Service
from app.settings import Settings
from indexer.errors import Damaged
from indexer.posts.records import Origin, RawPost
from indexer.runs.build import Built
from indexer.store.generations import list_generations, require_live
from indexer.store.scan import doc_values, scan
from indexer.write.live import read_posts
from tests.conftest import Run
from tests.live.conftest import Faulty
from tests.waiting import Clock, wait_until
from tests.writing import index_at_once, put_post

ONE_PER_NODE = "index.routing.allocation.total_shards_per_node"
_RULE = PinRule("my.pins", 1, (), False, ("p1",), ())


def _shards(elastic: Elasticsearch, index: str) -> list[str]:
    rows: Any = elastic.cat.shards(index=index, h="state", format="json").body
    return sorted(row["state"] for row in rows)


def _found(client: FlaskClient, path: str) -> tuple[int, str | None, int]:
    """Status, X-Cache, and how many posts or suggestions were found."""
    answer = client.get(path)
    body = answer.get_json()
    count = body.get("count", len(body.get("suggestions", [])))
    return answer.status_code, answer.headers.get("X-Cache"), count


@pytest.fixture
def whole(own_settings: Settings, run: Run, tmp_path: Path) -> Settings:
    """The settings of an index of two shards with 20 posts."""
    posts = tmp_path / "posts.jsonl"
    post = {"text": "Throw.", "pub_date": "2026-01-31"}
    lines = [{"oid": f"p{n}", "title": f"Juggling {n} balls", **post} for n in range(20)]
    posts.write_text("\n".join(map(json.dumps, lines)))
    settings = replace(own_settings, shards=2)
    assert run("reindex", posts, settings=settings).exit_code == 0
    return settings


def _lose_a_shard(elastic: Elasticsearch, settings: Settings) -> str:
    """Have the alias name a copy of which this node, the only one, may have one shard."""
    (index,) = elastic.indices.get_alias(name=settings.index)
    copy = f"{settings.index}-000002"
    elastic.indices.put_settings(index=index, settings={"index.blocks.write": True})
    limits = {ONE_PER_NODE: 1, "index.number_of_replicas": 0, "index.blocks.write": None}
    elastic.indices.clone(index=index, target=copy, settings=limits, wait_for_active_shards="0")
    deadline = time.monotonic() + 30
    while (states := _shards(elastic, copy)) != ["STARTED", "UNASSIGNED"]:
        assert time.monotonic() < deadline, states
        time.sleep(0.1)
    actions: list[dict[str, Any]] = [
        {"remove": {"index": index, "alias": settings.index}},
        {"add": {"index": copy, "alias": settings.index}},
    ]
    elastic.indices.update_aliases(actions=actions)
    return copy


def test_a_missing_shard_is_an_error_and_no_part_of_an_answer_is_kept(
    elastic: Elasticsearch, whole: Settings, clock: Clock
) -> None:
    client = create_app(whole).test_client()
    assert _found(client, "/search?q=juggling") == (200, "MISS", 20)

    copy = _lose_a_shard(elastic, whole)
    for path in (
        "/search?q=balls",
        "/search?q=balz",
        "/search?q=throw&facets=on",
        "/suggest?q=jug",
    ):
        assert _found(client, path)[0] == 503, path
    assert "Newest posts" not in client.get("/").text
    # Its generation cannot be asked for, so the one before it is all that is known.
    clock.advance(900)
    assert _found(client, "/search?q=juggling") == (200, "STALE", 20)

    elastic.indices.put_settings(index=copy, settings={ONE_PER_NODE: -1})
    elastic.cluster.health(index=copy, wait_for_status="green", timeout="60s")
    assert _found(client, "/search?q=balls") == (200, "MISS", 20)
    assert _found(client, "/suggest?q=jug")[0] == 200
    assert "Newest posts" in client.get("/").text


def test_a_failed_shard_is_an_older_answer_or_a_503(
    whole: Settings, faulty: Faulty, clock: Clock
) -> None:
    failing = threading.Event()

    def fail(send: Callable[[], Any]) -> Any:
        """Answers as Elasticsearch does when a shard has an I/O error."""
        accepted = send()
        if not failing.is_set():
            return accepted
        failed = {"error": {"type": "search_phase_execution_exception"}, "status": 500}
        body = {**json.loads(accepted.body), "responses": [failed, failed]}
        return accepted._replace(body=json.dumps(body).encode())

    client = create_app(whole, elastic=faulty("/_msearch", fail)).test_client()
    assert _found(client, "/search?q=juggling") == (200, "MISS", 20)
    failing.set()
    clock.advance(900)  # longer than an answer is fresh
    assert _found(client, "/search?q=juggling") == (200, "STALE", 20)
    for path in ("/search?q=balls", "/suggest?q=jug"):
        response = client.get(path)
        assert (response.status_code, response.get_json()["error"]["code"]) == (
            503,
            "engine_unavailable",
        ), path


def test_a_part_of_the_posts_is_neither_counted_nor_taken_for_all(
    elastic: Elasticsearch, whole: Settings
) -> None:
    token = "a-token-for-these-tests"
    client = create_app(replace(whole, write_tokens=token)).test_client()
    name = _lose_a_shard(elastic, whole)
    for count in (
        lambda: list(doc_values(elastic, name, ["oid"])),
        lambda: read_view(elastic, name),
        lambda: PinStore(elastic, name).warnings([_RULE]),
    ):
        with pytest.raises(ApiError, match="search_phase_execution_exception"):
            count()
    metrics = generate_latest(IndexMetrics(Service(whole, elastic, open_cache(whole))))
    assert b"blogsearch_posts" not in metrics
    # A post of the missing shard is not taken for one that does not exist.
    read = elastic.mget(index=name, ids=[f"p{n}" for n in range(20)], source=False)["docs"]
    lost = next(doc["_id"] for doc in read if "error" in doc)
    with pytest.raises(ApiError, match="no_shard_available"):
        read_posts(elastic, name, [lost])
    path, headers = f"/documents/{lost}/comments/c", {"Authorization": f"Bearer {token}"}
    assert client.put(path, headers=headers, json={"comment": "Not lost."}).status_code == 503


def test_pages_of_posts_are_whole_or_an_error(
    elastic: Elasticsearch, whole: Settings, faulty: Faulty
) -> None:
    posts = scan(elastic, whole.index, source=False, size=3, sort="oid")
    assert [post["_id"] for post in posts] == sorted(f"p{n}" for n in range(20))
    assert len(list(scan(elastic, whole.index, doc_values=["missing"], size=3))) == 20
    begun = scan(elastic, whole.index, size=3)
    next(begun)
    begun.close()
    searches = elastic.indices.stats(index=whole.index, metric="search")["_all"]["total"]["search"]
    assert (searches["scroll_total"] > 0, searches["open_contexts"]) == (True, 0)

    def lack(send: Callable[[], Any]) -> Any:
        page = send()
        body = {**json.loads(page.body), "_shards": {"total": 2, "successful": 1}}
        return page._replace(body=json.dumps(body).encode())

    with pytest.raises(Damaged, match="1 of 2 shards"):
        list(scan(faulty("/_search/scroll", lack), whole.index, size=3))


Damage = Callable[[Elasticsearch, str], None]
TOKEN = "secret-of-the-test"
_OF_THE_ENGINE = {"creation_date", "uuid", "version", "provided_name", "routing"}


def close(elastic: Elasticsearch, alias: str) -> None:
    elastic.indices.close(index=f"{alias}-000002")


def lose_its_shard(elastic: Elasticsearch, alias: str) -> None:
    """As after the loss of a disk: no node has this name, so that the shard is nowhere."""
    name = f"{alias}-000002"
    body = elastic.indices.get(index=name)[name]
    kept = body["settings"]["index"].items()
    settings = {key: value for key, value in kept if key not in _OF_THE_ENGINE}
    settings["routing.allocation.require._name"] = "nowhere"
    elastic.indices.delete(index=name)
    elastic.indices.create(
        index=name,
        settings=settings,
        mappings=body["mappings"],
        aliases=body["aliases"],
        wait_for_active_shards="0",
    )


def post(oid: str) -> RawPost:
    return RawPost(Origin("test"), oid, f"Juggling {oid}", "<p>Text</p>", pub_date="2024-01-01")


@pytest.fixture
def two_generations(
    elastic: Elasticsearch, alias: str, index_posts: Callable[[Iterable[RawPost]], Built]
) -> None:
    """The previous one has `old`; the live one `old`, `new`, and `written` over HTTP."""
    index_at_once(elastic, alias, [post("old")])
    index_posts([post("old"), post("new")])
    put_post(elastic, alias, "written", "Juggling")
    elastic.indices.refresh(index=alias)


@pytest.fixture
def posts_file(tmp_path: Path) -> Path:
    path = tmp_path / "posts.jsonl"
    path.write_text('{"oid": "fresh", "title": "Fresh", "text": "x"}\n')
    return path


def oids(elastic: Elasticsearch, alias: str) -> set[str]:
    elastic.indices.refresh(index=alias)
    hits = elastic.search(index=alias)["hits"]["hits"]
    return {hit["_source"]["oid"] for hit in hits}


@pytest.mark.usefixtures("two_generations")
def test_an_index_that_cannot_be_read_is_named_and_replaced_once_it_is_deleted(
    elastic: Elasticsearch, own_settings: Settings, alias: str, run: Run, posts_file: Path
) -> None:
    close(elastic, alias)
    app = create_app(replace(own_settings, write_tokens=TOKEN))
    headers = {"Authorization": f"Bearer {TOKEN}"}
    answer = app.test_client().put("/documents/x", json={"title": "X"}, headers=headers)
    assert answer.status_code == 503
    assert "is closed" in answer.json["error"]["message"]  # type: ignore[index]
    for command in (("sync", posts_file), ("reindex", posts_file, "--force")):
        refused = run(*command)
        assert (refused.exit_code, "blogsearch rollback" in refused.stderr) == (1, True)
    assert require_live(elastic, alias).name == f"{alias}-000002"
    assert f"{alias}-000002\tlive\t?\t" in run("indices").stdout
    seen = json.loads(run("doctor", "--json").output)["index"]
    assert (f"{alias}-000002" in seen["seen"], "rollback" in seen["remedy"]) == (True, True)
    elastic.indices.delete(index=f"{alias}-000002")
    assert run("reindex", posts_file).exit_code == 0
    assert oids(elastic, alias) == {"fresh"}


@pytest.mark.usefixtures("two_generations")
def test_rollback_says_what_is_lost(elastic: Elasticsearch, alias: str, run: Run) -> None:
    lose_its_shard(elastic, alias)
    result = run("rollback")
    assert result.exit_code == 0, result.output
    assert "written since it went live is lost" in result.stderr
    assert oids(elastic, alias) == {"old"}
    put_post(elastic, alias, "later")
    states = {item.number: item.state for item in list_generations(elastic, alias)}
    assert states == {1: "live", 2: "previous"}


@pytest.mark.usefixtures("two_generations")
@pytest.mark.parametrize("damage", [close, lose_its_shard])
def test_older_answers_are_given(
    elastic: Elasticsearch, own_settings: Settings, alias: str, damage: Damage, clock: Clock
) -> None:
    app = create_app(own_settings)
    client: FlaskClient = app.test_client()
    service: Service = app.extensions["blogsearch"]
    parts = (service.elastic, service.cache, service.settings, service.admission)
    service.watch = IndexWatch(*parts, Intervals(ask=0.1, trust=0.2))
    wait_until(lambda: client.get("/search?q=juggling").headers["X-Cache"] == "HIT")
    damage(elastic, alias)
    clock.advance(900)  # longer than an answer is fresh
    until = time.monotonic() + 1  # in which the service asks Elasticsearch again
    while time.monotonic() < until:
        assert _found(client, "/search?q=juggling") == (200, "STALE", 3)
    assert client.get("/search?q=neverseen").status_code == 503
