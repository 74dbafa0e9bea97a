"""Run separate servers for a test or a benchmark, so that no other data or load influences it."""

import base64
import hashlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import trustme
from elasticsearch import ApiError, Elasticsearch, TransportError

from devstack.engines import ELASTICSEARCH, ELASTICSEARCH_VERSION
from devstack.instance import StartedEngine, open_instance
from devstack.processes import Processes, redis_binary
from devstack.terminal import DevstackError

REPOSITORY = Path(__file__).resolve().parent.parent
NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
"""The path of nginx, or None if it is not installed."""

ADMIN = ("admin", "the-password-of-the-tests")
_START = 10.0  # seconds until a small server must answer
_START_ELASTICSEARCH = 300.0
_START_GUNICORN = 120.0  # on a busy machine


def free_port() -> int:
    """Return a TCP port on which no server listens now."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


# -- the service -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Gunicorn:
    """A running gunicorn; `process` is its master."""

    port: int
    process: psutil.Popen

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def workers(self) -> list[psutil.Process]:
        return list(self.process.children())


@contextmanager
def gunicorn(
    variables: Mapping[str, str],
    log: Path,
    *,
    workers: int = 2,
    app: str = "app:create_app()",
    ready: str = "/__lbheartbeat__",
    interval: float = 0.05,
    tree: Path = REPOSITORY,
) -> Iterator[Gunicorn]:
    """Run the service.

    Args:
        variables: additions to the environment.
        tree: the code to run; another tree than this one with the Python of its own .venv.
        log: the file for its output.
        app: the WSGI application.
        ready: the path that answers with 200 after the start; tried every `interval` seconds.

    Raises:
        RuntimeError: it ended, or did not answer in time, with the end of its log.
    """
    port = free_port()
    config = next((tree / "app").rglob("gunicorn_config.py"))  # former commits have it elsewhere
    with log.open("wb") as output:
        process = psutil.Popen(
            [python_of(tree), "-m", "gunicorn", "--config", config, app],
            cwd=tree,
            env={
                **os.environ,
                "PYTHONPATH": str(tree),
                # Keep the bytecode of files changed since `make setup`, for the next starts.
                "PYTHONDONTWRITEBYTECODE": "",
                "WEB_CONCURRENCY": str(workers),
                "BLOGSEARCH_RATE_LIMIT": "",  # all clients of a test or benchmark have one address
                **variables,
                "PORT": str(port),
            },
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    running = Gunicorn(port, process)
    try:
        deadline = time.monotonic() + _START_GUNICORN
        while not _answers(running.url + ready):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"gunicorn does not answer:\n{log.read_text()[-4000:]}")
            time.sleep(interval)
        yield running
    finally:
        _stop_gunicorn(process)


def python_of(tree: Path) -> str:
    """Return the Python that runs the code of a tree.

    Raises:
        DevstackError: another tree has no .venv yet.
    """
    own = tree / ".venv" / "bin" / "python"
    if tree != REPOSITORY and not own.exists():
        raise DevstackError(f"{tree} has no .venv. Run `make setup` there.")
    return sys.executable if tree == REPOSITORY else str(own)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=30) as response:
            return bool(response.status == 200)
    except OSError:  # urllib.error.URLError is one
        return False


def _stop_gunicorn(process: psutil.Popen) -> None:
    """End gunicorn and its workers. It waits 20 s for a worker that it signals too early."""
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(5)
    except (subprocess.TimeoutExpired, psutil.TimeoutExpired):
        for worker in process.children():
            worker.kill()
        process.wait(40)


# -- nginx, Redis, memcached -------------------------------------------------------------------


@contextmanager
def nginx(port: int, certificate: Path, key: Path) -> Iterator[str]:
    """Run nginx with deploy/proxy/nginx.conf in front of a service on this port; yield its URL."""
    plain, tls = free_port(), free_port()
    config = (REPOSITORY / "deploy" / "proxy" / "nginx.conf").read_text()
    server = f"server 127.0.0.1:{port} max_fails=0;"
    local = f"upstream local {{ {server} {server} }}"
    with tempfile.TemporaryDirectory(prefix="nginx-") as folder:
        for old, new in {
            "/tmp/": f"{folder}/",
            "/dev/stdout": f"{folder}/access.log",
            "service:8000;": "local;",
            "    resolver ": f"    {local}\n    resolver ",
            "listen 8080": f"listen 127.0.0.1:{plain}",
            "listen 8443": f"listen 127.0.0.1:{tls}",
            "/etc/nginx/certificates/fullchain.pem": str(certificate),
            "/etc/nginx/certificates/privkey.pem": str(key),
        }.items():
            if old not in config:
                raise ValueError(f"deploy/proxy/nginx.conf does not contain {old}")
            config = config.replace(old, new)
        (Path(folder) / "nginx.conf").write_text(config)
        command = [str(NGINX), "-p", folder, "-c", "nginx.conf", "-g", "daemon off;"]
        with running_process(command, tls, stop=signal.SIGTERM):
            yield f"https://127.0.0.1:{tls}"


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
def redis_server(*options: str, port: int | None = None) -> Iterator[RedisServer]:
    """Run a Redis without persistence; `options` are added to its command line."""
    port = port or free_port()
    with tempfile.TemporaryDirectory(prefix="redis-") as folder:
        path = Path(folder) / "redis.sock"
        command = [redis_binary(), "--port", str(port), "--bind", "127.0.0.1"]
        command += ["--unixsocket", str(path), "--save", "", "--appendonly", "no", "--dir", folder]
        with running_process([*command, *options], port) as process:
            yield RedisServer(port, path, process)


@contextmanager
def memcached_server() -> Iterator[tuple[str, int] | None]:
    """Run memcached; yield its host and port, or None if it is not installed."""
    memcached = shutil.which("memcached")
    if memcached is None:
        yield None
        return
    port = free_port()
    # Root must use -u; for other users it has no effect.
    with running_process(
        [memcached, "-l", "127.0.0.1", "-p", str(port), "-m", "256", "-u", "nobody"], port
    ):
        yield "127.0.0.1", port


@contextmanager
def running_process(
    command: list[str],
    port: int,
    stop: signal.Signals = signal.SIGKILL,
    folder: str | None = None,
) -> "Iterator[subprocess.Popen[bytes]]":
    """Start a process and wait until it listens on a port; `folder` is its working directory."""
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        deadline = time.monotonic() + _START
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)
        yield process
    finally:
        process.send_signal(stop)
        process.wait(_START)


# -- Elasticsearch -----------------------------------------------------------------------------


class ElasticsearchNode:
    """An Elasticsearch process that may be killed and started again with the same data.

    Args:
        name: the name of its devstack instance, whose folder `remove` deletes.
        settings: the settings of the node, such as `{"thread_pool.search.size": 1}`.
        java_options: such as "-Xms512m -Xmx512m".
        files: files for its configuration folder, by name.
    """

    def __init__(
        self,
        name: str,
        settings: Mapping[str, object],
        java_options: str,
        files: Mapping[str, bytes] | None = None,
    ) -> None:
        environment = {
            **os.environ,
            "BLOGSEARCH_DEVSTACK_INSTANCE": name,
            "ES_JAVA_OPTS": java_options,
        }
        options = tuple(
            part for key, value in settings.items() for part in ("-E", f"{key}={value}")
        )
        self.name = name
        self.port = free_port()
        self._processes = Processes(open_instance(environment), environment, options)
        self._state: StartedEngine | None = None
        config = self._processes.instance.folder / "elasticsearch-config"
        for file, content in (files or {}).items():
            config.mkdir(exist_ok=True)
            (config / file).write_bytes(content)
            (config / file).chmod(0o600)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        """The process group."""
        return self._running().pid

    def start(self) -> None:
        """Start the node without waiting until it answers."""
        self._state = self._processes.start(ELASTICSEARCH, self.port)

    def wait(self, admin: Elasticsearch | None = None) -> None:
        """Wait until the node's cluster can be searched.

        Args:
            admin: a client that may read the cluster's health; only for a node with security.

        Raises:
            RuntimeError: it ended, or did not answer in time, with the end of its log.
        """
        deadline = time.monotonic() + _START_ELASTICSEARCH
        with ExitStack() as stack:
            client = admin or stack.enter_context(Elasticsearch(self.url, max_retries=0))
            while True:
                try:
                    client.cluster.health(wait_for_status="yellow", timeout="5s")
                    return
                except (ApiError, TransportError) as error:
                    alive = self._processes.alive(self._running())
                    if not alive or time.monotonic() > deadline:
                        raise RuntimeError(Path(self._running().log).read_text()[-3000:]) from error
                    time.sleep(0.5)

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal to all processes of the node."""
        os.killpg(self.pid, number)

    def remove(self) -> None:
        """Stop the node and delete its data."""
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
    """Run the nodes of one cluster."""
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
            options = {**common, "transport.port": port}
            node = ElasticsearchNode(name, options, f"-Xms{heap} -Xmx{heap}")
            stack.callback(node.remove)
            node.start()
            nodes.append(node)
        for node in nodes:
            node.wait()
        yield nodes


