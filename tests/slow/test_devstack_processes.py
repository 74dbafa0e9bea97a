"""devstack on real engines of its own, beside those that the other tests use.

What was downloaded is shared, so that nothing is downloaded twice; data, ports and logs are not.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from elasticsearch import Elasticsearch

from devstack.containers import docker_client
from devstack.engines import elasticsearch_version, redis_version
from devstack.instance import open_instance
from devstack.servers import free_port

REPOSITORY = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(
    shutil.which("mvn") is None and docker_client() is not None,
    reason="this machine has Docker and no Maven: it never runs the engines as processes",
)


class Devstack:
    """`python -m devstack` with an instance of its own, as processes."""

    def __init__(self) -> None:
        self.environment = {
            name: value
            for name, value in os.environ.items()
            if name not in ("ELASTICSEARCH_URL", "REDIS_URL", "KEEP_SERVICES")
        } | {
            "BLOGSEARCH_DEVSTACK_INSTANCE": f"test-x{uuid.uuid4().hex[:8]}",
            "BLOGSEARCH_DEVSTACK_BACKEND": "process",
            "BLOGSEARCH_DEVSTACK_ELASTICSEARCH_PORT": str(free_port()),
            "BLOGSEARCH_DEVSTACK_REDIS_PORT": str(free_port()),
            "ES_JAVA_OPTS": "-Xms256m -Xmx256m",
        }
        self.folder = open_instance(self.environment).folder

    def start(self, command: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-m", "devstack", command],
            cwd=REPOSITORY,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, command: str) -> tuple[int, str, str]:
        with self.start(command) as process:
            out, err = process.communicate(timeout=300)
            return process.returncode, out, err

    def group(self, service: str) -> int:
        """The process group of a service that was started, as soon as there is one."""
        deadline = time.monotonic() + 60
        while not (state := self.folder / f"{service}.json").exists():
            assert time.monotonic() < deadline, f"{service} was not started"
            time.sleep(0.05)
        return int(json.loads(state.read_text())["pid"])


@pytest.fixture
def devstack() -> Iterator[Devstack]:
    made = Devstack()
    yield made
    made.run("down")
    for path in sorted(made.folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    made.folder.rmdir()


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


def test_an_engine_is_started_reused_and_stopped(
    devstack: Devstack, elasticsearch_url: str
) -> None:
    # Redis only: `make test` has started Elasticsearch in the same way, which takes half a minute.
    devstack.environment["ELASTICSEARCH_URL"] = elasticsearch_url
    code, exports, messages = devstack.run("up")
    assert code == 0, messages
    urls = dict(line.removeprefix("export ").split("=", 1) for line in exports.splitlines())
    assert urls.keys() == {"ELASTICSEARCH_URL", "REDIS_URL"}
    assert urls["ELASTICSEARCH_URL"] == elasticsearch_url
    assert redis_version(urls["REDIS_URL"], {})
    group = devstack.group("redis")
    assert _alive(group)

    code, again, messages = devstack.run("up")
    assert (code, again) == (0, exports)
    assert "Redis is already running" in messages
    assert devstack.group("redis") == group

    assert devstack.run("down")[0] == 0
    assert not _alive(group)
    assert "Redis: not running" in devstack.run("status")[1]


def test_an_interrupted_start_leaves_nothing_running(devstack: Devstack) -> None:
    with devstack.start("up") as starting:
        groups = [devstack.group("elasticsearch"), devstack.group("redis")]
        users = {process.uids().effective for group in groups for process in _alive(group)}
        starting.send_signal(signal.SIGTERM)
        _out, err = starting.communicate(timeout=120)
    assert starting.returncode == 128 + signal.SIGTERM
    assert users
    assert 0 not in users  # never as root
    assert "Traceback" not in err
    assert not [process for group in groups for process in _alive(group)]


def test_a_damaged_index_keeps_no_other_from_being_used(
    elastic: Elasticsearch, elasticsearch_url: str
) -> None:
    name = f"test-damaged-{uuid.uuid4().hex[:8]}"
    nowhere = {"index.routing.allocation.require._name": "nowhere"}
    elastic.indices.create(index=name, settings=nowhere, wait_for_active_shards=0)
    try:
        assert elastic.cluster.health(index=name)["status"] == "red"
        assert elasticsearch_version(elasticsearch_url, {})
    finally:
        elastic.indices.delete(index=name)
