"""More requests than the service can answer: its errors, its times, its memory, its recovery.

    make load SECONDS=60

Needs ELASTICSEARCH_URL; starts a Redis and a service of its own with the sample posts. For each mix
of searches it finds the highest rate that the machine holds, then sends that rate, twice that rate,
and half of it. The generator is open-loop: it sends at fixed times, however long the answers take,
as visitors do, and counts the time of a request from the moment at which it was due.

Exits with 1 if a status was other than 200, 429 or 503, if the memory of the workers grew, or if
searches at half the rate are not answered again.
"""

import asyncio
import itertools
import re
import statistics
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from urllib.parse import urlsplit

import click
import psutil
import requests

from bench.relevance import SAMPLE
from bench.service import indexed, serving
from devstack.servers import redis_server

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
_TIMEOUT = 20.0  # seconds from sending a search
_TICK = 0.001  # seconds after which searches that are due are sent
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
# The share of the searches that are answered within so many seconds at a held rate.
_SHARE, _HELD_WITHIN = 0.99, 0.25
_FIRST_RATE, _TRIAL = 25.0, 10.0  # searches a second, and for how many seconds each rate is tried
_LOWER = 0.9  # a rate that is held in a trial may be a little too high for longer
_GROWTH = 1.2  # of the memory; it may also grow by what _CONNECTIONS need
_CONNECTION_MB = 0.05


@dataclass(frozen=True, slots=True)
class Answer:
    """`due`: seconds from the first; `seconds`: from then to the end; status 0: no response."""

    due: float
    seconds: float
    status: int


# -- the generator, in a process of its own ----------------------------------------------------


def generate(port: int, every: int, rate: float, seconds: float) -> list[Answer]:
    """The answers to searches sent at a rate, the `every`-th of them new."""
    return asyncio.run(_generate(port, every, rate, seconds))


async def _generate(port: int, every: int, rate: float, seconds: float) -> list[Answer]:
    loop = asyncio.get_running_loop()
    number_of_all = int(rate * seconds)
    answers: list[Answer] = []
    waiting: deque[tuple[float, str]] = deque()
    connections: set[_Connection] = set()
    idle: list[_Connection] = []
    all_answered = asyncio.Event()
    begun = time.monotonic()

    def answered(due: float, status: int, connection: _Connection | None) -> None:
        answers.append(Answer(due, time.monotonic() - begun - due, status))
        if connection:
            idle.append(connection)
            send()
        if len(answers) == number_of_all:
            all_answered.set()

    def closed(connection: _Connection, unanswered: tuple[float, str] | None) -> None:
        connections.discard(connection)
        if connection in idle:
            idle.remove(connection)
        if not unanswered:
            return
        if connection.may_have_been_closed_before:
            waiting.appendleft(unanswered)
            send()
        else:
            answered(unanswered[0], 0, None)

    async def connect() -> None:
        connection = _Connection(answered, closed)
        try:
            await loop.create_connection(lambda: connection, "127.0.0.1", port)
        except OSError:
            if waiting:
                answered(waiting.popleft()[0], 0, None)
        else:
            connections.add(connection)
            idle.append(connection)
            send()

    def send() -> None:
        while waiting and idle:
            idle.pop().send(*waiting.popleft())
        some_more = min(len(waiting), _CONNECTIONS - len(connections)) - len(connecting)
        for _ in range(some_more):
            connecting.add(task := asyncio.create_task(connect()))
            task.add_done_callback(connecting.discard)

    connecting: set[asyncio.Task[None]] = set()
    looked = 0.0
    cached = itertools.cycle(CACHED)
    run = time.time_ns()
    number = 0
    while not all_answered.is_set():
        now = time.monotonic() - begun
        while number < number_of_all and number / rate <= now:
            new = every and number % every == 0
            path = f"/search?q=post+{run:x}+{number:x}" if new else next(cached)
            waiting.append((number / rate, path))
            number += 1
        send()
        if now - looked > 1:
            looked = now
            for connection in connections:
                if connection.waits_longer_than(_TIMEOUT):
                    connection.abort()
        await asyncio.sleep(_TICK)
    for connection in connections:
        connection.abort()
    return answers


class _Connection(asyncio.Protocol):
    """An HTTP connection that is kept for further requests, one at a time."""

    def __init__(
        self,
        answered: "Callable[[float, int, _Connection | None], None]",
        closed: "Callable[[_Connection, tuple[float, str] | None], None]",
    ) -> None:
        self._answered, self._closed = answered, closed
        self._transport: asyncio.Transport | None = None
        self._asked: tuple[float, str] | None = None
        self._sent = 0.0
        self._received = b""
        self._is_reused = self._is_aborted = False

    @property
    def may_have_been_closed_before(self) -> bool:
        """Whether the server may have closed the connection before the request reached it.

        A browser or a proxy sends the request again then.
        """
        return self._is_reused and not self._received and not self._is_aborted

    def send(self, due: float, path: str) -> None:
        self._asked, self._sent = (due, path), time.monotonic()
        assert self._transport
        self._transport.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())

    def waits_longer_than(self, seconds: float) -> bool:
        return self._asked is not None and time.monotonic() - self._sent > seconds

    def abort(self) -> None:
        self._is_aborted = True
        if self._transport:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, end, body = self._received.partition(b"\r\n\r\n")
        if not end or self._asked is None:
            return
        length = _LENGTH.search(head)
        if length is None or len(body) < int(length[1]):
            return
        due, _ = self._asked
        self._asked, self._received, self._is_reused = None, b"", True
        keeps = b"\r\nconnection: close" not in head.lower()
        self._answered(due, int(head.split(maxsplit=2)[1]), self if keeps else None)

    def connection_lost(self, _: Exception | None) -> None:
        self._closed(self, self._asked)


