"""Redis behind Sentinel: the master is found, and after a failover the next one."""

import contextlib
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from app.cache import AnswerCache, Computed, open_cache
from app.errors import BadSettings
from app.settings import Settings
from devstack.processes import redis_binary
from devstack.servers import free_port, redis_server
from tests.waiting import wait_until

SERVICE = "answers"


@contextlib.contextmanager
def sentinel(folder: Path, master_port: int) -> Iterator[int]:
    port = free_port()
    config = folder / "sentinel.conf"  # which it rewrites
    config.write_text(
        f"port {port}\nbind 127.0.0.1\ndir {folder}\n"
        f"sentinel monitor {SERVICE} 127.0.0.1 {master_port} 1\n"
        f"sentinel down-after-milliseconds {SERVICE} 300\n"
        f"sentinel failover-timeout {SERVICE} 3000\n"
    )
    command = [redis_binary(), str(config), "--sentinel"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        yield port
    finally:
        process.kill()
        process.wait(10)


def asked(cache: AnswerCache) -> str:
    return cache.get_or_compute("q", lambda: Computed({"a": 1}, "posts-000001", True)).state


def replicates(port: int) -> bool:
    with redis.Redis(port=port) as client:
        return client.info("replication").get("master_link_status") == "up"


def knows_a_replica(sentinel_port: int) -> bool:
    """The sentinel learns of it from the master's INFO."""
    with redis.Redis(port=sentinel_port) as client:
        return len(client.sentinel_slaves(SERVICE)) == 1


def test_the_cache_follows_the_master(tmp_path: Path) -> None:
    assert shutil.which(redis_binary())
    with redis_server() as master, redis_server() as replica:
        with redis.Redis(port=replica.port) as client:
            client.replicaof("127.0.0.1", master.port)
        wait_until(lambda: replicates(replica.port))
        with sentinel(tmp_path, master.port) as port:
            url = f"redis+sentinel://127.0.0.1:{free_port()},127.0.0.1:{port}/{SERVICE}/0"
            cache = open_cache(Settings(redis_url=url, index="posts", cache_timeout=5))
            wait_until(lambda: asked(cache) == "HIT")
            wait_until(lambda: knows_a_replica(port))
            master.process.kill()
            master.process.wait(10)
            wait_until(lambda: asked(cache) == "HIT", 120)
            with redis.Redis(port=replica.port) as client:
                assert client.info("replication")["role"] == "master"


def test_nobody_names_a_master() -> None:
    url = f"redis+sentinel://user:pass@127.0.0.1:{free_port()}/{SERVICE}"
    cache = open_cache(Settings(redis_url=url, index="posts"))
    assert [asked(cache) for _ in range(3)] == ["OFF"] * 3


@pytest.mark.parametrize("url", ["redis+sentinel://h:26379", "redis+sentinel:///answers"])
def test_an_address_without_service_or_host_does_not_start(url: str) -> None:
    with pytest.raises(BadSettings, match="redis\\+sentinel://host:port,host:port/service"):
        open_cache(Settings(redis_url=url))
