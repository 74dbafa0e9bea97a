"""What devstack sends to a Docker engine, recorded by a stand-in: tests have no real one."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import docker
import pytest
from docker.errors import APIError, ImageNotFound, NotFound

from devstack.containers import Containers
from devstack.engines import ELASTICSEARCH, ELASTICSEARCH_IMAGE, REDIS, REDIS_IMAGE
from devstack.instance import Instance
from devstack.terminal import DevstackError


class Container:
    id = "0123456789abcdef"

    def __init__(self, notes: list[str]) -> None:
        self.status = "running"
        self._notes = notes

    def logs(self, tail: int) -> bytes:
        return b"the container's output"

    def stop(self, timeout: int) -> None:
        self._notes.append("stop")

    def remove(self, force: bool, v: bool) -> None:
        self._notes.append("remove with volumes" if v else "remove")
        self.status = "gone"


class Engine:
    """As much of docker.DockerClient as devstack uses."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.ran: dict[str, Any] = {}
        self.here: Container | None = None
        self.fault: Exception | None = None
        self.images = SimpleNamespace(get=self._image, pull=self._pull)
        self.containers = SimpleNamespace(get=self._container, run=self._run)

    def _image(self, name: str) -> None:
        raise ImageNotFound(name)

    def _pull(self, name: str) -> None:
        self.notes.append(f"pull {name}")

    def _container(self, name: str) -> Container:
        if self.here is None:
            raise NotFound(name)
        return self.here

    def _run(self, **arguments: Any) -> Container:
        if self.fault is not None:
            raise self.fault
        self.ran = arguments
        self.here = Container(self.notes)
        return self.here


@pytest.fixture
def engine() -> Engine:
    return Engine()


@pytest.fixture
def containers(engine: Engine, tmp_path: Path) -> Containers:
    instance = Instance(tmp_path, "default", None)
    instance.folder.mkdir(parents=True)
    return Containers(instance, {}, cast(docker.DockerClient, engine))


def test_elasticsearch_runs_in_the_supported_version(
    containers: Containers, engine: Engine
) -> None:
    state = containers.start(ELASTICSEARCH, 9205, keep=True)
    assert engine.notes == [f"pull {ELASTICSEARCH_IMAGE}"]
    assert engine.ran["image"] == ELASTICSEARCH_IMAGE
    assert engine.ran["environment"]["discovery.type"] == "single-node"
    assert engine.ran["ports"] == {"9200/tcp": ("127.0.0.1", 9205)}
    assert engine.ran["detach"] is True
    assert (state.backend, state.port, state.container) == ("container", 9205, Container.id)


def test_redis_does_not_start_as_root(containers: Containers, engine: Engine) -> None:
    containers.start(REDIS, 6379, keep=False)
    assert engine.ran["user"] == "redis"
    assert engine.ran["name"] == "blogsearch-default-redis"


def test_a_stopped_container_of_the_same_name_is_replaced(
    containers: Containers, engine: Engine
) -> None:
    engine.here = Container(engine.notes)
    containers.start(REDIS, 6379, keep=False)
    assert engine.notes == [f"pull {REDIS_IMAGE}", "remove with volumes"]


def test_a_running_container_is_alive_and_its_output_is_in_the_log(
    containers: Containers, engine: Engine
) -> None:
    state = containers.start(REDIS, 6379, keep=False)
    assert containers.alive(state)
    assert Path(state.log).read_text() == "the container's output"
    cast(Container, engine.here).status = "exited"
    assert not containers.alive(state)
    engine.here = None
    assert not containers.alive(state)


def test_stopping_removes_the_container(containers: Containers, engine: Engine) -> None:
    state = containers.start(REDIS, 6379, keep=False)
    containers.stop(state)
    assert engine.notes[-2:] == ["stop", "remove with volumes"]
    engine.here = None
    containers.stop(state)  # no error if it is gone already


def test_a_docker_error_names_the_alternative(containers: Containers, engine: Engine) -> None:
    engine.fault = APIError("port is already allocated")
    with pytest.raises(DevstackError, match="BLOGSEARCH_DEVSTACK_BACKEND=process"):
        containers.start(REDIS, 6379, keep=False)
