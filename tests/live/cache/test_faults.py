"""Redis stopped, restarted, hanging, full, sending garbage, cut off: no search fails, and none
waits longer than the configured timeout. tests/live/test_gevent.py has a slow Redis.

Each test starts a redis-server of its own. Where a reply has to be late, cut off or garbage, a fake
server or proxy sends it.
"""

import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
import redis

from app.cache import AnswerCache, CachedAnswer, Computed, open_cache
from app.errors import Unavailable
from app.settings import Settings
from devstack.servers import RedisServer, free_port, redis_server
from tests.tcp import listening
from tests.waiting import wait_until

TIMEOUT = 0.5  # seconds, the setting where Redis does not answer
# Seconds. A busy machine needs less for a search or for 50 that wait once; if each waited, or one
# for as long as Redis hangs, it would take longer.
MOST = 15
INDEX = "posts-000001"


@pytest.fixture
def server() -> Iterator[RedisServer]:
    with redis_server() as running:
        yield running


def opened(url: str, **changed: Any) -> AnswerCache:
    return open_cache(
        Settings(**{"redis_url": url, "index": "posts", "cache_timeout": 5, **changed})
    )


def answer() -> Computed:
    return Computed(body={"q": "x" * 2000}, index=INDEX, has_hits=True)


def asked(cache: AnswerCache, key: str = "q") -> CachedAnswer:
    cached = cache.get_or_compute(key, answer)
    assert cached.body == answer().body
    return cached


def states(cache: AnswerCache, times: int) -> list[str]:
    return [asked(cache).state for _ in range(times)]


def eventually(cache: AnswerCache, state: str) -> None:
    wait_until(lambda: asked(cache).state == state)


# -- gone and back -----------------------------------------------------------------------------


def test_stopped_and_restarted() -> None:
    port = free_port()
    with redis_server(port=port) as first:
        cache = opened(first.url)
        assert states(cache, 2) == ["MISS", "HIT"]
    assert states(cache, 3) == ["OFF"] * 3
    assert not cache.new_generation(INDEX, "rules")
    with redis_server(port=port):
        eventually(cache, "MISS")
        assert states(cache, 2) == ["HIT", "HIT"]


def test_restarted_between_two_searches_is_not_even_noticed() -> None:
    port = free_port()
    with redis_server(port=port) as first:
        cache = opened(first.url)
        assert states(cache, 2) == ["MISS", "HIT"]
    with redis_server(port=port):
        assert states(cache, 2) == ["MISS", "HIT"]


def test_never_there() -> None:
    cache = opened(f"redis://127.0.0.1:{free_port()}/0")
    assert states(cache, 3) == ["OFF"] * 3


def test_hanging_and_back(server: RedisServer) -> None:
    assert states(opened(server.url), 2) == ["MISS", "HIT"]
    cache = opened(server.url, cache_timeout=TIMEOUT)
    server.process.send_signal(signal.SIGSTOP)
    try:
        began = time.monotonic()
        assert states(cache, 50) == ["OFF"] * 50
        assert time.monotonic() - began < MOST
    finally:
        server.process.send_signal(signal.SIGCONT)
    eventually(cache, "HIT")


def test_hanging_while_the_answer_is_computed(server: RedisServer) -> None:
    cache = opened(server.url, cache_timeout=TIMEOUT)

    def stops() -> Computed:
        server.process.send_signal(signal.SIGSTOP)
        return answer()

    began = time.monotonic()
    try:
        assert cache.get_or_compute("q", stops).body == answer().body
        assert time.monotonic() - began < MOST
    finally:
        server.process.send_signal(signal.SIGCONT)


def test_commands_say_nothing_instead_of_failing() -> None:
    cache = opened(f"redis://127.0.0.1:{free_port()}/0")
    assert (cache.stats().memory, cache.stats().sizes["count"]) == ({}, 0)
    assert cache.clear() is None
    assert cache.ping() is None


# -- full, read-only ---------------------------------------------------------------------------


