"""Meaning on a real Elasticsearch: posts that say it in other words, written in every way."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from click.testing import Result
from elasticsearch import Elasticsearch
from flask.testing import FlaskClient

from analyzers.meaning import Model
from app import create_app
from app.settings import Settings
from indexer.normalise import document_of
from indexer.passages import with_passages
from indexer.records import Origin, RawPost

Run = Callable[..., Result]

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


def meaning(client: FlaskClient, q: str) -> dict[str, float]:
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
    added = meaning(client, QUESTION)
    assert added["pipes"] > added["festival"] > 0
    # A mistyped question is corrected before it is understood.
    assert oids(client, QUESTION.replace("programs", "prograns"))[0] == "pipes"
    # A few words stand for themselves, and nonsense finds nothing.
    assert not any(meaning(client, "several programs").values())
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
    before = meaning(client, QUESTION)
    assert before["ipc"] > 0
    assert before["pipes"] > 0
    rules = source.with_name("some.synonyms")
    rules.write_text("ipc, messaging\n")
    assert run("synonyms", "load", rules, settings=semantic).exit_code == 0
    assert meaning(create_app(semantic).test_client(), QUESTION).keys() == before.keys()
    assert all(meaning(create_app(semantic).test_client(), QUESTION).values())


def test_a_sync_builds_what_the_setting_needs(
    run: Run, source: Path, own_settings: Settings, semantic: Settings
) -> None:
    run("reindex", source, settings=own_settings)
    client = create_app(semantic).test_client()
    assert oids(client, QUESTION)  # on, but the index has no vectors yet
    assert run("sync", source, settings=semantic).exit_code == 0
    assert all(meaning(create_app(semantic).test_client(), QUESTION).values())
    off = replace(semantic, semantic=False)
    assert run("sync", source, settings=off).exit_code == 0
    assert not any(meaning(create_app(off).test_client(), QUESTION).values())


class CountingModel(Model):
    """The model, and the texts that it has read."""

    texts: ClassVar[list[str]] = []

    def bits_of(self, texts: Sequence[str]) -> Iterator[str]:
        self.texts.extend(texts)
        return super().bits_of(texts)


def test_only_passages_that_changed_are_computed_again(
    elastic: Elasticsearch, run: Run, source: Path, semantic: Settings
) -> None:
    text = " ".join(f"{word}{number}" for number in range(100) for word in ("pipe", "socket"))
    post: dict[str, Any] = {"oid": "long", "title": "A long post", "text": text}
    source.write_text(json.dumps(post))
    run("reindex", source, settings=semantic)
    document, _ = document_of(
        RawPost(origin=Origin("a test"), **{**post, "text": f"{text} The end."})
    )
    assert document
    model = CountingModel.load()
    (written,) = with_passages([document], model, elastic, semantic.index)
    assert model.texts == ["A long post. The end."]
    assert len(written.source["passages"]) == 3
    # What a document has itself needs no index, and another title is another text.
    list(with_passages([written], model, elastic))
    assert len(model.texts) == 1
    renamed = replace(written, source={**written.source, "title": "Another title"})
    list(with_passages([renamed], model, elastic, semantic.index))
    assert len(model.texts) == 4


def test_an_index_with_the_vectors_of_another_model_is_rebuilt(
    elastic: Elasticsearch, run: Run, source: Path, semantic: Settings
) -> None:
    run("reindex", source, settings=semantic)
    ((name, body),) = elastic.indices.get_mapping(index=semantic.index).items()
    meta = body["mappings"]["_meta"]
    meta["blogsearch"]["model"] = "another"
    elastic.indices.put_mapping(index=name, meta=meta)
    client = create_app(semantic).test_client()
    assert not any(meaning(client, QUESTION).values())
    assert run("rebuild", settings=semantic).exit_code == 0
    client = create_app(semantic).test_client()
    assert all(meaning(client, QUESTION).values())
