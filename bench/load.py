"""Measures a service under load: its answers to more searches than it can handle.

    make load SECONDS=60

Needs ELASTICSEARCH_URL; starts a Redis and a service of two workers with the sample posts. Finds
the highest rate that the machine holds for each mix of searches, then sends that rate, twice that
rate, and half of it. Searches are sent at fixed times, however long the answers take, and each is
timed from the moment at which it was due. Exits with 1 if a goal was missed: only the statuses 200,
429 and 503, no growth of memory, and half the rate is held again.
"""

import itertools
import re
import statistics
import time
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import urlsplit

import click
import gevent  # type: ignore[import-untyped]
from gevent import socket
from gevent.pool import Pool  # type: ignore[import-untyped]

from bench.relevance import SAMPLE
from bench.results import echo_header, echo_row, exit_with, percentile
from bench.service import fill_cache, indexed, serving
from devstack.servers import Gunicorn, redis_server

_CLIENTS = 16  # for `highest_rate`
_TIMEOUT = 20.0  # seconds that an answer may take
_TICK = 0.001  # seconds between two checks for requests that are due
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_NO_HEADERS: Mapping[str, str] = MappingProxyType({})


# -- the generator -----------------------------------------------------------------------------


class Answer(NamedTuple):
    """`seconds`: from the time it was due to its end; `status` 0: no answer."""

    seconds: float
    status: int


