"""Real engines for the live tests: a test that cannot reach one fails, it does not skip."""

import os
import uuid
from collections.abc import Iterator

import pytest
from elasticsearch import Elasticsearch


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
    found = elastic.indices.get(index=f"{name}*", expand_wildcards="all", ignore_unavailable=True)
    for index in found:
        elastic.indices.delete(index=index)
