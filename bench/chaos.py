"""Faults under load: what searches and writes get while an engine or a worker is broken.

    make chaos ONLY=Redis
    make chaos-commands KILLS=50
    make soak MINUTES=60 SEED=7

Each starts engines and a service of its own, sends it the requests of `bench.clients`, and exits
with 1 if a goal was missed. The first injects each fault after a few seconds, heals it later, and
prints a row for it. The second kills commands that change the index. The third repeats faults and
swaps by chance, on one service; its seed is printed. In all of them nothing that was acknowledged
may be lost, and no answer may be wrong. Logs are kept in build/chaos.
"""

import random
import shutil
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import click
import requests
from elasticsearch import Elasticsearch

from bench.clients import COMMENTED, Clients, Kind, Response, Written
from bench.faults import ALIAS, COMMANDS, SETUPS, SWAPS, Fault, Setup, Target, end, killed
from bench.results import echo_header, echo_row, exit_with
from bench.service import TOKEN
from devstack.servers import REPOSITORY, elasticsearch_nodes, gunicorn, redis_server
from tests.tcp import forward, listening

_LOGS = REPOSITORY / "build" / "chaos"
_BEFORE, _AFTER = 3.0, 6.0  # seconds of load before a fault and after it is healed

# Seconds: when an outage has to be known, how soon a search is refused from then on, and how soon a
# new search is answered after it.
_KNOWN, _REFUSED_WITHIN, _ANSWERED_WITHIN = 4.0, 0.3, 2.0


@contextmanager
def _running(setup: Setup) -> Iterator[Target]:
    """Engines and services with two generations, of which the former is for `rollback`."""
    with ExitStack() as stack:
        heap = "768m" if setup.nodes == 1 else "512m"
        nodes = stack.enter_context(elasticsearch_nodes(setup.nodes, heap=heap))
        urls = ",".join(node.url for node in nodes)
        environment = {
            "ELASTICSEARCH_URL": urls,
            "REDIS_URL": "",
            "BLOGSEARCH_INDEX": ALIAS,
            "BLOGSEARCH_REPLICAS": str(min(setup.nodes - 1, 1)),
            "BLOGSEARCH_SYNONYMS_DIR": str(_LOGS),
            "BLOGSEARCH_WRITE_TOKENS": TOKEN,
        }
        elastic = stack.enter_context(Elasticsearch(urls.split(","), request_timeout=60))
        target = Target(_LOGS, nodes, elastic, [], [], environment, stack)
        for _ in range(2):
            end(target.start("reindex"), "reindex")
        through = urls
        if setup.has_proxy:
            address = "127.0.0.1", nodes[0].port

            def passes(data: bytes) -> bool:
                if target.before:
                    target.before(data)
                return True

            port = stack.enter_context(listening(lambda near: forward(near, address, passes)))
            through = f"http://127.0.0.1:{port}"
        for nth in range(setup.hosts):
            variables = {**environment, "ELASTICSEARCH_URL": through}
            if setup.has_redis:
                target.caches.append(stack.enter_context(redis_server()))
                variables["REDIS_URL"] = target.caches[nth].url
            log = _LOGS / f"{setup.faults[0].name}-{nth}.log"
            target.servers.append(stack.enter_context(gunicorn(variables, log)))
        url, headers = target.servers[0].url, {"Authorization": f"Bearer {TOKEN}"}
        path = f"/documents/{COMMENTED}"
        made = requests.put(url + path, json={"title": "Commented"}, headers=headers, timeout=60)
        made.raise_for_status()
        yield target


@dataclass(frozen=True, slots=True)
class Trial:
    """What clients got during a fault, injected and healed at these times.

    `lost`: what was acknowledged and is not there. `wrong`: answers, and how they are wrong.
    """

    fault: Fault
    responses: list[Response]
    acknowledged: int
    lost: list[str]
    wrong: list[tuple[str, Response]]
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
        return list(filter(self.is_during, self.of("read", "new", status=503)))

    @property
    def first_answer(self) -> float | None:
        """Seconds from the end of the fault to the first answer to a new search sent after it."""
        answers = (one for one in self.of("new", status=200) if one.began >= self.healed)
        return min((answer.ended - self.healed for answer in answers), default=None)


