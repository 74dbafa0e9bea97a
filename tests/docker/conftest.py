"""Skips these tests, with the reason, where no Docker engine answers."""

import shutil
import subprocess

import pytest


def _why_not() -> str | None:
    """Why these tests cannot run here."""
    if shutil.which("docker") is None:
        return "docker is not installed"
    for command in (["docker", "info"], ["docker", "compose", "version"]):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            return f"`{' '.join(command)}` fails: {done.stderr.strip()[-200:]}"
    return None


_WHY_NOT = _why_not()


@pytest.fixture(scope="session", autouse=True)
def docker() -> None:
    if _WHY_NOT:
        pytest.skip(_WHY_NOT)
