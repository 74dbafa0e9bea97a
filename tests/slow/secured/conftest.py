"""An Elasticsearch with security and TLS; the engines of the other tests have neither."""

import json
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.settings import Settings
from devstack.servers import (
    Certificates,
    SecuredElasticsearch,
    has_unpacked_elasticsearch,
    new_certificates,
    secured_elasticsearch,
)

REPOSITORY = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def certificates() -> Iterator[Certificates]:
    with new_certificates() as new:
        yield new


@pytest.fixture(scope="session")
def secured(certificates: Certificates) -> Iterator[SecuredElasticsearch]:
    if not has_unpacked_elasticsearch():
        pytest.skip("needs the Elasticsearch that devstack unpacks where there is no Docker")
    with secured_elasticsearch(certificates) as running:
        yield running


@pytest.fixture
def secured_alias(secured: SecuredElasticsearch) -> Iterator[str]:
    """An alias of the test's own in the secured Elasticsearch."""
    name = f"test-x{uuid.uuid4().hex[:8]}"
    yield name
    for index in secured.admin.indices.get(index=f"{name}*", expand_wildcards="all"):
        secured.admin.indices.delete(index=index)


@pytest.fixture
def keyed(secured: SecuredElasticsearch, secured_alias: str) -> Callable[..., Settings]:
    """Settings with an API key that has the privileges of a file in docs/elasticsearch."""

    def make(name: str, **changed: Any) -> Settings:
        text = (REPOSITORY / "docs" / "elasticsearch" / f"{name}.json").read_text()
        text = text.replace('"blog"', f'"{secured_alias}"').replace(
            '"blog-*"', f'"{secured_alias}-*"'
        )
        values = {
            "elasticsearch_url": secured.url,
            "elasticsearch_timeout": 30.0,
            "elasticsearch_api_key": secured.api_key(json.loads(text)),
            "ca_file": secured.ca_file,
            "redis_url": "",
            "index": secured_alias,
        }
        return Settings(**{**values, **changed})

    return make
