"""devstack's containers on a real Docker engine: `make test-docker`."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from devstack.containers import Containers, docker_client
from devstack.engines import REDIS
from devstack.instance import Instance
from devstack.servers import free_port
from devstack.terminal import DevstackError


@pytest.fixture
def containers(tmp_path: Path) -> Iterator[Containers]:
    client = docker_client()
    assert client is not None
    instance = Instance(tmp_path, f"test-{tmp_path.name}", None)
    instance.folder.mkdir(parents=True)
    yield Containers(instance, client)
    client.close()


def test_a_container_answers_until_it_is_stopped(containers: Containers) -> None:
    port = free_port()
    state = containers.start(REDIS, port)
    try:
        retry = redis.retry.Retry(redis.backoff.ConstantBackoff(0.2), 50)
        with redis.Redis(port=port, retry=retry) as client:
            assert client.ping()
            assert client.config_get("maxmemory-policy") == {"maxmemory-policy": "allkeys-lru"}
        assert containers.alive(state)
        assert "Ready to accept connections" in Path(state.log).read_text()
    finally:
        containers.stop(state)
    assert not containers.alive(state)
    containers.stop(state)  # no error if it is gone already


def test_a_failed_start_names_the_alternative_and_leaves_nothing(containers: Containers) -> None:
    port = free_port()
    state = containers.start(REDIS, port)
    other = Containers(Instance(containers.instance.folder, "other", None), containers.client)
    try:
        with pytest.raises(DevstackError, match="BLOGSEARCH_DEVSTACK_BACKEND=process"):
            other.start(REDIS, port)
        names = [container.name for container in containers.client.containers.list(all=True)]
        assert "blogsearch-other-redis" not in names
    finally:
        containers.stop(state)