# -- Elasticsearch with security and TLS -------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Certificates:
    """The paths of PEM files: an authority, and a certificate for 127.0.0.1 with its key."""

    authority: Path
    certificate: Path
    key: Path


@contextmanager
def new_certificates() -> Iterator[Certificates]:
    """Create certificates in a folder that is deleted afterwards."""
    with tempfile.TemporaryDirectory(prefix="certificates-") as folder:
        authority = trustme.CA()
        issued = authority.issue_cert("localhost", "127.0.0.1")
        names = ("authority.pem", "server.pem", "server.key")
        files = Certificates(*(Path(folder) / name for name in names))
        authority.cert_pem.write_to_path(files.authority)
        files.certificate.write_bytes(b"".join(part.bytes() for part in issued.cert_chain_pems))
        issued.private_key_pem.write_to_path(files.key)
        yield files


@dataclass(frozen=True, slots=True)
class SecuredElasticsearch:
    """A running Elasticsearch; `admin` has all privileges, `snapshots` is its path.repo."""

    url: str
    ca_file: str
    admin: Elasticsearch
    snapshots: Path

    def api_key(self, body: Mapping[str, Any]) -> str:
        """Create an API key; `body` is the body of `POST /_security/api_key`."""
        return str(self.admin.security.create_api_key(**body)["encoded"])


