"""Faults under load: what searches and writes get while an engine or a worker is broken.

    make chaos ONLY=Redis
    make soak MINUTES=60 SEED=7

Starts engines of its own and the service with two workers, and for each fault sends a steady
stream of searches whose answers are cached, searches never sent before, writes, and health checks.
The fault is injected after a few seconds and healed later. One row a fault is printed, then the
goals that were missed; with any, the exit code is 1. The faults that need nginx or faketime are
left out where these are not installed. The logs of the service are kept in build/chaos.

`soak` repeats faults and swaps of the first setup by chance, on one service, and checks after each
that every write that was acknowledged since the beginning is there. Its seed is printed.
"""

import json
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import click
import psutil
import redis
import requests
from elasticsearch import ApiError, Elasticsearch, TransportError

from bench.results import Table
from bench.service import start_command
from bench.stream import CACHED, TOKEN, Kind, Response, Stream
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
_LOGS = REPOSITORY / "build" / "chaos"
_SOURCE = _LOGS / "posts.jsonl"
_SOURCE_POSTS = 3_000

# Seconds: when an outage has to be known, how soon a search is refused from then on, and how soon a
# new search is answered after it.
_KNOWN, _REFUSED_WITHIN, _ANSWERED_WITHIN = 4.0, 0.3, 2.0

Way = Literal["direct", "nginx", "faketime"]
"""How clients reach the service: through nginx, or two services with different clocks."""


@dataclass(frozen=True, slots=True)
class Target:
    """Running engines and a running service; `urls`: where the load is sent, by way."""

    nodes: list[ElasticsearchNode]
    elastic: Elasticsearch
    cache: RedisServer
    server: Gunicorn
    urls: dict[Way, list[str]]
    authority: str
    environment: dict[str, str]

    def command(self, *words: str, **environment: str) -> "subprocess.Popen[bytes]":
        """A started command of the service."""
        return start_command(_ALIAS, *words, variables={**self.environment, **environment})


