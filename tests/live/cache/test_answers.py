"""The answer cache on a real Redis: who computes, and what is served."""

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import redis

from app.cache import AnswerCache, CachedAnswer, Computed, Lifetimes
from app.errors import BlogsearchError, Busy, Unavailable
from tests.live.cache.conftest import Open, begin
from tests.waiting import Clock, wait_until


class Computation:
    """A computation that counts its calls, and fails while `unavailable`.

    After `hold()` its calls end with `release()`.
    """

    def __init__(self, **fields: Any) -> None:
        self.fields = {"has_hits": True, **fields}
        self.unavailable = False
        self.times = 0
        self._lock = threading.Lock()
        self._released = threading.Event()
        self._released.set()

    def hold(self) -> None:
        self._released.clear()

    def release(self) -> None:
        self._released.set()

    def __call__(self) -> Computed:
        with self._lock:
            self.times += 1
            nth = self.times
        assert self._released.wait(60)
        if self.unavailable:
            raise Unavailable("no Elasticsearch")
        return Computed(body={"nth": nth, "q": "naïve ☃"}, **self.fields)


def ask(cache: AnswerCache, compute: Callable[[], Computed], key: str = "q") -> CachedAnswer:
    return cache.answer(cache.lookup(key), compute)


def states(cache: AnswerCache, compute: Callable[[], Computed], times: int) -> list[str]:
    return [ask(cache, compute).state for _ in range(times)]


def key_of(cache: AnswerCache, key: str = "q") -> str:
    return cache.keys.answer(key)


def test_second_search_is_a_hit_with_the_same_answer(cache: AnswerCache) -> None:
    compute = Computation()
    first, second = ask(cache, compute), ask(cache, compute)
    assert (first.state, second.state) == ("MISS", "HIT")
    assert first.body == second.body == {"nth": 1, "q": "naïve ☃"}
    assert (first.payload, first.etag) == (second.payload, second.etag)


def test_what_is_not_to_be_kept_is_not(cache: AnswerCache) -> None:
    assert states(cache, Computation(keep=False), 2) == ["MISS", "MISS"]


# -- generations -------------------------------------------------------------------------------


def test_an_answer_of_another_generation_is_out_of_reach(cache: AnswerCache) -> None:
    compute = Computation()
    before = ask(cache, compute)
    begin(cache, "second")
    after = ask(cache, compute)
    assert (after.state, after.body["nth"]) == ("MISS", 2)
    assert after.etag != before.etag
    begin(cache, "third")
    compute.unavailable = True
    with pytest.raises(Unavailable):
        ask(cache, compute)


def test_whoever_asks_after_a_write_is_not_handed_what_was_begun_before_it(
    cache: AnswerCache,
) -> None:
    compute = Computation()
    compute.hold()
    with ThreadPoolExecutor(2) as pool:
        before = pool.submit(ask, cache, compute)
        wait_until(lambda: compute.times == 1)
        begin(cache, "second")
        after = pool.submit(ask, cache, compute)
        wait_until(lambda: compute.times == 2)
        compute.release()
        assert (before.result().body["nth"], after.result().body["nth"]) == (1, 2)


def test_without_a_generation_nothing_is_kept(cache: AnswerCache, server: "redis.Redis") -> None:
    compute = Computation()
    assert states(cache, compute, 2) == ["MISS", "HIT"]
    server.delete(cache.keys.generation)  # evicted, or lost with a restart
    assert states(cache, compute, 2) == ["MISS", "MISS"]
    assert cache.replace_generation(None, b"first")
    assert states(cache, compute, 1) == ["HIT"]
    # Nor is it replaced by who saw another one.
    assert not cache.replace_generation(None, b"of a slow process")
    assert not cache.replace_generation(b"zero", b"of another one")
    assert cache.read_generation() == b"first"


# -- expiry ------------------------------------------------------------------------------------


def test_an_answer_expires_and_an_empty_one_sooner(opened: Open, clock: Clock) -> None:
    cache = opened(Lifetimes(ttl=600, ttl_empty=60))
    begin(cache, "first")
    hits, empty = Computation(), Computation(has_hits=False)
    ask(cache, hits, "hits")
    ask(cache, empty, "empty")
    assert ask(cache, empty, "empty").state == "HIT"
    clock.advance(70)
    assert ask(cache, hits, "hits").state == "HIT"
    assert ask(cache, empty, "empty").state == "MISS"


