"""The faults of `bench.chaos`: what breaks, what may be refused meanwhile, and what heals it."""

import json
import random
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import click
import psutil
import redis
from elasticsearch import ApiError, Elasticsearch, TransportError

from bench.service import start_command
from bench.stream import Kind
from devstack.servers import REPOSITORY, ElasticsearchNode, Gunicorn, RedisServer

ALIAS = "chaos"
SAMPLE = REPOSITORY / "sample" / "posts.jsonl"
LOGS = REPOSITORY / "build" / "chaos"

_SOURCE = LOGS / "posts.jsonl"
_SOURCE_POSTS = 3_000
_KILL, _STOP = signal.SIGKILL, signal.SIGSTOP


@dataclass(frozen=True, slots=True)
class Target:
    """Running engines and a running service."""

    nodes: list[ElasticsearchNode]
    elastic: Elasticsearch
    cache: RedisServer
    server: Gunicorn
    environment: dict[str, str]

    def command(self, *words: str) -> "subprocess.Popen[bytes]":
        """A started command of the service."""
        return start_command(ALIAS, *words, variables=self.environment)


Broken = Callable[[Target], AbstractContextManager[None]]


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault: a context manager that injects and heals it, `seconds` apart.

    `refused`: what may get a 503 meanwhile. `outage`: the goals for the times of an outage hold.
    `deletes`: what was written before the fault is expected to be gone. `in_soak`: something brings
    the service back, so that other faults can follow.
    """

    name: str
    broken: Broken
    seconds: float = 5.0
    refused: tuple[Kind, ...] = ()
    outage: bool = False
    deletes: bool = False
    in_soak: bool = True


@dataclass(frozen=True, slots=True)
class Setup:
    """Engines, and the faults to try with them."""

    faults: list[Fault]
    nodes: int = 1
    heap: str = "768m"
    node_settings: Mapping[str, object] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)


# -- faults ------------------------------------------------------------------------------------


@contextmanager
def _nothing(target: Target) -> Iterator[None]:
    yield


def _redis(*commands: str, heal: str = "PING") -> Broken:
    @contextmanager
    def broken(target: Target) -> Iterator[None]:
        with redis.Redis.from_url(target.cache.url) as client:
            for command in commands:
                client.execute_command(*command.split())
            yield
            client.execute_command(*heal.split())

    return broken


def _signal(number: signal.Signals, find: Callable[[Target], Any]) -> Broken:
    """A process gets a signal; one that is suspended is resumed later."""

    @contextmanager
    def broken(target: Target) -> Iterator[None]:
        process = find(target)
        process.send_signal(number)
        yield
        if number == _STOP:
            process.send_signal(signal.SIGCONT)

    return broken


def _cache(target: Target) -> "subprocess.Popen[bytes]":
    return target.cache.process


def _server(target: Target) -> psutil.Process:
    return target.server.process


def _worker(target: Target) -> psutil.Process:
    return target.server.workers()[0]


def _node(number: signal.Signals, find: Callable[[Target], ElasticsearchNode]) -> Broken:
    """The node is killed and started again, or suspended and resumed."""

    @contextmanager
    def broken(target: Target) -> Iterator[None]:
        node = find(target)
        with _signal(number, lambda _: node)(target):
            yield
        if number == _KILL:
            node.start()
        _await_search(node.url)

    return broken


def _await_search(url: str) -> None:
    """Wait until a node answers a whole search: from then on the service may be expected to."""
    deadline = time.monotonic() + 300
    with Elasticsearch(url, request_timeout=2, max_retries=0) as client:
        while True:
            try:
                client.search(index=ALIAS, size=0, allow_partial_search_results=False)
            except (ApiError, TransportError):
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
            else:
                return


def _first(target: Target) -> ElasticsearchNode:
    return target.nodes[0]


def _with_primaries(target: Target) -> list[ElasticsearchNode]:
    rows: Any = target.elastic.cat.shards(index=ALIAS, h="prirep,node", format="json").body
    names = {row["node"] for row in rows if row["prirep"] == "p"}
    return [node for node in target.nodes if node.name in names]


def _with_primary(target: Target) -> ElasticsearchNode:
    return _with_primaries(target)[0]


def _with_one_shard(target: Target) -> ElasticsearchNode:
    """A node with one of the shards, and not the master."""
    master = _master(target)
    return next(node for node in _with_primaries(target) if node is not master)


def _master(target: Target) -> ElasticsearchNode:
    rows: Any = target.elastic.cat.master(h="node", format="json").body
    return next(node for node in target.nodes if node.name == rows[0]["node"])


@contextmanager
def _disk_full(target: Target) -> Iterator[None]:
    """The limits of the disk are below what it uses: Elasticsearch blocks the indices itself."""
    prefix = "cluster.routing.allocation.disk"
    limits = {"low": "1%", "high": "2%", "flood_stage": "3%"}
    full: dict[str, object] = {
        f"{prefix}.threshold_enabled": True,
        "cluster.info.update.interval": "10s",
        **{f"{prefix}.watermark.{name}": value for name, value in limits.items()},
    }
    target.elastic.cluster.put_settings(persistent=full)
    yield
    target.elastic.cluster.put_settings(persistent=dict.fromkeys(full))
    target.elastic.indices.put_settings(
        index="_all",
        expand_wildcards=["open", "hidden"],
        settings={"index.blocks.read_only_allow_delete": None},
    )


@contextmanager
def _index_deleted(target: Target) -> Iterator[None]:
    """Somebody deletes the live index; `rollback` makes the previous one live."""
    (live,) = target.elastic.indices.get_alias(name=ALIAS)
    target.elastic.indices.delete(index=live)
    yield
    end(target.command("rollback"), "rollback")


def _killed_during(word: str) -> Broken:
    """Elasticsearch is killed while a command runs; then that goes on, or fails."""

    @contextmanager
    def broken(target: Target) -> Iterator[None]:
        _write_source()
        command = target.command(word, str(_SOURCE))
        time.sleep(random.uniform(1, 4))
        with _node(_KILL, _first)(target):
            yield
        end(command, word, may_fail=True)

    return broken


def _command(*words: str) -> Broken:
    """A command that swaps or writes, and succeeds."""

    @contextmanager
    def broken(target: Target) -> Iterator[None]:
        _write_source()
        end(target.command(*words), words[0])
        yield

    return broken


def end(command: "subprocess.Popen[bytes]", word: str, *, may_fail: bool = False) -> None:
    """Wait for a command.

    Raises:
        ClickException: it failed.
    """
    code = command.wait(300)
    click.echo(f"`{word}` ended with {code}", err=True)
    if code and not (may_fail and code == 1):
        raise click.ClickException(f"{word} ended with {code}")


def _write_source() -> None:
    """The sample posts, and others whose text is new each time."""
    text = random.random()
    posts = (
        {"oid": f"source-{number}", "title": "Unchanging", "text": f"<p>{text} {number}</p>"}
        for number in range(_SOURCE_POSTS)
    )
    lines = "".join(json.dumps(post) + "\n" for post in posts)
    _SOURCE.write_text(SAMPLE.read_text() + lines)


def _flooded(path: str, line: str, lines: int) -> Broken:
    """Four clients send large requests directly to Elasticsearch."""
    headers = {"content-type": "application/x-ndjson", "accept": "application/json"}

    @contextmanager
    def broken(target: Target) -> Iterator[None]:
        stop = threading.Event()

        def flood() -> None:
            with Elasticsearch(_first(target).url, request_timeout=30, max_retries=0) as client:
                while not stop.is_set():
                    with suppress(ApiError, TransportError):
                        client.perform_request("POST", path, headers=headers, body=line * lines)

        threads = [threading.Thread(target=flood) for _ in range(4)]
        for thread in threads:
            thread.start()
        yield
        stop.set()
        for thread in threads:
            thread.join()

    return broken


_UNCACHED: tuple[Kind, ...] = ("new", "write")
# What was cached is no answer any more after a write, and a worker serves nothing of a generation
# that it was not told itself before an outage.
_ANY: tuple[Kind, ...] = ("cached", *_UNCACHED)
_AWAY: dict[str, Any] = {"refused": _ANY, "outage": True}
_SEARCHES = '{"index":"chaos"}\n{"query":{"wildcard":{"text":"*a*e*i*"}},"size":0}\n'
_MSEARCH = "/_msearch?max_concurrent_searches=50"
_WRITES = '{"index":{"_index":"flood"}}\n{"text":"some words of a post that nobody reads"}\n'

SETUPS = [
    Setup(
        [
            Fault("none", _nothing),
            Fault("Redis flushed", _redis("FLUSHALL")),
            Fault(
                "Redis full",
                _redis(
                    "CONFIG SET maxmemory-policy noeviction",
                    "CONFIG SET maxmemory 1kb",
                    heal="CONFIG SET maxmemory 0",
                ),
            ),
            Fault("Redis stalled", _signal(_STOP, _cache)),
            Fault("Elasticsearch stalled", _node(_STOP, _first), 30.0, **_AWAY),
            Fault("Elasticsearch killed", _node(_KILL, _first), **_AWAY),
            Fault("Elasticsearch's disk full", _disk_full, 25.0, ("write",)),
            Fault(
                "live index deleted",
                _index_deleted,
                refused=_ANY,
                deletes=True,
                in_soak=False,
            ),
            Fault("worker SIGTERM", _signal(signal.SIGTERM, _worker)),
            Fault("worker SIGKILL", _signal(_KILL, _worker)),
            Fault(
                "gunicorn SIGHUP",
                _signal(signal.SIGHUP, lambda target: target.server.process),
                10.0,
            ),
            Fault("Elasticsearch killed during reindex", _killed_during("reindex"), refused=_ANY),
            Fault("Elasticsearch killed during sync", _killed_during("sync"), refused=_ANY),
            Fault("Redis killed", _signal(_KILL, _cache), in_soak=False),
        ]
    ),
    Setup(
        [
            Fault("none, small queues", _nothing, refused=_ANY),
            Fault("search queue full", _flooded(_MSEARCH, _SEARCHES, 500), refused=_ANY),
            Fault("write queue full", _flooded("/_bulk", _WRITES, 20_000), refused=_ANY),
        ],
        node_settings={
            "thread_pool.search.size": 1,
            "thread_pool.search.queue_size": 10,
            "thread_pool.write.size": 1,
            "thread_pool.write.queue_size": 2,
        },
    ),
    Setup(
        [
            Fault("none, three nodes", _nothing),
            Fault("node with the primary killed", _node(_KILL, _with_primary), 10.0),
            Fault("master node killed", _node(_KILL, _master), 10.0),
            Fault("node with the primary stalled", _node(_STOP, _with_primary), 10.0, _UNCACHED),
        ],
        nodes=3,
        heap="512m",
    ),
    Setup(
        [
            Fault("none, three shards without copies", _nothing),
            Fault(
                "node with one of three shards killed", _node(_KILL, _with_one_shard), refused=_ANY
            ),
        ],
        nodes=3,
        heap="512m",
        variables={"BLOGSEARCH_SHARDS": "3", "BLOGSEARCH_REPLICAS": "0"},
    ),
]
SWAPS = [
    Fault("reindex", _command("reindex", str(_SOURCE)), 1.0),
    Fault("sync", _command("sync", str(_SOURCE)), 1.0),
    Fault("rebuild", _command("rebuild", "--force"), 1.0),
    Fault("rollback", _command("rollback"), 1.0),
]
