"""The decorator, the counts, and `blogsearch cache`, on a real Redis."""

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import redis
from click.testing import CliRunner, Result
from elasticsearch import Elasticsearch

from app.cache import AnswerCache, Computed, open_cache
from app.cache.serializers import NotSerializable
from app.cli import main
from app.insights.counts import Counts
from app.search.request import SearchRequest
from app.service import Service, Warmed, cache_key
from app.settings import Settings
from devstack.servers import free_port
from tests.live.cache.conftest import begin
from tests.waiting import wait_until


@pytest.fixture
def run(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    monkeypatch.setenv("REDIS_URL", settings.redis_url)
    monkeypatch.setenv("ELASTICSEARCH_URL", settings.elasticsearch_url)
    monkeypatch.setenv("BLOGSEARCH_INDEX", settings.index)
    return lambda *words: CliRunner().invoke(main, ["cache", *words])


# -- the decorator -----------------------------------------------------------------------------


class Counted:
    """A function that counts its calls, which end while `passing` is set."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.passing = threading.Event()
        self.passing.set()

    def __call__(self, a: int, b: str = "b") -> dict[str, Any]:
        self.calls.append((a, b))
        assert self.passing.wait(60)
        return {"a": a, "b": b, "nth": len(self.calls)}


def decorated(cache: AnswerCache, function: Counted, **options: Any) -> Any:
    def describe(a: int, b: str = "b") -> dict[str, Any]:
        """What it is."""
        return function(a, b)

    return cache.memoize(**{"seconds": 30, **options})(describe)


def test_a_value_is_kept_however_its_arguments_are_spelt(cache: AnswerCache) -> None:
    function = Counted()
    describe = decorated(cache, function)
    values = [describe(1), describe(1, "b"), describe(a=1), describe(b="b", a=1)]
    assert all(value == values[0] for value in values)
    assert function.calls == [(1, "b")]
    describe(2)
    describe("1")  # not the number
    assert len(function.calls) == 3
    assert (describe.__name__, describe.__doc__) == ("describe", "What it is.")


def test_all_processes_share_a_value(settings: Settings) -> None:
    function = Counted()
    for _ in range(2):
        decorated(open_cache(settings), function)(1)
    assert len(function.calls) == 1


def expire_value(cache: AnswerCache, server: "redis.Redis", seconds: int) -> None:
    """Deletes the only memoized value, as Redis does after `seconds`."""
    [key] = server.scan_iter(match=cache.keys.memoized("*"))
    assert 0 < server.pttl(key) <= seconds * 1000
    server.delete(key)


def test_a_value_is_kept_for_its_seconds(cache: AnswerCache, server: "redis.Redis") -> None:
    function = Counted()
    describe = decorated(cache, function, seconds=30)
    describe(1)
    describe(1)
    assert len(function.calls) == 1
    expire_value(cache, server, 30)
    describe(1)
    assert len(function.calls) == 2


def test_invalidate_forgets_these_arguments_only(cache: AnswerCache) -> None:
    function = Counted()
    describe = decorated(cache, function)
    describe(1)
    describe(2)
    describe.invalidate(1)
    describe(1)
    describe(2)
    assert function.calls == [(1, "b"), (2, "b"), (1, "b")]


def test_refresh_runs_the_function_and_keeps_what_it_says(cache: AnswerCache) -> None:
    describe = decorated(cache, Counted())
    assert describe(1)["nth"] == 1
    assert describe.refresh(1)["nth"] == 2
    assert describe(1)["nth"] == 2


def test_hit_and_miss_are_told_with_the_arguments(cache: AnswerCache) -> None:
    told: list[Any] = []
    describe = decorated(
        cache,
        Counted(),
        on_hit=lambda *args, **kwargs: told.append(("hit", args, kwargs)),
        on_miss=lambda *args, **kwargs: told.append(("miss", args, kwargs)),
    )
    describe(1)
    describe(1, b="b")
    describe.refresh(1)
    assert told == [("miss", (1,), {}), ("hit", (1,), {"b": "b"}), ("miss", (1,), {})]


def test_arguments_are_rewritten_to_a_key(cache: AnswerCache) -> None:
    function = Counted()
    describe = decorated(cache, function, args_rewrite=lambda a, b="b": [a // 10])
    describe(11)
    describe(12)
    describe(21)
    assert len(function.calls) == 2
    describe.invalidate(15)
    describe(11)
    assert len(function.calls) == 3


def test_an_argument_that_is_no_key_is_an_error(cache: AnswerCache) -> None:
    with pytest.raises(TypeError, match="args_rewrite"):
        decorated(cache, Counted())(object())


def test_a_value_that_is_not_stored_is_computed_once_per_period(
    cache: AnswerCache, server: "redis.Redis"
) -> None:
    function = Counted()
    describe = decorated(cache, function, store=False, seconds=30)
    assert describe(1)["nth"] == 1
    assert describe(1) is None
    [key] = server.scan_iter(match=cache.keys.memoized("*"))
    assert b"nth" not in (server.get(key) or b"")
    expire_value(cache, server, 30)
    assert describe(1)["nth"] == 2


def test_none_is_a_value_too(cache: AnswerCache) -> None:
    calls = []

    def nothing() -> None:
        calls.append(1)

    kept = cache.memoize(seconds=30)(nothing)
    assert [kept(), kept()] == [None, None]
    assert calls == [1]


def test_ten_threads_and_one_computes(cache: AnswerCache) -> None:
    function = Counted()
    describe = decorated(cache, function)
    function.passing.clear()
    with ThreadPoolExecutor(10) as pool:
        values = pool.map(lambda _: describe(1), range(10))
        wait_until(lambda: function.calls)
        function.passing.set()
        assert len(list(values)) == 10
    assert len(function.calls) <= 2  # one may come when the others are done


def test_a_value_that_cannot_be_kept_is_an_error(cache: AnswerCache) -> None:
    def pair() -> tuple[int, int]:
        return 1, 2

    with pytest.raises(NotSerializable):
        cache.memoize(seconds=30)(pair)()


def test_without_redis_each_call_runs_the_function(settings: Settings) -> None:
    away = replace(settings, redis_url=f"redis://127.0.0.1:{free_port()}/0")
    function = Counted()
    describe = decorated(open_cache(away), function)
    describe(1)
    describe(1)
    describe.invalidate(1)
    describe.refresh(1)
    assert len(function.calls) == 3


def test_an_exception_is_not_kept(cache: AnswerCache) -> None:
    calls = []

    def fails() -> int:
        calls.append(1)
        if len(calls) == 1:
            raise ZeroDivisionError
        return 7

    kept = cache.memoize(seconds=30)(fails)
    with pytest.raises(ZeroDivisionError):
        kept()
    assert kept() == 7


# -- the command -------------------------------------------------------------------------------


def compute() -> Computed:
    return Computed(body={"q": "x" * 1000}, has_hits=True)


def state(cache: AnswerCache, key: str) -> str:
    return cache.answer(cache.lookup(key), compute).state


def test_stats(
    cache: AnswerCache,
    run: Callable[..., Result],
    settings: Settings,
    count_searches: Callable[..., Counts],
) -> None:
    count_searches(settings, SearchRequest("python"))
    assert [state(cache, key) for key in ("one", "two")] == ["MISS", "MISS"]
    printed = json.loads(run("stats", "--format", "json").stdout)
    assert (printed["hit_rate"], printed["generation"]) == (0, "first")
    assert printed["sizes"]["count"] == 2
    assert 1000 < printed["sizes"]["median"] == printed["sizes"]["largest"] < 1300
    assert printed["popular"] == [["q=python&page=1&size=10", 1.0]]
    assert printed["memory"]["used_memory"] > 0
    shown = run("stats").output
    for part in ("0.0%", "first", "1.0    python\n"):
        assert part in shown


def test_clear_leaves_other_aliases_alone(
    settings: Settings, cache: AnswerCache, run: Callable[..., Result]
) -> None:
    other = open_cache(replace(settings, index=settings.index + "-2"))
    begin(other, "first")
    for opened, key in ((cache, "one"), (cache, "two"), (other, "one")):
        state(opened, key)
    assert cache.stats().sizes["count"] == 2
    assert run("clear", "--yes").output == "2 answers deleted.\n"
    assert (state(cache, "one"), state(other, "one")) == ("MISS", "HIT")
    assert cache.stats().sizes["count"] == 1
    other.clear()


@pytest.mark.parametrize("words", [["stats"], ["clear", "--yes"], ["warm"]])
@pytest.mark.parametrize("url", ["", "nobody"])
def test_without_redis_a_command_says_so(
    run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, words: list[str], url: str
) -> None:
    monkeypatch.setenv("REDIS_URL", url and f"redis://127.0.0.1:{free_port()}/0")
    result = run(*words)
    assert result.exit_code == 1
    assert "REDIS_URL" in result.output
    assert "Traceback" not in result.output


def test_after_a_swap_frequent_searches_are_hits_of_the_new_generation(
    settings: Settings,
    elastic: Elasticsearch,
    cache: AnswerCache,
    run: Callable[..., Result],
    tmp_path: Path,
    count_searches: Callable[..., Counts],
) -> None:
    path = tmp_path / "posts.jsonl"
    path.write_text('{"oid": "a", "title": "Learning Python", "text": "Python."}\n')
    count_searches(settings, SearchRequest("python"))
    without_rules = {"BLOGSEARCH_SYNONYMS_DIR": str(tmp_path)}
    result = CliRunner().invoke(main, ["reindex", str(path)], env=without_rules)
    assert result.exit_code == 0, result.output
    assert state(cache, cache_key(SearchRequest("python"))) == "HIT"
    assert cache.generation().startswith(f"{settings.index}-000001 ")
    cache.clear()
    assert "1 queries answered" in run("warm", "--at-most", "50").output
    assert state(cache, cache_key(SearchRequest("python"))) == "HIT"
    assert Service(settings, elastic, cache).warm(seconds=0) == Warmed(0, 0)


def test_warming_ends_when_elasticsearch_is_gone(
    cache: AnswerCache, settings: Settings, count_searches: Callable[..., Counts]
) -> None:
    count_searches(settings, *(SearchRequest(f"python{nth}") for nth in range(50)))
    with Elasticsearch(f"http://127.0.0.1:{free_port()}", max_retries=0) as nobody:
        warmed = Service(settings, nobody, cache).warm()
    assert (warmed.answered, warmed.failed) in {(0, 0), (0, 1)}
