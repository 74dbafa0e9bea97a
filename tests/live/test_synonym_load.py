"""`blogsearch synonyms load`, without interrupting searches."""

import json
import os
import subprocess
import sys
import threading
from dataclasses import replace
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from elasticsearch import Elasticsearch

from app import create_app
from app.settings import Settings
from indexer.posts.records import Origin, RawPost
from indexer.store.state import state_index
from tests.conftest import Run
from tests.tcp import forward, listening
from tests.writing import index_at_once

POSTS = {
    "ml": "An ML model in ten lines",
    "learning": "We use machine learning for everything",
    "postgres": "Backups in Postgres",
    "postgresql": "Vacuum in PostgreSQL",
    "other": "Of cabbages and kings",
}


def _post(oid: str, text: str) -> RawPost:
    return RawPost(Origin("test"), oid, f"Post {oid}", f"<p>{text}</p>", pub_date="2024-01-01")


@pytest.fixture
def live(elastic: Elasticsearch, alias: str) -> str:
    index_at_once(elastic, alias, [_post(oid, text) for oid, text in POSTS.items()])
    return alias


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "synonyms"
    path.mkdir()
    return path


@pytest.fixture
def settings(engine_settings: Settings, live: str, folder: Path) -> Settings:
    return replace(engine_settings, index=live, synonyms_dir=folder)


@pytest.fixture
def blogsearch(run: Run, settings: Settings) -> Run:
    """Runs `blogsearch WORD…`."""
    return partial(run, settings=settings)


@pytest.fixture
def run(blogsearch: Run) -> Run:
    """Runs `blogsearch synonyms WORD…`."""
    return partial(blogsearch, "synonyms")


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.synonyms"
    path.write_text("machine learning, ml\npostgres, postgresql\n")
    return path


def _found(elastic: Elasticsearch, alias: str, text: str) -> set[str]:
    answer = elastic.search(index=alias, query={"match_phrase": {"text": text}})
    return {hit["_source"]["oid"] for hit in answer["hits"]["hits"]}


def _generation(elastic: Elasticsearch, alias: str) -> str:
    (name,) = elastic.indices.get_alias(name=alias)
    return str(name)


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_what_is_refused_or_fails_changes_nothing(
    elastic: Elasticsearch, live: str, run: Run, folder: Path, mine: Path, settings: Settings
) -> None:
    (folder / "mine.synonyms").write_text("a, b\n")
    mine.write_text("machine learning, ml\n@@@ => foo\n")
    failed = run("load", mine)
    assert (failed.exit_code, "mine.synonyms:2: error" in failed.output) == (1, True)
    mine.write_text("postgres, postgresql\n① => one\n")
    assert run("load", mine).exit_code == 1
    mine.write_text("machine learning, ml\n")
    for place in ("nowhere", "/proc"):  # not even root can write to the second
        other = replace(settings, synonyms_dir=folder / place)
        failed = run("load", mine, settings=other)
        assert (failed.exit_code, "BLOGSEARCH_SYNONYMS_DIR" in failed.output) == (1, True)
    # A build needs an alias of its own.
    elastic.indices.create(index=f"{live}-000002-building")
    elastic.indices.create(index=f"{live}-000003-building")
    assert run("load", mine).exit_code == 1
    assert (folder / "mine.synonyms").read_text() == "a, b\n"
    assert _names(folder) == ["mine.synonyms"]
    assert _generation(elastic, live) == f"{live}-000001"


