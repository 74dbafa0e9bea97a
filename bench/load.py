"""A service under load: more requests than it can answer, and clients that always send.

    make load SECONDS=60
    make fairness CLIENTS=64

Both need ELASTICSEARCH_URL, and start a Redis and a service of two workers with the sample posts.
They exit with 1 if a goal was missed.

`overload` finds for each mix of searches the highest rate that the machine holds, then sends that
rate, twice that rate, and half of it. Searches are sent at fixed times, however long the answers
take, and the time of one counts from the moment at which it was due. The goals: no other status
than 200, 429 and 503, no memory that grows, and half the rate is held again.

`fairness` sends in each round the searches of others, whose answers are cached, at a fixed rate,
alone and beside clients that send the next search when the last one is answered, at the lowest
priority, as clients do on machines of their own. The goals: no search fails, no worker ends, and
the 99th percentile of others is at most 100 ms higher beside the clients, in the median.
"""

import itertools
import statistics
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import click
import requests

from bench.load_generator import Answer, send, send_beside, times_of
from bench.relevance import SAMPLE
from bench.results import echo_header, echo_row, exit_with, percentile
from bench.service import indexed, serving
from bench.turns import alternate
from devstack.servers import Gunicorn, redis_server

CACHED = [
    f"/search?q={first}+{second}"
    for first, second in itertools.product(
        ["python", "juggling", "bread", "music", "cycling", "garden", "tea", "date"],
        ["", "first", "idea", "notes", "how", "year"],
    )
]


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


@click.group()
def main() -> None:
    """Measure a service under load."""


# -- overload ----------------------------------------------------------------------------------

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
_COLUMNS = [
    *("searches", "load", "rate, 1/s", "sent", "200", "503", "429", "other"),
    *("median, s", "99 %, s", "slowest, s", "slowest 503, s"),
    "memory: first / highest / last, MB",
]


@main.command()
@click.option("--seconds", default=60.0, help="How long each rate is sent.")
@click.option("--mix", type=click.Choice([*MIXES, ""]), default="", help="Only this one.")
def overload(seconds: float, mix: str) -> None:
    """Print a row for each mix and load."""
    echo_header(_COLUMNS)
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
                echo_row(_row(name, load, times * highest, answers, memory))
                missed += [f"{name}, {load}: {goal}" for goal in _missed(answers, memory, load)]
    exit_with(missed)


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


def _row(mix: str, load: str, rate: float, answers: list[Answer], memory: list[float]) -> list[str]:
    statuses = Counter(answer.status for answer in answers)
    good = [answer.seconds for answer in answers if answer.status == 200] or [0.0]
    refused = [answer.seconds for answer in answers if answer.status == 503]
    counts = [len(answers), statuses[200], statuses[503], statuses[429]]
    counts.append(2 * counts[0] - sum(counts))
    return [
        *(mix, load, f"{rate:.0f}"),
        *(f"{count:,}" for count in counts),
        f"{statistics.median(good):.3f}",
        f"{percentile(good, 0.99):.2f}",
        f"{max(good):.2f}",
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


# -- fairness ----------------------------------------------------------------------------------

_RATE = 50.0  # searches of others a second
_VISITORS = 16  # connections of others, at most
_MOST = 100.0  # milliseconds
_LOWEST_PRIORITY = 19


@main.command()
@click.option("--clients", default=64, show_default=True, help="Clients that always send.")
@click.option("--rounds", default=10, show_default=True)
@click.option("--seconds", default=8.0, show_default=True, help="How long each measurement takes.")
def fairness(clients: int, rounds: int, seconds: float) -> None:
    """Print a row for each round."""
    echo_header(["", "alone: 99 %, ms", "beside: 99 %, ms", "clients, 1/s"])
    with serving_sample() as served:
        url, workers = served.url, served.workers()

        def alone() -> tuple[list[Answer], list[Answer]]:
            return send(url, CACHED, seconds, _VISITORS, _RATE), []

        def beside() -> tuple[list[Answer], list[Answer]]:
            return send_beside(
                url, CACHED, seconds, _VISITORS, CACHED, clients, _RATE, _LOWEST_PRIORITY
            )

        results = alternate(itertools.repeat({"alone": alone, "beside": beside}, rounds + 1))
        ended = served.workers() != workers
    differences = []
    for number, turns in enumerate(zip(results["alone"], results["beside"], strict=True), 1):
        first, second = (percentile(times_of(answers), 0.99) for answers, _ in turns)
        rate = len(times_of(turns[1][1])) / (seconds + 4)
        echo_row([f"{number}", f"{first:.0f}", f"{second:.0f}", f"{rate:,.0f}"])
        differences.append(second - first)
    more = statistics.median(differences)
    click.echo(f"\nmedian of the differences: {more:.0f} ms")
    missed = [f"others wait {more:.0f} ms longer"] if more > _MOST else []
    exit_with([*missed, *(["a worker ended"] if ended else [])])


if __name__ == "__main__":
    main()
