"""Redis stopped, restarted, hanging, full, sending garbage, cut off: no search fails, and none
waits longer than the configured timeout. tests/live/test_gevent.py has one that drips.

Each test starts a redis-server of its own. Where a reply has to be late, cut off or garbage, a fake
server or proxy sends it.
"""

import signal
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
import redis

from app.cache import AnswerCache, CachedAnswer, Computed, open_cache
from app.cache.redis_client import RedisUnavailable
from app.settings import Settings
from devstack.servers import RedisServer, free_port, redis_server
from tests.live.cache.conftest import begin
from tests.tcp import listening
from tests.waiting import wait_until

TIMEOUT = 0.2  # seconds, the setting where Redis does not answer
# Seconds. A busy machine needs less for 50 searches of which one waits; if each waited, or one for
# as long as Redis hangs, it would take longer.
MOST = 9


@pytest.fixture
def server() -> Iterator[RedisServer]:
    with redis_server() as running:
        yield running


def opened(url: str, **changed: Any) -> AnswerCache:
    return open_cache(
        Settings(**{"redis_url": url, "index": "posts", "cache_timeout": 5, **changed})
    )


def filled(server: RedisServer) -> AnswerCache:
    """A cache with a generation and an answer to `q`."""
    cache = opened(server.url)
    begin(cache, "first")
    assert states(cache, 2) == ["MISS", "HIT"]
    return cache


def answer() -> Computed:
    return Computed(body={"q": "x" * 2000}, has_hits=True)


def asked(cache: AnswerCache, key: str = "q") -> CachedAnswer:
    cached = cache.answer(cache.lookup(key), answer)
    assert cached.body == answer().body
    return cached


def states(cache: AnswerCache, times: int) -> list[str]:
    return [asked(cache).state for _ in range(times)]


@contextmanager
def suspended(server: RedisServer) -> Iterator[None]:
    server.process.send_signal(signal.SIGSTOP)
    yield
    server.process.send_signal(signal.SIGCONT)


# -- gone and back -----------------------------------------------------------------------------


def test_stopped_and_restarted() -> None:
    port = free_port()
    with redis_server(port=port) as first:
        cache = filled(first)
    assert states(cache, 3) == ["OFF"] * 3
    with pytest.raises(RedisUnavailable):
        cache.read_generation()
    with redis_server(port=port):
        wait_until(lambda: asked(cache).state == "MISS")
        begin(cache, "first")
        assert states(cache, 2) == ["MISS", "HIT"]


def test_searches_on_a_hanging_redis_wait_once(server: RedisServer) -> None:
    filled(server)
    cache = opened(server.url, cache_timeout=TIMEOUT)
    with suspended(server), ThreadPoolExecutor(50) as pool:
        began = time.monotonic()
        assert set(pool.map(lambda nth: asked(cache, f"q{nth}").state, range(50))) == {"OFF"}
        assert states(cache, 50) == ["OFF"] * 50
        assert time.monotonic() - began < MOST
    wait_until(lambda: asked(cache).state == "HIT")


# -- full, read-only ---------------------------------------------------------------------------


def test_full() -> None:
    with redis_server("--maxmemory-policy", "noeviction") as server:
        cache = filled(server)
        with redis.Redis.from_url(server.url) as client:
            # Less than it has in use: every write is refused, as when it has filled up.
            client.config_set("maxmemory", 1)
            assert asked(cache).state == "HIT"  # what is kept can still be read
            assert [asked(cache, "another").state for _ in range(3)] == ["MISS"] * 3
            assert not cache.accepts_writes()
            # After a write of a post nothing that is kept may be served.
            begin(cache, "second")
            assert states(cache, 2) == ["MISS"] * 2
            client.config_set("maxmemory", 0)
        begin(cache, "second")
        assert states(cache, 2) == ["MISS", "HIT"]


def test_a_password_that_is_missing_or_wrong() -> None:
    with redis_server("--requirepass", "right") as server:
        for password in ("", ":wrong@"):
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

    with listening(serve) as port:
        yield f"redis://127.0.0.1:{port}/0"


@pytest.mark.parametrize(("kept", "then"), [(1, "hangs"), (2000, "closes")])
def test_cut_off_mid_reply(server: RedisServer, kept: int, then: str) -> None:
    filled(server)

    def cut(reply: bytes) -> Iterator[bytes]:
        yield reply[:kept]
        if then == "hangs":
            time.sleep(TIMEOUT * 3)
        raise ConnectionResetError

    with proxy(server, cut) as url:
        assert states(opened(url, cache_timeout=TIMEOUT), 3) == ["OFF"] * 3


def _answer_of(key: str) -> Callable[[], Computed]:
    return lambda: Computed({"key": key}, has_hits=True)


def test_a_late_reply_is_not_taken_for_the_next_one(server: RedisServer) -> None:
    """The connection that timed out is gone, and its late answer with it."""
    begin(opened(server.url), "first")
    delays = iter([0.0] * 4 + [TIMEOUT * 2])

    def late(reply: bytes) -> Iterator[bytes]:
        time.sleep(next(delays, 0.0))
        yield reply

    with proxy(server, late) as url:
        cache = opened(url, cache_timeout=TIMEOUT)
        seen: set[str] = set()
        while seen != {"HIT", "OFF"} or cache.lookup("one").reached is False:
            for key in ("one", "two"):
                cached = cache.answer(cache.lookup(key), _answer_of(key))
                assert cached.body == {"key": key}
                seen |= {cached.state} - {"MISS"}