@pytest.mark.parametrize(("keep_stale", "longest"), [(True, 1_100), (False, 100)])
def test_redis_drops_an_answer_in_the_end(
    opened: Open, server: "redis.Redis", keep_stale: bool, longest: int
) -> None:
    cache = opened(Lifetimes(ttl=100, stale_ttl=1000))
    begin(cache, "first")
    ask(cache, Computation(keep_stale=keep_stale))
    left: Any = server.ttl(key_of(cache))
    assert longest - 60 <= left <= longest


# -- one computes ------------------------------------------------------------------------------


def ask_at_once(cache: AnswerCache, compute: Computation, clients: int) -> list[Any]:
    """What each client gets; all look up before the computation ends."""
    looked_up = threading.Barrier(clients)

    def client(_: int) -> object:
        lookup = cache.lookup("q")
        looked_up.wait(60)
        try:
            return cache.answer(lookup, compute)
        except Unavailable as error:
            return error

    compute.hold()
    with ThreadPoolExecutor(clients + 1) as pool:
        asked = pool.map(client, range(clients))
        wait_until(lambda: compute.times)
        pool.submit(lambda: threading.Event().wait(0.5)).result()  # the others join meanwhile
        compute.release()
        return list(asked)


def test_thirty_threads_ask_and_one_computes(cache: AnswerCache) -> None:
    answers = ask_at_once(cache, compute := Computation(), 30)
    assert compute.times <= 2  # one may come when the others are done
    assert Counter(answer.state for answer in answers)["HIT"] >= 28


def test_without_redis_nobody_gets_what_was_begun_for_another(opened: Open) -> None:
    """Nothing would tell that a post was written in between."""
    answers = ask_at_once(opened(redis_url=""), Computation(), 3)
    assert {answer.state for answer in answers} == {"OFF"}
    assert sorted(answer.body["nth"] for answer in answers) == [1, 2, 3]


# -- Elasticsearch away ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "error", [Unavailable("away"), BlogsearchError("rejected"), KeyError("hits"), Busy("busy")]
)
def test_an_expired_answer_is_served_whatever_a_new_one_fails_of(
    opened: Open, clock: Clock, error: Exception
) -> None:
    cache, compute = opened(cache_ttl=600), Computation()
    begin(cache, "first")
    ask(cache, compute)
    clock.advance(700)

    def fails() -> Computed:
        raise error

    answer = ask(cache, fails)
    assert (answer.state, answer.body["nth"]) == ("STALE", 1)
    with pytest.raises(type(error)):
        ask(cache, fails, "never asked before")


def test_in_a_known_outage_nothing_is_computed(opened: Open, clock: Clock) -> None:
    cache, compute = opened(cache_ttl=600), Computation()
    begin(cache, "first")
    ask(cache, compute)
    assert cache.answer(cache.lookup("q"), compute, available=False).state == "HIT"
    clock.advance(700)
    assert cache.answer(cache.lookup("q"), compute, available=False).state == "STALE"
    with pytest.raises(Unavailable):
        cache.answer(cache.lookup("never asked before"), compute, available=False)
    assert compute.times == 1


# -- what lies in Redis ------------------------------------------------------------------------


def test_a_foreign_value_is_a_miss(cache: AnswerCache, server: "redis.Redis") -> None:
    for value in (b"", b'{"hits": []}', b"x" * 100, 7):
        server.set(key_of(cache), value)
        assert states(cache, Computation(), 2) == ["MISS", "HIT"]
    for key in (key_of(cache), cache.keys.generation):
        server.delete(key)
        server.hset(key, "a", "hash")
        assert ask(cache, Computation()).state == "MISS"
    begin(cache, "second")
    assert cache.read_generation() in (b"second", None)  # or deleted, as from a full Redis


def test_what_is_not_as_it_was_kept_is_a_miss(opened: Open, server: "redis.Redis") -> None:
    """A cut or a changed body under a right head, and what one without the secret has written."""
    cache, forger = opened(write_tokens="a-token-of-this-test"), opened()
    begin(cache, "1")
    compute = Computation()
    ask(cache, compute)
    name, kept = key_of(cache), server.get(key_of(cache))
    assert isinstance(kept, bytes)
    for data in (
        kept[:-1],
        kept[:30] + b"x" + kept[31:],
        kept[:5] + b"x" + kept[6:],
        b"",
        kept[:20],
    ):
        server.set(name, data)
        assert ask(cache, compute).state == "MISS"
    server.delete(name)
    ask(forger, compute)
    assert ask(forger, compute).state == "HIT"
    assert ask(cache, compute).state == "MISS"
