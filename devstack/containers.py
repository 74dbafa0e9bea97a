"""The engines as containers, where a Docker engine answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import docker
from docker.errors import APIError, DockerException, ImageNotFound, NotFound

from devstack import versions
from devstack.errors import DevstackError
from devstack.places import Places
from devstack.services import REDIS, Service
from devstack.state import State
from devstack.talk import say


def docker_client() -> docker.DockerClient | None:
    """A client of the Docker engine of this machine; None where none answers.

    An engine on another machine is none: what it publishes is not on our 127.0.0.1.
    """
    try:
        client = docker.from_env(timeout=10)
        client.ping()
    except (DockerException, OSError):
        return None
    local = urlsplit(client.api.base_url).hostname in ("localhost", "127.0.0.1")
    return client if local else None


def _arguments(service: Service, instance: str) -> dict[str, Any]:
    """What `docker run` gets, but for names and ports.

    Elasticsearch's image runs as its user 1000:0 by itself, and needs that group; that of Redis
    would start as root and step down.
    """
    if service is REDIS:
        return {
            "image": versions.REDIS_IMAGE,
            "user": "redis",
            "command": [
                "redis-server", "--save", "", "--maxmemory", "256mb",
                "--maxmemory-policy", "allkeys-lru",
                # Connections come from the bridge; who may connect is decided by what is published.
                "--protected-mode", "no",
            ],
            "mem_limit": "384m",
        }  # fmt: skip
    return {
        "image": versions.ELASTICSEARCH_IMAGE,
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

    places: Places
    environment: Mapping[str, str]
    client: docker.DockerClient | None = field(default_factory=docker_client)

    def start(self, service: Service, port: int, keep: bool) -> State:
        """Start it; whether it answers is for the caller to see.

        Raises:
            DevstackError: the image cannot be had, or the engine refuses.
        """
        name = f"blogsearch-{self.places.instance}-{service.name}"
        arguments = _arguments(service, self.places.instance)
        log = self.places.folder / f"{service.name}.log"
        client = self._client()
        try:
            self._pull(client, arguments["image"])
            self._remove(client, name)
            say(f"starting {service.title} on port {port} in the container {name}")
            container = client.containers.run(
                **arguments,
                detach=True,
                name=name,
                ports={f"{service.usual_port}/tcp": ("127.0.0.1", port)},
                labels={"blogsearch.devstack": self.places.instance},
            )
        except (DockerException, OSError) as error:
            raise DevstackError(
                f"Docker could not start {service.title}: {error}. "
                "To do without Docker: export BLOGSEARCH_DEVSTACK_BACKEND=process"
            ) from None
        return State("container", port, str(log), keep, container=container.id or name)

    def alive(self, state: State) -> bool:
        """Whether the container runs; its output is put into the log on the way."""
        try:
            container = self._client().containers.get(state.container)
            Path(state.log).write_bytes(container.logs(tail=2000))
        except (DockerException, OSError):
            return False
        return bool(container.status == "running")

    def stop(self, state: State) -> None:
        """Stop and remove the container; the data stays in its volume."""
        try:
            container = self._client().containers.get(state.container)
            container.stop(timeout=30)
            container.remove(force=True)
        except NotFound:
            return
        except (APIError, OSError) as error:
            raise DevstackError(f"Docker could not stop {state.container}: {error}") from None

    def _client(self) -> docker.DockerClient:
        if self.client is None:
            raise DevstackError("The Docker engine does not answer any more; start it again.")
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
        """A container of an earlier run that has died still has the name."""
        try:
            client.containers.get(name).remove(force=True)
        except NotFound:
            return
