"""The load generator: clients in a process of their own."""

import itertools
import os
import re
import time
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from types import MappingProxyType
from urllib.parse import urlsplit

import gevent  # type: ignore[import-untyped]
from gevent import socket
from gevent.pool import Pool  # type: ignore[import-untyped]

CONNECTIONS = 16
"""Clients of `highest_rate`."""

_TIMEOUT = 20.0  # seconds that an answer may take
_TICK = 0.001  # seconds after which requests that are due are sent
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_NO_HEADERS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Answer:
    """`due`: seconds from the beginning; `seconds`: from then to the end; status 0: none."""

    due: float
    seconds: float
    status: int


def send(
    url: str,
    paths: Sequence[str],
    seconds: float,
    clients: int,
    rate: float | None = None,
    headers: Mapping[str, str] = _NO_HEADERS,
    niceness: int = 0,
) -> list[Answer]:
    """The answers to requests for these paths, one after the other.

    Args:
        seconds: after which no request is sent any more.
        clients: the connections, at most.
        rate: requests a second, which are sent at fixed times however long the answers take, as
            visitors do. None: each client sends a request when its last one is answered.
        niceness: by how much the priority of the clients is lowered.
    """
    with ProcessPoolExecutor(
        1, mp_context=get_context("spawn"), initializer=os.nice, initargs=(niceness,)
    ) as pool:
        return pool.submit(_send, url, paths, seconds, clients, rate, dict(headers)).result()


def send_beside(
    url: str,
    paths: Sequence[str],
    seconds: float,
    clients: int,
    beside: Sequence[str],
    others: int,
    rate: float | None = None,
    niceness: int = 0,
) -> tuple[list[Answer], list[Answer]]:
    """The answers to `send`, and to others who begin a second or two before it and end after it.

    Args:
        beside: the paths that `others` clients, of lower priority by `niceness`, always ask for.
    """
    with ThreadPoolExecutor(1) as pool:
        sent = pool.submit(send, url, beside, seconds + 4, others, niceness=niceness)
        time.sleep(2)
        return send(url, paths, seconds, clients, rate), sent.result()


def times_of(answers: Sequence[Answer]) -> list[float]:
    """The milliseconds of each answer.

    Raises:
        AssertionError: an answer is an error.
    """
    if wrong := [answer.status for answer in answers if answer.status != 200]:
        raise AssertionError(f"{len(wrong)} answers were not 200 but {set(wrong)}")
    return [answer.seconds * 1000 for answer in answers]


def highest_rate(
    url: str, paths: Sequence[str], seconds: float, headers: Mapping[str, str] = _NO_HEADERS
) -> float:
    """Answers a second to 16 clients, each of which waits for its answer.

    Raises:
        AssertionError: an answer is an error.
    """
    return len(times_of(send(url, paths, seconds, CONNECTIONS, headers=headers))) / seconds


# -- in the process of the generator -----------------------------------------------------------


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
        """When the next request is due, and its path."""
        if rate is not None:
            return waiting.popleft() if waiting else None
        return (now(), next(cycle)) if now() < seconds else None

    def work() -> None:
        connection = idle.pop() if idle else _Connection(url, headers)
        while request := take():
            due, path = request
            status = connection.get(path)
            answers.append(Answer(due, now() - due, status))
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
    """An HTTP connection that is kept for further requests, one at a time.

    The generator shares the cores with what it measures. geventhttpclient was tried: it takes 1.7
    times the CPU time for a request.
    """

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        parts = urlsplit(url)
        lines = {"Host": "localhost", **headers}
        self._head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        self._address = parts.hostname or "", parts.port or 80
        self._socket: socket.socket | None = None

    def get(self, path: str) -> int:
        """The status of the answer; 0 if there is none.

        The server may close a kept connection just before a request reaches it. Then the request
        is sent once more, as browsers and proxies do.
        """
        is_reused = self._socket is not None
        try:
            return self._get(path)
        except TimeoutError:
            self._close()
            return 0
        except OSError:
            self._close()
            return self.get(path) if is_reused else 0

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
