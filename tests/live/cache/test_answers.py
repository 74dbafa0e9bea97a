"""The answer cache on a real Redis: who computes, what is served, and how many round trips."""

import multiprocessing
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import redis

from app.cache import AnswerCache, CachedAnswer, Computed, Lifetimes
from app.errors import BlogsearchError, Busy, StillComputing, Unavailable
from tests.waiting import Clock, wait_until

INDEX = "posts-000001"


Open = Callable[..., AnswerCache]


class Computation:
    """A computation that counts its calls, takes `seconds`, and fails while `unavailable`.

    After `hold()` its calls end with `release()`.
    """

    def __init__(self, seconds: float = 0.0, index: str = INDEX, has_hits: bool = True) -> None:
        self.seconds = seconds
        self.index = index
        self.has_hits = has_hits
        self.unavailable = False
        self.threads: list[str] = []
        self._lock = threading.Lock()
        self._released = threading.Event()
        self._released.set()

    @property
    def times(self) -> int:
        return len(self.threads)

    def hold(self) -> None:
        self._released.clear()

    def release(self) -> None:
        self._released.set()

    def __call__(self) -> Computed:
        with self._lock:
            self.threads.append(threading.current_thread().name)
            nth = len(self.threads)
        time.sleep(self.seconds)
        assert self._released.wait(60)
        if self.unavailable:
            raise Unavailable("no Elasticsearch")
        return Computed(body={"nth": nth, "q": "naïve ☃"}, index=self.index, has_hits=self.has_hits)


def ask_at_once(
    cache: AnswerCache, compute: Callable[[], Computed], clients: int
) -> list[CachedAnswer]:
    with ThreadPoolExecutor(clients) as pool:
        return list(pool.map(lambda _: cache.get_or_compute("q", compute), range(clients)))


# -- hits --------------------------------------------------------------------------------------


def test_second_search_is_a_hit_with_the_same_answer(opened: Open) -> None:
    cache, compute = opened(), Computation()
    first, second = cache.get_or_compute("q", compute), cache.get_or_compute("q", compute)
    assert (first.state, second.state) == ("MISS", "HIT")
    assert first.body == second.body == {"nth": 1, "q": "naïve ☃"}
    assert first.payload == second.payload
    assert first.etag == second.etag
    assert compute.times == 1


@pytest.mark.parametrize("serializer", ["bytes", "bytes+zlib"])
def test_a_hit_is_one_trip_of_one_command(
    opened: Open, server: "redis.Redis", name: str, serializer: str
) -> None:
    cache, compute = opened(cache_serializer=serializer), Computation()
    cache.get_or_compute("q", compute)
    with server.monitor() as monitor:
        for _ in range(3):
            cache.get_or_compute("q", compute)
        server.echo(name)
        seen = []
        for command in monitor.listen():
            if command["command"] == f"ECHO {name}":
                break
            if name in command["command"]:
                seen.append(command["command"].split()[0])
    assert seen == ["MGET"] * 3


def test_opening_connects_nothing(opened: Open) -> None:
    cache = opened(redis_url="redis://192.0.2.1:6379/0")  # an address that nobody has
    assert cache.configured


def test_without_an_address_there_is_no_cache(opened: Open) -> None:
    cache, compute = opened(redis_url=""), Computation()
    assert [cache.get_or_compute("q", compute).state for _ in range(2)] == ["OFF", "OFF"]
    assert cache.ping() is None
    assert cache.new_generation(INDEX, "rules")  # no older answer can be served


# -- generations -------------------------------------------------------------------------------


def test_new_generation_puts_every_older_answer_out_of_reach(
    opened: Open,
) -> None:
    cache, compute = opened(), Computation()
    before = cache.get_or_compute("q", compute)
    assert cache.new_generation(INDEX, "rules")
    after = cache.get_or_compute("q", compute)
    assert after.state == "MISS"
    assert after.body["nth"] == 2
    assert after.etag != before.etag


def test_an_answer_begun_before_a_write_is_not_fresh_after_it(
    opened: Open,
) -> None:
    cache = opened()

    def overtaken() -> Computed:
        cache.new_generation(INDEX, "rules")
        return Computed(body={"old": True}, index=INDEX, has_hits=True)

    cache.new_generation(INDEX, "rules")
    cache.get_or_compute("q", overtaken)
    assert cache.get_or_compute("q", Computation()).state == "MISS"