def _try(fault: Fault, target: Target, written: Written, *, timed: bool = True) -> list[str]:
    """Print the row of a fault; the goals that were missed.

    Args:
        written: before, which must be there, too.
        timed: whether the goals for times hold.
    """
    written.forget()
    clients = Clients([server.url for server in target.servers], written)
    try:
        time.sleep(_BEFORE)
        began = time.monotonic()
        with fault.broken(target):
            time.sleep(fault.seconds)
        healed = time.monotonic()
        time.sleep(_AFTER / 2)
        # No write tells Redis any more what it does not know.
        clients.stop_writing()
        time.sleep(_AFTER / 2 + fault.grace)
    finally:
        clients.end()
    responses = clients.responses
    lost = written.missing(target.elastic, ALIAS)
    read = [
        response for response in responses if response.kind == "read" and response.status == 200
    ]
    wrong = list(written.wrong(read, fault.grace))
    trial = Trial(fault, responses, clients.acknowledged, lost, wrong, began, healed)
    echo_row(_row(trial))
    missed = _missed(trial) + (_missed_times(trial) if timed else [])
    return [f"{fault.name}: {goal}" for goal in missed]


_COLUMNS = [
    *("fault", "searches", "failed", "503", "`STALE`", "stale", "back"),
    *("slowest, s", "slowest 503 once known, s", "first new answer after, s"),
    "writes: acknowledged / failed / lost",
]


def _row(trial: Trial) -> list[str]:
    def slowest(responses: list[Response]) -> str:
        return f"{max(response.seconds for response in responses):.2f}" if responses else ""

    searches, writes = trial.of("read", "new", "all"), trial.of("write")
    kinds = [kind for kind, _ in trial.wrong]
    first = trial.first_answer
    return [
        trial.fault.name,
        f"{len(searches):,}",
        f"{sum(response.failed for response in searches)}",
        f"{sum(response.status == 503 for response in searches):,}",
        f"{sum(response.state == 'STALE' for response in searches):,}",
        *(f"{kinds.count(kind)}" for kind in ("stale", "back")),
        slowest(trial.of("read", "new", "all", status=200)),
        slowest(trial.refused_once_known),
        "never" if first is None else f"{first:.2f}",
        f"{trial.acknowledged} / {sum(write.failed for write in writes)} / {len(trial.lost)}",
    ]


def _missed(trial: Trial) -> list[str]:
    """What was lost or wrong, and what failed or was refused without need."""
    counted = Counter(
        f"{response.kind}: {response.status} {response.state}"
        for response in trial.responses
        if response.failed or (response.status == 503 and response.kind not in trial.fault.refused)
    )
    missed = [f"lost: {path}" for path in trial.lost]
    missed += [f"{count} x {what}" for what, count in counted.items()]
    if trial.wrong:
        missed.append(f"{len(trial.wrong)} wrong answers, such as {trial.wrong[0]}")
    if trial.fault.outage and not any(map(trial.is_during, trial.of("read", status=200))):
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


def _try_all(setup: Setup, faults: Sequence[Fault], *, timed: bool = True) -> list[str]:
    """Print the rows of these faults; the goals that were missed.

    After an unexpected error the others are tried with other engines.
    """
    missed: list[str] = []
    waiting = list(faults)
    while waiting:
        try:
            with _running(setup) as target:
                written = Written()
                while waiting:
                    missed += _try(waiting[0], target, written, timed=timed)
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
    missed: list[str] = []
    with _running(SETUPS[0]) as target:
        written = Written()
        ends = time.monotonic() + 60 * minutes
        while time.monotonic() < ends:
            fault = chance.choice(chance.choice([SETUPS[0].faults, SWAPS]))
            missed += _try(fault, target, written, timed=False)
    return missed


@click.command()
@click.option("--only", default="", help="Only faults and commands whose name contains this.")
@click.option("--kills", type=int, help="Kill each command so many times.")
@click.option("--soak", "minutes", type=float, help="Faults and swaps by chance, so many minutes.")
@click.option("--seed", type=int, help="That of a soak that is to be repeated.")
def main(only: str, kills: int | None, minutes: float | None, seed: int | None) -> None:
    """Run all faults, print a row for each, and exit with 1 if a goal was missed."""
    shutil.rmtree(_LOGS, ignore_errors=True)
    _LOGS.mkdir(parents=True)
    echo_header(_COLUMNS)
    if minutes:
        exit_with(_soak(minutes, random.randrange(1_000_000) if seed is None else seed))
    if kills:
        faults = [killed(word, kills) for word in COMMANDS if only in word]
        exit_with(_try_all(SETUPS[0], faults, timed=False))
    missed: list[str] = []
    for setup in SETUPS:
        missed += _try_all(setup, [fault for fault in setup.faults if only in fault.name])
    exit_with(missed)


if __name__ == "__main__":
    main()
