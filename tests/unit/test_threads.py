"""What goes on where no thread can be started, as at the limit of a container."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import pytest
from elasticsearch import Elasticsearch, NotFoundError

from analyzers.languages import ENGLISH
from app.cache import open_cache
from app.freshness import Freshness
from app.indexed_languages import IndexedLanguages
from app.settings import Settings


class NoIndex:
    """Elasticsearch without an index; `asked` is set when it gets a request."""

    def __init__(self) -> None:
        self.asked = threading.Event()

    def options(self, **options: object) -> "NoIndex":
        return self

    def __getattr__(self, name: str) -> Any:
        self.asked.set()
        raise NotFoundError("index_not_found_exception", cast(Any, None), {})


@contextmanager
def no_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def start(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", start)
        yield


def test_a_write_is_made_visible_with_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    elastic = NoIndex()
    cache = open_cache(Settings(redis_url=""))
    freshness = Freshness(cast(Elasticsearch, elastic), cache, "blog")
    with no_threads(monkeypatch):
        freshness.soon()
    assert not elastic.asked.is_set()
    freshness.soon()
    assert elastic.asked.wait(10)


def test_a_search_does_not_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    languages = IndexedLanguages(cast(Elasticsearch, NoIndex()), "blog", ENGLISH)
    with no_threads(monkeypatch):
        assert not languages.several()