@pytest.mark.parametrize("before", ["nothing", "no index", "another index"])
@pytest.mark.parametrize("announced", [INDEX, "posts-000002"])
def test_an_answer_begun_before_a_write_is_not_fresh_when_its_generation_did_not_name_the_index(
    opened: Open, before: str, announced: str
) -> None:
    cache = opened()
    if before != "nothing":
        cache.new_generation("" if before == "no index" else cache.keys.generation, "")

    def overtaken() -> Computed:
        cache.new_generation(announced, "rules")
        return Computed(body={"old": True}, index=INDEX, has_hits=True)

    cache.get_or_compute("q", overtaken)
    kept = cache.lookup("q").answer
    assert kept
    assert kept.state == "STALE"
    assert cache.generation().startswith(f"{announced} rules ")
    after = Computation(index=announced)
    assert cache.get_or_compute("q", after).state == "MISS"
    assert cache.get_or_compute("q", after).state == "HIT"


def test_all_answers_computed_while_no_generation_named_the_index_are_fresh(opened: Open) -> None:
    cache = opened()

    def meanwhile_another() -> Computed:
        assert cache.get_or_compute("other", Computation()).state == "MISS"
        return Computation()()

    cache.get_or_compute("q", meanwhile_another)
    assert cache.get_or_compute("other", Computation()).state == "HIT"
    assert cache.get_or_compute("q", Computation()).state == "HIT"


def test_while_one_computes_after_a_write_the_others_wait_instead_of_taking_the_older_answer(
    opened: Open,
) -> None:
    cache, compute = opened(), Computation()
    cache.get_or_compute("q", compute)
    cache.new_generation(INDEX, "rules")
    compute.seconds = 0.2
    assert {answer.body["nth"] for answer in ask_at_once(cache, compute, 10)} == {2}


def test_whoever_asks_after_a_write_is_not_handed_what_was_begun_before_it(
    opened: Open,
) -> None:
    cache, compute = opened(), Computation(seconds=0.4)
    cache.new_generation(INDEX, "rules")
    with ThreadPoolExecutor(1) as pool:
        before = pool.submit(cache.get_or_compute, "q", compute)
        wait_until(lambda: compute.times == 1)
        cache.new_generation(INDEX, "rules")
        after = cache.get_or_compute("q", compute)
        assert (before.result().body["nth"], after.body["nth"]) == (1, 2)


def test_a_swap_that_redis_was_not_told_of_is_noticed(opened: Open) -> None:
    cache = opened()
    old, new = Computation(index=INDEX), Computation(index="posts-000002")
    cache.new_generation(INDEX, "rules")
    cache.get_or_compute("kept", old)
    cache.get_or_compute("another", new)  # answered by the next index
    assert cache.get_or_compute("kept", new).state == "MISS"
    assert cache.get_or_compute("another", new).state == "HIT"


def test_a_lost_generation_makes_all_answers_miss(opened: Open, server: "redis.Redis") -> None:
    cache, compute = opened(), Computation()
    cache.get_or_compute("q", compute)
    server.delete(cache.keys.generation)  # evicted, or lost with a restart
    assert cache.get_or_compute("q", compute).state == "MISS"
    assert cache.get_or_compute("q", compute).state == "HIT"


# -- expiry ------------------------------------------------------------------------------------


def test_an_answer_expires_and_an_empty_one_sooner(opened: Open, clock: Clock) -> None:
    cache = opened(Lifetimes(ttl=600, ttl_empty=60))
    hits, empty = Computation(), Computation(has_hits=False)
    cache.get_or_compute("hits", hits)
    cache.get_or_compute("empty", empty)
    assert cache.get_or_compute("empty", empty).state == "HIT"
    clock.advance(70)
    assert cache.get_or_compute("hits", hits).state == "HIT"
    assert cache.get_or_compute("empty", empty).state == "MISS"


@pytest.mark.parametrize("seconds", [3_600.0, -3_600.0])
def test_an_answer_is_not_fresh_when_the_clock_was_set(
    opened: Open, clock: Clock, seconds: float
) -> None:
    cache, compute = opened(), Computation()
    cache.get_or_compute("q", compute)
    clock.advance(seconds)
    assert cache.get_or_compute("q", compute).body["nth"] == 2
    assert cache.get_or_compute("q", compute).state == "HIT"


def test_redis_drops_an_answer_in_the_end(opened: Open, server: "redis.Redis") -> None:
    cache = opened(Lifetimes(ttl=100, stale_ttl=1000))
    cache.get_or_compute("q", Computation())
    left = server.ttl(cache.keys.answers + cache.keys.digest("q").hex())
    assert 1089 <= left <= 1110  # ten per cent of jitter on the 100


