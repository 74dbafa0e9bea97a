"""Where devstack keeps its files, who may read them, and as whom the engines run."""

import fcntl
import os
import pwd
import stat
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from devstack.errors import DevstackError
from devstack.talk import say


@dataclass(frozen=True, slots=True)
class Places:
    """The folders of one instance: a pair of engines with data, logs and ports of its own.

    `root` is shared by all instances and holds what was downloaded. `user` is the unprivileged
    user that the engines run as, or None where the caller is one already.
    """

    root: Path
    instance: str
    user: str | None

    @property
    def downloads(self) -> Path:
        """What is unpacked once and then only read."""
        return self.root / "downloads"

    @property
    def folder(self) -> Path:
        """Everything of this instance: state, data, logs."""
        return self.root / "instances" / self.instance

    def own(self, path: Path) -> Path:
        """Make a folder that the engines' user may write."""
        path.mkdir(parents=True, exist_ok=True)
        self.give(path)
        return path

    def give(self, path: Path) -> None:
        """Hand a file or folder to the engines' user."""
        if self.user is not None:
            entry = pwd.getpwnam(self.user)
            os.chown(path, entry.pw_uid, entry.pw_gid)


def find_places(environment: Mapping[str, str]) -> Places:
    """The folders to use, made where they are missing.

    BLOGSEARCH_DEVSTACK_DIR names the root, BLOGSEARCH_DEVSTACK_INSTANCE the instance.

    Raises:
        DevstackError: when they cannot be made, or the engines' user cannot read them.
    """
    user = _engines_user() if os.geteuid() == 0 else None
    root = _root(environment)
    places = Places(root, environment.get("BLOGSEARCH_DEVSTACK_INSTANCE") or "default", user)
    try:
        for folder in (root, places.downloads, places.folder):
            folder.mkdir(parents=True, exist_ok=True)
            if not os.access(folder, os.W_OK):
                raise PermissionError(f"{folder} belongs to somebody else")
    except OSError as error:
        raise DevstackError(
            f"The folder for the engines' files cannot be made: {error}. "
            "Name another one with BLOGSEARCH_DEVSTACK_DIR."
        ) from None
    if user is not None and not readable_by(user, places.downloads):
        raise DevstackError(
            f"The engines run as the user {user}, who cannot read {root}. "
            "Name a folder outside of home folders with BLOGSEARCH_DEVSTACK_DIR."
        )
    return places


def _root(environment: Mapping[str, str]) -> Path:
    if named := environment.get("BLOGSEARCH_DEVSTACK_DIR"):
        return Path(named).absolute()
    if os.geteuid() == 0:
        # Not below root's home folder: Elasticsearch does not run as root, and must read it.
        return Path("/var/cache/blogsearch-devstack")
    caches = environment.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(caches).absolute() / "blogsearch-devstack"


def _engines_user() -> str:
    """The unprivileged user that root runs the engines as; made where there is no `nobody`."""
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
    """Whether that user can get at the path: every folder on the way must let it through."""
    entry = pwd.getpwnam(user)
    groups = os.getgrouplist(user, entry.pw_gid)

    def lets_in(place: Path, wanted: int) -> bool:
        found = place.stat()
        if found.st_uid == entry.pw_uid:
            return bool(found.st_mode & wanted << 6)
        if found.st_gid in groups:
            return bool(found.st_mode & wanted << 3)
        return bool(found.st_mode & wanted)

    real = path.resolve()
    try:
        return all(lets_in(parent, stat.S_IXOTH) for parent in real.parents) and lets_in(
            real, stat.S_IROTH
        )
    except OSError:
        return False


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock that ends with the process, however that ends; say so when it has to wait."""
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another devstack is at work here; waiting for it …")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
