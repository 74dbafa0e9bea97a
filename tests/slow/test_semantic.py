"""Meaning: posts that say it in other words, written in every way; and `blogsearch meaning`."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from elasticsearch import Elasticsearch
from flask.testing import FlaskClient

from app import create_app
from app.settings import Settings
from tests.conftest import Run

QUESTION = "how do programs talk to each other on one computer"
TOKEN = "t" * 32
POSTS = [
    {
        "oid": "pipes",
        "title": "Pipes and sockets",
        "text": "<p>Software sends messages to another process through pipes, sockets or shared "
        "memory: three ways to connect programs.</p>",
    },
    {
        "oid": "festival",
        "title": "Summer festival",
        "text": "<p>Several programs for children. Exchange students dance on Friday.</p>",
    },
    {"oid": "soup", "title": "Soup", "text": "<p>Boil leeks and potatoes.</p>"},
]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    file = tmp_path / "posts.jsonl"
    file.write_text("\n".join(map(json.dumps, POSTS)))
    return file


@pytest.fixture
def semantic(own_settings: Settings, installed_model: None) -> Settings:
    return replace(own_settings, semantic=True, redis_url="", write_tokens=TOKEN)


def oids(client: FlaskClient, q: str) -> list[str]:
    return [hit["oid"] for hit in client.get("/search", query_string={"q": q}).get_json()["hits"]]


def added(client: FlaskClient, q: str) -> dict[str, float]:
    """What meaning adds to each hit."""
    answer: Any = client.get("/search", query_string={"q": q, "debug-search": ""}).json
    return {
        hit["oid"]: sum(part["score"] for part in hit["parts"] if part["part"] == "meaning")
        for hit in answer["debug"]["hits"]
    }


def test_a_post_in_other_words_comes_first(
    run: Run, source: Path, own_settings: Settings, semantic: Settings
) -> None:
    run("reindex", source, settings=replace(own_settings, semantic=False))
    without = create_app(replace(semantic, semantic=False)).test_client()
    assert oids(without, QUESTION)[0] == "festival"
    assert run("reindex", source, settings=semantic).exit_code == 0
    client = create_app(semantic).test_client()
    assert oids(client, QUESTION)[0] == "pipes"
    scores = added(client, QUESTION)
    assert scores["pipes"] > scores["festival"] > 0
    # A mistyped question is corrected before it is understood.
    assert oids(client, QUESTION.replace("programs", "prograns"))[0] == "pipes"
    # A few words stand for themselves, and nonsense finds nothing.
    assert not any(added(client, "several programs").values())
    assert oids(client, "zzqx vvkw qqaa bbcc ddee ffgg hhii") == []


def test_written_over_http_and_kept_by_comments_and_rebuilds(
    elastic: Elasticsearch, run: Run, source: Path, semantic: Settings
) -> None:
    run("reindex", source, settings=semantic)
    client = create_app(semantic).test_client()
    headers = {"Authorization": f"Bearer {TOKEN}"}
    ipc = {"title": "IPC", "text": "<p>Message queues connect processes and programs.</p>"}
    assert client.put("/documents/ipc", json=ipc, headers=headers).status_code == 201
    comment = {"comment": "<p>Thank you!</p>", "author": "Ann"}
    path = "/documents/pipes/comments/c1"
    assert client.put(path, json=comment, headers=headers).status_code == 201
    before = added(client, QUESTION)
    assert before["ipc"] > 0
    assert before["pipes"] > 0
    rules = source.with_name("some.synonyms")
    rules.write_text("ipc, messaging\n")
    assert run("synonyms", "load", rules, settings=semantic).exit_code == 0
    assert added(create_app(semantic).test_client(), QUESTION).keys() == before.keys()
    assert all(added(create_app(semantic).test_client(), QUESTION).values())


def test_what_turns_it_on_and_off_is_printed(run: Run, installed_model: None) -> None:
    assert run("meaning", "on").stdout.startswith("BLOGSEARCH_SEMANTIC=on blogsearch rebuild\n")
    assert run("meaning", "off").stdout.startswith("BLOGSEARCH_SEMANTIC=off blogsearch rebuild\n")
