"""What the tests of the cache share: an alias of their own, and caches to open."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pytest
import redis

from app.cache import AnswerCache, Lifetimes, open_cache
from app.settings import Settings

Open = Callable[..., AnswerCache]


def begin(cache: AnswerCache, generation: str) -> None:
    """Makes this the generation whose answers are served."""
    assert cache.replace_generation(cache.read_generation(), generation.encode())


@pytest.fixture
def name(redis_url: str, own_alias: str) -> Iterator[str]:
    """An alias of the test's own; its keys and indices are deleted afterwards."""
    yield own_alias
    with redis.Redis.from_url(redis_url) as client:
        for key in client.scan_iter(match=f"blogsearch:{{{own_alias}}}:*"):
            client.delete(key)


@pytest.fixture
def server(redis_url: str) -> Iterator["redis.Redis"]:
    """A client of the Redis of the tests."""
    with redis.Redis.from_url(redis_url) as client:
        yield client


@pytest.fixture
def settings(engine_settings: Settings, name: str) -> Settings:
    """Settings of an empty alias."""
    return replace(engine_settings, index=name)


@pytest.fixture
def opened(settings: Settings) -> Iterator[Open]:
    """Opens a cache; `opened(cache_timeout=1)` changes a setting."""
    with ExitStack() as closed_afterwards:

        def open_(lifetimes: Lifetimes | None = None, **changed: Any) -> AnswerCache:
            cache = open_cache(replace(settings, **changed), lifetimes)
            if connection := cache.client.redis:
                closed_afterwards.callback(connection.connection_pool.disconnect)
            return cache

        yield open_


@pytest.fixture
def cache(opened: Open) -> AnswerCache:
    """A cache with a generation."""
    opened_cache = opened()
    begin(opened_cache, "first")
    return opened_cache
