"""Connections to a Redis Cluster: to the master that has the keys of an alias.

All keys of an alias have the same hash tag (`app.cache.store.Keys`), so they are in one slot, and
commands of several keys work as on a single Redis. The other masters are not used.
"""

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import SplitResult

import redis
from redis.cluster import parse_cluster_slots
from redis.connection import Connection, SSLConnection
from redis.crc import key_slot
from redis.exceptions import AskError, ClusterDownError, TryAgainError

SCHEMES = {"redis+cluster": "redis", "rediss+cluster": "rediss"}
"""The schemes of a URL of a cluster, and those of its nodes."""


class Nodes:
    """The nodes that the URL names, and the slot whose master is wanted. Threads may share it."""

    def __init__(self, nodes: Iterable["redis.Redis"], slot: int) -> None:
        self._nodes = tuple(nodes)
        self._slot = slot
        self._first = 0  # the node that is asked first

    def master(self) -> tuple[str, int, int]:
        """Host and port of the master, and the number of the node that named it.

        Raises:
            redis.ConnectionError: no node names a master.
            redis.TimeoutError: a node did not answer in time; another one is asked the next time.
            redis.ResponseError: a node is not a part of a cluster, or refuses the question.
        """
        first, reason = self._first, None
        for offset in range(len(self._nodes)):
            number = (first + offset) % len(self._nodes)
            try:
                return (*self._named_by(self._nodes[number]), number)
            except (redis.TimeoutError, TimeoutError):  # no time is left for another node
                self.distrust(number)
                raise
            except redis.ConnectionError as error:
                self.distrust(number)
                reason = error
        raise redis.ConnectionError(f"no node of the cluster names a master: {reason}") from reason

    def distrust(self, number: int) -> None:
        """Ask the next node first, if it is this one that would be."""
        if self._first == number:
            self._first = (number + 1) % len(self._nodes)

    def _named_by(self, node: "redis.Redis") -> tuple[str, int]:
        asked = node.connection_pool.connection_kwargs["host"]
        slots = node.execute_command("CLUSTER SLOTS")  # type: ignore[no-untyped-call]
        # Without a host it is the one that was asked.
        for (first, last), servers in parse_cluster_slots(slots, current_host=asked).items():
            if first <= self._slot <= last:
                host, port = servers["primary"]
                return host, port
        raise redis.ConnectionError(f"it knows no master for the slot {self._slot}")


class SlotConnection(Connection):
    """Connects to the master of a slot, and to the next one after a failover."""

    def __init__(self, *, nodes: Nodes, **options: Any) -> None:
        super().__init__(**options)  # type: ignore[no-untyped-call]
        self._nodes = nodes
        self._named_by = 0

    def _connect(self) -> Any:
        self.host, self.port, self._named_by = self._nodes.master()
        try:
            return super()._connect()  # type: ignore[no-untyped-call]
        except (OSError, redis.RedisError):
            self._nodes.distrust(self._named_by)  # it may not know of a failover
            raise

    def read_response(self, *args: Any, **options: Any) -> Any:
        try:
            return super().read_response(*args, **options)
        except (AskError, ClusterDownError, TryAgainError) as error:
            # The slot is on another node (AskError includes MovedError), moves there now, or the
            # master has lost the others.
            self._nodes.distrust(self._named_by)
            self.disconnect()  # type: ignore[no-untyped-call]
            raise redis.ConnectionError(f"the cluster is changing: {error}") from error


class SlotTlsConnection(SlotConnection, SSLConnection):
    """The same over TLS."""


def cluster_pool(
    parts: SplitResult, key: str, classes: Mapping[type, type], options: Mapping[str, Any]
) -> "redis.ConnectionPool":
    """A pool of connections to the master that has a key.

    Args:
        parts: of `redis+cluster://[user:password@]host:port,host:port`, or `rediss+cluster://`,
            with the parameters of redis-py for a single Redis.
        classes: what to use in place of Connection and SSLConnection for the nodes that are asked
            for the master, and of SlotConnection and SlotTlsConnection for the master.
        options: for both, besides those of the URL.

    Raises:
        ValueError: the URL is invalid.
    """
    account, at, hosts = parts.netloc.rpartition("@")
    if "@" in account:
        raise ValueError("the password is not percent-encoded, or every host has one")
    if parts.path.strip("/") not in {"", "0"}:
        raise ValueError("a cluster has no numbered databases")
    pools = [
        redis.ConnectionPool.from_url(
            f"{SCHEMES[parts.scheme]}://{account}{at}{host.strip()}?{parts.query}",
            **options,
        )
        for host in hosts.split(",")
    ]
    for pool in pools:
        pool.connection_class = classes[pool.connection_class]
        if "host" not in pool.connection_kwargs:
            raise ValueError("a host is missing; a cluster is redis+cluster://host:port,host:port")
        if pool.connection_kwargs.get("db"):
            raise ValueError("a cluster has no numbered databases")
    nodes = Nodes((redis.Redis(connection_pool=pool) for pool in pools), key_slot(key.encode()))
    over_tls = SCHEMES[parts.scheme] == "rediss"
    return redis.ConnectionPool(
        connection_class=classes[SlotTlsConnection if over_tls else SlotConnection],
        max_connections=pools[0].max_connections,
        **{**pools[0].connection_kwargs, "nodes": nodes},
    )
