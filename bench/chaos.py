"""Injects faults under load, and checks what searches and writes get meanwhile.

    make chaos ONLY=Redis
    make chaos-commands KILLS=50
    make soak MINUTES=60 SEED=7

Each starts its own engines and service, sends the requests of `bench.clients`, and exits with 1 if
a goal was missed. The first injects each fault after a few seconds, heals it later, and prints a
row for it. The second kills commands that change the index. The third repeats random faults and
swaps on one service; it prints its seed. In all of them no acknowledged write may be lost, and no
answer may be wrong. Logs are kept in build/chaos.
"""

import random
import shutil
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

import click
import requests
from elasticsearch import Elasticsearch

from bench.clients import COMMENTED, Clients, Response, Written
from bench.faults import ALIAS, COMMANDS, SETUPS, SWAPS, Fault, Setup, Target, end, killed
from bench.results import echo_header, echo_row, exit_with
from bench.service import TOKEN
from devstack.servers import REPOSITORY, elasticsearch_nodes, gunicorn, redis_server
from tests.tcp import forward, listening

_LOGS = REPOSITORY / "build" / "chaos"
_BEFORE, _AFTER = 3.0, 6.0  # seconds of load before a fault and after it is healed
_ASKED = 2.0  # seconds without writes before an outage
_KNOWN = 4.0  # seconds until an outage must be known, and a new worker must serve


@contextmanager
def _running(setup: Setup) -> Iterator[Target]:
    """Run engines and services with two generations; the first one is for `rollback`."""
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
        if setup.has_proxy:
            address = "127.0.0.1", nodes[0].port

            def passes(data: bytes) -> bool:
                if target.before:
                    target.before(data)
                return True

            port = stack.enter_context(listening(lambda near: forward(near, address, passes)))
            environment["ELASTICSEARCH_URL"] = f"http://127.0.0.1:{port}"
        for nth in range(setup.hosts):
            variables = dict(environment)
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


def _try(fault: Fault, target: Target, written: Written) -> list[str]:
    """Try a fault and print its row; return the goals that were missed.

    Args:
        written: earlier writes, which must not be lost either.
    """
    written.forget()
    clients = Clients([server.url for server in target.servers], written)
    try:
        time.sleep(_BEFORE)
        if fault.outage:
            clients.pause_writing(_ASKED)
        began = time.monotonic()
        with fault.broken(target):
            broken = time.monotonic()
            clients.resume_writing()
            time.sleep(fault.seconds)
        healed = time.monotonic()
        time.sleep(_AFTER / 2)
        # From here on no write brings Redis up to date.
        clients.stop_writing()
        time.sleep(_AFTER / 2 + fault.grace)
    finally:
        clients.end()
    responses = clients.responses
    lost = written.missing(target.elastic, ALIAS)
    answers = [one for one in responses if one.kind == "read" and one.status == 200]
    wrong = list(written.wrong(answers, fault.grace))
    kinds = [kind for kind, _ in wrong]
    counts = [clients.acknowledged, len(lost), kinds.count("stale"), kinds.count("back")]
    echo_row([fault.name, *_cells(responses), *(f"{count:,}" for count in counts)])
    counted = Counter(
        f"{response.kind}: {response.status} {response.state}"
        for response in responses
        if response.failed or (response.status == 503 and response.kind not in fault.refused)
    )
    missed = [f"lost: {path}" for path in lost]
    missed += [f"{count} x {what}" for what, count in counted.items()]
    if wrong:
        history = written.writes[wrong[0][1].name]
        missed.append(f"{len(wrong)} wrong answers, such as {wrong[0]} after {history}")
    known = began + _KNOWN
    kept = [one for one in responses if one.status == 200 and one.state in ("HIT", "STALE")]
    if fault.outage and not any(known < one.began < healed for one in kept):
        missed.append("no cached answer was served")
    at_once = [one for one in kept if broken < one.began and one.ended < broken + _KNOWN]
    if fault.outage and not at_once:
        missed.append(f"no cached answer was served within {_KNOWN:.0f} s")
    return [f"{fault.name}: {goal}" for goal in missed]


_COLUMNS = [
    *("fault", "searches", "failed", "503", "`STALE`", "slowest, s", "failed writes"),
    *("acknowledged", "lost", "stale", "back"),
]


def _cells(responses: Sequence[Response]) -> list[str]:
    searches = [response for response in responses if response.kind not in ("write", "alive")]
    answered = [response.seconds for response in searches if response.status == 200]
    return [
        f"{len(searches):,}",
        f"{sum(response.failed for response in searches)}",
        f"{sum(response.status == 503 for response in searches):,}",
        f"{sum(response.state == 'STALE' for response in searches):,}",
        f"{max(answered, default=0):.2f}",
        f"{sum(response.failed for response in responses if response.kind == 'write')}",
    ]


def _try_all(setup: Setup, faults: Sequence[Fault]) -> list[str]:
    """Print the rows of these faults, and return the goals that were missed.

    After an unexpected error the remaining faults are tried with new engines.
    """
    missed: list[str] = []
    waiting = list(faults)
    while waiting:
        try:
            with _running(setup) as target:
                written = Written()
                while waiting:
                    missed += _try(waiting[0], target, written)
                    del waiting[0]
        except Exception as error:  # noqa: BLE001 -- the other faults are measured in any case
            name = waiting.pop(0).name if waiting else "the end"
            missed.append(f"{name}: not measured: {type(error).__name__}: {error}")
            traceback.print_exc()
    return missed


def _soak(minutes: float, seed: int) -> list[str]:
    """Try random faults and swaps until the time is over; return the goals that were missed."""
    click.echo(f"seed {seed}", err=True)
    chance = random.Random(seed)
    missed: list[str] = []
    with _running(SETUPS[0]) as target:
        written = Written()
        ends = time.monotonic() + 60 * minutes
        while time.monotonic() < ends:
            fault = chance.choice(chance.choice([SETUPS[0].faults, SWAPS]))
            missed += _try(fault, target, written)
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
        exit_with(_try_all(SETUPS[0], faults))
    missed: list[str] = []
    for setup in SETUPS:
        missed += _try_all(setup, [fault for fault in setup.faults if only in fault.name])
    exit_with(missed)


if __name__ == "__main__":
    main()
