"""Installs the model of BLOGSEARCH_SEMANTIC: the tests use the real one."""

import fcntl
import sys
from pathlib import Path
from subprocess import run

import pytest

from analyzers import meaning


def install_model() -> None:
    """Install the model in this Python environment, unless it is there; skip the test where it
    cannot be downloaded.
    """
    with (Path(sys.prefix) / "model.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # of the workers of pytest-xdist the first one downloads
        if meaning.is_installed():
            return
        command = [str(Path(sys.executable).with_name("blogsearch")), "fetch-model"]
        result = run(command, capture_output=True, text=True, check=False)
        if result.returncode:
            pytest.skip(result.stderr)
