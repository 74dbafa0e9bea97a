"""Load from other processes: wrk where it is installed, and clients in Python."""

import http.client
import itertools
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from elasticsearch import Elasticsearch

_CONNECTIONS = 16
_PROCESSES = 2


class Refused(AssertionError):
    """The answer is a 503."""


_CYCLE = """
local paths = {}
for line in io.lines(%r) do paths[#paths + 1] = line end
local next = 0
request = function()
  next = next %% #paths + 1
  return wrk.format("GET", paths[next])
end
"""


def has_wrk() -> bool:
    return shutil.which("wrk") is not None


def rate(url: str, paths: Sequence[str], seconds: float) -> float:
    """Answered requests per second for some paths of a server, one after the other.

    Raises:
        AssertionError: an answer was an error.
    """
    if not has_wrk():
        counted = get_all(url, paths, seconds, _CONNECTIONS)
        return len(counted) / seconds
    command = ["wrk", "-t2", f"-c{_CONNECTIONS}", f"-d{max(1, round(seconds))}s"]
    command += ["--timeout", "20s"]
    with tempfile.TemporaryDirectory() as folder:
        if len(paths) > 1:
            listed, script = Path(folder) / "paths", Path(folder) / "cycle.lua"
            listed.write_text("\n".join(paths))
            script.write_text(_CYCLE % str(listed))
            command += ["-s", str(script)]
        said = subprocess.run(
            [*command, url + paths[0]], capture_output=True, text=True, check=True
        ).stdout
    if "Non-2xx" in said or "Socket errors" in said:
        raise AssertionError(said)
    return float(said.partition("Requests/sec:")[2].split()[0])


def get_all(
    url: str, paths: Sequence[str], seconds: float, clients: int, *, refusals: bool = False
) -> list[float]:
    """The milliseconds of the requests that clients in two processes send for `seconds`.

    With `refusals` a 503 is not an error; it is left out.
    """
    return _in_processes(partial(_get_paths, refusals=refusals), url, paths, seconds, clients)


def search_all(
    url: str, alias: str, bodies: Sequence[object], seconds: float, clients: int
) -> list[float]:
    """The same for searches through the client of Elasticsearch, without a service."""
    lines = [(alias, body) for body in bodies]
    return _in_processes(_send_searches, url, lines, seconds, clients)


Work = Callable[[str, Sequence[Any], float], list[float]]


def _in_processes(
    work: Callable[..., list[float]],
    url: str,
    items: Sequence[object],
    seconds: float,
    clients: int,
) -> list[float]:
    each = clients // _PROCESSES
    with ProcessPoolExecutor(_PROCESSES, mp_context=get_context("spawn")) as pool:
        running = [
            pool.submit(_in_threads, work, url, items[start::_PROCESSES], seconds, each)
            for start in range(_PROCESSES)
        ]
        return [spent for one in running for spent in one.result()]


def _in_threads(
    work: Callable[..., list[float]],
    url: str,
    items: Sequence[object],
    seconds: float,
    threads: int,
) -> list[float]:
    with ThreadPoolExecutor(threads) as pool:
        running = [
            pool.submit(work, url, items[start::threads] or items, seconds)
            for start in range(threads)
        ]
        return [spent for one in running for spent in one.result()]


def connection_to(url: str) -> http.client.HTTPConnection:
    """A connection to a server, kept open: the client that costs least."""
    parts = urlsplit(url)
    return http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)


def get(connection: http.client.HTTPConnection, path: str) -> bytes:
    """The body of an answer.

    Raises:
        Refused: the server has too much to do.
        AssertionError: the answer is another error.
    """
    connection.request("GET", path)
    response = connection.getresponse()
    body = response.read()
    if response.status == 503:
        raise Refused(path)
    if response.status != 200:
        raise AssertionError(f"{path}: {response.status}")
    return body


def _get_paths(url: str, paths: Sequence[str], seconds: float, *, refusals: bool) -> list[float]:
    connection = connection_to(url)
    times: list[float] = []
    ends = time.monotonic() + seconds
    for path in itertools.cycle(paths):
        started = time.monotonic()
        if started >= ends:
            break
        try:
            get(connection, path)
        except Refused:
            if refusals:
                continue
            raise
        times.append((time.monotonic() - started) * 1000)
    connection.close()
    return times


def _send_searches(
    url: str, lines: Sequence[tuple[str, dict[str, object]]], seconds: float
) -> list[float]:
    times: list[float] = []
    ends = time.monotonic() + seconds
    with Elasticsearch(url, request_timeout=30) as client:
        for alias, body in itertools.cycle(lines):
            started = time.monotonic()
            if started >= ends:
                break
            client.search(index=alias, body=body)
            times.append((time.monotonic() - started) * 1000)
    return times
