"""Asks an address whether the engine answers there, and which version it is."""

import socket
from collections.abc import Mapping
from urllib.parse import urlsplit

from elasticsearch import ApiError, Elasticsearch, TransportError
from redis import Redis
from redis.exceptions import RedisError

from devstack.errors import NotAnswering


def elasticsearch_version(
    url: str, environment: Mapping[str, str] | None = None, *, ready: bool = False
) -> str:
    """The version of the Elasticsearch at one or several addresses (separated by commas).

    With `ready` it must be able to index too, not only to say hello.

    Raises:
        NotAnswering: with the reason.
    """
    key = (environment or {}).get("ELASTICSEARCH_API_KEY") or None
    try:
        with Elasticsearch(url.split(","), api_key=key, request_timeout=5, max_retries=0) as client:
            version = str(client.info()["version"]["number"])
            if ready:
                client.cluster.health(wait_for_status="yellow", timeout="2s")
            return version
    except (ApiError, TransportError, ValueError, KeyError) as error:
        raise NotAnswering(f"{type(error).__name__}: {error}") from None


def redis_version(url: str) -> str:
    """The version of the Redis at an address.

    Raises:
        NotAnswering: with the reason.
    """
    try:
        with Redis.from_url(url, socket_timeout=5, socket_connect_timeout=5) as client:
            return str(client.info("server")["redis_version"])
    except (RedisError, ValueError, KeyError, OSError) as error:
        raise NotAnswering(f"{type(error).__name__}: {error}") from None


def port_is_taken(port: int) -> bool:
    """Whether something listens on a port of this machine."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As servers do: a connection that has just been closed does not keep the port.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except PermissionError:
            return False  # a port under 1024: the engine will say so itself
        except OSError:
            return True
    return False


def without_password(url: str) -> str:
    """Addresses as they may be shown."""
    shown = []
    for one in url.split(","):
        parts = urlsplit(one)
        if parts.password is not None:
            host = parts.netloc.rpartition("@")[2]
            parts = parts._replace(netloc=f"{parts.username or ''}:***@{host}")
        shown.append(parts.geturl())
    return ",".join(shown)
