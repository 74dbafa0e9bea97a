"""Real engines for the live tests: a test that cannot reach one fails, it does not skip."""

import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from elasticsearch import Elasticsearch
from flask.testing import FlaskClient

from analyzers.rules import read_rules, rule_files
from app import create_app
from app.settings import Settings
from indexer.build.builder import IndexSettings
from indexer.build.reindex import reindex
from indexer.records import Reject
from indexer.sources import SourceOptions, open_source

REPOSITORY = Path(__file__).resolve().parent.parent


def _address(name: str) -> str:
    try:
        return os.environ[name]
    except KeyError:
        pytest.fail(f'{name} is not set: run `make test`, or `eval "$(make -s services)"` first')


@pytest.fixture(scope="session")
def elasticsearch_url() -> str:
    return _address("ELASTICSEARCH_URL")


@pytest.fixture(scope="session")
def redis_url() -> str:
    return _address("REDIS_URL")


@pytest.fixture(scope="session")
def elastic(elasticsearch_url: str) -> Iterator[Elasticsearch]:
    with Elasticsearch(elasticsearch_url, request_timeout=60) as client:
        client.info()
        yield client


@pytest.fixture
def alias(elastic: Elasticsearch) -> Iterator[str]:
    """An alias name of the test's own; everything called so is gone afterwards."""
    name = f"test-{uuid.uuid4().hex[:12]}"
    yield name
    _remove(elastic, name)


def _remove(elastic: Elasticsearch, name: str) -> None:
    found = elastic.indices.get(index=f"{name}*", expand_wildcards="all", ignore_unavailable=True)
    for index in found:
        elastic.indices.delete(index=index)


@pytest.fixture(scope="session")
def sample_alias(elastic: Elasticsearch) -> Iterator[str]:
    """The sample posts, indexed once as `blogsearch reindex` does it; read only."""
    name = f"test-sample-{uuid.uuid4().hex[:8]}"
    rules = read_rules(rule_files(REPOSITORY / "synonyms"))
    posts = open_source(str(REPOSITORY / "sample" / "posts.jsonl"), None, SourceOptions())
    rejected: list[Reject] = []
    reindex(elastic, name, posts.read(), IndexSettings(rules, 1, 0), rejected.append)
    assert rejected == []
    yield name
    _remove(elastic, name)


@pytest.fixture
def settings(sample_alias: str, elasticsearch_url: str, redis_url: str) -> Settings:
    """What the environment would say for the sample posts; `model_copy(update=…)` changes it."""
    return Settings(elasticsearch_url=elasticsearch_url, redis_url=redis_url, index=sample_alias)


@pytest.fixture
def client(settings: Settings) -> FlaskClient:
    """The whole service on real engines, with the sample posts."""
    return create_app(settings).test_client()
