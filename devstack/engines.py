"""The two engines: their versions, default ports and URLs, and checks that they answer."""

import re
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from devstack.instance import StartedEngine
from devstack.terminal import DevstackError, NotAnswering, say, with_log

ELASTICSEARCH_VERSION = "9.4.3"
"""docker-compose.yml repeats the versions and images; a test compares them."""
ELASTICSEARCH_IMAGE = f"elasticsearch:{ELASTICSEARCH_VERSION}"

REDIS_MINIMUM = (6, 2)
REDIS_IMAGE = "redis:7.2.11-alpine"

_START_LIMIT_S = 240.0


@dataclass(frozen=True, slots=True)
class Engine:
    """One of the two engines.

    `version` connects to a URL, or to several separated by commas, and returns the version of the
    ready engine, or raises NotAnswering with the reason. The mapping may have credentials.
    """

    name: Literal["elasticsearch", "redis"]
    title: str
    variable: str
    address: str
    default_port: int
    supported: str
    supports: Callable[[str], bool]
    version: Callable[[str, Mapping[str, str]], str]

    @property
    def port_variable(self) -> str:
        """The environment variable of the port on which devstack starts the engine."""
        return f"BLOGSEARCH_DEVSTACK_{self.name.upper()}_PORT"

    def url(self, port: int) -> str:
        """Return the URL of an engine that devstack started on this port."""
        return self.address.format(port)


def elasticsearch_version(url: str, environment: Mapping[str, str]) -> str:
    """Return the version of Elasticsearch when its indices are available, or after 5 seconds.

    One damaged index, which may belong to somebody else, must not block the use of all others.
    """
    # Imported while Elasticsearch starts: it takes 0.2 s.
    from elasticsearch import ApiError, Elasticsearch, TransportError

    key = environment.get("ELASTICSEARCH_API_KEY") or None
    try:
        with Elasticsearch(
            url.split(","), api_key=key, request_timeout=20, max_retries=0
        ) as client:
            client.options(ignore_status=408).cluster.health(wait_for_status="yellow", timeout="5s")
            return str(client.info()["version"]["number"])
    except (ApiError, TransportError, ValueError, KeyError) as error:
        raise NotAnswering(f"{type(error).__name__}: {error}") from None


def redis_version(url: str, environment: Mapping[str, str]) -> str:
    """Return the version of Redis; its credentials are part of the URL."""
    from redis import Redis
    from redis.exceptions import RedisError

    try:
        with Redis.from_url(url, socket_timeout=5, socket_connect_timeout=5) as client:
            return str(client.info("server")["redis_version"])
    except (RedisError, ValueError, KeyError, OSError) as error:
        raise NotAnswering(f"{type(error).__name__}: {error}") from None


def _supports_redis(version: str) -> bool:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2]) >= REDIS_MINIMUM


ELASTICSEARCH = Engine(
    name="elasticsearch",
    title="Elasticsearch",
    variable="ELASTICSEARCH_URL",
    address="http://127.0.0.1:{}",
    default_port=9200,
    supported=ELASTICSEARCH_VERSION,
    supports=lambda version: version == ELASTICSEARCH_VERSION,
    version=elasticsearch_version,
)

REDIS = Engine(
    name="redis",
    title="Redis",
    variable="REDIS_URL",
    address="redis://127.0.0.1:{}/0",
    default_port=6379,
    supported=".".join(str(part) for part in REDIS_MINIMUM) + " or later",
    supports=_supports_redis,
    version=redis_version,
)

ENGINES = (ELASTICSEARCH, REDIS)


def free_port_of(environment: Mapping[str, str], variable: str, default: int) -> int:
    """Return the port in a variable, after checking that nothing listens on it.

    Raises:
        DevstackError: it is no port, or another program listens on it.
    """
    value = environment.get(variable) or str(default)
    if not value.isdecimal() or not 0 < int(value) < 65536:
        raise DevstackError(f"{variable} is {value!r}; it must be a port, 1–65535.")
    with socket.socket() as probe:
        # As servers do, so that a connection that was just closed does not block the port.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", int(value)))
        except PermissionError:
            pass  # a port under 1024: the server itself will report it
        except OSError:
            raise DevstackError(
                f"Port {value} is taken by another program. "
                f"Use another port:  export {variable}={int(value) + 1}"
            ) from None
    return int(value)


def without_password(urls: str) -> str:
    """Remove user names and passwords from URLs, which are separated by commas."""
    return re.sub(r"//[^/,]*@", "//", urls)


def check_given_url(engine: Engine, url: str, environment: Mapping[str, str]) -> None:
    """Check that the engine answers at a URL from the environment.

    An empty URL is not checked, as the service is to run without the engine.

    Raises:
        DevstackError: nothing answers there.
    """
    if not url:
        return
    shown = without_password(url)
    try:
        version = engine.version(url, environment)
    except NotAnswering as error:
        raise DevstackError(
            f"{engine.variable} is set to {shown}, but no {engine.title} answers there:\n"
            f"    {error}\n  Start it, or unset {engine.variable} to have devstack start one."
        ) from None
    if not engine.supports(version):
        say(f"note: blogsearch is tested on {engine.title} {engine.supported}, this is {version}")
    say(f"using the {engine.title} {version} at {shown}, from {engine.variable}")


def wait_until_ready(
    engine: Engine, state: StartedEngine, alive: Callable[[StartedEngine], bool]
) -> str:
    """Wait until a started engine answers, and return its URL.

    Raises:
        DevstackError: it ended, takes too long, or has an unsupported version.
    """
    url, log = engine.url(state.port), Path(state.log)
    usual = ", usually 6 to 25 s" if engine is ELASTICSEARCH else ""
    say(f"waiting for {engine.title} to answer at {url}{usual} …")
    deadline = time.monotonic() + _START_LIMIT_S
    while True:
        try:
            version = engine.version(url, {})
        except NotAnswering:
            version = None
        # Checked after the answer: if it ended, something else may answer on its port.
        if not alive(state):
            raise DevstackError(with_log(f"{engine.title} ended unexpectedly.", log))
        if version is not None:
            if engine.supports(version):
                return url
            raise DevstackError(
                f"The {engine.title} at {url} has version {version}; {engine.supported} is "
                "required. Run `make services-stop`, then try again."
            )
        if time.monotonic() > deadline:
            raise DevstackError(
                with_log(f"{engine.title} does not answer after {_START_LIMIT_S:.0f} s.", log)
            )
        time.sleep(0.1)
