"""Faults under load: what searches and writes get while an engine or a worker is broken.

    make chaos ONLY=Redis
    make chaos-commands KILLS=50
    make soak MINUTES=60 SEED=7

Each starts engines of its own, and exits with 1 if a goal was missed.

The first sends a steady stream to a service of two workers for each fault: searches whose answers
are cached, searches never sent before, writes, and health checks. The fault is injected after a few
seconds and healed later. A row is printed for each fault, and then one for each scenario of
`bench.histories`. The second kills commands (`bench.kills`). The third repeats faults and swaps of
the first setup by chance, on one service, and checks after each that every write that was
acknowledged since the beginning is there; its seed is printed. Logs are kept in build/chaos.
"""

import os
import random
import shutil
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import click
import requests
from elasticsearch import Elasticsearch

from bench import histories, kills
from bench.faults import ALIAS, LOGS, SAMPLE, SETUPS, SWAPS, Fault, Setup, Target, end
from bench.results import echo_header, echo_row, exit_with
from bench.stream import CACHED, TOKEN, Kind, Response, Stream, missing
from devstack.servers import elasticsearch_nodes, gunicorn, redis_server

_BEFORE, _AFTER = 3.0, 6.0  # seconds of load before a fault and after it is healed

# Seconds: when an outage has to be known, how soon a search is refused from then on, and how soon a
# new search is answered after it.
_KNOWN, _REFUSED_WITHIN, _ANSWERED_WITHIN = 4.0, 0.3, 2.0


@contextmanager
def _running(setup: Setup) -> Iterator[Target]:
    with ExitStack() as stack:
        nodes = stack.enter_context(
            elasticsearch_nodes(setup.nodes, heap=setup.heap, settings=setup.node_settings)
        )
        cache = stack.enter_context(redis_server())
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
        server = stack.enter_context(gunicorn(environment, log))
        target = Target(nodes, elastic, cache, server, environment)
        for _ in range(2):  # so that there is a previous generation
            end(target.command("reindex", str(SAMPLE)), "reindex")
        yield target


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

    def is_during(self, response: Response) -> bool:
        """Whether it was sent while the fault should have been known."""
        return self.began + _KNOWN < response.began < self.healed

    @property
    def refused_once_known(self) -> list[Response]:
        return list(filter(self.is_during, self.of("cached", "new", status=503)))

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
    for query in CACHED:
        requests.get(f"{target.server.url}/search", params={"q": query}, timeout=60)
    stream = Stream(target.server.url, stored=stored)
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
    *("fault", "searches", "failed", "503: cached / all", "stale"),
    *("slowest cached, s", "slowest new, s", "slowest 503 once known, s"),
    *("first new answer after, s", "writes: sent / acknowledged / failed / lost"),
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
        f"{len(trial.of('cached', status=503))} / {len(refused):,}",
        f"{sum(response.state == 'STALE' for response in searches):,}",
        slowest(trial.of("cached", status=200)),
        slowest(trial.of("new", status=200)),
        slowest(trial.refused_once_known),
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
    missed = [f"lost: {path}" for path in trial.lost]
    missed += [f"{count} x {what}" for what, count in counted.items()]
    if trial.fault.outage and not any(map(trial.is_during, trial.of("cached", status=200))):
        missed.append("no cached answer was served")
    return missed


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
            with _running(setup) as target:
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
    faults = [fault for fault in SETUPS[0].faults if fault.in_soak]
    missed: list[str] = []
    stored: dict[str, str | None] = {}
    ends = time.monotonic() + 60 * minutes
    with _running(SETUPS[0]) as target:
        while time.monotonic() < ends:
            fault = chance.choice(chance.choice([faults, SWAPS]))
            missed += _try(fault, target, stored, timed=False)
    return missed


@contextmanager
def _engine() -> Iterator[str]:
    """The address of a node, also for commands."""
    with elasticsearch_nodes(1, heap=SETUPS[0].heap) as nodes:
        os.environ["ELASTICSEARCH_URL"] = nodes[0].url
        yield nodes[0].url


@click.command()
@click.option("--only", default="", help="Only faults and commands whose name contains this.")
@click.option("--kills", "number", type=int, help="Kill each command so many times.")
@click.option("--soak", "minutes", type=float, help="Faults and swaps by chance, so many minutes.")
@click.option("--seed", type=int, help="That of a soak that is to be repeated.")
def main(only: str, number: int | None, minutes: float | None, seed: int | None) -> None:
    """Run all faults, print a row for each, and exit with 1 if a goal was missed."""
    shutil.rmtree(LOGS, ignore_errors=True)
    LOGS.mkdir(parents=True)
    if number:
        with _engine() as url:
            exit_with(kills.run(only, number, url))
    echo_header(_COLUMNS)
    if minutes:
        exit_with(_soak(minutes, random.randrange(1_000_000) if seed is None else seed))
    missed: list[str] = []
    for setup in SETUPS:
        missed += _try_all(setup, [fault for fault in setup.faults if only in fault.name])
    if any(only in scenario.name for scenario in histories.SCENARIOS):
        with _engine() as url:
            missed += histories.run(only, url)
    exit_with(missed)


if __name__ == "__main__":
    main()