def computed_by_ten_at_once(cache: AnswerCache) -> int:
    """How many of ten searches for the same cold answer computed it."""
    times: list[int] = []

    def slow() -> Computed:
        times.append(1)
        time.sleep(0.2)
        return answer()

    with ThreadPoolExecutor(10) as pool:
        cached = list(pool.map(lambda _: cache.get_or_compute("cold", slow), range(10)))
    assert all(item.body == answer().body for item in cached)
    return len(times)


def test_full() -> None:
    with redis_server("--maxmemory-policy", "noeviction") as server:
        cache = opened(server.url)
        assert states(cache, 2) == ["MISS", "HIT"]
        with redis.Redis.from_url(server.url) as client:
            # Less than it has in use: every write is refused, as when it has filled up.
            client.config_set("maxmemory", 1)
            assert asked(cache).state == "HIT"  # what is kept can still be read
            assert [asked(cache, "another").state for _ in range(3)] == ["MISS"] * 3
            assert not cache.accepts_writes()
            # After a write of a post what is kept must not count as fresh.
            assert cache.new_generation(INDEX, "rules")
            assert states(cache, 2) == ["MISS"] * 2
            assert computed_by_ten_at_once(cache) == 1
            client.config_set("maxmemory", 0)
        assert states(cache, 2) == ["MISS", "HIT"]


def test_read_only_replica(server: RedisServer) -> None:
    with redis.Redis.from_url(server.url) as client:
        client.execute_command("REPLICAOF", "127.0.0.1", str(free_port()))
    cache = opened(server.url)
    assert states(cache, 3) == ["MISS"] * 3


@pytest.mark.parametrize("password", ["", ":wrong@"])
def test_a_password_that_is_missing_or_wrong(password: str) -> None:
    with redis_server("--requirepass", "right") as server:
        cache = opened(server.url.replace("//", f"//{password}"))
        assert states(cache, 3) == ["OFF"] * 3


# -- between the cache and Redis ---------------------------------------------------------------

Forward = Callable[[bytes], Iterator[bytes]]


@contextmanager
def proxy(server: RedisServer, replies: Forward) -> Iterator[str]:
    """A TCP proxy; what Redis answers goes through `replies`, chunk by chunk."""

    def serve(near: socket.socket) -> None:
        with socket.create_connection(("127.0.0.1", server.port)) as far:
            while request := near.recv(65536):
                far.sendall(request)
                for chunk in replies(far.recv(65536)):
                    near.sendall(chunk)

    with fake_redis(serve) as url:
        yield url


@contextmanager
def fake_redis(serve: Callable[[socket.socket], None]) -> Iterator[str]:
    with listening(serve) as port:
        yield f"redis://127.0.0.1:{port}/0"


def silent(connection: socket.socket) -> None:
    while connection.recv(65536):
        pass


@pytest.mark.parametrize("known", [True, False])
def test_slow_once_while_elasticsearch_is_unavailable(server: RedisServer, known: bool) -> None:
    """A kept answer is looked up again before a search gets an error."""
    assert states(opened(server.url), 2) == ["MISS", "HIT"]
    timeout = 1.0
    delays = iter([timeout * 1.5])

    def late(reply: bytes) -> Iterator[bytes]:
        time.sleep(next(delays, 0.0))
        yield reply

    def unavailable() -> Computed:
        raise Unavailable("Elasticsearch cannot be reached.")

    with proxy(server, late) as url:
        cache = opened(url, cache_timeout=timeout)
        cached = cache.get_or_compute("q", unavailable, available=not known)
        assert cached.body == answer().body
        assert not list(delays)


def test_gone_while_elasticsearch_is_unavailable() -> None:
    """Redis is not tried in vain for every search."""

    with fake_redis(silent) as url:
        cache = opened(url, cache_timeout=TIMEOUT)
        began = time.monotonic()
        for _ in range(50):
            with pytest.raises(Unavailable):
                cache.get_or_compute("q", answer, available=False)
        assert time.monotonic() - began < MOST


@pytest.mark.parametrize("kept", [1, 9, 60, 500, 2000])
@pytest.mark.parametrize("then", ["closes", "hangs"])
def test_cut_off_mid_reply(server: RedisServer, kept: int, then: str) -> None:
    assert states(opened(server.url), 2) == ["MISS", "HIT"]

    def cut(reply: bytes) -> Iterator[bytes]:
        yield reply[:kept]
        if then == "hangs":
            time.sleep(TIMEOUT * 3)
        raise ConnectionResetError

    with proxy(server, cut) as url:
        assert states(opened(url, cache_timeout=TIMEOUT), 3) == ["OFF"] * 3