def test_a_loaded_file_goes_live_and_is_stored(
    elastic: Elasticsearch,
    live: str,
    run: Run,
    blogsearch: Run,
    folder: Path,
    mine: Path,
    settings: Settings,
) -> None:
    visitor = create_app(settings).test_client()
    assert visitor.get("/search?q=ml").get_json()["count"] == 1
    assert _found(elastic, live, "ml") == {"ml"}
    loaded = run("load", mine)
    assert loaded.exit_code == 0, loaded.output
    assert _generation(elastic, live) == f"{live}-000002"
    assert _found(elastic, live, "ml") == {"ml", "learning"}
    assert _found(elastic, live, "machine learning") == {"ml", "learning"}
    assert _found(elastic, live, "learning") == {"learning"}
    assert visitor.get("/search?q=ml").get_json()["count"] == 2  # nothing older from the cache
    (hit,) = visitor.get("/search?q=learning").get_json()["hits"]
    assert "machine <mark>learning</mark>" in hit["highlight"]["text"][0]
    assert "+ machine learning, ml\n" in loaded.output
    assert f"rm {folder}/mine.synonyms; blogsearch rebuild" in loaded.output
    again = run("load", mine)
    assert (again.exit_code, _generation(elastic, live)) == (0, f"{live}-000002")

    former = mine.read_text()
    mine.write_text("ml => machine learning\npostgres, postgresql\n")
    loaded = run("load", mine, "--json")
    body = json.loads(loaded.stdout)
    assert body["index"] == f"{live}-000003"
    assert (body["added"], body["gone"]) == (
        ["ml => machinelearning", "machine learning, machinelearning"],
        ["machine learning, ml"],
    )
    assert body["words"] == ["ml", "machinelearning", "machine learning"]
    assert (folder / "mine.synonyms").read_text() == mine.read_text()
    name = folder / "mine.synonyms"
    assert body["undo"] == [f"mv {name}.old {name}", "blogsearch rebuild"]
    Path(f"{name}.old").rename(name)
    assert name.read_text() == former
    assert blogsearch("rebuild").exit_code == 0
    assert _found(elastic, live, "learning") == {"learning"}


def test_files_for_another_language_are_not_used(
    elastic: Elasticsearch,
    live: str,
    run: Run,
    blogsearch: Run,
    mine: Path,
    settings: Settings,
) -> None:
    mine.write_text("# language: english\nmachine learning, ml\n")
    assert run("load", mine).exit_code == 0
    german = replace(settings, language="german")
    refused = run("load", mine, settings=german)
    assert (refused.exit_code, "BLOGSEARCH_LANGUAGE" in refused.output) == (1, True)
    assert blogsearch("rebuild", settings=german).exit_code == 0
    assert _found(elastic, live, "ml") == {"ml"}
    tokens = elastic.indices.analyze(index=live, analyzer="blog_text", text="Häuser")["tokens"]
    assert [token["token"] for token in tokens] == ["haus"]


def test_a_killed_load_changes_nothing(
    elastic: Elasticsearch, run: Run, settings: Settings, mine: Path
) -> None:
    live, folder = settings.index, settings.synonyms_dir
    mine.write_text("machine learning, ml\n")
    elasticsearch = urlsplit(settings.elasticsearch_url)
    address = (str(elasticsearch.hostname), elasticsearch.port or 9200)
    built, killed = threading.Event(), threading.Event()

    def hold_the_built_index(data: bytes) -> bool:
        if f"/{live}-000002/_refresh".encode() in data:
            built.set()
            killed.wait(120)
        return True

    with listening(lambda near: forward(near, address, hold_the_built_index)) as port:
        process = subprocess.Popen(
            [Path(sys.executable).with_name("blogsearch"), "synonyms", "load", mine],
            stderr=subprocess.DEVNULL,
            env={
                **os.environ,
                "ELASTICSEARCH_URL": f"http://127.0.0.1:{port}",
                "BLOGSEARCH_INDEX": live,
                "BLOGSEARCH_SYNONYMS_DIR": str(folder),
            },
        )
        assert built.wait(120)
        process.kill()
        killed.set()
        assert process.wait(120) != 0
    assert [path.name for path in folder.glob("*.synonyms")] == []
    assert _generation(elastic, live) == f"{live}-000001"
    assert _found(elastic, live, "ml") == {"ml"}
    # The lease of a lock that was not released is not waited for here.
    elastic.options(ignore_status=404).delete(index=state_index(live), id="lock")
    again = run("load", mine)
    assert again.exit_code == 0, again.output
    assert _names(folder) == ["mine.synonyms"]
