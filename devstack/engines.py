"""The two engines: their versions, default ports, URLs, and whether one answers."""

import re
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol
from urllib.parse import urlsplit

from elasticsearch import ApiError, Elasticsearch, TransportError
from redis import Redis
from redis.exceptions import RedisError

from devstack.terminal import DevstackError, NotAnswering, Ticker, raise_if_stopped, say, with_log

if TYPE_CHECKING:
    from devstack.instance import StartedEngine

ELASTICSEARCH_VERSION = "9.4.3"
"""docker-compose.yml has to repeat the versions and images; a test compares."""
ELASTICSEARCH_IMAGE = f"elasticsearch:{ELASTICSEARCH_VERSION}"

REDIS_MINIMUM = (6, 2)
REDIS_IMAGE = "redis:7.2.11-alpine"


class GetVersion(Protocol):
    """Connects to a URL and returns the engine's version; raises NotAnswering with the reason.

    `environment` may hold credentials. With `ready` the engine must be able to do its work, not
    only accept connections.
    """

    def __call__(self, url: str, environment: Mapping[str, str], *, ready: bool = False) -> str: ...


@dataclass(frozen=True, slots=True)
class Engine:
    """One of the two engines. `start_limit` is in seconds."""

    name: Literal["elasticsearch", "redis"]
    title: str
    variable: str
    scheme: str
    path: str
    default_port: int
    start_limit: float
    supported: str
    supports: Callable[[str], bool]
    get_version: GetVersion

    @property
    def port_variable(self) -> str:
        """The environment variable that sets the port devstack starts it on."""
        return f"BLOGSEARCH_DEVSTACK_{self.name.upper()}_PORT"

    def url(self, port: int) -> str:
        """The URL of an engine that devstack started."""
        return f"{self.scheme}://127.0.0.1:{port}{self.path}"

    def port(self, environment: Mapping[str, str]) -> int:
        """The port to start it on. Raises DevstackError for an invalid `port_variable`."""
        value = environment.get(self.port_variable) or str(self.default_port)
        if not re.fullmatch(r"[0-9]{1,5}", value) or not 0 < int(value) < 65536:
            raise DevstackError(f"{self.port_variable} is {value!r}; it must be a port, 1–65535.")
        return int(value)


def elasticsearch_version(url: str, environment: Mapping[str, str], *, ready: bool = False) -> str:
    """The version of the Elasticsearch at a URL, or at several separated by commas.

    With `ready` the cluster's health must be at least yellow.

    Raises:
        NotAnswering: with the reason.
    """
    key = environment.get("ELASTICSEARCH_API_KEY") or None
    try:
        with Elasticsearch(url.split(","), api_key=key, request_timeout=5, max_retries=0) as client:
            version = str(client.info()["version"]["number"])
            if ready:
                client.cluster.health(wait_for_status="yellow", timeout="2s")
            return version
    except (ApiError, TransportError, ValueError, KeyError) as error:
        raise NotAnswering(f"{type(error).__name__}: {error}") from None


def redis_version(url: str, environment: Mapping[str, str], *, ready: bool = False) -> str:
    """The version of the Redis at a URL; its credentials are part of the URL.

    Raises:
        NotAnswering: with the reason.
    """
    try:
        with Redis.from_url(url, socket_timeout=5, socket_connect_timeout=5) as client:
            return str(client.info("server")["redis_version"])
    except (RedisError, ValueError, KeyError, OSError) as error:
        raise NotAnswering(f"{type(error).__name__}: {error}") from None


def _supports_redis(version: str) -> bool:
    numbers = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
    return numbers >= REDIS_MINIMUM


ELASTICSEARCH = Engine(
    name="elasticsearch",
    title="Elasticsearch",
    variable="ELASTICSEARCH_URL",
    scheme="http",
    path="",
    default_port=9200,
    start_limit=240,
    supported=ELASTICSEARCH_VERSION,
    supports=lambda version: version == ELASTICSEARCH_VERSION,
    get_version=elasticsearch_version,
)

REDIS = Engine(
    name="redis",
    title="Redis",
    variable="REDIS_URL",
    scheme="redis",
    path="/0",
    default_port=6379,
    start_limit=30,
    supported=".".join(str(part) for part in REDIS_MINIMUM) + " or later",
    supports=_supports_redis,
    get_version=redis_version,
)

ENGINES = (ELASTICSEARCH, REDIS)


def port_is_taken(port: int) -> bool:
    """Whether something listens on a port of this machine."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As servers do: a connection that has just been closed does not block the port.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except PermissionError:
            return False  # a port under 1024: the engine itself will report it
        except OSError:
            return True
    return False


def port_taken_error(engine: Engine, port: int) -> DevstackError:
    """The error for a port in use, which says what answers there."""
    url = engine.url(port)
    try:
        version = engine.get_version(url, {})
    except NotAnswering:
        found, use_it = f"by something that is not {engine.title}", ""
    else:
        found = f"by {engine.title} {version}, which devstack did not start"
        use_it = f"To use that one:  export {engine.variable}={url}\n  "
    return DevstackError(
        f"Port {port}, for {engine.title}, is taken {found}.\n  {use_it}"
        f"To use another port:  export {engine.port_variable}={port + 1}"
    )


def without_password(url: str) -> str:
    """The URLs, separated by commas, with passwords masked."""
    shown = []
    for one in url.split(","):
        parts = urlsplit(one)
        if parts.password is not None:
            host = parts.netloc.rpartition("@")[2]
            parts = parts._replace(netloc=f"{parts.username or ''}:***@{host}")
        shown.append(parts.geturl())
    return ",".join(shown)


def check_given_url(engine: Engine, url: str, environment: Mapping[str, str]) -> None:
    """Check that the engine answers at a URL from the environment.

    An empty URL is not checked: the service is to run without the engine.

    Raises:
        DevstackError: nothing answers there.
    """
    if not url:
        return
    shown = without_password(url)
    try:
        version = engine.get_version(url, environment)
    except NotAnswering as error:
        raise DevstackError(
            f"{engine.variable} is set to {shown}, but no {engine.title} answers there:\n"
            f"    {error}\n  Start it, or unset {engine.variable} to have devstack start one."
        ) from None
    if not engine.supports(version):
        say(f"note: blogsearch is tested on {engine.title} {engine.supported}, this is {version}")
    say(f"using the {engine.title} {version} at {shown}, from {engine.variable}")


def wait_until_ready(
    engine: Engine, state: "StartedEngine", alive: Callable[["StartedEngine"], bool]
) -> str:
    """The URL of a started engine, as soon as it answers there.

    Raises:
        DevstackError: it ended, takes too long, or has an unsupported version.
    """
    url, log, ticker = engine.url(state.port), Path(state.log), Ticker()
    while True:
        raise_if_stopped()
        try:
            version = engine.get_version(url, {}, ready=True)
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
        if ticker.seconds > engine.start_limit:
            raise DevstackError(
                with_log(
                    f"{engine.title} does not answer at {url} after {ticker.seconds:.0f} s. "
                    "`make services-stop` ends it.",
                    log,
                )
            )
        ticker.tick(f"waiting for {engine.title} to answer")
        time.sleep(0.25)
