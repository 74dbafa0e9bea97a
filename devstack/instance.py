"""An instance: the folders and the saved state of one pair of engines."""

import fcntl
import json
import os
import pwd
import stat
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from devstack.engines import Engine
from devstack.terminal import DevstackError, say


@dataclass(frozen=True, slots=True)
class StartedEngine:
    """An engine that devstack started, as saved in the instance's folder.

    `pid` and `born` (seconds since 1970) identify the process: a later one may get the same
    number. `keep`: it stays when `make run` and `make test` end.
    """

    backend: Literal["process", "container"]
    port: int
    log: str
    keep: bool
    pid: int = 0
    born: float = 0.0
    container: str = ""


@dataclass(frozen=True, slots=True)
class Instance:
    """The folders of one pair of engines with data, logs and ports of its own.

    `root` is shared by all instances and holds the downloads. `user` is the unprivileged user
    that the engines run as; None: the current user.
    """

    root: Path
    name: str
    user: str | None

    @property
    def downloads(self) -> Path:
        """Files that are downloaded once, then only read."""
        return self.root / "downloads"

    @property
    def folder(self) -> Path:
        """State, data and logs of this instance."""
        return self.root / "instances" / self.name

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

    def load(self, engine: Engine) -> StartedEngine | None:
        """The saved state of an engine, running or not; None when there is none."""
        try:
            return StartedEngine(**json.loads(self._state_file(engine).read_text()))
        except (FileNotFoundError, ValueError, TypeError):
            return None  # also for a file that another version of devstack wrote

    def save(self, engine: Engine, state: StartedEngine) -> None:
        """Save the state of an engine, atomically."""
        path = self._state_file(engine)
        partial = path.with_suffix(".new")
        partial.write_text(json.dumps(asdict(state)))
        partial.replace(path)

    def delete(self, engine: Engine) -> None:
        """Delete the saved state of an engine."""
        self._state_file(engine).unlink(missing_ok=True)

    def _state_file(self, engine: Engine) -> Path:
        return self.folder / f"{engine.name}.json"


def open_instance(environment: Mapping[str, str], *, as_root: bool | None = None) -> Instance:
    """The instance to use; its folders are made if missing.

    BLOGSEARCH_DEVSTACK_DIR sets the root folder, BLOGSEARCH_DEVSTACK_INSTANCE the name.

    Args:
        as_root: whether the caller is root and the engines need another user; None: find out.

    Raises:
        DevstackError: the folders cannot be made, or the engines' user cannot read them.
    """
    if as_root is None:
        as_root = os.geteuid() == 0
    user = _unprivileged_user() if as_root else None
    root = _root_folder(environment, as_root)
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
    if user is not None and not readable_by(user, instance.downloads):
        raise DevstackError(
            f"The engines run as the user {user}, who cannot read {root}. "
            "Set BLOGSEARCH_DEVSTACK_DIR to a folder outside of home folders."
        )
    return instance


def _root_folder(environment: Mapping[str, str], as_root: bool) -> Path:
    if named := environment.get("BLOGSEARCH_DEVSTACK_DIR"):
        return Path(named).absolute()
    if as_root:
        # Not below root's home folder: Elasticsearch does not run as root and must read it.
        return Path("/var/cache/blogsearch-devstack")
    caches = environment.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(caches).absolute() / "blogsearch-devstack"


def _unprivileged_user() -> str:
    """The user that root runs the engines as; made if there is no `nobody`."""
    names = {entry.pw_name: entry.pw_uid for entry in pwd.getpwall()}
    own = "blogsearch-devstack"
    for name in (own, "nobody"):
        if names.get(name, 0) != 0:
            return name
    made = subprocess.run(
        ["useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", own],
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode != 0:
        raise DevstackError(
            "Elasticsearch refuses to run as root, and there is no unprivileged user to run it "
            f"as; making {own} failed: {made.stderr.strip()}"
        )
    return own


def readable_by(user: str, path: Path) -> bool:
    """Whether a user can read a path, with the permissions of all its parent folders."""
    entry = pwd.getpwnam(user)
    groups = os.getgrouplist(user, entry.pw_gid)

    def permits(place: Path, wanted: int) -> bool:
        found = place.stat()
        if found.st_uid == entry.pw_uid:
            return bool(found.st_mode & wanted << 6)
        if found.st_gid in groups:
            return bool(found.st_mode & wanted << 3)
        return bool(found.st_mode & wanted)

    real = path.resolve()
    try:
        return all(permits(parent, stat.S_IXOTH) for parent in real.parents) and permits(
            real, stat.S_IROTH
        )
    except OSError:
        return False


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a file lock; it is released when the process ends, however it ends."""
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another devstack process is working here; waiting for it …")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
