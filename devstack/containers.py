"""Runs the engines as containers, where there is a Docker engine."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import docker
from docker.errors import APIError, DockerException, ImageNotFound, NotFound

from devstack.engines import ELASTICSEARCH_IMAGE, REDIS, REDIS_IMAGE, Engine
from devstack.instance import Instance, StartedEngine
from devstack.terminal import DevstackError, say


def docker_client() -> docker.DockerClient | None:
    """A client of this machine's Docker engine; None when none answers.

    An engine on another machine does not count: its ports are not on our 127.0.0.1.
    """
    try:
        client = docker.from_env(timeout=10)
        client.ping()
    except (DockerException, OSError):
        return None
    local = urlsplit(client.api.base_url).hostname in ("localhost", "127.0.0.1")
    return client if local else None


def _run_arguments(engine: Engine, instance: str) -> dict[str, Any]:
    """The arguments of `docker run`, without names and ports.

    Elasticsearch's image runs as its own user 1000:0 and needs that group; the image of Redis
    would start as root and drop privileges later.
    """
    if engine is REDIS:
        return {
            "image": REDIS_IMAGE,
            "user": "redis",
            "command": [
                "redis-server", "--save", "", "--maxmemory", "256mb",
                "--maxmemory-policy", "allkeys-lru",
                # Connections come from the bridge; the published port limits who can connect.
                "--protected-mode", "no",
            ],
            "mem_limit": "384m",
        }  # fmt: skip
    return {
        "image": ELASTICSEARCH_IMAGE,
        "environment": {
            "discovery.type": "single-node",
            "xpack.security.enabled": "false",
            "cluster.routing.allocation.disk.threshold_enabled": "false",
            "ES_JAVA_OPTS": "-Xms1g -Xmx1g",
        },
        "mem_limit": "2g",
        "volumes": {
            f"blogsearch-{instance}-elasticsearch": {
                "bind": "/usr/share/elasticsearch/data",
                "mode": "rw",
            }
        },
    }


@dataclass(frozen=True, slots=True)
class Containers:
    """Starts engines as containers that publish their port on this machine only."""

    instance: Instance
    environment: Mapping[str, str]
    client: docker.DockerClient | None = field(default_factory=docker_client)

    def start(self, engine: Engine, port: int, keep: bool) -> StartedEngine:
        """Start it, without waiting until it answers.

        Raises:
            DevstackError: the image cannot be downloaded, or Docker cannot start the container.
        """
        name = f"blogsearch-{self.instance.name}-{engine.name}"
        arguments = _run_arguments(engine, self.instance.name)
        log = self.instance.folder / f"{engine.name}.log"
        client = self._client()
        try:
            self._pull(client, arguments["image"])
            self._remove(client, name)
            say(f"starting {engine.title} on port {port} in the container {name}")
            container = client.containers.run(
                **arguments,
                detach=True,
                name=name,
                ports={f"{engine.default_port}/tcp": ("127.0.0.1", port)},
                labels={"blogsearch.devstack": self.instance.name},
            )
        except (DockerException, OSError) as error:
            raise DevstackError(
                f"Docker could not start {engine.title}: {error}. "
                "To run without Docker: export BLOGSEARCH_DEVSTACK_BACKEND=process"
            ) from None
        return StartedEngine("container", port, str(log), keep, container=container.id or name)

    def alive(self, state: StartedEngine) -> bool:
        """Whether the container runs. Also copies its output to the log file."""
        try:
            container = self._client().containers.get(state.container)
            Path(state.log).write_bytes(container.logs(tail=2000))
        except (DockerException, OSError):
            return False
        return bool(container.status == "running")

    def stop(self, state: StartedEngine) -> None:
        """Stop and remove the container; its data stays in a volume."""
        try:
            container = self._client().containers.get(state.container)
            container.stop(timeout=30)
            container.remove(force=True, v=True)
        except NotFound:
            return
        except (APIError, OSError) as error:
            raise DevstackError(f"Docker could not stop {state.container}: {error}") from None

    def _client(self) -> docker.DockerClient:
        if self.client is None:
            raise DevstackError("The Docker engine does not answer; start it again.")
        return self.client

    @staticmethod
    def _pull(client: docker.DockerClient, image: str) -> None:
        try:
            client.images.get(image)
        except ImageNotFound:
            say(f"downloading the image {image}, once …")
            client.images.pull(image)

    @staticmethod
    def _remove(client: docker.DockerClient, name: str) -> None:
        """Remove a stopped container of an earlier run, which still has the name."""
        try:
            client.containers.get(name).remove(force=True, v=True)
        except NotFound:
            return
