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

import os
import random
import shutil
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import click
import psutil
import requests
from elasticsearch import Elasticsearch

from bench import histories
from bench.faults import (
    ALIAS,
    LOGS,
    NOT_IN_A_SOAK,
    SAMPLE,
    SETUPS,
    SWAPS,
    Fault,
    Setup,
    Target,
    end,
)
from bench.results import echo_header, echo_row, exit_with
from bench.stream import CACHED, TOKEN, Kind, Response, Stream, missing
from devstack.servers import (
    NGINX,
    Gunicorn,
    elasticsearch_nodes,
    gunicorn,
    new_certificates,
    nginx,
    redis_server,
)

_BEFORE, _AFTER = 3.0, 6.0  # seconds of load before a fault and after it is healed
_WORKERS = 2

# Seconds: when an outage has to be known, how soon a search is refused from then on, and how soon a
# new search is answered after it.
_KNOWN, _REFUSED_WITHIN, _ANSWERED_WITHIN = 4.0, 0.3, 2.0


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
            "BLOGSEARCH_INDEX": ALIAS,
            "BLOGSEARCH_REPLICAS": str(min(setup.nodes - 1, 1)),
            "BLOGSEARCH_WRITE_TOKENS": TOKEN,
            **setup.variables,
        }
        elastic = stack.enter_context(Elasticsearch(urls, request_timeout=60))
        log = LOGS / f"{setup.faults[0].name}.log"
        server = stack.enter_context(gunicorn(environment, log, workers=_WORKERS))
        proxy = ""
        if with_nginx:
            proxy = stack.enter_context(
                nginx(server.port, certificates.certificate, certificates.key)
            )
        authority = str(certificates.authority)
        target = Target(nodes, elastic, cache, server, proxy, authority, environment)
        for _ in range(2):  # so that there is a previous generation
            end(target.command("reindex", str(SAMPLE)), "reindex")
        yield target


def _await_workers(server: Gunicorn) -> None:
    """Wait until both workers serve: the former fault may have ended a worker."""
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
    lost = missing(stream.stored, target.elastic, ALIAS)
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
        if not fault.behind_nginx and fault.name not in NOT_IN_A_SOAK
    ]
    missed: list[str] = []
    stored: dict[str, str | None] = {}
    ends = time.monotonic() + 60 * minutes
    with _running(setup, with_nginx=False) as target:
        while time.monotonic() < ends and not missed:
            fault = chance.choice(chance.choice([faults, SWAPS]))
            missed += _try(fault, target, stored, timed=False)
    return missed


def _check_histories(only: str) -> list[str]:
    """Print the rows of the histories whose name contains `only`; what was wrong."""
    if not any(only in scenario.name for scenario in histories.SCENARIOS):
        return []
    with elasticsearch_nodes(1, heap=SETUPS[0].heap, settings={}) as nodes:
        os.environ["ELASTICSEARCH_URL"] = nodes[0].url
        return histories.run(only)


@click.command()
@click.option("--only", default="", help="Only faults whose name contains this.")
@click.option("--soak", "minutes", type=float, help="Faults and swaps by chance, so many minutes.")
@click.option("--seed", type=int, help="That of a soak that is to be repeated.")
def main(only: str, minutes: float | None, seed: int | None) -> None:
    """Run all faults, print a row for each, and exit with 1 if a goal was missed."""
    shutil.rmtree(LOGS, ignore_errors=True)
    LOGS.mkdir(parents=True)
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
    if not minutes:
        missed += _check_histories(only)
    exit_with(missed)


if __name__ == "__main__":
    main()
