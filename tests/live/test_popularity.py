"""How much a post is read: where it comes from, that it stays, and what it changes."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from elasticsearch import Elasticsearch
from flask.testing import FlaskClient

from app import create_app
from app.insights.counts import Counts, Opening
from app.settings import Settings
from tests.conftest import Run

NAMES = ("a", "b", "c", "d")


def lines(**more: Any) -> str:
    """Posts that are equal but for their names, and for what is given."""
    posts = [
        {
            "oid": name,
            "title": "Kumquats",
            "text": "<p>Sour.</p>",
            "url": f"https://blog.example.org/posts/{name}/",
            "pub_date": "2020-01-01",
            **more.get(name, {}),
        }
        for name in NAMES
    ]
    return "".join(json.dumps(post) + "\n" for post in posts)


@pytest.fixture
def alias(emptied: str) -> str:
    return emptied


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "posts.jsonl"
    path.write_text(lines())
    return path


def stored(elastic: Elasticsearch, alias: str) -> dict[str, float]:
    elastic.indices.refresh(index=alias)
    hits = elastic.search(index=alias, size=50)["hits"]["hits"]
    sources = [hit["_source"] for hit in hits]
    return {one["oid"]: one["popularity"] for one in sources if "popularity" in one}


def first(client: FlaskClient) -> str:
    return str(client.get("/search?q=kumquats").get_json()["hits"][0]["oid"])


def test_a_csv_is_taken_and_what_it_says_stays(
    run: Run, elastic: Elasticsearch, own_settings: Settings, source: Path, tmp_path: Path
) -> None:
    alias = own_settings.index
    assert run("sync", source).exit_code == 0
    client = create_app(own_settings).test_client()
    explained = client.get("/search?q=kumquats&debug-search=requests").text
    assert "function_score" not in explained
    before = first(client)
    views = tmp_path / "views.csv"
    views.write_text(
        "\ufeff# Pages\n\n# 2026\nPage,Views\nhttps://WWW.blog.example.org/posts/c/?utm_source=x,100\n/posts/c,20\n"
        '"https://blog.example.org/posts/b/index.html",7.5\n\n/elsewhere/,1\n'
    )
    done = run("popularity", views, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout) == {"posts": 2, "changed": 2, "unknown": ["/elsewhere"]}
    numbers = {"b": 7.5, "c": 120.0}
    assert stored(elastic, alias) == numbers
    assert before != "c"
    assert first(client) == "c"  # also where the answer was kept
    debug = client.get("/search?q=kumquats&debug-search").get_json()["debug"]
    assert [part["part"] for part in debug["hits"][0]["parts"]].count("popularity") == 1

    export = tmp_path / "export.jsonl"
    assert "0 changed" in run("sync", source).stdout
    assert run("rebuild", "--force").exit_code == 0
    assert stored(elastic, alias) == numbers
    source.write_text(lines(c={"text": "<p>Sweet.</p>"}))
    assert "1 changed" in run("sync", source).stdout
    assert run("export", export).exit_code == 0
    assert stored(elastic, alias) == numbers
    elastic.indices.delete(index=list(elastic.indices.get(index=f"{alias}-0*")))
    assert run("reindex", export).exit_code == 0
    assert stored(elastic, alias) == numbers


def test_a_post_may_say_it(
    run: Run, elastic: Elasticsearch, own_settings: Settings, source: Path, tmp_path: Path
) -> None:
    source.write_text(lines(b={"popularity": 3}))
    assert run("sync", source).exit_code == 0
    client = create_app(own_settings).test_client()
    assert first(client) == "b"
    source.write_text(lines(b={"popularity": 3}, d={"popularity": 1000}))
    assert "1 changed" in run("sync", source).stdout
    assert first(client) == "d"
    folder = tmp_path / "content"
    folder.mkdir()
    (folder / "e.md").write_text("---\ntitle: Loquats\npopularity: 12\n---\nA tree.\n")
    assert run("sync", source, folder).exit_code == 0
    assert stored(elastic, own_settings.index) == {"b": 3.0, "d": 1000.0, "e": 12.0}
    # Equal numbers change no order.
    texts = {name: {"text": "<p>" + "Sour. " * length} for length, name in enumerate(NAMES, 1)}
    orders = []
    for number in (0, 7):
        posts = {name: {**text, "popularity": number} for name, text in texts.items()}
        source.write_text(lines(**posts))
        assert "4 changed" in run("sync", source).stdout
        orders.append([hit["oid"] for hit in client.get("/search?q=sour").get_json()["hits"]])
    assert orders[0] == orders[1]


def test_wrong_lines_are_named_and_opened_hits_are_taken(
    run: Run, elastic: Elasticsearch, own_settings: Settings, source: Path, tmp_path: Path
) -> None:
    assert run("sync", source).exit_code == 0
    views = tmp_path / "views.csv"
    views.write_text("/posts/a,many\n/posts/b\n/posts/c,-5\n,7\n/posts/d,nan\n")
    done = run("popularity", views)
    assert done.exit_code == 1
    for line in (1, 2, 3, 4, 5):
        assert f"{views}:{line}: " in done.stderr
    assert stored(elastic, own_settings.index) == {}
    views.write_bytes(b"/posts/a,1\n\xff,2\n")
    assert run("popularity", views).exit_code == 1
    assert run("popularity").exit_code == run("popularity", views, "--from-clicks").exit_code == 2
    opened = [Opening(time.time(), "kumquats", oid) for oid in ("d", "d", "a", "gone")]
    Counts(elastic, own_settings.index, 30).add(opened)
    done = run("popularity", "--from-clicks")
    assert done.exit_code == 0, done.output
    assert stored(elastic, own_settings.index) == {"a": 1.0, "d": 2.0}