def test_a_hot_answer_is_computed_anew_before_it_expires_and_nobody_waits(
    opened: Open, clock: Clock
) -> None:
    cache, compute = opened(cache_ttl=100_000), Computation()
    cache.get_or_compute("q", compute)
    clock.advance(85_000)
    compute.hold()
    while compute.times == 1:  # chance decides; a lifetime is 90,000 to 110,000 seconds
        clock.advance(100)
        assert cache.get_or_compute("q", compute).state == "HIT"
    assert cache.get_or_compute("q", compute).body["nth"] == 1
    compute.release()
    wait_until(lambda: cache.get_or_compute("q", compute).body["nth"] == 2)
    assert compute.threads[0] != compute.threads[1]


def test_while_one_computes_an_expired_answer_the_others_take_it(
    opened: Open, clock: Clock
) -> None:
    cache, compute = opened(cache_ttl=60), Computation()
    cache.get_or_compute("q", compute)
    clock.advance(70)
    compute.hold()
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(cache.get_or_compute, "q", compute)
        wait_until(lambda: compute.times == 2)
        other = cache.get_or_compute("q", compute)
        compute.release()
        assert (other.state, other.body["nth"]) == ("STALE", 1)
        assert (first.result().state, first.result().body["nth"]) == ("MISS", 2)


# -- one computes ------------------------------------------------------------------------------


def test_fifty_threads_ask_and_one_computes(opened: Open) -> None:
    cache, compute = opened(), Computation(seconds=0.2)
    cached = ask_at_once(cache, compute, 50)
    assert compute.times == 1
    assert Counter(answer.state for answer in cached) == {"MISS": 1, "HIT": 49}
    assert {answer.body["nth"] for answer in cached} == {1}


def test_fifty_threads_ask_without_redis_and_one_computes(
    opened: Open,
) -> None:
    compute = Computation(seconds=1.0)  # on a busy machine all threads start in that time
    cached = ask_at_once(opened(redis_url=""), compute, 50)
    assert compute.times == 1
    assert {answer.state for answer in cached} == {"OFF"}


_ASK = """
import sys, time
from concurrent.futures import ThreadPoolExecutor
import redis
from app.cache import Computed, open_cache
from app.settings import Settings

url, name = sys.argv[1:]
cache = open_cache(Settings(redis_url=url, index=name, cache_timeout=5), lock_wait=30)
client = redis.Redis.from_url(url)

def compute():
    nth = client.incr(f"blogsearch:{{{name}}}:computed")
    time.sleep(0.3)
    return Computed(body={"nth": nth}, index="posts-000001", has_hits=True)

sys.stdin.readline()
with ThreadPoolExecutor(10) as pool:
    for cached in pool.map(lambda _: cache.get_or_compute("q", compute), range(10)):
        print(cached.state, cached.body["nth"])
"""


def test_fifty_clients_in_five_processes_ask_and_one_computes(
    redis_url: str, name: str, server: "redis.Redis"
) -> None:
    command = [sys.executable, "-c", _ASK, redis_url, name]
    pipe = subprocess.PIPE
    workers = [subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) for _ in range(5)]
    for worker in workers:
        assert worker.stdin
        worker.stdin.write("go\n")
        worker.stdin.flush()
    told = [line for worker in workers for line in worker.communicate(timeout=120)[0].splitlines()]
    assert server.get(f"blogsearch:{{{name}}}:computed") == b"1"
    assert Counter(told) == {"HIT 1": 49, "MISS 1": 1}


def compute_in_background(cache: AnswerCache, compute: Computation) -> threading.Thread:
    """A thread in which the answer is being computed when this returns."""
    before = compute.times
    thread = threading.Thread(target=cache.get_or_compute, args=("q", compute))
    thread.start()
    wait_until(lambda: compute.times > before)
    return thread


@pytest.mark.parametrize("waiting", ["the same process", "another process", "no Redis"])
def test_a_slow_computation_is_not_started_twice(opened: Open, waiting: str) -> None:
    changed: dict[str, Any] = {"lock_wait": 0.2, "cache_timeout": 5}
    if waiting == "no Redis":
        changed["redis_url"] = ""
    computing, compute = opened(**changed), Computation()
    compute.hold()
    other = opened(**changed) if waiting == "another process" else computing
    thread = compute_in_background(computing, compute)
    with pytest.raises(StillComputing):
        other.get_or_compute("q", compute)
    compute.release()
    thread.join()
    assert compute.times == 1