def send(
    url: str,
    paths: Sequence[str],
    seconds: float,
    clients: int,
    rate: float | None = None,
    headers: Mapping[str, str] = _NO_HEADERS,
) -> list[Answer]:
    """Request these paths in turn, by clients in a separate process, and return the answers.

    Args:
        seconds: how long to send requests.
        clients: the maximum number of connections.
        rate: requests per second, sent at fixed times however long the answers take, as visitors
            do. None: each client sends a request when its last one is answered.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_send, url, paths, seconds, clients, rate, dict(headers)).result()


def highest_rate(
    url: str, paths: Sequence[str], seconds: float, headers: Mapping[str, str] = _NO_HEADERS
) -> float:
    """Return the answers per second to clients that wait for each answer.

    Raises:
        AssertionError: an answer is an error.
    """
    answers = send(url, paths, seconds, _CLIENTS, headers=headers)
    if wrong := {answer.status for answer in answers} - {200}:
        raise AssertionError(f"some answers were not 200 but {wrong}")
    return len(answers) / seconds


def _send(
    url: str,
    paths: Sequence[str],
    seconds: float,
    clients: int,
    rate: float | None,
    headers: Mapping[str, str],
) -> list[Answer]:
    answers: list[Answer] = []
    idle: list[_Connection] = []
    waiting: deque[tuple[float, str]] = deque()
    cycle = itertools.cycle(paths)
    begun = time.monotonic()

    def now() -> float:
        return time.monotonic() - begun

    def take() -> tuple[float, str] | None:
        """Return when the next request is due, and its path."""
        if rate is not None:
            return waiting.popleft() if waiting else None
        return (now(), next(cycle)) if now() < seconds else None

    def work() -> None:
        connection = idle.pop() if idle else _Connection(url, headers)
        while request := take():
            due, path = request
            status = connection.get(path)
            answers.append(Answer(now() - due, status))
        idle.append(connection)

    pool = Pool(clients)
    if rate is None:
        for _ in range(clients):
            pool.spawn(work)
    else:
        number = 0
        while number / rate < seconds:
            while number / rate <= now() and number / rate < seconds:
                waiting.append((number / rate, next(cycle)))
                number += 1
            for _ in range(min(len(waiting), pool.free_count())):
                pool.spawn(work)
            gevent.sleep(_TICK)
    pool.join(raise_error=True)
    return answers


class _Connection:
    """A persistent HTTP connection for one request at a time.

    The generator shares the cores with the measured service. geventhttpclient was tried: it takes
    1.7 times the CPU time for a request.
    """

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        parts = urlsplit(url)
        lines = {"Host": "localhost", **headers}
        self._head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        self._address = parts.hostname or "", parts.port or 80
        self._socket: socket.socket | None = None

    def get(self, path: str) -> int:
        """Request a path, and return the status of the answer; 0 if there is none.

        The server may close a persistent connection just before a request arrives. Then the request
        is sent once more, as browsers and proxies do.
        """
        is_reused = self._socket is not None
        try:
            return self._get(path)
        except OSError as error:
            self._close()
            is_late = isinstance(error, TimeoutError)
            return self.get(path) if is_reused and not is_late else 0

    def _get(self, path: str) -> int:
        if self._socket is None:
            self._socket = socket.create_connection(self._address, timeout=_TIMEOUT)
        self._socket.sendall(f"GET {path} HTTP/1.1\r\n{self._head}\r\n".encode())
        received = b""
        while b"\r\n\r\n" not in received:
            received += self._receive()
        head, _, body = received.partition(b"\r\n\r\n")
        length = _LENGTH.search(head)
        missing = int(length[1]) - len(body) if length else 0
        while missing > 0:
            missing -= len(self._receive())
        if b"\r\nconnection: close" in head.lower():
            self._close()
        return int(head.split(maxsplit=2)[1])

    def _receive(self) -> bytes:
        assert self._socket
        received: bytes = self._socket.recv(65_536)
        if not received:
            raise ConnectionResetError("the server has closed the connection")
        return received

    def _close(self) -> None:
        if self._socket:
            self._socket.close()
        self._socket = None


# -- the measurement ---------------------------------------------------------------------------

CACHED = [
    f"/search?q={first}+{second}"
    for first in ("python", "juggling", "bread", "music", "cycling", "garden", "tea", "date")
    for second in ("first", "idea", "notes", "how", "year")
]
MIXES = {"cached": 0, "one of five new": 5, "new": 1}
"""One of so many searches is new; 0: none is."""

_CONNECTIONS = 1_500
# A rate is held if this share of the searches is answered within so many seconds.
_SHARE, _HELD_WITHIN = 0.99, 0.25
_FIRST_RATE, _TRIAL = 25.0, 10.0  # searches per second, and the seconds to try each rate
_LOWER = 0.8
_GROWTH = 1.2  # of the memory, besides the memory for _CONNECTIONS
_CONNECTION_MB = 0.05
_LOADS = {"highest": 1.0, "twice": 2.0, "half, after it": 0.5}
_COLUMNS = [
    *("searches", "load", "rate, 1/s", "sent", "200", "503", "429", "other"),
    *("median, s", "99 %, s", "memory, MB"),
]


def _send_mix(url: str, every: int, rate: float, seconds: float) -> list[Answer]:
    """Send searches at a rate, every `every`-th one new, and return the answers."""
    run, cached = time.time_ns(), itertools.cycle(CACHED)
    paths = [
        f"/search?q=post+{run:x}+{number:x}" if every and number % every == 0 else next(cached)
        for number in range(int(rate * seconds) + 1)
    ]
    return send(url, paths, seconds, _CONNECTIONS, rate)


def _held(answers: list[Answer]) -> bool:
    in_time = sum(answer.status == 200 and answer.seconds < _HELD_WITHIN for answer in answers)
    return in_time >= _SHARE * len(answers)


def _highest_held(url: str, every: int) -> float:
    """Return the highest rate that is held: doubled until it fails, then lowered until it holds."""
    rate = _FIRST_RATE
    while _held(_send_mix(url, every, rate, _TRIAL)):
        rate *= 2
    while rate > 1 and not _held(_send_mix(url, every, rate, _TRIAL)):
        rate *= _LOWER
    return rate


def _megabytes(served: Gunicorn) -> float:
    """Return the memory of all workers together."""
    return sum(float(worker.memory_info().rss) for worker in served.workers()) / 1e6


def _cells(answers: list[Answer]) -> list[str]:
    statuses = Counter(answer.status for answer in answers)
    good = [answer.seconds for answer in answers if answer.status == 200] or [0.0]
    counts = [statuses.pop(status, 0) for status in (200, 503, 429)]
    counts = [len(answers), *counts, statuses.total()]
    times = f"{statistics.median(good):.3f}", f"{percentile(good, 0.99):.2f}"
    return [*(f"{count:,}" for count in counts), *times]


@click.command()
@click.option("--seconds", default=60.0, help="How long each rate is sent.")
def main(seconds: float) -> None:
    """Print a row for each mix and load."""
    echo_header(_COLUMNS)
    missed: list[str] = []
    with (
        redis_server() as cache,
        indexed(SAMPLE[0]) as alias,
        serving(alias, workers=2, redis_url=cache.url) as served,
    ):
        for path in CACHED:
            fill_cache(served.url, path)
        for mix, every in MIXES.items():
            highest = _highest_held(served.url, every)
            memory = _megabytes(served)
            for load, times in _LOADS.items():
                answers = _send_mix(served.url, every, times * highest, seconds)
                after = _megabytes(served)
                echo_row([mix, load, f"{times * highest:.0f}", *_cells(answers), f"{after:.0f}"])
                others = {answer.status for answer in answers} - {200, 429, 503}
                missed += [f"{mix}, {load}: {status or 'no answer'}" for status in others]
            if after > memory * _GROWTH + _CONNECTIONS * _CONNECTION_MB:
                missed.append(f"{mix}: the memory grew from {memory:.0f} to {after:.0f} MB")
            if not _held(answers):
                missed.append(f"{mix}: not all are answered in time after the overload")
    exit_with(missed)


if __name__ == "__main__":
    main()
