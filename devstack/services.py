"""The two services, Elasticsearch and Redis, and what is to be known about each."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from devstack import probe, versions
from devstack.errors import DevstackError, NotAnswering

Name = Literal["elasticsearch", "redis"]


@dataclass(frozen=True, slots=True)
class Service:
    """One of the two: its address, how to ask whether it answers, and how to judge its version."""

    name: Name
    title: str
    variable: str
    scheme: str
    path: str
    usual_port: int
    start_limit: float  # seconds
    ask: Callable[[str], str]
    wanted: str
    fits: Callable[[str], bool]

    @property
    def port_variable(self) -> str:
        """The environment variable that names another port for devstack to use."""
        return f"BLOGSEARCH_DEVSTACK_{self.name.upper()}_PORT"

    def url(self, port: int) -> str:
        """The address of a service that devstack started."""
        return f"{self.scheme}://127.0.0.1:{port}{self.path}"

    def port(self, environment: Mapping[str, str]) -> int:
        """The port to start it on. Raises DevstackError when the variable is no port."""
        value = environment.get(self.port_variable) or str(self.usual_port)
        if not re.fullmatch(r"[0-9]{1,5}", value) or not 0 < int(value) < 65536:
            raise DevstackError(f"{self.port_variable} is {value!r}; it must be a port, 1–65535.")
        return int(value)

    def who_has(self, port: int) -> DevstackError:
        """The error for a port that something else has, saying what answers there."""
        url = self.url(port)
        try:
            version = self.ask(url)
        except NotAnswering:
            found, way = f"what answers there is no {self.title}", ""
        else:
            found = f"{self.title} {version} answers there, and devstack did not start it"
            way = f"To use that one:  export {self.variable}={url}\n  "
        return DevstackError(
            f"Port {port}, for {self.title}, is taken: {found}.\n  {way}"
            f"To start one beside it:  export {self.port_variable}={port + 1}"
        )


def _fits_redis(version: str) -> bool:
    numbers = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
    return numbers >= versions.REDIS_MINIMUM


ELASTICSEARCH = Service(
    name="elasticsearch",
    title="Elasticsearch",
    variable="ELASTICSEARCH_URL",
    scheme="http",
    path="",
    usual_port=9200,
    start_limit=240,
    ask=probe.elasticsearch_version,
    wanted=versions.ELASTICSEARCH,
    fits=lambda version: version == versions.ELASTICSEARCH,
)

REDIS = Service(
    name="redis",
    title="Redis",
    variable="REDIS_URL",
    scheme="redis",
    path="/0",
    usual_port=6379,
    start_limit=30,
    ask=probe.redis_version,
    wanted=".".join(str(part) for part in versions.REDIS_MINIMUM) + " or later",
    fits=_fits_redis,
)

SERVICES = (ELASTICSEARCH, REDIS)
