"""How long other visitors wait beside clients that send one request after the other.

    make fairness

Needs ELASTICSEARCH_URL; starts a Redis and a service of its own with the sample posts and two
workers. In each round the searches of others, whose answers are cached, are sent at a fixed rate,
once alone and once beside the clients, in changing order. These keep their connection, and send
the next search at once when the last one is answered; they run at the lowest priority, as clients
do on machines of their own. A warm-up round is dropped.

Exits with 1 if a search failed, a worker ended, or the 99th percentile of others is more than
100 ms higher beside the clients, in the median of all rounds.
"""

import os
import statistics
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import click
import requests

from bench.load import CACHED, serving_sample
from bench.load_generator import Answer, send, times_of
from bench.results import Table

_RATE = 50.0  # searches of others a second
_VISITORS = 16  # connections of others, at most
_MOST = 100.0  # milliseconds
_COLUMNS = ["round", "alone: 99 %, ms", "beside: 99 %, ms", "clients, 1/s"]


def _others(url: str, seconds: float) -> list[float]:
    return times_of(send(url, CACHED, seconds, _VISITORS, _RATE))


def _always_sending(url: str, seconds: float, clients: int) -> list[Answer]:
    os.nice(19)
    return send(url, CACHED, seconds, clients)


def _beside(url: str, seconds: float, clients: int) -> tuple[list[float], float]:
    """The milliseconds of others, and the searches a second of the clients."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        # They begin before the others and end after them.
        sent = pool.submit(_always_sending, url, seconds + 4, clients)
        requests.get(f"{url}/__lbheartbeat__", timeout=30)
        times = _others(url, seconds)
        return times, len(times_of(sent.result())) / (seconds + 4)


def _percentile(times: list[float]) -> float:
    return sorted(times)[int(0.99 * (len(times) - 1))]


@click.command()
@click.option("--clients", default=64, show_default=True, help="Clients that always send.")
@click.option("--rounds", default=10, show_default=True)
@click.option("--seconds", default=8.0, show_default=True, help="How long each measurement takes.")
def main(clients: int, rounds: int, seconds: float) -> None:
    """Print a row for each round, and exit with 1 if a goal was missed."""
    click.echo(Table(_COLUMNS, []).markdown())
    alone: list[float] = []
    beside: list[float] = []
    with serving_sample() as served:
        workers = served.workers()
        for number in range(rounds + 1):
            if number % 2:
                alone.append(_percentile(_others(served.url, seconds)))
            times, rate = _beside(served.url, seconds, clients)
            beside.append(_percentile(times))
            if not number % 2:
                alone.append(_percentile(_others(served.url, seconds)))
            if number:
                click.echo(f"| {number} | {alone[-1]:.0f} | {beside[-1]:.0f} | {rate:,.0f} |")
        ended = served.workers() != workers
    more = statistics.median(b - a for a, b in zip(alone[1:], beside[1:], strict=True))
    click.echo(f"\nmedian of the differences: {more:.0f} ms; workers ended: {ended}")
    sys.exit(ended or more > _MOST)


if __name__ == "__main__":
    main()