# -- phases ------------------------------------------------------------------------------------


def _send(port: int, every: int, rate: float, seconds: float) -> list[Answer]:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(generate, port, every, rate, seconds).result()


def _held(answers: list[Answer]) -> bool:
    in_time = sum(one.status == 200 and one.seconds < _HELD_WITHIN for one in answers)
    return in_time >= _SHARE * len(answers)


def _highest_rate(port: int, every: int) -> float:
    """The highest rate that is held: doubled until it is not, then lowered until it is again."""
    rate = _FIRST_RATE
    while _held(_send(port, every, rate, _TRIAL)):
        rate *= 2
    while rate > 1:
        time.sleep(1)
        rate *= 0.8
        if _held(_send(port, every, rate, _TRIAL)):
            break
    return rate


@contextmanager
def _memory(pid: int) -> Iterator[list[float]]:
    """Megabytes of all workers together, once a second."""
    seen: list[float] = []
    stop = threading.Event()

    def watch() -> None:
        while not stop.wait(1):
            workers = psutil.Process(pid).children()
            seen.append(sum(one.memory_info().rss for one in workers) / 1e6)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield seen
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


def _row(mix: str, load: str, rate: float, answers: list[Answer], memory: list[float]) -> str:
    statuses = Counter(one.status for one in answers)
    good = sorted(one.seconds for one in answers if one.status == 200) or [0.0]
    refused = [one.seconds for one in answers if one.status == 503]
    other = sum(count for status, count in statuses.items() if status not in (200, 429, 503))
    cells = [
        mix,
        load,
        f"{rate:.0f}",
        f"{len(answers):,}",
        f"{statuses[200]:,}",
        f"{statuses[503]:,}",
        f"{statuses[429]:,}",
        f"{other:,}",
        f"{statistics.median(good):.3f}",
        f"{good[int(0.99 * (len(good) - 1))]:.2f}",
        f"{good[-1]:.2f}",
        f"{max(refused):.2f}" if refused else "",
        f"{memory[0]:.0f} / {max(memory):.0f} / {memory[-1]:.0f}" if memory else "",
    ]
    return f"| {' | '.join(cells)} |"


def _missed(answers: list[Answer], memory: list[float], load: str) -> list[str]:
    """The goals that were missed."""
    found = [
        f"{count} x {status or 'no answer'}"
        for status, count in Counter(one.status for one in answers).items()
        if status not in (200, 429, 503)
    ]
    if memory and memory[-1] > memory[0] * _GROWTH + _CONNECTIONS * _CONNECTION_MB:
        found.append(f"the memory grew from {memory[0]:.0f} to {memory[-1]:.0f} MB")
    if load == _RECOVERY and not _held(answers):
        found.append("not all searches are answered in time after the overload")
    return found


_RECOVERY = "half, after it"


@click.command()
@click.option("--seconds", default=60.0, help="How long each rate is sent.")
@click.option("--mix", type=click.Choice([*MIXES, ""]), default="", help="Only this one.")
def main(seconds: float, mix: str) -> None:
    """Print a row for each mix and load, and exit with 1 if a goal was missed."""
    click.echo(f"| {' | '.join(_COLUMNS)} |")
    click.echo("| --- " * len(_COLUMNS) + "|")
    missed: list[str] = []
    with ExitStack() as stack:
        cache = stack.enter_context(redis_server())
        alias = stack.enter_context(indexed(SAMPLE[0]))
        served = stack.enter_context(serving(alias, workers=2, redis_url=cache.url))
        port = urlsplit(served.url).port or 0
        for path in CACHED:
            requests.get(served.url + path, timeout=30)
        for name, every in MIXES.items():
            if mix in ("", name):
                highest = _highest_rate(port, every)
                for load, times in (("highest", 1.0), ("twice", 2.0), (_RECOVERY, 0.5)):
                    lasts = seconds if times >= 1 else min(seconds, 10.0)
                    with _memory(served.pid) as memory:
                        answers = _send(port, every, times * highest, lasts)
                        while load == "highest" and not _held(answers):
                            highest *= _LOWER
                            answers = _send(port, every, highest, lasts)
                    click.echo(_row(name, load, times * highest, answers, memory))
                    missed += [f"{name}, {load}: {one}" for one in _missed(answers, memory, load)]
    click.echo("\nGoals missed: " + ("" if missed else "none"))
    for one in missed:
        click.echo(f"- {one}")
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
