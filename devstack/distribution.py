"""Gets Elasticsearch as plain files, through Maven, for a machine without a Docker engine."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

from devstack.errors import DevstackError, with_log
from devstack.places import Places, locked
from devstack.signals import raise_if_asked
from devstack.talk import Ticker, say
from devstack.versions import ARTIFACT_MB, ELASTICSEARCH, ELASTICSEARCH_ARTIFACT, UNPACK_PLUGIN

NEEDED_GB = 2.5
"""The download, what is unpacked from it, and room for an index."""

_STALLED_S = 300


def elasticsearch_home(places: Places, jdk: Path) -> Path:
    """The folder of the unpacked Elasticsearch; downloaded where it is not there yet.

    Raises:
        DevstackError: no Maven, no room, or the download failed.
    """
    home = places.downloads / f"elasticsearch-{ELASTICSEARCH}"
    if home.is_dir():
        return home
    maven = shutil.which("mvn")
    if maven is None:
        raise DevstackError(
            "There is no Docker engine here, and without one Elasticsearch comes through Maven: "
            "`mvn` is not on the PATH. Install Maven (Debian: maven), start Docker, or set "
            "ELASTICSEARCH_URL to an Elasticsearch that runs already."
        )
    check_room(places.root, NEEDED_GB)
    with locked(places.downloads / "lock"):
        # Another instance may have had the lock in order to do just this.
        return home if home.is_dir() else _download(places, maven, jdk, home)


def _download(places: Places, maven: str, jdk: Path, home: Path) -> Path:
    # Unpacked beside and renamed last: what has the name is complete.
    partial = places.downloads / "partial"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    try:
        _unpack(maven, jdk, partial, places.root / "maven.log")
        _assemble(partial / "out").rename(home)
    except OSError as error:
        raise DevstackError(f"Unpacking Elasticsearch failed: {error}") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    say(f"Elasticsearch {ELASTICSEARCH} is in {home}")
    return home


def check_room(folder: Path, gigabytes: float) -> None:
    """Raises DevstackError when less than that is free on the folder's disk."""
    free = shutil.disk_usage(folder).free / 1e9
    if free < gigabytes:
        raise DevstackError(
            f"The disk of {folder} has {free:.1f} GB free, and {gigabytes} GB are needed. "
            "Make room, or name a folder on another disk with BLOGSEARCH_DEVSTACK_DIR."
        )


def _unpack(maven: str, jdk: Path, partial: Path, log: Path) -> None:
    say(f"downloading Elasticsearch {ELASTICSEARCH} with Maven, {ARTIFACT_MB} MB, once …")
    command = [
        maven, "-q", "-B", "-ntp", UNPACK_PLUGIN,
        f"-Dartifact={ELASTICSEARCH_ARTIFACT}",
        f"-DoutputDirectory={partial / 'out'}",
        "-Dmdep.unpack.includes=*/elasticsearch/**,*/bin/elasticsearch",
        # A local repository of its own, deleted afterwards: nearly a gigabyte that nothing else
        # wants would stay in the user's.
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
            _watch(maven_run, partial, log)
        finally:
            if maven_run.poll() is None:
                os.killpg(maven_run.pid, signal.SIGKILL)
                maven_run.wait()
    if maven_run.returncode != 0:
        raise DevstackError(
            with_log("Maven could not get Elasticsearch; its last words:", log)
            + "\n  Try again when the network is there; a mirror belongs in Maven's settings.xml."
        )


def _watch(maven_run: subprocess.Popen[bytes], partial: Path, log: Path) -> None:
    """Wait for Maven, say how far it is, and raise DevstackError when nothing moves any more."""
    ticker, since_growth, size = Ticker(), Ticker(), 0
    while maven_run.poll() is None:
        raise_if_asked()
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
            continue  # Maven renames its downloads when they are complete
    return total


def _assemble(out: Path) -> Path:
    """Put together what the artifact has in two places; the finished folder."""
    try:
        (start_script,) = out.glob("*/bin/elasticsearch")
        home = start_script.parent.parent / "elasticsearch"
        version = home / "lib" / f"elasticsearch-{ELASTICSEARCH}.jar"
        if not version.is_file():
            raise ValueError(version)
    except ValueError:
        raise DevstackError(
            f"{ELASTICSEARCH_ARTIFACT} does not hold Elasticsearch {ELASTICSEARCH} where it "
            "should; see devstack/versions.py."
        ) from None
    start_script.rename(home / "bin" / "elasticsearch")
    # Built for aarch64; without it the start script takes the launcher written in Java.
    (home / "lib/tools/server-launcher/server-launcher").unlink(missing_ok=True)
    for path in [home, *home.rglob("*")]:
        executable = path.is_dir() or path.parent == home / "bin"
        path.chmod(0o755 if executable else 0o644)
    return home
