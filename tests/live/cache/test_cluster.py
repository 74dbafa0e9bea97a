"""A Redis Cluster: the master that has the keys of the index is found, and the next one."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pytest
import redis
from redis.crc import key_slot
from redis.exceptions import MovedError

from app import create_app
from app.cache import AnswerCache, Computed, open_cache
from app.cache.redis_client import RedisUnavailable, TimeLimit
from app.errors import BadSettings
from app.settings import Settings
from bench.servers import RedisServer, free_port, redis_server

SLOT = key_slot(b"{posts}")


class Cluster:
    """Two masters, and a replica of the one that has the slot of the index `posts`."""

    def __init__(self, owner: RedisServer, other: RedisServer, replica: RedisServer) -> None:
        self.owner, self.other, self.replica = owner, other, replica

    def fail_over(self) -> None:
        """Make the replica the master, and the master, if it runs, its replica."""
        with redis.Redis(port=self.replica.port) as client:
            # Two masters are too few to elect one.
            client.execute_command("CLUSTER FAILOVER TAKEOVER")
        self.owner, self.replica = self.replica, self.owner


def _wait(condition: Any, seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _ready(client: "redis.Redis") -> bool:
    return client.execute_command("CLUSTER INFO")["cluster_state"] == "ok"


@pytest.fixture(scope="module")
def running() -> Iterator[Cluster]:
    with ExitStack() as stack:
        # The nodes talk to each other on other ports, which are 10,000 higher.
        servers = [
            stack.enter_context(
                redis_server("--cluster-enabled", "yes", port=free_port(most=55_000))
            )
            for _ in range(3)
        ]
        owner, other, replica = (
            stack.enter_context(redis.Redis(port=server.port)) for server in servers
        )
        owner.execute_command("CLUSTER ADDSLOTS", SLOT)
        other.execute_command("CLUSTER ADDSLOTS", *(set(range(16384)) - {SLOT}))
        for server in servers[1:]:
            owner.execute_command("CLUSTER MEET", "127.0.0.1", server.port)
        _wait(lambda: all(map(_ready, (owner, other, replica))))
        replica.execute_command("CLUSTER REPLICATE", owner.execute_command("CLUSTER MYID"))
        _wait(lambda: replica.info("replication").get("master_link_status") == "up")
        yield Cluster(*servers)


def opened(*servers: RedisServer, **changed: Any) -> AnswerCache:
    hosts = ",".join(f"127.0.0.1:{server.port}" for server in servers)
    url = f"redis+cluster://{hosts}"
    return open_cache(Settings(redis_url=url, index="posts", cache_timeout=2.0, **changed))


def asked(cache: AnswerCache) -> str:
    return cache.get_or_compute("q", lambda: Computed({"a": 1}, "posts-000001", True)).state


def test_any_node_leads_to_the_keys(running: Cluster) -> None:
    for node in (running.owner, running.other, running.replica):
        cache = opened(node)
        cache.clear()
        assert [asked(cache), asked(cache)] == ["MISS", "HIT"]
        assert cache.accepts_writes()
        assert cache.stats().sizes
    with redis.Redis(port=running.owner.port) as client:
        assert client.dbsize()
    with redis.Redis(port=running.other.port) as client:
        assert not client.dbsize()


def test_nodes_that_do_not_answer_are_skipped(running: Cluster) -> None:
    url = f"redis+cluster://127.0.0.1:{free_port()},127.0.0.1:{running.other.port}"
    cache = open_cache(Settings(redis_url=url, index="posts", cache_timeout=2.0))
    assert asked(cache) in {"MISS", "HIT"}


def test_a_rate_limit_is_counted_in_the_cluster(running: Cluster, settings: Settings) -> None:
    url = f"redis+cluster://127.0.0.1:{running.other.port}"
    limited = replace(settings, redis_url=url, rate_limit="3/minute", cache_timeout=2.0)
    # Each application has connections of its own, as each process has.
    statuses = [
        create_app(limited).test_client().get("/suggest?q=pyth").status_code for _ in range(4)
    ]
    assert [status == 429 for status in statuses] == [False, False, False, True]


def test_the_cache_follows_the_master(running: Cluster) -> None:
    cache = opened(running.other)
    asked(cache)
    running.fail_over()
    with redis.Redis(port=running.replica.port) as client:
        _wait(lambda: client.info("replication").get("master_link_status") == "up")
        with pytest.raises(MovedError):
            client.get("{posts}")
    _wait(lambda: asked(cache) == "HIT")  # by the master that the kept connection does not lead to
    running.owner.process.kill()
    running.owner.process.wait(10)
    running.fail_over()
    _wait(lambda: asked(cache) == "HIT")


def test_a_redis_that_is_no_cluster() -> None:
    with redis_server() as server:
        cache = opened(server)
        assert asked(cache) == "OFF"
        with pytest.raises((redis.ResponseError, RedisUnavailable), match="cluster"):
            cache.client.call(TimeLimit(1.0, insist=True), lambda client: client.get("{posts}"))


@pytest.mark.parametrize(
    "path", ["redis+cluster://", "redis+cluster://h:1/2", "redis+cluster://h:x"]
)
def test_an_invalid_address_does_not_start(path: str) -> None:
    with pytest.raises(BadSettings, match="redis\\+cluster://host:port,host:port"):
        open_cache(Settings(redis_url=path))
