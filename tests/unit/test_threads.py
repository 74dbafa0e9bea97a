"""What goes on where no thread can be started, as at the limit of a container."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import pytest
from elasticsearch import Elasticsearch, NotFoundError

from analyzers.languages import ENGLISH
from app.indexed_languages import IndexedLanguages


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


def test_a_search_does_not_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    languages = IndexedLanguages(cast(Elasticsearch, NoIndex()), "blog", ENGLISH)
    with no_threads(monkeypatch):
        assert not languages.several()
