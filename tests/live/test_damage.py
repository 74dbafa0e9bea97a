"""A live index that is closed or red: what works, and what is said."""

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import Result
from elasticsearch import Elasticsearch
from flask.testing import FlaskClient

from app import create_app
from app.settings import Settings
from indexer.build.builder import Built
from indexer.generations import list_generations, require_live
from indexer.records import Origin, RawPost
from tests.waiting import Clock
from tests.writing import put_post

Damage = Callable[[Elasticsearch, str], None]
Run = Callable[..., Result]
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
def settings(own_settings: Settings) -> Settings:
    """For commands that are run here: an index of the test's own."""
    return own_settings


@pytest.fixture
def two_generations(
    elastic: Elasticsearch, alias: str, index_posts: Callable[[Iterable[RawPost]], Built]
) -> None:
    """The previous one has `old`; the live one `old`, `new`, and `written` over HTTP."""
    index_posts([post("old")])
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
class TestUnreadable:
    def test_rollback_says_what_is_lost(self, elastic: Elasticsearch, alias: str, run: Run) -> None:
        lose_its_shard(elastic, alias)
        result = run("rollback")
        assert result.exit_code == 0, result.output
        assert f"{alias}-000002" in result.stderr
        assert "What was written since it went live is lost" in result.stderr
        assert oids(elastic, alias) == {"old"}
        put_post(elastic, alias, "later")
        states = {item.number: item.state for item in list_generations(elastic, alias)}
        assert states == {1: "live", 2: "previous"}

    def test_reindex_replaces_it_once_it_is_deleted(
        self, elastic: Elasticsearch, alias: str, run: Run, posts_file: Path
    ) -> None:
        close(elastic, alias)
        refused = run("reindex", posts_file, "--force")
        assert refused.exit_code == 1
        assert "blogsearch rollback" in refused.stderr
        elastic.indices.delete(index=f"{alias}-000002")
        assert run("reindex", posts_file).exit_code == 0
        assert oids(elastic, alias) == {"fresh"}

    def test_sync_changes_nothing(
        self, elastic: Elasticsearch, alias: str, run: Run, posts_file: Path
    ) -> None:
        close(elastic, alias)
        result = run("sync", posts_file)
        assert result.exit_code == 1
        assert "is closed" in result.stderr
        assert require_live(elastic, alias).name == f"{alias}-000002"
        listed = run("indices")
        assert listed.exit_code == 0, listed.output
        assert f"{alias}-000002\tlive\t?\t" in listed.stdout

    def test_a_write_is_not_called_invalid(
        self, elastic: Elasticsearch, settings: Settings, alias: str
    ) -> None:
        close(elastic, alias)
        app = create_app(replace(settings, write_tokens=TOKEN))
        headers = {"Authorization": f"Bearer {TOKEN}"}
        answer = app.test_client().put("/documents/x", json={"title": "X"}, headers=headers)
        assert answer.status_code == 503
        assert "is closed" in answer.json["error"]["message"]  # type: ignore[index]


@pytest.mark.usefixtures("two_generations")
def test_doctor_says_what_is_wrong_and_what_to_do(
    elastic: Elasticsearch, alias: str, run: Run
) -> None:
    close(elastic, alias)
    result = run("doctor", "--json")
    assert result.exit_code == 1
    seen = json.loads(result.output)["index"]
    assert f"{alias}-000002" in seen["seen"]
    assert "blogsearch rollback" in seen["remedy"]


@pytest.mark.usefixtures("two_generations")
@pytest.mark.parametrize("damage", [close, lose_its_shard])
def test_older_answers_are_given(
    elastic: Elasticsearch, settings: Settings, alias: str, damage: Damage, clock: Clock
) -> None:
    client: FlaskClient = create_app(settings).test_client()
    assert client.get("/search?q=juggling").json["count"] == 3  # type: ignore[index]
    damage(elastic, alias)
    clock.advance(900)  # longer than an answer is fresh
    answer = client.get("/search?q=juggling")
    assert (answer.status_code, answer.headers["X-Cache"]) == (200, "STALE")
    assert answer.json["count"] == 3  # type: ignore[index]
    assert client.get("/search?q=neverseen").status_code == 503
