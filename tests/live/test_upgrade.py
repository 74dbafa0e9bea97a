"""Indices of former versions: fixtures of each schema, upgraded and compared."""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from elasticsearch import Elasticsearch
from elasticsearch.helpers import bulk
from flask.testing import FlaskClient

from app import create_app
from app.settings import Settings
from indexer import OLDEST_READABLE, SCHEMA
from indexer.generations import list_generations, require_live
from indexer.state import ensure_state

DATA = Path(__file__).parents[1] / "data"
FORMER = [1, 8, 9]
SCHEMAS = [*FORMER, SCHEMA]
OLDEST_AND_FORMER = [FORMER[0], FORMER[-1]]  # what takes several builds; a rebuild is of each
TOKEN = {"Authorization": "Bearer token-of-the-fixture"}
_CONTENT = (
    *("oid", "title", "text", "code", "url", "categories", "keywords", "modified"),
    *("post_oid", "author", "comment", "kind"),
)

Run = Callable[..., Result]


@pytest.fixture
def settings(own_settings: Settings) -> Settings:
    """For commands that are run here: an index of the test's own, and writes over HTTP."""
    return replace(own_settings, write_tokens="token-of-the-fixture")


@pytest.fixture
def visitor(settings: Settings) -> FlaskClient:
    return create_app(settings).test_client()


def restore(elastic: Elasticsearch, alias: str, schema: int) -> dict[str, Any]:
    """Create the first generation from a fixture, as from a backup; returns the fixture."""
    fixture: dict[str, Any] = json.loads((DATA / f"schema-{schema}.json").read_text())
    index = f"{alias}-000001"
    body = {"settings": fixture["settings"], "mappings": fixture["mappings"]}
    elastic.indices.create(index=index, aliases={alias: {}}, **body)
    bulk(
        elastic,
        (
            {
                "_index": index,
                "_id": document["_id"],
                "routing": document["_routing"],
                "version": document["_version"],
                "version_type": "external",
                "_source": document["_source"],
            }
            for document in fixture["documents"]
        ),
        refresh=True,
    )
    return fixture


def documents(elastic: Elasticsearch, alias: str) -> dict[str, dict[str, Any]]:
    elastic.indices.refresh(index=alias)
    hits = elastic.search(index=alias, size=1_000, version=True)["hits"]["hits"]
    return {hit["_id"]: hit for hit in hits}


def content(document: Mapping[str, Any]) -> dict[str, Any]:
    """What an upgrade must not change, with the version of the content."""
    source = document["_source"]
    version = source.get("content_version", document["_version"])
    return {name: source.get(name) for name in _CONTENT} | {"version": version}


def test_the_present_schema_has_a_fixture() -> None:
    """`python -m scripts.schema_fixture` writes one when SCHEMA is increased."""
    fixture = json.loads((DATA / f"schema-{SCHEMA}.json").read_text())
    assert fixture["mappings"]["_meta"]["blogsearch"]["schema"] == SCHEMA


@pytest.mark.parametrize("schema", SCHEMAS)
def test_a_rebuild_loses_nothing(
    elastic: Elasticsearch, settings: Settings, run: Run, visitor: FlaskClient, schema: int
) -> None:
    fixture = restore(elastic, settings.index, schema)
    done = run("rebuild", *(["--force"] if schema == SCHEMA else []))
    assert done.exit_code == 0, done.output
    live = require_live(elastic, settings.index)
    assert (live.number, live.schema, live.state) == (2, SCHEMA, "live")

    before = {document["_id"]: document for document in fixture["documents"]}
    after = documents(elastic, settings.index)
    assert after.keys() == before.keys()
    for id_, document in before.items():
        assert content(after[id_]) == content(document), id_
    post = after["post:written-over-http"]["_source"]
    assert (post["address"], len(post["comments"])) == ("blog.example.org/written-over-http", 2)

    for q, oid in (
        ("exists in no file", "written-over-http"),
        ("crontab lines", "crontab-lines-i-keep-forgetting"),
    ):
        hits = visitor.get("/search", query_string={"q": q}).get_json()["hits"]
        assert hits[0]["oid"] == oid
    assert visitor.get("/suggest?q=written+over").get_json()["suggestions"]
    assert run("rebuild").output.count("already") == 1
    assert run("doctor").exit_code == 0


def test_what_schema_1_had_deleted_stays_deleted(
    elastic: Elasticsearch, settings: Settings, run: Run, visitor: FlaskClient
) -> None:
    restore(elastic, settings.index, 1)
    deleted = int(time.time() * 1000)
    record = {"what": "tombstone", "id": "post:gone", "routing": "gone", "version": deleted}
    state = ensure_state(elastic, settings.index)
    former = {**record, "pending": False, "at": deleted}
    elastic.index(index=state, id="gone:post:gone", document=former, refresh=True)
    assert run("rebuild").exit_code == 0
    body = {"title": "Gone", "modified": "2024-01-01"}
    refused = visitor.put("/documents/gone", json=body, headers=TOKEN)
    assert refused.status_code == 409, refused.get_json()
    assert not elastic.exists(index=state, id="gone:post:gone")


@pytest.mark.parametrize("schema", OLDEST_AND_FORMER)
def test_the_next_sync_reads_every_post_again_and_keeps_what_came_over_http(
    elastic: Elasticsearch, settings: Settings, run: Run, schema: int
) -> None:
    restore(elastic, settings.index, schema)
    source = DATA / "upgrade.jsonl"
    synced = run("sync", source)  # which rebuilds the index first
    assert synced.exit_code == 0, synced.output
    assert "0 documents added, 24 changed, 0 removed, 0 unchanged" in synced.output
    stored = documents(elastic, settings.index)
    assert {id_ for id_ in stored if "http" in id_} == {
        id_ for id_, document in stored.items() if document["_source"].get("over_http")
    }
    assert sum("http" in id_ for id_ in stored) == 13
    assert "24 unchanged" in run("sync", source).output