@pytest.mark.parametrize("waiting", ["the same process", "another process"])
def test_who_waited_too_long_gets_the_older_answer(opened: Open, waiting: str) -> None:
    computing, compute = opened(lock_wait=0.2), Computation()
    other = opened(lock_wait=0.2) if waiting == "another process" else computing
    computing.get_or_compute("q", compute)
    computing.new_generation(INDEX, "rules")
    compute.hold()
    thread = compute_in_background(computing, compute)
    answer = other.get_or_compute("q", compute)
    compute.release()
    assert (answer.state, answer.body["nth"]) == ("STALE", 1)
    thread.join()
    assert compute.times == 2


def test_the_lock_is_held_for_as_long_as_the_computation_runs(
    opened: Open, server: "redis.Redis"
) -> None:
    computing, other, compute = opened(), opened(lock_wait=0.1), Computation()
    compute.hold()
    thread = compute_in_background(computing, compute)
    time.sleep(2.8)  # longer than a lock lives that is not renewed
    with pytest.raises(StillComputing):
        other.get_or_compute("q", compute)
    compute.release()
    thread.join()
    assert compute.times == 1
    assert not server.exists(computing.keys.lock(computing.keys.digest("q")))


_COMPUTE_FOREVER = """
import sys, time
from app.cache import open_cache
from app.settings import Settings

def compute():
    print("computing", flush=True)
    time.sleep(60)

url, name = sys.argv[1:]
open_cache(Settings(redis_url=url, index=name, cache_timeout=5)).get_or_compute("q", compute)
"""


def test_the_lock_of_a_killed_process_expires(opened: Open, redis_url: str, name: str) -> None:
    command = [sys.executable, "-c", _COMPUTE_FOREVER, redis_url, name]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.readline() == b"computing\n"
        process.kill()
    assert opened().get_or_compute("q", Computation()).state == "MISS"


def test_only_the_own_lock_is_released(opened: Open, server: "redis.Redis") -> None:
    cache = opened()
    lock = cache.keys.lock(cache.keys.digest("q"))

    def too_long() -> Computed:
        server.set(lock, "the next holder")
        return Computed(body={}, index=INDEX, has_hits=True)

    cache.get_or_compute("q", too_long)
    assert server.get(lock) == b"the next holder"


def test_an_expired_answer_is_computed_by_one_of_many(opened: Open, clock: Clock) -> None:
    caches, compute = [opened(cache_ttl=600) for _ in range(2)], Computation()
    for nth in range(1, 6):
        caches[0].get_or_compute("q", compute)
        assert compute.times == nth
        clock.advance(700)
    with ThreadPoolExecutor(20) as pool:
        list(pool.map(lambda nth: caches[nth % 2].get_or_compute("q", compute), range(200)))
    assert compute.times == 6


def test_a_failed_computation_is_the_answer_of_all_who_waited(
    opened: Open,
) -> None:
    cache, compute = opened(), Computation(seconds=0.2)
    compute.unavailable = True
    with ThreadPoolExecutor(10) as pool:
        asked = [pool.submit(cache.get_or_compute, "q", compute) for _ in range(10)]
        failures = [future.exception() for future in asked]
    assert all(isinstance(failure, Unavailable) for failure in failures)
    assert compute.times <= 2  # one may come when the others are done


def test_a_bug_in_the_computation_reaches_the_caller_and_releases_the_lock(
    opened: Open, server: "redis.Redis"
) -> None:
    cache = opened()

    def broken() -> Computed:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        cache.get_or_compute("q", broken)
    assert not server.exists(cache.keys.lock(cache.keys.digest("q")))
    assert cache.get_or_compute("q", Computation()).state == "MISS"


def test_a_forked_worker_does_not_share_its_parents_connection(
    opened: Open,
) -> None:
    cache = opened()
    cache.get_or_compute("parent", Computation())
    context = multiprocessing.get_context("fork")
    answers: Any = context.Queue()

    def child() -> None:
        for _ in range(200):
            compute = Computation()
            cached = cache.get_or_compute(f"{os.getpid()}", compute)
        answers.put((cached.state, cached.body["nth"]))

    workers = [context.Process(target=child) for _ in range(3)]
    for worker in workers:
        worker.start()
    for _ in range(200):
        assert cache.get_or_compute("parent", Computation()).state == "HIT"
    for worker in workers:
        worker.join(60)
    assert [answers.get(timeout=60) for _ in workers] == [("HIT", 1)] * 3


