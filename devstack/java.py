"""Finds a JDK that Elasticsearch can run on."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from devstack.errors import DevstackError
from devstack.places import readable_by
from devstack.versions import JAVA_MINIMUM, JAVA_TRIED

_FOLDERS = ("/usr/lib/jvm", "/Library/Java/JavaVirtualMachines", "~/.sdkman/candidates/java")


def find_jdk(
    environment: Mapping[str, str], user: str | None, folders: tuple[str, ...] = _FOLDERS
) -> Path:
    """The home folder of a JDK: one that was named, else the best of those installed.

    Raises:
        DevstackError: when there is none, with every place looked at and what was wrong there.
    """
    complaints: list[str] = []
    for source, home in _named(environment):
        problem, _version = _examine(home, user)
        if problem is None:
            return home
        complaints.append(f"{source} {home}: {problem}")
    good: list[tuple[int, Path]] = []
    for folder in folders:
        homes = _installed(Path(folder).expanduser())
        if not homes:
            complaints.append(f"{folder}: nothing there")
        for home in homes:
            problem, version = _examine(home, user)
            if problem is None:
                good.append((abs(version - JAVA_TRIED), home))
            else:
                complaints.append(f"{home}: {problem}")
    if good:
        return min(good)[1]
    looked = "".join(f"\n    {complaint}" for complaint in complaints)
    raise DevstackError(
        f"Elasticsearch needs a full JDK, version {JAVA_MINIMUM} or later. Looked at:{looked}\n"
        "  Install one (Debian: a package like openjdk-21-jdk-headless or temurin-25-jdk), or set "
        "JAVA_HOME to one."
    )


def _named(environment: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    for variable in ("ES_JAVA_HOME", "JAVA_HOME"):
        if value := environment.get(variable):
            yield variable, Path(value)
    if found := shutil.which("java", path=environment.get("PATH", os.defpath)):
        yield "java on the PATH,", Path(found).resolve().parent.parent


def _installed(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    inside = [path / "Contents" / "Home" for path in folder.iterdir()] + list(folder.iterdir())
    # Distributions link one JDK under several names.
    return sorted({path.resolve() for path in inside if (path / "bin" / "java").exists()})


def _examine(home: Path, user: str | None) -> tuple[str | None, int]:
    """What is wrong with a JDK, None when nothing is, and its version, 0 when unknown."""
    java = home / "bin" / "java"
    if not java.exists():
        return "there is no bin/java", 0
    try:
        # Names the version and the modules at once; the `release` file lacks the latter in some.
        answer = subprocess.run(
            [java, "--list-modules"], capture_output=True, text=True, check=False, timeout=30
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bin/java does not run: {error}", 0
    modules = dict(re.findall(r"^([\w.]+)@(\d+)", answer.stdout, re.MULTILINE))
    if "java.base" not in modules:
        return "bin/java does not list its modules: Java 8, or broken", 0
    version = int(modules["java.base"])
    if version < JAVA_MINIMUM:
        return f"Java {version} is too old", version
    if "jdk.jdi" not in modules:
        return f"Java {version}, but a JRE: the module jdk.jdi is missing", version
    if user is not None and not readable_by(user, java):
        return f"Java {version}, but the user {user}, whom Elasticsearch runs as, cannot read it", 0
    return None, version
