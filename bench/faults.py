"""Defines the faults of `bench.chaos`: how each begins and ends, and what it may refuse."""

import json
import random
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import psutil
import redis
from elasticsearch import ApiError, Elasticsearch, TransportError

from bench.clients import UNCHANGING, Kind
from bench.relevance import SAMPLE
from bench.service import start_command
from devstack.servers import ElasticsearchNode, Gunicorn, RedisServer, redis_server
from indexer.store.scan import doc_values
from tests.waiting import wait_until

ALIAS = "chaos"
_KILL, _STOP = signal.SIGKILL, signal.SIGSTOP
_LATE = 5.0  # seconds: the grace if Redis does not get a change, or a process is killed


@dataclass(slots=True)
class Target:
    """Running engines and services, each service with its own Redis, or none.

    `before`: called with each request to Elasticsearch, if the setup has a proxy. `stack`: closed
    at the end of the setup.
    """

    folder: Path
    nodes: list[ElasticsearchNode]
    elastic: Elasticsearch
    caches: list[RedisServer]
    servers: list[Gunicorn]
    environment: dict[str, str]
    stack: ExitStack
    before: Callable[[bytes], None] | None = None

    def start(self, word: str) -> "subprocess.Popen[bytes]":
        """Start a command of the service that has something new to do."""
        new, rules = random.getrandbits(32), self.folder / "own.synonyms"
        source = self.folder / f"posts-{new:x}.jsonl"  # a suspended command reads another file
        rules.write_text(f"reactjs, react, r{new:x}\n")
        others = (
            {"oid": f"source-{nth}", "title": "Unchanging", "text": f"<p>{new} {nth}</p>"}
            for nth in range(UNCHANGING)
        )
        lines = "".join(json.dumps(post) + "\n" for post in others)
        source.write_text(SAMPLE[0].read_text() + lines)
        words = {
            "reindex": ["reindex", str(source)],
            "sync": ["sync", str(source)],
            "synonyms": ["synonyms", "load", str(rules)],
            "rebuild": ["rebuild", "--force"],
            "rollback": ["rollback"],
        }[word]
        with (self.folder / "commands.log").open("ab") as log:
            return start_command(ALIAS, *words, variables=self.environment, stderr=log)

    def digests(self) -> set[str]:
        """Return the oids and digests of the posts that only commands write."""
        self.elastic.indices.refresh(index=ALIAS)
        query, fields = {"prefix": {"oid": "source-"}}, ("oid", "digest")
        return {str(post) for post in doc_values(self.elastic, ALIAS, fields, query)}