Broken = Callable[[Target], AbstractContextManager[None]]


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault: a context manager that injects and heals it, `seconds` apart.

    `refused`: what may get a 503 meanwhile. `outage`: the goals for the times of an outage hold.
    `deletes`: what was written before the fault is expected to be gone.
    """

    name: str
    broken: Broken
    seconds: float = 5.0
    refused: tuple[Kind, ...] = ()
    outage: bool = False
    deletes: bool = False
    way: Way = "direct"


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


@contextmanager
def _redis_stalled(target: Target) -> Iterator[None]:
    target.cache.process.send_signal(signal.SIGSTOP)
    yield
    target.cache.process.send_signal(signal.SIGCONT)


@contextmanager
def _redis_killed(target: Target) -> Iterator[None]:
    target.cache.process.kill()
    yield


def _server(number: signal.Signals) -> Broken:
    @contextmanager
    def broken(target: Target) -> Iterator[None]:
        target.server.process.send_signal(number)
        yield

    return broken


def _worker(number: signal.Signals) -> Broken:
    @contextmanager
    def broken(target: Target) -> Iterator[None]:
        target.server.workers()[0].send_signal(number)
        yield

    return broken


def _node(number: signal.Signals, find: Callable[[Target], ElasticsearchNode]) -> Broken:
    """The node is killed and started again, or suspended and resumed."""

    @contextmanager
    def broken(target: Target) -> Iterator[None]:
        node = find(target)
        node.send_signal(number)
        yield
        if number == signal.SIGKILL:
            node.start()
        else:
            node.send_signal(signal.SIGCONT)
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


def _with_primary(target: Target) -> ElasticsearchNode:
    rows: Any = target.elastic.cat.shards(index=_ALIAS, h="prirep,node", format="json").body
    name = next(row["node"] for row in rows if row["prirep"] == "p")
    return next(node for node in target.nodes if node.name == name)


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
    if code := target.command("rollback").wait(60):
        raise click.ClickException(f"rollback ended with {code}")


def _killed_during(*words: str) -> Broken:
    """Elasticsearch is killed while a command runs; then that goes on, or fails."""

    @contextmanager
    def broken(target: Target) -> Iterator[None]:
        _write_source(str(random.random()))
        command = target.command(*words, str(_SOURCE))
        time.sleep(random.uniform(1, 4))
        with _node(_KILL, _first)(target):
            yield
        _end(command, words, allowed=(0, 1))

    return broken


def _command(*words: str, source: bool = False) -> Broken:
    """A command that swaps or writes, and succeeds."""

    @contextmanager
    def broken(target: Target) -> Iterator[None]:
        if source:
            _write_source(str(random.random()))
        _end(target.command(*words, *([str(_SOURCE)] if source else [])), words, allowed=(0,))
        yield

    return broken


def _end(command: "subprocess.Popen[bytes]", words: Sequence[str], allowed: Sequence[int]) -> None:
    """Wait for a command.

    Raises:
        ClickException: it ended with another code.
    """
    code = command.wait(300)
    click.echo(f"`{' '.join(words)}` ended with {code}", err=True)
    if code not in allowed:
        raise click.ClickException(f"{words[0]} ended with {code}")


def _write_source(text: str) -> None:
    """The sample posts, and others whose text is new each time."""
    others = (
        {"oid": f"source-{number}", "title": "Unchanging", "text": f"<p>{text} {number}</p>"}
        for number in range(_SOURCE_POSTS)
    )
    lines = "".join(json.dumps(post) + "\n" for post in others)
    _SOURCE.write_text((REPOSITORY / "sample/posts.jsonl").read_text() + lines)


def _with_one_shard(target: Target) -> ElasticsearchNode:
    """A node with one of the shards, and not the master."""
    rows: Any = target.elastic.cat.shards(index=_ALIAS, h="node", format="json").body
    with_shards = {row["node"] for row in rows}
    master = _master(target)
    return next(node for node in target.nodes if node.name in with_shards and node is not master)


def _flooded(path: str, line: str, lines: int) -> Broken:
    """Four clients send large requests directly to Elasticsearch."""

    @contextmanager
    def broken(target: Target) -> Iterator[None]:
        stop = threading.Event()
        parts = urlsplit(target.nodes[0].url)

        def flood() -> None:
            with Elasticsearch(parts.geturl(), request_timeout=30, max_retries=0) as client:
                while not stop.is_set():
                    with suppress(ApiError, TransportError):
                        client.perform_request(
                            "POST",
                            path,
                            headers={
                                "content-type": "application/x-ndjson",
                                "accept": "application/json",
                            },
                            body=line * lines,
                        )

        threads = [threading.Thread(target=flood) for _ in range(4)]
        for thread in threads:
            thread.start()
        yield
        stop.set()
        for thread in threads:
            thread.join()

    return broken


def _an_hour_ahead() -> dict[str, str]:
    """The environment of a process whose clock is an hour ahead.

    `faketime` itself stays the parent of what it runs, and does not pass on signals. The time of
    files is not changed, because gunicorn reads there when a worker last lived. The monotonic clock
    is: if it was not, libfaketime's clock_nanosleep would fail (EINVAL).
    """
    printed = subprocess.run(
        ["faketime", "-f", "+1h", "env"], capture_output=True, text=True, check=True
    ).stdout
    variables = dict(line.split("=", 1) for line in printed.splitlines() if "=" in line)
    return {
        "LD_PRELOAD": variables["LD_PRELOAD"],
        "FAKETIME": variables["FAKETIME"],
        "NO_FAKE_STAT": "1",
    }


@contextmanager
def _rollbacks_of_two_clocks(target: Target) -> Iterator[None]:
    """Each machine rolls back at the same time, again and again: one of them has to give way."""
    for _ in range(3):
        rollbacks = [target.command("rollback", **clock) for clock in ({}, _an_hour_ahead())]
        codes = [rollback.wait(180) for rollback in rollbacks]
        if 0 not in codes:
            raise click.ClickException(f"neither rollback succeeded: {codes}")
    yield


_KILL, _STOP, _TERM = signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM
_UNCACHED: tuple[Kind, ...] = ("new", "write")
_AWAY: dict[str, Any] = {"seconds": 5.0, "refused": _UNCACHED}
_SEARCHES = '{"index":"chaos"}\n{"query":{"wildcard":{"text":"*a*e*i*"}},"size":0}\n'
_MSEARCH = "/_msearch?max_concurrent_searches=50"
_WRITES = '{"index":{"_index":"flood"}}\n{"text":"some words of a post that nobody reads"}\n'


def _first(target: Target) -> ElasticsearchNode:
    return target.nodes[0]


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
            Fault("Redis stalled", _redis_stalled),
            Fault("Elasticsearch stalled", _node(_STOP, _first), 30.0, _UNCACHED, outage=True),
            Fault("Elasticsearch killed", _node(_KILL, _first), 5.0, _UNCACHED, outage=True),
            Fault("Elasticsearch's disk full", _disk_full, 25.0, ("write",)),
            Fault("clocks an hour apart", _rollbacks_of_two_clocks, way="faketime"),
            Fault("live index deleted", _index_deleted, 5.0, _UNCACHED, outage=True, deletes=True),
            Fault("worker SIGTERM", _worker(_TERM)),
            Fault("worker SIGKILL", _worker(_KILL)),
            Fault("gunicorn SIGHUP", _server(signal.SIGHUP), 10.0),
            Fault("worker SIGKILL, behind nginx", _worker(_KILL), way="nginx"),
            Fault("Elasticsearch killed during reindex", _killed_during("reindex"), **_AWAY),
            Fault("Elasticsearch killed during sync", _killed_during("sync"), **_AWAY),
            Fault("Redis killed", _redis_killed),
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
    Fault("reindex", _command("reindex", source=True), 1.0),
    Fault("sync", _command("sync", source=True), 1.0),
    Fault("rebuild", _command("rebuild", "--force"), 1.0),
    Fault("rollback", _command("rollback"), 1.0),
]
_NOT_IN_A_SOAK = {"live index deleted", "Redis killed"}  # which nothing brings back


# -- a run -------------------------------------------------------------------------------------


@contextmanager
def _running(setup: Setup, ways: set[Way]) -> Iterator[Target]:
    with ExitStack() as stack:
        nodes = stack.enter_context(
            elasticsearch_nodes(setup.nodes, heap=setup.heap, settings=setup.node_settings)
        )
        cache = stack.enter_context(redis_server())
        certificates = stack.enter_context(new_certificates())
        environment = {
            "ELASTICSEARCH_URL": ",".join(node.url for node in nodes),
            "REDIS_URL": cache.url,
            "BLOGSEARCH_INDEX": _ALIAS,
            "BLOGSEARCH_REPLICAS": str(min(setup.nodes - 1, 1)),
            "BLOGSEARCH_WRITE_TOKENS": TOKEN,
            "BLOGSEARCH_RATE_LIMIT": "",  # the clients share one address
            **setup.variables,
        }
        elastic = stack.enter_context(
            Elasticsearch([node.url for node in nodes], request_timeout=60)
        )
        log = _LOGS / f"{setup.faults[0].name}.log"
        server = stack.enter_context(gunicorn(environment, log, workers=_WORKERS))
        urls: dict[Way, list[str]] = {"direct": [server.url]}
        target = Target(
            nodes, elastic, cache, server, urls, str(certificates.authority), environment
        )
        for _ in range(2):  # so that there is a previous generation
            if target.command("reindex", "sample/posts.jsonl").wait():
                raise click.ClickException("the sample posts cannot be indexed")
        if "nginx" in ways:
            proxy = nginx(server.port, certificates.certificate, certificates.key)
            urls["nginx"] = [stack.enter_context(proxy)]
        if "faketime" in ways:
            ahead = {**environment, **_an_hour_ahead()}
            second = stack.enter_context(gunicorn(ahead, _LOGS / "an hour ahead.log"))
            urls["faketime"] = [server.url, second.url]
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


def _run(
    fault: Fault, target: Target, stored: dict[str, str | None]
) -> tuple[Stream, float, float]:
    """The stream, when the fault was injected, and when it was healed."""
    stream = Stream(target.urls[fault.way], target.authority, stored=stored)
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
    return stream, began, healed


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


def _row(fault: Fault, stream: Stream, lost: int, began: float, end: float) -> list[str]:
    def slowest(responses: list[Response]) -> str:
        return f"{max(one.seconds for one in responses):.2f}" if responses else ""

    by_kind = {
        kind: [one for one in stream.responses if one.kind == kind]
        for kind in ("cached", "new", "write", "alive")
    }
    cached, new, writes = by_kind["cached"], by_kind["new"], by_kind["write"]
    searches = cached + new
    refused = [one for one in searches if one.status == 503]
    answered = _first_answer(stream, end)
    return [
        fault.name,
        f"{len(searches):,}",
        f"{sum(one.failed for one in searches)}",
        f"{sum(one.sent > 1 for one in stream.responses)}",
        f"{sum(one.kind == 'cached' for one in refused)} / {len(refused):,}",
        f"{sum(one.state == 'STALE' for one in searches):,}",
        slowest([one for one in cached if one.status == 200]),
        slowest([one for one in new if one.status == 200]),
        slowest(_refused_once_known(stream, began, end)),
        slowest(by_kind["alive"]),
        "never" if answered is None else f"{answered:.2f}",
        f"{len(writes)} / {stream.acknowledged} / {sum(one.failed for one in writes)} / {lost}",
    ]


def _refused_once_known(stream: Stream, began: float, end: float) -> list[Response]:
    """The searches that were refused while the outage should have been known."""
    return [
        one
        for one in stream.responses
        if one.kind in ("cached", "new") and one.status == 503 and began + _KNOWN < one.began < end
    ]


def _first_answer(stream: Stream, end: float) -> float | None:
    """Seconds from the end of a fault to the first answer to a new search sent after it."""
    return min(
        (
            one.began + one.seconds - end
            for one in stream.responses
            if one.kind == "new" and one.status == 200 and one.began >= end
        ),
        default=None,
    )


def _missed(
    fault: Fault, stream: Stream, lost: list[str], began: float, end: float, *, timed: bool
) -> list[str]:
    """The goals that were missed; those of times only if `timed`."""
    found = [f"lost: {oid}" for oid in lost]
    counted = Counter(
        f"{one.kind}: {one.status} {one.state}"
        for one in stream.responses
        if one.failed or (one.status == 503 and one.kind not in fault.refused)
    )
    found += [f"{count} x {what}" for what, count in counted.items()]
    if not timed:
        return [f"{fault.name}: {goal}" for goal in found]
    answered = _first_answer(stream, end)
    if answered is None or answered > _ANSWERED_WITHIN:
        found.append("the first new search was answered too late")
    slow = [
        one.seconds
        for one in _refused_once_known(stream, began, end)
        if one.seconds > _REFUSED_WITHIN
    ]
    if fault.outage and slow:
        found.append(f"{len(slow)} searches were refused after up to {max(slow):.2f} s")
    return [f"{fault.name}: {one}" for one in found]


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
    """
    _await_workers(target.server)
    for query in CACHED:
        requests.get(f"{target.urls['direct'][0]}/search", params={"q": query}, timeout=60)
    stream, began, healed = _run(fault, target, {} if stored is None else stored)
    lost = stream.missing(target.elastic, _ALIAS)
    click.echo(f"| {' | '.join(_row(fault, stream, len(lost), began, healed))} |")
    return _missed(fault, stream, lost, began, healed, timed=timed)


