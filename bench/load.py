"""More requests than the service can answer: its errors, its times, its memory, its recovery.

    make load SECONDS=60

Needs ELASTICSEARCH_URL; starts a Redis and a service of its own with the sample posts. For each mix
of searches it finds the highest rate that the machine holds, then sends that rate, twice that rate,
and half of it. Searches are sent at fixed times, however long the answers take, and the time of one
counts from the moment at which it was due.

Exits with 1 if a status was other than 200, 429 or 503, if the memory of the workers grew, or if
searches at half the rate are not answered again.
"""

import itertools
import statistics
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import click
import requests

from bench.load_generator import Answer, send
from bench.relevance import SAMPLE
from bench.results import Table
from bench.service import indexed, serving
from devstack.servers import Gunicorn, redis_server

CACHED = [
    f"/search?q={first}+{second}"
    for first, second in itertools.product(
        ["python", "juggling", "bread", "music", "cycling", "garden", "tea", "date"],
        ["", "first", "idea", "notes", "how", "year"],
    )
]
MIXES = {"cached": 0, "one of five new": 5, "new": 1}
"""Of so many searches one was never sent before; 0: none."""

_CONNECTIONS = 1_500
# The share of the searches that are answered within so many seconds at a held rate.
_SHARE, _HELD_WITHIN = 0.99, 0.25
_FIRST_RATE, _TRIAL = 25.0, 10.0  # searches a second, and for how many seconds each rate is tried
_LOWER = 0.9  # a rate that is held in a trial may be a little too high for longer
_GROWTH = 1.2  # of the memory; it may also grow by what _CONNECTIONS need
_CONNECTION_MB = 0.05
_RECOVERY = "half, after it"


def _send(url: str, every: int, rate: float, seconds: float) -> list[Answer]:
    """The answers to searches at a rate, the `every`-th of them new."""
    run, cached = time.time_ns(), itertools.cycle(CACHED)
    paths = [
        f"/search?q=post+{run:x}+{number:x}" if every and number % every == 0 else next(cached)
        for number in range(int(rate * seconds) + 1)
    ]
    return send(url, paths, seconds, _CONNECTIONS, rate)


def _held(answers: list[Answer]) -> bool:
    in_time = sum(answer.status == 200 and answer.seconds < _HELD_WITHIN for answer in answers)
    return in_time >= _SHARE * len(answers)


def _highest_rate(url: str, every: int) -> float:
    """The highest rate that is held: doubled until it is not, then lowered until it is again."""
    rate = _FIRST_RATE
    while _held(_send(url, every, rate, _TRIAL)):
        rate *= 2
    while rate > 1:
        time.sleep(1)
        rate *= 0.8
        if _held(_send(url, every, rate, _TRIAL)):
            break
    return rate


@contextmanager
def _memory(served: Gunicorn) -> Iterator[list[float]]:
    """Megabytes of all workers together, once a second."""
    megabytes: list[float] = []
    stop = threading.Event()

    def watch() -> None:
        while not stop.wait(1):
            megabytes.append(sum(worker.memory_info().rss for worker in served.workers()) / 1e6)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield megabytes
    finally:
        stop.set()
        thread.join()


_COLUMNS = [
    "searches",
    "load",
    "rate, 1/s",
    "sent",
    "200",
    "503",
    "429",
    "other",
    "median, s",
    "99 %, s",
    "slowest, s",
    "slowest 503, s",
    "memory: first / highest / last, MB",
]


def _row(mix: str, load: str, rate: float, answers: list[Answer], memory: list[float]) -> list[str]:
    statuses = Counter(answer.status for answer in answers)
    good = sorted(answer.seconds for answer in answers if answer.status == 200) or [0.0]
    refused = [answer.seconds for answer in answers if answer.status == 503]
    counts = [len(answers), statuses[200], statuses[503], statuses[429]]
    counts.append(2 * counts[0] - sum(counts))
    return [
        *(mix, load, f"{rate:.0f}"),
        *(f"{count:,}" for count in counts),
        f"{statistics.median(good):.3f}",
        f"{good[int(0.99 * (len(good) - 1))]:.2f}",
        f"{good[-1]:.2f}",
        f"{max(refused):.2f}" if refused else "",
        f"{memory[0]:.0f} / {max(memory):.0f} / {memory[-1]:.0f}" if memory else "",
    ]


def _missed(answers: list[Answer], memory: list[float], load: str) -> list[str]:
    """The goals that were missed."""
    missed = [
        f"{count} x {status or 'no answer'}"
        for status, count in Counter(answer.status for answer in answers).items()
        if status not in (200, 429, 503)
    ]
    if memory and memory[-1] > memory[0] * _GROWTH + _CONNECTIONS * _CONNECTION_MB:
        missed.append(f"the memory grew from {memory[0]:.0f} to {memory[-1]:.0f} MB")
    if load == _RECOVERY and not _held(answers):
        missed.append("not all searches are answered in time after the overload")
    return missed


@contextmanager
def serving_sample() -> Iterator[Gunicorn]:
    """A service of two workers with the sample posts and a Redis of its own, in which the answers
    of `CACHED` are."""
    with (
        redis_server() as cache,
        indexed(SAMPLE[0]) as alias,
        serving(alias, workers=2, redis_url=cache.url) as served,
    ):
        for path in CACHED:
            requests.get(served.url + path, timeout=30)
        yield served


@click.command()
@click.option("--seconds", default=60.0, help="How long each rate is sent.")
@click.option("--mix", type=click.Choice([*MIXES, ""]), default="", help="Only this one.")
def main(seconds: float, mix: str) -> None:
    """Print a row for each mix and load, and exit with 1 if a goal was missed."""
    click.echo(Table(_COLUMNS, []).markdown())
    missed: list[str] = []
    with serving_sample() as served:
        for name, every in MIXES.items():
            if mix not in ("", name):
                continue
            highest = _highest_rate(served.url, every)
            for load, times in (("highest", 1.0), ("twice", 2.0), (_RECOVERY, 0.5)):
                lasts = seconds if times >= 1 else min(seconds, 10.0)
                with _memory(served) as memory:
                    answers = _send(served.url, every, times * highest, lasts)
                    while load == "highest" and not _held(answers):
                        highest *= _LOWER
                        answers = _send(served.url, every, highest, lasts)
                cells = _row(name, load, times * highest, answers, memory)
                click.echo(f"| {' | '.join(cells)} |")
                missed += [f"{name}, {load}: {goal}" for goal in _missed(answers, memory, load)]
    click.echo("\nGoals missed: " + ("" if missed else "none"))
    for goal in missed:
        click.echo(f"- {goal}")
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