Broken = Callable[[Target], AbstractContextManager[object]]


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault: a context manager that injects and heals it, `seconds` apart.

    `refused`: the requests that may get a 503 meanwhile. `outage`: cached answers must still be
    served. `grace`: the seconds until an acknowledged write must be served.
    """

    name: str
    broken: Broken
    seconds: float = 5.0
    refused: tuple[Kind, ...] = ()
    outage: bool = False
    grace: float = 0.0


@dataclass(frozen=True, slots=True)
class Setup:
    """Engines and services, and the faults to try with them.

    `has_proxy`: whether `Target.before` gets requests to Elasticsearch.
    """

    faults: list[Fault] = field(default_factory=list)
    nodes: int = 1
    hosts: int = 1
    has_redis: bool = True
    has_proxy: bool = False


# -- faults ------------------------------------------------------------------------------------


def _redis(*commands: str, heal: str = "PING") -> Broken:
    @contextmanager
    def broken(target: Target) -> Iterator[None]:
        with redis.Redis.from_url(target.caches[0].url) as client:
            for command in commands:
                client.execute_command(*command.split())
            yield
            client.execute_command(*heal.split())

    return broken


@contextmanager
def _restored(target: Target) -> Iterator[None]:
    """Reset Redis to its data some seconds before, as a restart from a snapshot would."""
    with redis.Redis.from_url(target.caches[0].url) as server:
        keys = list(server.scan_iter())
        with server.pipeline() as snapshot:
            for key in keys:
                snapshot.dump(key)
            dumped = dict(zip(keys, snapshot.execute(), strict=True))
        yield
        with server.pipeline() as snapshot:  # one transaction, so that nobody writes meanwhile
            snapshot.flushall()
            for key, data in dumped.items():
                if data:
                    snapshot.restore(key, 60_000, data)
            snapshot.execute()


@contextmanager
def _restarted(target: Target) -> Iterator[None]:
    """Kill Redis, and start it again without its data."""
    cache = target.caches[0]
    cache.process.kill()
    cache.process.wait()
    yield
    target.caches[0] = target.stack.enter_context(redis_server(port=cache.port))


def _signal(number: signal.Signals, find: Callable[[Target], Any]) -> Broken:
    """Send a signal to a process; resume it later if it was suspended."""

    @contextmanager
    def broken(target: Target) -> Iterator[None]:
        process = find(target)
        process.send_signal(number)
        yield
        if number == _STOP:
            process.send_signal(signal.SIGCONT)

    return broken


def _before(act: Callable[[bytes, Target], None]) -> Broken:
    """Call `act` before each request to Elasticsearch."""

    @contextmanager
    def broken(target: Target) -> Iterator[None]:
        target.before = lambda request: act(request, target)
        yield
        target.before = None

    return broken


def _slow(request: bytes, target: Target) -> None:
    if b"/_msearch" in request[:200]:
        time.sleep(1.2)


def _kill_workers(request: bytes, target: Target) -> None:
    """Kill all workers before a write is visible. New ones live for 2 s: clients send once more."""
    workers = target.servers[0].workers() if b"/_refresh" in request[:200] else []
    if all(time.time() - worker.create_time() > 2 for worker in workers) and random.random() < 0.3:
        for worker in workers:
            worker.kill()


def _node(number: signal.Signals, find: Callable[[Target], ElasticsearchNode]) -> Broken:
    """Kill a node and start it again, or suspend and resume it."""

    @contextmanager
    def broken(target: Target) -> Iterator[None]:
        node = find(target)
        with _signal(number, lambda _: node)(target):
            yield
        if number == _KILL:
            node.start()
        _await_search(node.url)

    return broken


@contextmanager
def _new_workers(target: Target) -> Iterator[None]:
    """Suspend Elasticsearch, and replace the workers that knew it by new ones."""
    with _node(_STOP, _first)(target):
        workers = target.servers[0].workers()
        for worker in workers:
            worker.kill()
        psutil.wait_procs(workers, timeout=10)
        yield


def _await_search(url: str) -> None:
    """Wait until a node answers a whole search: from then on the service must answer, too."""

    def answers() -> bool:
        with suppress(ApiError, TransportError):
            return bool(client.search(index=ALIAS, size=0, allow_partial_search_results=False))
        return False

    with Elasticsearch(url, request_timeout=2, max_retries=0) as client:
        wait_until(answers, 300)


def _first(target: Target) -> ElasticsearchNode:
    return target.nodes[0]


def _with_primary(target: Target) -> ElasticsearchNode:
    rows: Any = target.elastic.cat.shards(index=ALIAS, h="prirep,node", format="json").body
    names = {row["node"] for row in rows if row["prirep"] == "p"}
    return next(node for node in target.nodes if node.name in names)


def _master(target: Target) -> ElasticsearchNode:
    rows: Any = target.elastic.cat.master(h="node", format="json").body
    return next(node for node in target.nodes if node.name == rows[0]["node"])


@contextmanager
def _disk_full(target: Target) -> Iterator[None]:
    """Set the disk watermarks below the used space, so that Elasticsearch blocks the indices."""
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


def _killed_during(word: str) -> Broken:
    """Kill Elasticsearch while a command runs; the command may continue or fail."""

    @contextmanager
    def broken(target: Target) -> Iterator[None]:
        command = target.start(word)
        time.sleep(random.uniform(1, 4))
        with _node(_KILL, _first)(target):
            yield
        end(command, word, may_fail=True)

    return broken


def _suspended(word: str) -> Broken:
    """Suspend a command as it sends a request through its own alias, and resume it after another
    command took its lock and wrote. It must change nothing, and say why."""
    own_alias = re.compile(rb"(PUT /|{.actions.:)\S+-(sync|building)")

    @contextmanager
    def broken(target: Target) -> Iterator[None]:
        log, resumed = target.folder / "commands.log", threading.Event()
        said, left = log.stat().st_size, [1] * random.randint(1, 12)

        def hold(request: bytes, target: Target) -> None:
            if left and own_alias.match(request) and left.pop() and not left:
                command.send_signal(_STOP)
                resumed.wait(300)

        with _before(hold)(target):
            command = target.start(word)
            wait_until(lambda: not left, 300)
            end(target.start(word), word)
            confirmed = target.digests()
            command.send_signal(signal.SIGCONT)
            resumed.set()
            code, text = command.wait(300), log.read_bytes()[said:]
            if code != 1 or b" was lost: " not in text or target.digests() != confirmed:
                raise click.ClickException(f"it ended with {code}, or changed it: {text!r}")
            yield

    return broken


def _swap(word: str) -> Broken:
    """Run a command that swaps or writes; it must succeed."""

    @contextmanager
    def broken(target: Target) -> Iterator[None]:
        end(target.start(word), word)
        yield

    return broken


def killed(word: str, kills: int) -> Fault:
    """Kill a command at random moments, `kills` times. Some runs end before they are killed."""

    @contextmanager
    def broken(target: Target) -> Iterator[None]:
        began = time.monotonic()
        end(target.start(word), word)
        usual = time.monotonic() - began
        number = 0
        while number < kills:
            command = target.start(word)
            try:
                end(command, word, seconds=random.uniform(0.3, usual * 1.2))
            except subprocess.TimeoutExpired:
                command.kill()
                command.wait()
                number += 1
        yield

    return Fault(f"`{word}` killed", broken, 1.0)


def end(
    command: "subprocess.Popen[bytes]", word: str, *, may_fail: bool = False, seconds: float = 300
) -> None:
    """Wait for a command.

    Raises:
        ClickException: the command failed.
        TimeoutExpired: it has not ended within `seconds`.
    """
    code = command.wait(seconds)
    click.echo(f"`{word}` ended with {code}", err=True)
    if code and not (may_fail and code == 1):
        raise click.ClickException(f"{word} ended with {code}")


# After a write, cached answers are no longer served, and during an outage a worker serves only
# answers of a generation that it learned before.
_ANY: tuple[Kind, ...] = ("read", "new", "all", "write")
_AWAY: dict[str, Any] = {"refused": _ANY, "outage": True, "grace": _LATE}

SETUPS = [
    Setup(
        [
            Fault("none", nullcontext),
            Fault("Redis flushed", _redis("FLUSHALL"), grace=_LATE),
            Fault(
                "Redis full",
                _redis(
                    "CONFIG SET maxmemory-policy noeviction",
                    "CONFIG SET maxmemory 1kb",
                    heal="CONFIG SET maxmemory 0",
                ),
                grace=_LATE,
            ),
            Fault("Redis stalled", _signal(_STOP, lambda to: to.caches[0].process), grace=_LATE),
            # The snapshot is five seconds old, and may be served for five more.
            Fault("Redis restored", _restored, grace=2 * _LATE + 1.0),
            Fault("Redis killed", _restarted, grace=_LATE),
            Fault("Elasticsearch stalled", _node(_STOP, _first), 30.0, **_AWAY),
            Fault("new workers, Elasticsearch stalled", _new_workers, 15.0, **_AWAY),
            Fault("Elasticsearch killed", _node(_KILL, _first), **_AWAY),
            Fault("Elasticsearch's disk full", _disk_full, 25.0, ("write",)),
            Fault("worker SIGTERM", _signal(signal.SIGTERM, lambda to: to.servers[0].workers()[0])),
            Fault(
                "worker SIGKILL", _signal(_KILL, lambda to: to.servers[0].workers()[0]), grace=_LATE
            ),
            Fault(
                "gunicorn SIGHUP", _signal(signal.SIGHUP, lambda to: to.servers[0].process), 10.0
            ),
            *(
                Fault(
                    f"Elasticsearch killed during {word}",
                    _killed_during(word),
                    refused=_ANY,
                    grace=_LATE,
                )
                for word in ("reindex", "sync")
            ),
        ]
    ),
    Setup(
        [
            Fault("slow Elasticsearch", _before(_slow)),
            Fault(
                "workers killed during a write",
                _before(_kill_workers),
                refused=_ANY,  # all workers are killed at once, again and again
                grace=_LATE,
            ),
            *(Fault(f"{word} suspended", _suspended(word), 1.0) for word in ("sync", "reindex")),
        ],
        has_proxy=True,
    ),
    Setup([Fault("no Redis", nullcontext, grace=_LATE)], has_redis=False),
    Setup([Fault("two hosts", nullcontext, grace=_LATE)], hosts=2),
    Setup(
        [
            Fault("none, three nodes", nullcontext),
            Fault("node with the primary killed", _node(_KILL, _with_primary), 10.0),
            Fault("master node killed", _node(_KILL, _master), 10.0),
            Fault(
                "node with the primary stalled",
                _node(_STOP, _with_primary),
                10.0,
                _ANY,
                outage=True,
            ),
        ],
        nodes=3,
    ),
]
SWAPS = [Fault(word, _swap(word), 1.0) for word in ("reindex", "sync", "rebuild", "rollback")]
COMMANDS = ("reindex", "sync", "synonyms", "rollback")