def _try_all(setup: Setup, faults: list[Fault]) -> list[str]:
    """Print the rows of these faults; the goals that were missed.

    After an unexpected error the others are tried with other engines.
    """
    missed: list[str] = []
    waiting = list(faults)
    while waiting:
        try:
            with _running(setup, {fault.way for fault in waiting}) as target:
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
        if fault.way == "direct" and fault.name not in _NOT_IN_A_SOAK
    ]
    missed: list[str] = []
    stored: dict[str, str | None] = {}
    ends = time.monotonic() + 60 * minutes
    with _running(setup, {"direct"}) as target:
        while time.monotonic() < ends and not missed:
            fault = chance.choice(chance.choice([faults, _SWAPS]))
            missed += _try(fault, target, stored, timed=False)
    return missed


@click.command()
@click.option("--only", multiple=True, default=[""], help="Only faults whose name contains this.")
@click.option("--soak", "minutes", type=float, help="Faults and swaps by chance, so many minutes.")
@click.option("--seed", type=int, help="That of a soak that is to be repeated.")
def main(only: tuple[str, ...], minutes: float | None, seed: int | None) -> None:
    """Run all faults, print a row for each, and exit with 1 if a goal was missed."""
    shutil.rmtree(_LOGS, ignore_errors=True)
    _LOGS.mkdir(parents=True)
    installed = {"direct": True, "nginx": NGINX, "faketime": shutil.which("faketime")}
    click.echo(Table(_COLUMNS, []).markdown())
    missed: list[str] = []
    if minutes:
        missed += _soak(minutes, seed if seed is not None else random.randrange(1_000_000))
    for setup in () if minutes else SETUPS:
        faults = [fault for fault in setup.faults if any(part in fault.name for part in only)]
        for fault in list(faults):
            if not installed[fault.way]:
                click.echo(f"{fault.way} is not installed: left out: {fault.name}", err=True)
                faults.remove(fault)
        missed += _try_all(setup, faults)
    click.echo("\nGoals missed: " + ("" if missed else "none"))
    for one in missed:
        click.echo(f"- {one}")
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
