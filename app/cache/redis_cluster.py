"""Connections to a Redis Cluster: to the master that has the keys of an alias.

All keys of an alias have the same hash tag (`app.cache.store.Keys`), so they are in one slot, and
commands of several keys work as on a single Redis. The other masters are not used.
"""

from collections import deque
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
        self._nodes = deque(nodes)
        self._slot = slot

    def master(self) -> tuple[str, int]:
        """Host and port of the master, by the first node that answers.

        A node that fails is the last one to be asked the next time: one that does not answer takes
        all the time that a search has for Redis.

        Raises:
            redis.ConnectionError: no node answers, or no master has the slot.
            redis.ResponseError: a node is not a part of a cluster, or refuses the request.
        """
        for _ in range(len(self._nodes)):
            node = self._nodes[0]
            host = node.connection_pool.connection_kwargs["host"]
            try:
                ranges = parse_cluster_slots(
                    node.execute_command("CLUSTER SLOTS"),  # type: ignore[no-untyped-call]
                    current_host=host,
                )
            except (redis.ConnectionError, redis.TimeoutError):
                self._nodes.rotate(-1)
                continue
            for (first, last), servers in ranges.items():
                if first <= self._slot <= last:
                    master: tuple[str, int] = servers["primary"]
                    return master
            raise redis.ConnectionError(f"no master of the cluster has the slot {self._slot}")
        raise redis.ConnectionError("no node of the cluster answers")


class SlotConnection(Connection):
    """Connects to the master of a slot, and to the next one after a failover."""

    def __init__(self, *, nodes: Nodes, **options: Any) -> None:
        super().__init__(**options)  # type: ignore[no-untyped-call]
        self._nodes = nodes

    def _connect(self) -> Any:
        self.host, self.port = self._nodes.master()
        return super()._connect()  # type: ignore[no-untyped-call]

    def read_response(self, *args: Any, **options: Any) -> Any:
        try:
            return super().read_response(*args, **options)
        except (AskError, ClusterDownError, TryAgainError) as error:
            # The slot is on another node, or moves there now (AskError includes MovedError).
            self.disconnect()  # type: ignore[no-untyped-call]
            raise redis.ConnectionError(f"the cluster is changing: {error}") from error


class SlotTlsConnection(SlotConnection, SSLConnection):
    """The same over TLS."""


def cluster_pool(
    parts: SplitResult, key: str, classes: tuple[type, type], options: Mapping[str, Any]
) -> "redis.ConnectionPool":
    """A pool of connections to the master that has a key.

    Args:
        parts: of `redis+cluster://[user:password@]host:port,host:port`, or `rediss+cluster://`,
            with the parameters of redis-py for a single Redis.
        classes: of the connections to the master (a SlotConnection) and to the nodes that are
            asked for it.
        options: for both, besides those of the URL.

    Raises:
        ValueError: the URL is invalid.
    """
    account, at, hosts = parts.netloc.rpartition("@")
    if not hosts or parts.path.strip("/") not in {"", "0"}:
        raise ValueError("a cluster's URL is redis+cluster://host:port,host:port; it has no number")
    scheme = SCHEMES[parts.scheme]
    master_class, node_class = classes
    urls = [f"{scheme}://{account}{at}{host}?{parts.query}" for host in hosts.split(",")]
    pools = [redis.ConnectionPool.from_url(url, **options) for url in urls]
    for pool in pools:
        pool.connection_class = node_class
    nodes = Nodes((redis.Redis(connection_pool=pool) for pool in pools), key_slot(key.encode()))
    found = {**pools[0].connection_kwargs, "nodes": nodes}
    return redis.ConnectionPool(connection_class=master_class, **found)
