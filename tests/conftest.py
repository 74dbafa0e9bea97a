"""Fixtures on real engines. A test that cannot reach an engine fails; it is not skipped."""

import gc
import os
import threading
import time
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import redis
from click.testing import CliRunner, Result
from elasticsearch import Elasticsearch
from flask.testing import FlaskClient

from analyzers.rules.compile import NO_RULES, Rules
from analyzers.rules.parse import rule_files
from app import create_app
from app.cli import main
from app.commands.tools import Tools
from app.insights.counts import Counts, Search
from app.search.request import SearchRequest
from app.settings import Settings
from indexer.posts.records import RawPost, Reject
from indexer.runs.build import Built, IndexSettings, reindex
from indexer.sources import SourceOptions, open_source
from tests.waiting import Clock
from tests.writing import index_at_once, no_reject

REPOSITORY = Path(__file__).resolve().parent.parent

Run = Callable[..., Result]

gc.disable()  # until all is imported: nearly nothing of it becomes garbage


def pytest_collection_finish() -> None:
    """What is imported by now stays, so the garbage collector need not go through it each time."""
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_runtest_logfinish() -> None:
    """Free the services of the test that has ended: only so does one whose engine is away end its
    probes, which would take time and memory from the tests that follow."""
    if any(thread.name == "blogsearch" for thread in threading.enumerate()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)  # nobody closes a service's clients
            gc.collect()


def _url(name: str) -> str:
    try:
        return os.environ[name]
    except KeyError:
        pytest.fail(f'{name} is not set: run `make test`, or `eval "$(make -s services)"` first')


@pytest.fixture(scope="session")
def elasticsearch_url() -> str:
    return _url("ELASTICSEARCH_URL")


@pytest.fixture(scope="session")
def redis_url() -> str:
    return _url("REDIS_URL")


@pytest.fixture(scope="session")
def elastic(elasticsearch_url: str) -> Iterator[Elasticsearch]:
    with Elasticsearch(elasticsearch_url, request_timeout=60) as client:
        client.info()
        yield client


@pytest.fixture
def own_alias(elastic: Elasticsearch) -> Iterator[str]:
    """An alias for one test; its indices are deleted afterwards."""
    name = f"test-x{uuid.uuid4().hex[:12]}"
    yield name
    _remove(elastic, name)


@pytest.fixture
def alias(own_alias: str) -> str:
    """That of `own_settings`; a module whose tests need no new index returns `emptied`."""
    return own_alias


def _remove(elastic: Elasticsearch, name: str) -> None:
    indices = elastic.indices.get(index=f"{name}*", expand_wildcards="all", ignore_unavailable=True)
    if indices:
        elastic.indices.delete(index=list(indices))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


@pytest.fixture(scope="session")
def sample_alias(elastic: Elasticsearch) -> Iterator[str]:
    """An alias with the sample posts, as `blogsearch reindex` indexes them; read only."""
    name = f"test-sample-x{uuid.uuid4().hex[:8]}"
    rules = Rules(rule_files(REPOSITORY / "synonyms"))
    posts = open_source(str(REPOSITORY / "sample" / "posts.jsonl"), None, SourceOptions())
    rejected: list[Reject] = []
    reindex(elastic, name, posts.read(), IndexSettings(rules, 1, 0), rejected.append)
    assert rejected == []
    yield name
    _remove(elastic, name)


@pytest.fixture(scope="session")
def engine_settings(elasticsearch_url: str, redis_url: str) -> Settings:
    """Settings without an index.

    The engines may take longer than by default: a busy machine is not a fault of theirs.
    """
    return Settings(
        elasticsearch_url=elasticsearch_url,
        elasticsearch_timeout=30.0,
        redis_url=redis_url,
        cache_timeout=5.0,
        rate_limit="",  # the tests share one address
    )


@pytest.fixture
def settings(engine_settings: Settings, sample_alias: str) -> Settings:
    """Settings for the sample posts; `replace(settings, …)` changes them."""
    return replace(engine_settings, index=sample_alias)


@pytest.fixture
def client(settings: Settings) -> FlaskClient:
    """A client of the whole service, with the test's `settings`."""
    return create_app(settings).test_client()


@pytest.fixture
def own_settings(engine_settings: Settings, alias: str, tmp_path: Path) -> Settings:
    """Settings for an index of the test's own, without synonym rules."""
    return replace(engine_settings, index=alias, synonyms_dir=tmp_path)


@pytest.fixture
def count_searches(elastic: Elasticsearch) -> Callable[..., Counts]:
    """Counts searches for an alias, each as that of another visitor."""

    def count(settings: Settings, *requests: SearchRequest) -> Counts:
        counts = Counts(elastic, settings.index, settings.insights_days)
        now = time.time()
        counts.add(Search(now, "", uuid.uuid4().hex, one.key(), one.q, "all") for one in requests)
        return counts

    return count


@pytest.fixture
def run(own_settings: Settings) -> Run:
    """Runs `blogsearch WORD…` with `own_settings`, or with `settings=…`."""

    def invoke(*words: str | Path, settings: Settings = own_settings, **options: Any) -> Result:
        return CliRunner().invoke(
            main, [str(word) for word in words], obj=Tools(settings), **options
        )

    return invoke


@pytest.fixture(scope="module")
def module_index(elastic: Elasticsearch) -> Iterator[Callable[[Iterable[RawPost]], str]]:
    """Makes an index of posts, without synonym rules, that the tests of a module share.

    Returns its alias. The tests must not change it.
    """
    names: list[str] = []

    def build(posts: Iterable[RawPost]) -> str:
        names.append(f"test-x{uuid.uuid4().hex[:12]}")
        index_at_once(elastic, names[-1], posts)
        return names[-1]

    yield build
    for name in names:
        _remove(elastic, name)


@pytest.fixture(scope="module")
def reused(module_index: Callable[[Iterable[RawPost]], str]) -> str:
    return module_index([])


@pytest.fixture
def emptied(elastic: Elasticsearch, redis_url: str, reused: str) -> str:
    """An index without posts, which the tests of a module use one after the other.

    To make and delete an index takes Elasticsearch longer than most tests do.
    """
    names = [reused, f"{reused}-state"]
    elastic.indices.refresh(index=names, ignore_unavailable=True)
    elastic.delete_by_query(
        index=names, query={"match_all": {}}, refresh=True, ignore_unavailable=True
    )
    with redis.Redis.from_url(redis_url) as server:
        for key in server.scan_iter(match=f"blogsearch:{{{reused}}}:*"):
            server.delete(key)
    return reused


@pytest.fixture
def index_posts(elastic: Elasticsearch, alias: str) -> Callable[[Iterable[RawPost]], Built]:
    """Builds a generation of the test's own index from posts, without synonym rules."""

    def build(posts: Iterable[RawPost]) -> Built:
        return reindex(elastic, alias, posts, IndexSettings(NO_RULES, 1, 0), no_reject)

    return build
