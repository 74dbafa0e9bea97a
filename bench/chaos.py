"""Faults under load: what searches and writes get while an engine or a worker is broken.

    make chaos ONLY=Redis
    make soak MINUTES=60 SEED=7

Starts engines of its own and the service with two workers, and for each fault sends a steady
stream of searches whose answers are cached, searches never sent before, writes, and health checks.
The fault is injected after a few seconds and healed later. One row a fault is printed, then the
goals that were missed; with any, the exit code is 1. The fault that needs nginx is left out where
it is not installed. The logs of the service are kept in build/chaos.

`soak` repeats faults and swaps of the first setup by chance, on one service, and checks after each
that every write that was acknowledged since the beginning is there. Its seed is printed.
"""

import json
import random
import shutil
import signal
import subprocess
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import psutil
import redis
import requests
from elasticsearch import ApiError, Elasticsearch, TransportError

from bench.results import echo_header, echo_row, exit_with
from bench.service import start_command
from bench.stream import CACHED, TOKEN, Kind, Response, Stream, missing
from devstack.servers import (
    NGINX,
    REPOSITORY,
    ElasticsearchNode,
    Gunicorn,
    RedisServer,
    elasticsearch_nodes,
    gunicorn,
    new_certificates,
    nginx,
    redis_server,
)

_BEFORE, _AFTER = 3.0, 6.0  # seconds of load before a fault and after it is healed
_ALIAS = "chaos"
_WORKERS = 2
_SAMPLE = REPOSITORY / "sample" / "posts.jsonl"
_LOGS = REPOSITORY / "build" / "chaos"
_SOURCE = _LOGS / "posts.jsonl"
_SOURCE_POSTS = 3_000

# Seconds: when an outage has to be known, how soon a search is refused from then on, and how soon a
# new search is answered after it.
_KNOWN, _REFUSED_WITHIN, _ANSWERED_WITHIN = 4.0, 0.3, 2.0

_KILL, _STOP, _TERM = signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM


@dataclass(frozen=True, slots=True)
class Target:
    """Running engines and a running service; `proxy`: the URL of an nginx before it, if needed."""

    nodes: list[ElasticsearchNode]
    elastic: Elasticsearch
    cache: RedisServer
    server: Gunicorn
    proxy: str
    authority: str
    environment: dict[str, str]

    def command(self, *words: str) -> "subprocess.Popen[bytes]":
        """A started command of the service."""
        return start_command(_ALIAS, *words, variables=self.environment)


