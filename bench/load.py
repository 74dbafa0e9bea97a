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
_LOWER = 0.8
_GROWTH = 1.2  # of the memory; it may also grow by what _CONNECTIONS need
_CONNECTION_MB = 0.05
_LOADS = {"highest": 1.0, "twice": 2.0, "half, after it": 0.5}
_COLUMNS = [
    *("searches", "load", "rate, 1/s", "sent", "200", "503", "429", "other"),
    *("median, s", "99 %, s", "memory, MB"),
]


@main.command()
@click.option("--seconds", default=60.0, help="How long each rate is sent.")
def overload(seconds: float) -> None:
    """Print a row for each mix and load."""
    echo_header(_COLUMNS)
    missed: list[str] = []
    with serving_sample() as served:
        for mix, every in MIXES.items():
            highest = _highest_rate(served.url, every)
            memory = _megabytes(served)
            for load, times in _LOADS.items():
                answers = _send(served.url, every, times * highest, seconds)
                statuses = Counter(answer.status for answer in answers)
                after = _megabytes(served)
                echo_row([mix, load, f"{times * highest:.0f}", *_cells(answers), f"{after:.0f}"])
                missed += [
                    f"{mix}, {load}: {count} x {status or 'no answer'}"
                    for status, count in statuses.items()
                    if status not in (200, 429, 503)
                ]
            if after > memory * _GROWTH + _CONNECTIONS * _CONNECTION_MB:
                missed.append(f"{mix}: the memory grew from {memory:.0f} to {after:.0f} MB")
            if not _held(answers):
                missed.append(f"{mix}: not all are answered in time after the overload")
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
    while rate > 1 and not _held(_send(url, every, rate, _TRIAL)):
        rate *= _LOWER
    return rate


def _megabytes(served: Gunicorn) -> float:
    """Of all workers together."""
    return sum(float(worker.memory_info().rss) for worker in served.workers()) / 1e6


def _cells(answers: list[Answer]) -> list[str]:
    statuses = Counter(answer.status for answer in answers)
    good = [answer.seconds for answer in answers if answer.status == 200] or [0.0]
    counts = [len(answers), statuses[200], statuses[503], statuses[429]]
    counts.append(2 * counts[0] - sum(counts))
    times = f"{statistics.median(good):.3f}", f"{percentile(good, 0.99):.2f}"
    return [*(f"{count:,}" for count in counts), *times]


# -- fairness ----------------------------------------------------------------------------------

_RATE = 50.0  # searches of others a second
_VISITORS = 16  # connections of others, at most
_ROUNDS, _SECONDS = 10, 8.0
_MOST = 100.0  # milliseconds
_LOWEST_PRIORITY = 19


@main.command()
@click.option("--clients", default=64, show_default=True, help="Clients that always send.")
def fairness(clients: int) -> None:
    """Print a row for each round."""
    echo_header(["", "alone: 99 %, ms", "beside: 99 %, ms"])
    with serving_sample() as served:
        url, workers = served.url, served.workers()

        def alone() -> list[Answer]:
            return send(url, CACHED, _SECONDS, _VISITORS, _RATE)

        def beside() -> list[Answer]:
            others = (CACHED, clients, _RATE, _LOWEST_PRIORITY)
            answers, sent = send_beside(url, CACHED, _SECONDS, _VISITORS, *others)
            times_of(sent)  # none failed
            return answers

        results = alternate(itertools.repeat({"alone": alone, "beside": beside}, _ROUNDS + 1))
        ended = served.workers() != workers
    differences = []
    for number, turns in enumerate(zip(results["alone"], results["beside"], strict=True), 1):
        first, second = (percentile(times_of(answers), 0.99) for answers in turns)
        echo_row([f"{number}", f"{first:.0f}", f"{second:.0f}"])
        differences.append(second - first)
    more = statistics.median(differences)
    click.echo(f"\nmedian of the differences: {more:.0f} ms")
    missed = [f"others wait {more:.0f} ms longer"] if more > _MOST else []
    exit_with([*missed, *(["a worker ended"] if ended else [])])


if __name__ == "__main__":
    main()
