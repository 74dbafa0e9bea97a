"""How long making writes visible takes where Elasticsearch does not respond."""

import math
import threading
import time
from typing import Any, cast

import pytest
from elasticsearch import ConnectionTimeout, Elasticsearch

from app.cache import open_cache
from app.freshness import Freshness
from app.settings import Settings
from indexer.retry import remaining, time_limit

_OF_A_WRITE = 30.0  # seconds, docs/reliability.md


class Hanging:
    """Elasticsearch that does not respond to a refresh until `over` is set.

    `seconds`: how long the last refresh may take.
    """

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.over = threading.Event()
        self.seconds = math.inf
        self.indices = self

    def options(self, **options: object) -> "Hanging":
        return self

    def refresh(self, **options: object) -> None:
        self.seconds = remaining()
        self.asked.set()
        self.over.wait(10)
        raise ConnectionTimeout("timed out", cast(Any, ()))


@pytest.fixture
def elastic() -> Hanging:
    return Hanging()


@pytest.fixture
def freshness(elastic: Hanging) -> Freshness:
    return Freshness(cast(Elasticsearch, elastic), open_cache(Settings(redis_url="")), "blog")


def test_a_refresh_in_the_background_takes_no_longer_than_a_write(
    elastic: Hanging, freshness: Freshness
) -> None:
    freshness.soon()
    assert elastic.asked.wait(10)
    elastic.over.set()
    assert elastic.seconds <= _OF_A_WRITE


def test_a_write_waits_for_the_refresh_of_another_for_as_long_as_it_may_take(
    elastic: Hanging, freshness: Freshness
) -> None:
    freshness.soon()
    assert elastic.asked.wait(10)
    started = time.monotonic()
    with pytest.raises(ConnectionTimeout), time_limit(0.2):
        freshness.shared()
    elastic.over.set()
    assert time.monotonic() - started < 5