def test_a_late_reply_is_not_taken_for_the_next_one(server: RedisServer) -> None:
    """The connection that timed out is gone, and its late answer with it."""
    delays = iter([0.0] * 8 + [TIMEOUT * 2])

    def late(reply: bytes) -> Iterator[bytes]:
        time.sleep(next(delays, 0.0))
        yield reply

    with proxy(server, late) as url:
        cache = opened(url, cache_timeout=TIMEOUT)
        for key in ("one", "two"):
            cache.get_or_compute(key, lambda key=key: Computed({"key": key}, INDEX, True))
        ends = time.monotonic() + 1.5
        while time.monotonic() < ends:
            for key in ("one", "two"):
                cached = cache.get_or_compute(
                    key, lambda key=key: Computed({"key": key}, INDEX, True)
                )
                assert cached.body == {"key": key}


@pytest.mark.parametrize("together", [True, False])
def test_what_follows_a_reply_is_not_taken_for_the_next_one(
    server: RedisServer, together: bool
) -> None:
    """A connection with something left to read is not used again."""
    sent = threading.Event()

    def add(reply: bytes) -> Iterator[bytes]:
        left = b"*2\r\n$3\r\nold\r\n$3\r\nold\r\n"
        if together:
            yield reply + left
        else:
            yield reply
            yield left
        sent.set()

    for key in ("one", "two"):
        opened(server.url).get_or_compute(key, lambda key=key: Computed({"key": key}, INDEX, True))
    with proxy(server, add) as url:
        cache = opened(url)
        for _ in range(10):
            for key in ("one", "two"):
                cached = cache.get_or_compute(key, lambda: Computed({}, INDEX, True))
                assert (cached.state, cached.body) == ("HIT", {"key": key})
                assert sent.wait(60)
                sent.clear()


GARBAGE = {
    "noise": bytes(range(256)) * 4,
    "HTTP": b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n",
    "a status": b"+PONG\r\n",
    "a number": b":12\r\n",
    "an error": b"-ERR unknown command\r\n",
    "still loading": b"-LOADING Redis is loading the dataset in memory\r\n",
    "nothing": b"$-1\r\n",
    "no list": b"*-1\r\n",
    "an empty list": b"*0\r\n",
    "one of two": b"*1\r\n$1\r\nx\r\n",
    "three of two": b"*3\r\n:1\r\n:2\r\n:3\r\n",
    "numbers": b"*2\r\n:1\r\n:2\r\n",
    "lists": b"*2\r\n*0\r\n*0\r\n",
    "errors": b"*2\r\n-ERR a\r\n-ERR b\r\n",
    "a promise": b"$999999999\r\nabc",
    "text": b"*2\r\n$3\r\nabc\r\n$3\r\nabc\r\n",
    "silence": b"",
}


@pytest.mark.parametrize("garbage", GARBAGE.values(), ids=GARBAGE.keys())
def test_garbage(garbage: bytes) -> None:
    def serve(connection: socket.socket) -> None:
        while connection.recv(65536):
            connection.sendall(garbage)

    with fake_redis(serve) as url:
        cache = opened(url, cache_timeout=TIMEOUT)
        assert set(states(cache, 4)) <= {"OFF", "MISS"}


def test_accepts_and_hangs_up() -> None:
    with fake_redis(lambda connection: connection.close()) as url:
        assert states(opened(url), 3) == ["OFF"] * 3


# -- many at a time ----------------------------------------------------------------------------


def test_fifty_searches_on_a_hanging_redis_wait_once(server: RedisServer) -> None:
    cache = opened(server.url, cache_timeout=TIMEOUT)
    server.process.send_signal(signal.SIGSTOP)
    threads = [threading.Thread(target=asked, args=(cache, f"q{nth}")) for nth in range(50)]
    try:
        began = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert time.monotonic() - began < MOST
    finally:
        server.process.send_signal(signal.SIGCONT)
