"""devstack starts engines of its own as processes, beside those that the other tests use."""

import json
import os
import shutil
import signal
import subprocess
import sys
import uuid
from pathlib import Path

import psutil
import pytest

from devstack.containers import docker_client
from devstack.instance import open_instance
from devstack.servers import free_port
from tests.waiting import wait_until

REPOSITORY = Path(__file__).resolve().parents[2]


def _alive(group: int) -> list[psutil.Process]:
    return [
        process
        for process in psutil.process_iter(["status"])
        if process.info["status"] != psutil.STATUS_ZOMBIE and _group_of(process) == group
    ]


def _group_of(process: psutil.Process) -> int:
    try:
        return os.getpgid(process.pid)
    except ProcessLookupError:
        return -1


@pytest.mark.skipif(
    shutil.which("mvn") is None and docker_client() is not None,
    reason="this machine has Docker and no Maven: it never runs the engines as processes",
)
def test_an_interrupted_start_leaves_nothing_running() -> None:
    # What was downloaded is shared; data, ports and logs are not.
    engines = ("ELASTICSEARCH_URL", "REDIS_URL", "KEEP_SERVICES")
    environment = {name: value for name, value in os.environ.items() if name not in engines} | {
        "BLOGSEARCH_DEVSTACK_INSTANCE": f"test-x{uuid.uuid4().hex[:8]}",
        "BLOGSEARCH_DEVSTACK_BACKEND": "process",
        "BLOGSEARCH_DEVSTACK_ELASTICSEARCH_PORT": str(free_port()),
        "BLOGSEARCH_DEVSTACK_REDIS_PORT": str(free_port()),
        "ES_JAVA_OPTS": "-Xms256m -Xmx256m",
    }
    folder = open_instance(environment).folder
    states = [folder / f"{service}.json" for service in ("elasticsearch", "redis")]
    command = [sys.executable, "-m", "devstack", "up"]
    with subprocess.Popen(
        command, cwd=REPOSITORY, env=environment, stderr=subprocess.PIPE, text=True
    ) as starting:
        wait_until(lambda: all(state.exists() for state in states))
        groups = [int(json.loads(state.read_text())["pid"]) for state in states]
        users = {process.uids().effective for group in groups for process in _alive(group)}
        starting.send_signal(signal.SIGTERM)
        _, err = starting.communicate(timeout=120)
    shutil.rmtree(folder)
    assert starting.returncode == 128 + signal.SIGTERM
    assert users
    assert 0 not in users  # never as root
    assert "Traceback" not in err
    assert not [process for group in groups for process in _alive(group)]
