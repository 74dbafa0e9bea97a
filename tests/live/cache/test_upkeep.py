"""The decorator, and warming, on a real Redis."""

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import redis
from click.testing import CliRunner
from elasticsearch import Elasticsearch

from app.cache import AnswerCache, Computed, open_cache
from app.cache.memoize import NotSerializable
from app.cli import main
from app.commands.tools import Tools
from app.insights.counts import Counts
from app.search.request import SearchRequest
from app.service import Service, cache_key
from app.settings import Settings
from devstack.servers import free_port
from tests.live.cache.conftest import Open
from tests.waiting import Clock

# -- the decorator -----------------------------------------------------------------------------


class Counted:
    """A function that counts its calls, which end while `passing` is set."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.passing = threading.Event()
        self.passing.set()

    def kept(self, cache: AnswerCache, **options: Any) -> Any:
        """The function as `cache.memoize` makes it."""

        def describe(a: int, b: str = "b") -> dict[str, Any]:
            """What it is."""
            self.calls.append((a, b))
            assert self.passing.wait(60)
            return {"a": a, "b": b, "nth": len(self.calls)}

        return cache.memoize(**{"seconds": 30, **options})(describe)


def test_a_value_is_kept_for_all_processes_however_its_arguments_are_spelt(
    opened: Open, cache: AnswerCache
) -> None:
    function = Counted()
    describe, elsewhere = function.kept(cache), function.kept(opened())
    values = [describe(1), describe(1, "b"), describe(a=1), elsewhere(b="b", a=1)]
    assert all(value == values[0] for value in values)
    assert function.calls == [(1, "b")]
    describe(2)
    describe("1")  # not the number
    assert len(function.calls) == 3
    assert (describe.__name__, describe.__doc__) == ("describe", "What it is.")


@pytest.mark.parametrize(("store", "second"), [(True, {"a": 1, "b": "b", "nth": 1}), (False, None)])
def test_the_function_runs_once_in_its_seconds(
    cache: AnswerCache, server: "redis.Redis", store: bool, second: object
) -> None:
    describe = Counted().kept(cache, store=store)
    assert describe(1)["nth"] == 1
    assert describe(1) == second
    [key] = server.scan_iter(match=cache.keys.memoized("*"))
    assert (b"nth" in (server.get(key) or b"")) is store
    assert 0 < server.pttl(key) <= 30_000
    server.delete(key)  # as Redis does then
    assert describe(1)["nth"] == 2


def test_a_value_that_others_wrote_or_kept_is_not_taken(
    settings: Settings, cache: AnswerCache, server: "redis.Redis", monkeypatch: pytest.MonkeyPatch
) -> None:
    signing = open_cache(replace(settings, write_tokens="a token of this test"))
    describe = Counted().kept(signing)
    assert describe(1)["nth"] == 1
    [key] = server.scan_iter(match=cache.keys.memoized("*"))
    kept: Any = server.get(key)
    other: Any = Counted().kept(cache)  # has no token
    other.refresh(1)
    forged: Any = server.get(key)
    for written in (b"", b'"forged"', kept[:-1], forged, b"x" + kept):
        server.set(key, written)
        assert describe(1)["nth"] > 1
    server.set(key, kept)
    assert describe(1)["nth"] == 1
    clock = Clock(monkeypatch)
    clock.advance(60)  # and put back when it was over
    assert describe(1)["nth"] > 1


def test_a_value_is_forgotten_or_refreshed(cache: AnswerCache) -> None:
    function = Counted()
    describe = function.kept(cache)
    assert [describe(1)["nth"], describe(2)["nth"]] == [1, 2]
    describe.invalidate(1)
    assert [describe(1)["nth"], describe(2)["nth"]] == [3, 2]
    assert describe.refresh(2)["nth"] == describe(2)["nth"] == 4


def test_hit_and_miss_are_told_with_the_arguments(cache: AnswerCache) -> None:
    told: list[Any] = []
    describe = Counted().kept(
        cache,
        on_hit=lambda *args, **kwargs: told.append(("hit", args, kwargs)),
        on_miss=lambda *args, **kwargs: told.append(("miss", args, kwargs)),
    )
    describe(1)
    describe(1, b="b")
    describe.refresh(1)
    assert told == [("miss", (1,), {}), ("hit", (1,), {"b": "b"}), ("miss", (1,), {})]


def test_arguments_are_rewritten_to_a_key(cache: AnswerCache) -> None:
    function = Counted()
    describe = function.kept(cache, args_rewrite=lambda a, b="b": [a // 10])
    for a in (11, 12, 21):
        describe(a)
    assert len(function.calls) == 2
    describe.invalidate(15)
    describe(11)
    assert len(function.calls) == 3
    with pytest.raises(TypeError, match="args_rewrite"):
        function.kept(cache)(object())


def test_without_redis_each_call_runs_the_function(settings: Settings) -> None:
    function = Counted()
    away = replace(settings, redis_url=f"redis://127.0.0.1:{free_port()}/0")
    describe = function.kept(open_cache(away))
    for call in (describe, describe, describe.invalidate, describe.refresh):
        call(1)
    assert len(function.calls) == 3


def test_what_is_none_is_kept_and_what_fails_or_would_change_is_not(cache: AnswerCache) -> None:
    results: list[Any] = [None, ZeroDivisionError(), 7, (1, 2)]

    def next_result(key: str) -> Any:
        result = results.pop(0)
        if isinstance(result, Exception):
            raise result
        return result

    kept = cache.memoize(seconds=30)(next_result)
    assert [kept("none"), kept("none")] == [None, None]
    with pytest.raises(ZeroDivisionError):
        kept("number")
    assert [kept("number"), kept("number")] == [7, 7]
    with pytest.raises(NotSerializable):
        kept("tuple")


# -- warming -----------------------------------------------------------------------------------


def state(cache: AnswerCache, request: SearchRequest) -> str:
    compute = Computed(body={}, has_hits=True, keep=False)
    return cache.answer(cache.lookup(cache_key(request)), lambda: compute).state


def test_after_a_swap_frequent_searches_are_hits_of_the_new_generation(
    settings: Settings,
    elastic: Elasticsearch,
    cache: AnswerCache,
    tmp_path: Path,
    count_searches: Callable[..., Counts],
) -> None:
    path = tmp_path / "posts.jsonl"
    path.write_text('{"oid": "a", "title": "Learning Python", "text": "Python."}\n')
    count_searches(settings, SearchRequest("python"))
    tools = Tools(replace(settings, synonyms_dir=tmp_path))
    result = CliRunner().invoke(main, ["reindex", str(path)], obj=tools)
    assert result.exit_code == 0, result.output
    assert state(cache, SearchRequest("python")) == "HIT"
    assert (cache.read_generation() or b"").startswith(f"{settings.index}-000001 ".encode())
    assert Service(settings, elastic, cache).warm(seconds=0) == 0
    assert Service(settings, elastic, cache).warm() == 1