def has_unpacked_elasticsearch() -> bool:
    """Whether devstack has unpacked Elasticsearch; it has not if its engines are containers."""
    return (open_instance(os.environ).downloads / f"elasticsearch-{ELASTICSEARCH_VERSION}").is_dir()


@contextmanager
def secured_elasticsearch(certificates: Certificates) -> Iterator[SecuredElasticsearch]:
    """Run an Elasticsearch with security and TLS; its start takes 15 to 30 seconds."""
    name, password = ADMIN
    settings: dict[str, object] = {
        "xpack.security.enabled": "true",
        "xpack.security.http.ssl.enabled": "true",
        "xpack.security.http.ssl.certificate": certificates.certificate.name,
        "xpack.security.http.ssl.key": certificates.key.name,
        "xpack.security.transport.ssl.enabled": "false",
    }
    instance = f"secured-{os.getpid()}-{free_port()}"
    opened = open_instance({**os.environ, "BLOGSEARCH_DEVSTACK_INSTANCE": instance})
    snapshots = opened.make_writable_folder(opened.folder / "snapshots")
    node = ElasticsearchNode(
        instance,
        {**settings, "path.repo": snapshots},
        "-Xms512m -Xmx512m -XX:TieredStopAtLevel=1",  # starts in half the time
        {
            "users": f"{name}:{_hash(password)}\n".encode(),
            "users_roles": f"superuser:{name}\n".encode(),
            certificates.certificate.name: certificates.certificate.read_bytes(),
            certificates.key.name: certificates.key.read_bytes(),
        },
    )
    url = f"https://127.0.0.1:{node.port}"
    ca_file = str(certificates.authority)
    try:
        node.start()
        with Elasticsearch(
            url, basic_auth=ADMIN, ca_certs=ca_file, request_timeout=30, max_retries=0
        ) as admin:
            node.wait(admin)
            yield SecuredElasticsearch(url, ca_file, admin, snapshots)
    finally:
        node.remove()


def _hash(password: str) -> str:
    """Hash a password as Elasticsearch's file realm stores it."""
    salt = os.urandom(32)
    digest = hashlib.pbkdf2_hmac("sha512", password.encode(), salt, 10_000, 32)
    return "{PBKDF2}10000$" + "$".join(base64.b64encode(part).decode() for part in (salt, digest))
