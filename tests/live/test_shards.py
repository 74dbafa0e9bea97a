"""An index of two shards, one of which is missing or fails."""

import json
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from elasticsearch import ApiError, Elasticsearch
from flask.testing import FlaskClient
from prometheus_client import generate_latest

from analyzers.languages import ENGLISH
from app import create_app
from app.cache import open_cache
from app.elastic import translated
from app.errors import Unavailable
from app.metrics import IndexMetrics
from app.search.pins import PinRule, PinStore
from app.search.session import IndexedLanguages
from app.service import Service
from app.settings import Settings
from indexer.scan import doc_values
from indexer.write.live import read_posts
from tests.conftest import Run
from tests.live.conftest import Faulty
from tests.waiting import Clock

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
    lines = [{"oid": f"p{n}", "title": f"Juggling {n} balls", "text": "Throw."} for n in range(20)]
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


def test_a_search_that_loses_its_index_is_unavailable(
    elastic: Elasticsearch, whole: Settings
) -> None:
    pit = elastic.open_point_in_time(index=whole.index, keep_alive="1m")["id"]
    elastic.close_point_in_time(id=pit)  # as when the index is deleted between two phases
    with pytest.raises(Unavailable), translated():
        elastic.search(pit={"id": pit})


def test_nothing_is_counted_in_a_part_of_the_posts(elastic: Elasticsearch, whole: Settings) -> None:
    name = _lose_a_shard(elastic, whole)
    for count in (
        lambda: list(doc_values(elastic, name, ["oid"])),
        IndexedLanguages(elastic, name, ENGLISH).refresh,
        lambda: PinStore(elastic, name, ENGLISH).warnings([_RULE]),
    ):
        with pytest.raises(ApiError, match="search_phase_execution_exception"):
            count()
    metrics = generate_latest(IndexMetrics(Service(whole, elastic, open_cache(whole))))
    assert b"blogsearch_posts" not in metrics


def test_a_post_of_a_missing_shard_is_not_taken_for_a_post_that_does_not_exist(
    elastic: Elasticsearch, whole: Settings
) -> None:
    token = "a-token-for-these-tests"
    client = create_app(replace(whole, write_tokens=token)).test_client()
    headers = {"Authorization": f"Bearer {token}"}
    name = _lose_a_shard(elastic, whole)
    read = elastic.mget(index=name, ids=[f"p{n}" for n in range(20)], source=False)["docs"]
    lost = next(doc["_id"] for doc in read if "error" in doc)
    with pytest.raises(ApiError, match="no_shard_available"):
        read_posts(elastic, name, [lost])
    comment = client.put(
        f"/documents/{lost}/comments/c", headers=headers, json={"comment": "Not lost."}
    )
    assert comment.status_code == 503
