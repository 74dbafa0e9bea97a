"""A Redis Cluster: the master that has the keys of the index is found, and the next one."""

import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import pytest
import redis
from redis.crc import key_slot
from redis.exceptions import MovedError

from app import create_app
from app.cache import AnswerCache, Computed, open_cache
from app.cache.redis_client import TimeLimit
from app.errors import BadSettings
from app.settings import Settings
from devstack.servers import RedisServer, free_port, redis_server
from tests.tcp import forward, listening

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


@contextmanager
def cluster() -> Iterator[Cluster]:
    with ExitStack() as stack:
        # The nodes talk to each other on ports that are 10,000 higher.
        servers = [
            stack.enter_context(
                redis_server("--cluster-enabled", "yes", port=free_port(and_plus=10_000))
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


@pytest.fixture(scope="module")
def running() -> Iterator[Cluster]:
    with cluster() as found:
        yield found


def opened(*ports: int, account: str = "", timeout: float = 2.0) -> AnswerCache:
    url = f"redis+cluster://{account}" + ",".join(f"127.0.0.1:{port}" for port in ports)
    return open_cache(Settings(redis_url=url, index="posts", cache_timeout=timeout))


def asked(cache: AnswerCache) -> str:
    return cache.get_or_compute("q", lambda: Computed({"a": 1}, "posts-000001", True)).state


def test_any_node_leads_to_the_keys(running: Cluster) -> None:
    for node in (running.owner, running.other, running.replica):
        cache = opened(node.port)
        cache.clear()
        assert [asked(cache), asked(cache)] == ["MISS", "HIT"]
        assert cache.accepts_writes()
        assert cache.stats().sizes
    with redis.Redis(port=running.owner.port) as client:
        assert client.dbsize()


def test_nodes_that_refuse_connections_are_skipped(running: Cluster) -> None:
    for _ in range(10):
        cache = opened(free_port(), running.other.port)

        def look_up(_: int, cache: AnswerCache = cache) -> bool:
            return cache.lookup("q").reached

        with ThreadPoolExecutor(16) as pool:
            assert all(pool.map(look_up, range(16)))


def test_a_node_that_hangs_is_not_asked_first_again(running: Cluster) -> None:
    def slowly(connection: socket.socket) -> None:
        def wait() -> bool:
            time.sleep(0.005)  # as in a network; a node that is asked too late has to fail
            return True

        forward(connection, ("127.0.0.1", running.other.port), wait)

    with (
        listening(lambda _: time.sleep(60)) as silent,
        listening(slowly) as one,
        listening(slowly) as other,
    ):
        cache = opened(silent, one, other, timeout=0.3)
        assert asked(cache) == "OFF"
        _wait(lambda: asked(cache) == "HIT")


def test_a_node_without_slots_is_skipped(running: Cluster) -> None:
    with redis_server("--cluster-enabled", "yes", port=free_port(and_plus=10_000)) as empty:
        assert asked(opened(empty.port, running.other.port)) in {"MISS", "HIT"}


@pytest.mark.parametrize("fault", ["its master is not reachable", "it has lost the others"])
def test_a_node_that_names_a_useless_master_is_not_asked_first_again(
    running: Cluster, fault: str
) -> None:
    options, slots = ["--cluster-enabled", "yes"], [SLOT]  # with other slots missing: CLUSTERDOWN
    if fault == "its master is not reachable":
        options += ["--cluster-announce-port", str(free_port())]
        slots = list(range(16384))
    with (
        redis_server(*options, port=free_port(and_plus=10_000)) as useless,
        redis.Redis(port=useless.port) as client,
    ):
        client.execute_command("CLUSTER ADDSLOTS", *slots)
        cache = opened(useless.port, running.other.port)
        assert asked(cache) == "OFF"
        _wait(lambda: asked(cache) == "HIT")


def test_parameters_of_the_pool_count() -> None:
    url = "redis+cluster://h:1,h:2?max_connections=7"
    found = open_cache(Settings(redis_url=url)).client.redis
    assert found
    assert found.connection_pool.max_connections == 7


def test_the_log_has_the_reason(running: Cluster, caplog: pytest.LogCaptureFixture) -> None:
    asked(opened(running.owner.port, running.other.port, account="user:secret@"))
    assert "no node of the cluster names a master: invalid username-password pair" in caplog.text
    assert "secret" not in caplog.text


def test_a_rate_limit_is_counted_in_the_cluster(running: Cluster, settings: Settings) -> None:
    url = f"redis+cluster://127.0.0.1:{running.other.port}"
    limited = replace(settings, redis_url=url, rate_limit="3/minute", cache_timeout=2.0)
    # Each application has connections of its own, as each process has.
    statuses = [
        create_app(limited).test_client().get("/suggest?q=pyth").status_code for _ in range(4)
    ]
    assert [status == 429 for status in statuses] == [False, False, False, True]


def test_the_cache_follows_the_master() -> None:
    with cluster() as own:
        cache = opened(own.other.port)
        asked(cache)
        own.fail_over()
        with redis.Redis(port=own.replica.port) as client:
            _wait(lambda: client.info("replication").get("master_link_status") == "up")
            with pytest.raises(MovedError):
                client.get("{posts}")
        # By the master that the kept connection does not lead to.
        _wait(lambda: asked(cache) == "HIT")
        own.owner.process.kill()
        own.owner.process.wait(10)
        own.fail_over()
        _wait(lambda: asked(cache) == "HIT")


def test_a_redis_that_is_no_cluster() -> None:
    with redis_server() as server:
        cache = opened(server.port)
        assert asked(cache) == "OFF"
        with pytest.raises(redis.ResponseError, match="cluster support disabled"):
            cache.client.call(TimeLimit(1.0, insist=True), lambda client: client.get("{posts}"))


@pytest.mark.parametrize(
    "rest",
    ["", ":7000", "h:1,", "h:x", "h:1/2", "h:1?db=2", "user:password@h:1,user:password@h:2"],
)
def test_an_invalid_address_does_not_start(rest: str) -> None:
    with pytest.raises(BadSettings, match="redis\\+cluster://host:port,host:port"):
        open_cache(Settings(redis_url=f"redis+cluster://{rest}"))
