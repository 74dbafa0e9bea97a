"""Instances: the folders and the saved state of one pair of engines."""

import fcntl
import json
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil

from devstack.terminal import DevstackError, say

_IN_MEMORY = Path("/dev/shm")
_MEMORY = 8 << 30  # bytes: the engines and browsers of the tests need most of it


@dataclass(frozen=True, slots=True)
class StartedEngine:
    """An engine that devstack started, as saved in the instance's folder.

    It is a container, or the process group `pid`. `born` (seconds since 1970) distinguishes it from
    a later process with the same number.
    """

    port: int
    log: str
    pid: int = 0
    born: float = 0.0
    container: str = ""


@dataclass(frozen=True, slots=True)
class Instance:
    """The folders of one pair of engines, which has its own data, logs and ports.

    `root` is shared by all instances and has the downloads. `user` is the unprivileged user of the
    engines; None: the current user. `memory` is a folder in memory for temporary data; None: the
    data is in `folder`.
    """

    root: Path
    name: str
    user: str | None
    memory: Path | None = None

    @property
    def downloads(self) -> Path:
        """The folder of files that are downloaded once, then only read."""
        return self.root / "downloads"

    @property
    def folder(self) -> Path:
        """The folder of this instance's state, data and logs."""
        return self.root / "instances" / self.name

    @property
    def data(self) -> Path:
        """The folder of the engines' data."""
        return self.memory or self.folder

    def as_user(self) -> dict[str, Any]:
        """Return the arguments of `subprocess` that run a program as the engines' user."""
        if self.user is None:
            return {}
        return {"user": self.user, "group": pwd.getpwnam(self.user).pw_gid, "extra_groups": []}

    def readable(self, path: Path) -> bool:
        """Whether the engines' user can read a file or folder."""
        return subprocess.run(["test", "-r", path], **self.as_user()).returncode == 0

    def make_writable_folder(self, path: Path) -> Path:
        """Make a folder that the engines' user may write to."""
        path.mkdir(parents=True, exist_ok=True)
        self.give_to_user(path)
        return path

    def give_to_user(self, path: Path) -> None:
        """Make the engines' user the owner of a file or folder."""
        if self.user is not None:
            entry = pwd.getpwnam(self.user)
            os.chown(path, entry.pw_uid, entry.pw_gid)

    def load(self, engine: str) -> StartedEngine | None:
        """Return the saved state of an engine, running or not, or None."""
        try:
            saved = json.loads(self._state_file(engine).read_text())
            return StartedEngine(**{name: saved[name] for name in StartedEngine.__slots__})
        except (FileNotFoundError, ValueError, TypeError, KeyError):
            return None

    def save(self, engine: str, state: StartedEngine) -> None:
        """Save the state of an engine, atomically."""
        path = self._state_file(engine)
        partial = path.with_suffix(".new")
        partial.write_text(json.dumps(asdict(state)))
        partial.replace(path)

    def delete(self, engine: str) -> None:
        """Delete the saved state of an engine."""
        self._state_file(engine).unlink(missing_ok=True)

    def _state_file(self, engine: str) -> Path:
        return self.folder / f"{engine}.json"


def open_instance(environment: Mapping[str, str], *, as_root: bool | None = None) -> Instance:
    """Return the instance of the environment; make its folders if they are missing.

    BLOGSEARCH_DEVSTACK_DIR sets the root folder, BLOGSEARCH_DEVSTACK_INSTANCE the name.

    Args:
        as_root: whether the caller is root and the engines need another user; None: find out.

    Raises:
        DevstackError: the folders cannot be made, or the engines' user cannot read them.
    """
    if as_root is None:
        as_root = os.geteuid() == 0
    if named := environment.get("BLOGSEARCH_DEVSTACK_DIR"):
        root = Path(named).absolute()
    elif as_root:  # not below root's home folder, which the engines' user cannot read
        root = Path("/var/cache/blogsearch-devstack")
    else:
        caches = Path(environment.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        root = caches.absolute() / "blogsearch-devstack"
    # Elasticsearch refuses to run as root; every Unix has this user.
    user = "nobody" if as_root else None
    instance = Instance(root, environment.get("BLOGSEARCH_DEVSTACK_INSTANCE") or "default", user)
    try:
        for folder in (root, instance.downloads, instance.folder):
            folder.mkdir(parents=True, exist_ok=True)
            if not os.access(folder, os.W_OK):
                raise PermissionError(f"{folder} is not writable")
    except OSError as error:
        raise DevstackError(
            f"The folder for the engines' files cannot be made: {error}. "
            "Set BLOGSEARCH_DEVSTACK_DIR to another one."
        ) from None
    if not instance.readable(instance.downloads):
        raise DevstackError(
            f"The engines run as the user {user}, who cannot read {root}. "
            "Set BLOGSEARCH_DEVSTACK_DIR to a folder outside of home folders."
        )
    return instance


@contextmanager
def memory_folder() -> Iterator[Path | None]:
    """Provide a folder in memory during the block; None if less than `_MEMORY` is free.

    In memory, fsync takes microseconds instead of milliseconds.
    """
    free = 0
    if os.access(_IN_MEMORY, os.W_OK):
        free = min(shutil.disk_usage(_IN_MEMORY).free, psutil.virtual_memory().available)
    if free < _MEMORY:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="blogsearch-devstack-", dir=_IN_MEMORY) as folder:
        Path(folder).chmod(0o711)  # the engines' user has folders in it
        yield Path(folder)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a file lock, which is also released when the process ends in any way."""
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another devstack process is working here; waiting for it …")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