# -- Elasticsearch gone ------------------------------------------------------------------------


@pytest.mark.parametrize("why", ["expired", "older generation"])
def test_an_older_answer_is_served(opened: Open, clock: Clock, why: str) -> None:
    cache, compute = opened(cache_ttl=600), Computation()
    cache.get_or_compute("q", compute)
    if why == "expired":
        clock.advance(700)
    else:
        cache.new_generation("posts-000002", "rules")
    compute.unavailable = True
    answer = cache.get_or_compute("q", compute)
    assert (answer.state, answer.body["nth"]) == ("STALE", 1)
    with pytest.raises(Unavailable):
        cache.get_or_compute("never asked before", compute)


@pytest.mark.parametrize("error", [BlogsearchError("rejected"), KeyError("hits"), Busy("busy")])
def test_an_older_answer_is_served_whatever_a_new_one_fails_of(
    opened: Open, error: Exception
) -> None:
    cache = opened()
    cache.get_or_compute("q", Computation())
    cache.new_generation("posts-000002", "rules")

    def fails() -> Computed:
        raise error

    assert cache.get_or_compute("q", fails).state == "STALE"
    with pytest.raises(type(error)):
        cache.get_or_compute("never asked before", fails)


def test_an_older_answer_is_served_if_a_new_one_takes_long(opened: Open) -> None:
    cache, compute = opened(), Computation()
    cache.get_or_compute("q", compute)
    cache.new_generation(INDEX, "rules")
    compute.hold()
    assert cache.get_or_compute("q", compute).state == "STALE"
    compute.release()
    wait_until(lambda: cache.get_or_compute("q", compute).state == "HIT")
    assert compute.times == 2


def test_in_a_known_outage_nothing_is_computed(opened: Open) -> None:
    cache, compute = opened(), Computation()
    cache.get_or_compute("q", compute)
    assert cache.get_or_compute("q", compute, available=False).state == "HIT"
    cache.new_generation("posts-000002", "rules")
    assert cache.get_or_compute("q", compute, available=False).state == "STALE"
    with pytest.raises(Unavailable):
        cache.get_or_compute("never asked before", compute, available=False)
    assert compute.times == 1


# -- what lies in Redis ------------------------------------------------------------------------


def _cut(data: bytes) -> bytes:
    return data[:-3]


def _flipped(data: bytes) -> bytes:
    return data[:-3] + bytes([data[-3] ^ 1]) + data[-2:]


def _next_layout(data: bytes) -> bytes:
    return data[:3] + b"\xff" + data[4:]


@pytest.mark.parametrize(
    "damage", [_cut, _flipped, _next_layout, lambda _: b"", lambda _: b'{"hits": []}', lambda _: 7]
)
@pytest.mark.parametrize("serializer", ["bytes", "bytes+zlib"])
def test_a_damaged_or_foreign_value_is_a_miss(
    opened: Open,
    server: "redis.Redis",
    serializer: str,
    damage: Callable[[bytes], Any],
) -> None:
    cache, compute = opened(cache_serializer=serializer), Computation()
    cache.get_or_compute("q", compute)
    key = cache.keys.answers + cache.keys.digest("q").hex()
    kept = server.get(key)
    assert isinstance(kept, bytes)
    server.set(key, damage(kept))
    assert cache.get_or_compute("q", compute).state == "MISS"
    assert cache.get_or_compute("q", compute).state == "HIT"


def test_a_value_of_another_type_is_a_miss(opened: Open, server: "redis.Redis") -> None:
    cache, compute = opened(), Computation()
    for key in (cache.keys.answers + cache.keys.digest("q").hex(), cache.keys.generation):
        server.delete(key)
        server.hset(key, "a", "hash")
        assert cache.get_or_compute("q", compute).state == "MISS"


def test_the_answer_to_another_search_is_a_miss(opened: Open, server: "redis.Redis") -> None:
    cache = opened()
    cache.get_or_compute("one", Computation())
    names = [cache.keys.answers + cache.keys.digest(key).hex() for key in ("one", "two")]
    server.copy(names[0], names[1])
    assert cache.get_or_compute("two", Computation()).state == "MISS"


def test_another_serializer_makes_a_miss(opened: Open) -> None:
    compute = Computation()
    opened(cache_serializer="bytes").get_or_compute("q", compute)
    assert opened(cache_serializer="bytes+zlib").get_or_compute("q", compute).state == "MISS"