@pytest.mark.parametrize("schema", [FORMER[0], SCHEMA])
def test_reindex_keeps_what_came_over_http(
    elastic: Elasticsearch, settings: Settings, run: Run, schema: int, tmp_path: Path
) -> None:
    fixture = restore(elastic, settings.index, schema)
    # Its own posts must not look like sample posts, which are replaced without a question.
    source = tmp_path / "posts.jsonl"
    lines = (DATA / "upgrade.jsonl").read_text().splitlines(keepends=True)
    source.write_text("".join(lines).replace("blog.example.org", "blog.example.net"))
    elastic.update(
        index=settings.index,
        id="post:why-i-still-read-rss",
        routing="why-i-still-read-rss",
        doc={"url": "https://blog.example.net/rss"}
        | ({"address": "blog.example.net/rss"} if schema > 1 else {}),
        refresh=True,
    )
    done = run("reindex", source)
    assert done.exit_code == 0, done.output
    assert "Kept 1 post and 12 comments" in done.output
    stored = documents(elastic, settings.index)
    assert stored.keys() == {document["_id"] for document in fixture["documents"]}
    assert len(stored["post:written-over-http"]["_source"]["comments"]) == 2

    source.write_text("".join(source.read_text().splitlines(keepends=True)[1:]))
    asked = run("reindex", source)
    assert asked.exit_code == 1
    assert "1 comments came over HTTP" in asked.output
    assert "crontab-lines-i-keep-forgetting" in asked.output
    assert run("reindex", source, "--force").exit_code == 0
    assert len(documents(elastic, settings.index)) == len(stored) - 4


@pytest.mark.parametrize("schema", [OLDEST_READABLE - 1, OLDEST_READABLE, SCHEMA + 1])
def test_until_then_everything_says_what_to_do(
    elastic: Elasticsearch, settings: Settings, run: Run, visitor: FlaskClient, schema: int
) -> None:
    restore(elastic, settings.index, min(schema, SCHEMA))
    index = f"{settings.index}-000001"
    if schema > SCHEMA:
        meta = {"blogsearch": {"schema": schema, "state": "ready", "rules": "x"}}
        elastic.indices.put_mapping(index=index, meta=meta)
    remedy = "blogsearch rebuild" if schema < SCHEMA else "newer version"
    if not OLDEST_READABLE <= schema <= SCHEMA:
        for url in ("/search?q=juggling", "/suggest?q=jugg", "/suggest?q=zzzz"):
            response = visitor.get(url)
            assert (response.status_code, response.get_json()["error"]["code"]) == (
                503,
                "index_outdated",
            ), url
            assert remedy in response.get_json()["error"]["message"]
            assert int(response.headers["Retry-After"]) > 0
    else:
        assert visitor.get("/search?q=juggling").get_json()["hits"]
        assert visitor.get("/suggest?q=written+ov").get_json()["suggestions"]
    body = {"title": "New", "text": "New", "comment": "New"}
    for method, path in (
        ("PUT", "/documents/new"),
        ("PUT", "/documents/written-over-http/comments/new"),
        ("DELETE", "/documents/written-over-http"),
        ("DELETE", "/documents/written-over-http/comments/http-11"),
    ):
        response = visitor.open(path, method=method, json=body, headers=TOKEN)
        assert response.status_code == 503, path
        assert int(response.headers["Retry-After"]) > 0
        assert remedy in response.get_json()["error"]["message"]
    doctor = run("doctor").output.replace("\n", " ")
    assert ("rebuild" if schema < SCHEMA else "newer") in doctor
    assert "SOURCE" not in doctor
    assert remedy in run("add", DATA / "upgrade.jsonl").output
    if schema > SCHEMA:
        for command in (["rebuild"], ["sync", DATA / "upgrade.jsonl"]):
            refused = run(*command)
            assert refused.exit_code == 1
            assert f"schema {schema}" in refused.output
        assert [generation.name for generation in list_generations(elastic, settings.index)] == [
            index
        ]


@pytest.mark.parametrize("schema", OLDEST_AND_FORMER)
def test_a_rollback_gives_the_former_version_all_writes(
    elastic: Elasticsearch, settings: Settings, run: Run, visitor: FlaskClient, schema: int
) -> None:
    restore(elastic, settings.index, schema)
    assert "blogsearch rollback" in run("rebuild").output
    body = {"title": "New", "text": "New", "comment": "New", "url": "https://blog.example.org/n"}
    for path in (
        "/documents/new",
        "/documents/new/comments/1",
        "/documents/upserts-in-postgres/comments/1",
    ):
        assert visitor.put(path, json=body, headers=TOKEN).status_code == 201
    assert visitor.delete("/documents/sewing-your-own-beanbags", headers=TOKEN).status_code == 200
    done = run("rollback")
    assert done.exit_code == 0, done.output
    live = require_live(elastic, settings.index)
    assert (live.number, live.schema) == (1, schema)
    stored = documents(elastic, settings.index)
    assert {"post:new", "comment:new:1", "comment:upserts-in-postgres:1"} <= stored.keys()
    assert not any("sewing" in id_ for id_ in stored)
    assert stored["post:new"]["_source"]["title"] == "New"
    assert run("rebuild").exit_code == 0
    assert documents(elastic, settings.index).keys() == stored.keys()
