"""What takes longer than the tests of every change may: `make test-slow`."""

import fcntl
import sys
from pathlib import Path
from subprocess import run

import pytest

from analyzers import meaning
from tests.live.conftest import post_oids, server, start

__all__ = ["post_oids", "server", "start"]


@pytest.fixture(scope="session")
def installed_model() -> None:
    """The model of BLOGSEARCH_SEMANTIC, downloaded if it is not there, and if that is possible."""
    with (Path(sys.prefix) / "model.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # of the workers of pytest-xdist the first one downloads
        if meaning.is_installed():
            return
        command = [str(Path(sys.executable).with_name("blogsearch")), "fetch-model"]
        result = run(command, capture_output=True, text=True, check=False)
        if result.returncode:
            pytest.skip(result.stderr)
