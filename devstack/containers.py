"""Run the engines as containers, if there is a Docker engine."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import docker
from docker.errors import DockerException, ImageNotFound, NotFound

from devstack.engines import ELASTICSEARCH_IMAGE, REDIS_IMAGE, Engine
from devstack.instance import Instance, StartedEngine
from devstack.terminal import DevstackError, say

# Elasticsearch's image runs as its own user and needs its group; Redis' image would start as root.
# Connections to Redis come from the bridge; only this machine can connect to the published port.
_ARGUMENTS: dict[str, dict[str, Any]] = {
    "elasticsearch": {
        "image": ELASTICSEARCH_IMAGE,
        "environment": {
            "discovery.type": "single-node",
            "xpack.security.enabled": "false",
            "cluster.routing.allocation.disk.threshold_enabled": "false",
            "ES_JAVA_OPTS": "-Xms1g -Xmx1g",
        },
        "mem_limit": "2g",
    },
    "redis": {
        "image": REDIS_IMAGE,
        "user": "redis",
        "command": (
            "redis-server --save '' --maxmemory 256mb --maxmemory-policy allkeys-lru "
            "--protected-mode no"
        ),
        "mem_limit": "384m",
    },
}
_DATA = {"elasticsearch": "/usr/share/elasticsearch/data"}


def docker_client() -> docker.DockerClient | None:
    """Return a client of this machine's Docker engine, or None if none answers.

    An engine on another machine does not count: its ports are not on our 127.0.0.1.
    """
    try:
        client = docker.from_env(timeout=10)  # it asks for the engine's version
    except (DockerException, OSError):
        return None
    if urlsplit(client.api.base_url).hostname in ("localhost", "127.0.0.1"):
        return client
    client.close()
    return None


@dataclass(frozen=True, slots=True)
class Containers:
    """A backend that starts engines as containers; they publish their port on this machine only."""

    instance: Instance
    client: docker.DockerClient

    def start(self, engine: Engine, port: int) -> StartedEngine:
        """Start an engine without waiting until it answers; download its image if it is missing.

        Raises:
            DevstackError: the image cannot be downloaded, or Docker cannot start the container.
        """
        name = f"blogsearch-{self.instance.name}-{engine.name}"
        arguments = _ARGUMENTS[engine.name]
        volumes = [f"{name}:{_DATA[engine.name]}"] if engine.name in _DATA else []
        try:
            self._download(arguments["image"])
            with suppress(NotFound):  # of an earlier run
                self.client.containers.get(name).remove(force=True, v=True)
            say(f"starting {engine.title} on port {port} in the container {name}")
            ports = {f"{engine.default_port}/tcp": ("127.0.0.1", port)}
            container = self.client.containers.create(
                **arguments, name=name, ports=ports, volumes=volumes
            )
            try:
                container.start()
            except DockerException:  # such as a port in use; do not leave container and volume
                container.remove(force=True, v=True)
                raise
        except (DockerException, OSError) as error:
            raise DevstackError(
                f"Docker could not start {engine.title}: {error}. "
                "To run without Docker: export BLOGSEARCH_DEVSTACK_BACKEND=process"
            ) from None
        log = self.instance.folder / f"{engine.name}.log"
        return StartedEngine(port, str(log), container=container.id or name)

    def alive(self, state: StartedEngine) -> bool:
        """Return whether the container runs; copy its output to the log file."""
        try:
            container = self.client.containers.get(state.container)
            Path(state.log).write_bytes(container.logs(tail=2000))
        except (DockerException, OSError):
            return False
        return bool(container.status == "running")

    def stop(self, state: StartedEngine) -> None:
        """Stop and remove the container; its data stays in a volume."""
        try:
            container = self.client.containers.get(state.container)
            container.stop(timeout=30)
            container.remove(force=True, v=True)
        except NotFound:
            return
        except (DockerException, OSError) as error:
            raise DevstackError(f"Docker could not stop {state.container}: {error}") from None

    def _download(self, image: str) -> None:
        try:
            self.client.images.get(image)
        except ImageNotFound:
            say(f"downloading the image {image}, once …")
            self.client.images.pull(image)