Broken = Callable[[Target], AbstractContextManager[None]]


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault: a context manager that injects and heals it, `seconds` apart.

    `refused`: what may get a 503 meanwhile. `outage`: the goals for the times of an outage hold.
    `deletes`: what was written before the fault is expected to be gone. `behind_nginx`: clients
    reach the service through it.
    """

    name: str
    broken: Broken
    seconds: float = 5.0
    refused: tuple[Kind, ...] = ()
    outage: bool = False
    deletes: bool = False
    behind_nginx: bool = False


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
                client.search(index=_ALIAS, size=0, allow_partial_search_results=False)
            except (ApiError, TransportError):
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
            else:
                return


def _first(target: Target) -> ElasticsearchNode:
    return target.nodes[0]


def _with_primary(target: Target) -> ElasticsearchNode:
    rows: Any = target.elastic.cat.shards(index=_ALIAS, h="prirep,node", format="json").body
    name = next(row["node"] for row in rows if row["prirep"] == "p")
    return next(node for node in target.nodes if node.name == name)


def _with_one_shard(target: Target) -> ElasticsearchNode:
    """A node with one of the shards, and not the master."""
    rows: Any = target.elastic.cat.shards(index=_ALIAS, h="node", format="json").body
    with_shards = {row["node"] for row in rows}
    master = _master(target)
    return next(node for node in target.nodes if node.name in with_shards and node is not master)


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
    (live,) = target.elastic.indices.get_alias(name=_ALIAS)
    target.elastic.indices.delete(index=live)
    yield
    _end(target.command("rollback"), "rollback")


def _killed_during(word: str) -> Broken:
    """Elasticsearch is killed while a command runs; then that goes on, or fails."""

    @contextmanager
    def broken(target: Target) -> Iterator[None]:
        _write_source()
        command = target.command(word, str(_SOURCE))
        time.sleep(random.uniform(1, 4))
        with _node(_KILL, _first)(target):
            yield
        _end(command, word, may_fail=True)

    return broken


def _command(*words: str) -> Broken:
    """A command that swaps or writes, and succeeds."""

    @contextmanager
    def broken(target: Target) -> Iterator[None]:
        _write_source()
        _end(target.command(*words), words[0])
        yield

    return broken


def _end(command: "subprocess.Popen[bytes]", word: str, *, may_fail: bool = False) -> None:
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
    _SOURCE.write_text(_SAMPLE.read_text() + lines)


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
_AWAY: dict[str, Any] = {"seconds": 5.0, "refused": _UNCACHED}
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
            Fault("Elasticsearch stalled", _node(_STOP, _first), 30.0, _UNCACHED, outage=True),
            Fault("Elasticsearch killed", _node(_KILL, _first), 5.0, _UNCACHED, outage=True),
            Fault("Elasticsearch's disk full", _disk_full, 25.0, ("write",)),
            Fault("live index deleted", _index_deleted, 5.0, _UNCACHED, outage=True, deletes=True),
            Fault("worker SIGTERM", _signal(_TERM, _worker)),
            Fault("worker SIGKILL", _signal(_KILL, _worker)),
            Fault("gunicorn SIGHUP", _signal(signal.SIGHUP, _server), 10.0),
            Fault("worker SIGKILL, behind nginx", _signal(_KILL, _worker), behind_nginx=True),
            Fault("Elasticsearch killed during reindex", _killed_during("reindex"), **_AWAY),
            Fault("Elasticsearch killed during sync", _killed_during("sync"), **_AWAY),
            Fault("Redis killed", _signal(_KILL, _cache)),
        ]
    ),
    Setup(
        [
            Fault("none, small queues", _nothing, refused=_UNCACHED),
            Fault("search queue full", _flooded(_MSEARCH, _SEARCHES, 500), refused=_UNCACHED),
            Fault("write queue full", _flooded("/_bulk", _WRITES, 20_000), refused=_UNCACHED),
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
            Fault("node with one of three shards killed", _node(_KILL, _with_one_shard), **_AWAY),
        ],
        nodes=3,
        heap="512m",
        variables={"BLOGSEARCH_SHARDS": "3", "BLOGSEARCH_REPLICAS": "0"},
    ),
]
_SWAPS = [
    Fault("reindex", _command("reindex", str(_SOURCE)), 1.0),
    Fault("sync", _command("sync", str(_SOURCE)), 1.0),
    Fault("rebuild", _command("rebuild", "--force"), 1.0),
    Fault("rollback", _command("rollback"), 1.0),
]
_NOT_IN_A_SOAK = {"live index deleted", "Redis killed"}  # which nothing brings back


# -- a run -------------------------------------------------------------------------------------


@contextmanager
def _running(setup: Setup, *, with_nginx: bool) -> Iterator[Target]:
    with ExitStack() as stack:
        nodes = stack.enter_context(
            elasticsearch_nodes(setup.nodes, heap=setup.heap, settings=setup.node_settings)
        )
        cache = stack.enter_context(redis_server())
        certificates = stack.enter_context(new_certificates())
        urls = [node.url for node in nodes]
        environment = {
            "ELASTICSEARCH_URL": ",".join(urls),
            "REDIS_URL": cache.url,
            "BLOGSEARCH_INDEX": _ALIAS,
            "BLOGSEARCH_REPLICAS": str(min(setup.nodes - 1, 1)),
            "BLOGSEARCH_WRITE_TOKENS": TOKEN,
            **setup.variables,
        }
        elastic = stack.enter_context(Elasticsearch(urls, request_timeout=60))
        log = _LOGS / f"{setup.faults[0].name}.log"
        server = stack.enter_context(gunicorn(environment, log, workers=_WORKERS))
        proxy = ""
        if with_nginx:
            proxy = stack.enter_context(
                nginx(server.port, certificates.certificate, certificates.key)
            )
        authority = str(certificates.authority)
        target = Target(nodes, elastic, cache, server, proxy, authority, environment)
        for _ in range(2):  # so that there is a previous generation
            _end(target.command("reindex", str(_SAMPLE)), "reindex")
        yield target


def _await_workers(server: Gunicorn) -> None:
    """Wait until both workers serve: one that the fault before has ended is being replaced."""
    deadline = time.monotonic() + 120
    while sum(map(_serves, server.workers())) < _WORKERS:
        if time.monotonic() > deadline:
            raise click.ClickException("a worker does not start")
        time.sleep(0.2)


def _serves(worker: psutil.Process) -> bool:
    """Whether a worker has set the time of its heartbeat file, to the monotonic clock."""
    with suppress(OSError):
        for file in Path(f"/proc/{worker.pid}/fd").iterdir():
            if "wgunicorn-" in str(file.readlink()):
                return file.stat().st_mtime < time.monotonic() + 1
    return False


@dataclass(frozen=True, slots=True)
class Trial:
    """What clients got during a fault, injected and healed at these times, and what was lost."""

    fault: Fault
    responses: list[Response]
    acknowledged: int
    lost: list[str]
    began: float
    healed: float

    def of(self, *kinds: Kind, status: int | None = None) -> list[Response]:
        """The responses of these kinds, and of this status if it is given."""
        return [
            response
            for response in self.responses
            if response.kind in kinds and status in (None, response.status)
        ]

    @property
    def refused_once_known(self) -> list[Response]:
        """The searches that were refused while the outage should have been known."""
        known = self.began + _KNOWN
        refused = self.of("cached", "new", status=503)
        return [response for response in refused if known < response.began < self.healed]

    @property
    def first_answer(self) -> float | None:
        """Seconds from the end of the fault to the first answer to a new search sent after it."""
        return min(
            (
                response.began + response.seconds - self.healed
                for response in self.of("new", status=200)
                if response.began >= self.healed
            ),
            default=None,
        )


def _try(
    fault: Fault,
    target: Target,
    stored: dict[str, str | None] | None = None,
    *,
    timed: bool = True,
) -> list[str]:
    """Print the row of a fault; the goals that were missed.

    Args:
        stored: what was written before, which must be there, too.
        timed: whether the goals for times hold.
    """
    _await_workers(target.server)
    for query in CACHED:
        requests.get(f"{target.server.url}/search", params={"q": query}, timeout=60)
    url = target.proxy if fault.behind_nginx else target.server.url
    stream = Stream(url, target.authority, stored=stored)
    try:
        time.sleep(_BEFORE)
        began = time.monotonic()
        with fault.broken(target):
            if fault.deletes:
                stream.stored.clear()
            time.sleep(fault.seconds)
        healed = time.monotonic()
        time.sleep(_AFTER)
    finally:
        stream.end()
    lost = missing(stream.stored, target.elastic, _ALIAS)
    trial = Trial(fault, stream.responses, stream.acknowledged, lost, began, healed)
    echo_row(_row(trial))
    missed = _missed(trial) + (_missed_times(trial) if timed else [])
    return [f"{fault.name}: {goal}" for goal in missed]


_COLUMNS = [
    "fault",
    "searches",
    "failed",
    "sent again",
    "503: cached / all",
    "stale",
    "slowest cached, s",
    "slowest new, s",
    "slowest 503 once known, s",
    "slowest `/__lbheartbeat__`, s",
    "first new answer after, s",
    "writes: sent / acknowledged / failed / lost",
]


def _row(trial: Trial) -> list[str]:
    def slowest(responses: list[Response]) -> str:
        return f"{max(response.seconds for response in responses):.2f}" if responses else ""

    def failed(responses: list[Response]) -> int:
        return sum(response.failed for response in responses)

    searches, writes = trial.of("cached", "new"), trial.of("write")
    refused = trial.of("cached", "new", status=503)
    first = trial.first_answer
    return [
        trial.fault.name,
        f"{len(searches):,}",
        f"{failed(searches)}",
        f"{sum(response.sent > 1 for response in trial.responses)}",
        f"{len(trial.of('cached', status=503))} / {len(refused):,}",
        f"{sum(response.state == 'STALE' for response in searches):,}",
        slowest(trial.of("cached", status=200)),
        slowest(trial.of("new", status=200)),
        slowest(trial.refused_once_known),
        slowest(trial.of("alive")),
        "never" if first is None else f"{first:.2f}",
        f"{len(writes)} / {trial.acknowledged} / {failed(writes)} / {len(trial.lost)}",
    ]


def _missed(trial: Trial) -> list[str]:
    """What was lost, and what failed or was refused without need."""
    counted = Counter(
        f"{response.kind}: {response.status} {response.state}"
        for response in trial.responses
        if response.failed or (response.status == 503 and response.kind not in trial.fault.refused)
    )
    return [
        *(f"lost: {oid}" for oid in trial.lost),
        *(f"{count} x {what}" for what, count in counted.items()),
    ]


def _missed_times(trial: Trial) -> list[str]:
    missed = []
    if trial.first_answer is None or trial.first_answer > _ANSWERED_WITHIN:
        missed.append("the first new search was answered too late")
    slow = [
        response.seconds
        for response in trial.refused_once_known
        if response.seconds > _REFUSED_WITHIN
    ]
    if trial.fault.outage and slow:
        missed.append(f"{len(slow)} searches were refused after up to {max(slow):.2f} s")
    return missed


def _try_all(setup: Setup, faults: list[Fault]) -> list[str]:
    """Print the rows of these faults; the goals that were missed.

    After an unexpected error the others are tried with other engines.
    """
    missed: list[str] = []
    waiting = list(faults)
    while waiting:
        try:
            with _running(setup, with_nginx=any(fault.behind_nginx for fault in waiting)) as target:
                while waiting:
                    missed += _try(waiting[0], target)
                    del waiting[0]
        except Exception as error:  # noqa: BLE001 -- the other faults are measured in any case
            name = waiting.pop(0).name if waiting else "the end"
            missed.append(f"{name}: not measured: {type(error).__name__}: {error}")
            traceback.print_exc()
    return missed


def _soak(minutes: float, seed: int) -> list[str]:
    """Faults and swaps by chance until the time is over; the goals that were missed."""
    click.echo(f"seed {seed}", err=True)
    chance = random.Random(seed)
    random.seed(seed)
    setup = SETUPS[0]
    faults = [
        fault
        for fault in setup.faults
        if not fault.behind_nginx and fault.name not in _NOT_IN_A_SOAK
    ]
    missed: list[str] = []
    stored: dict[str, str | None] = {}
    ends = time.monotonic() + 60 * minutes
    with _running(setup, with_nginx=False) as target:
        while time.monotonic() < ends and not missed:
            fault = chance.choice(chance.choice([faults, _SWAPS]))
            missed += _try(fault, target, stored, timed=False)
    return missed


@click.command()
@click.option("--only", default="", help="Only faults whose name contains this.")
@click.option("--soak", "minutes", type=float, help="Faults and swaps by chance, so many minutes.")
@click.option("--seed", type=int, help="That of a soak that is to be repeated.")
def main(only: str, minutes: float | None, seed: int | None) -> None:
    """Run all faults, print a row for each, and exit with 1 if a goal was missed."""
    shutil.rmtree(_LOGS, ignore_errors=True)
    _LOGS.mkdir(parents=True)
    echo_header(_COLUMNS)
    missed: list[str] = []
    if minutes:
        missed += _soak(minutes, seed if seed is not None else random.randrange(1_000_000))
    for setup in () if minutes else SETUPS:
        faults = [fault for fault in setup.faults if only in fault.name]
        if not NGINX:
            without = [fault for fault in faults if not fault.behind_nginx]
            if without != faults:
                click.echo("nginx is not installed: the fault behind it is left out", err=True)
            faults = without
        missed += _try_all(setup, faults)
    exit_with(missed)


if __name__ == "__main__":
    main()
