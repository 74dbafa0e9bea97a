"""What is started, reused and stopped; the engines themselves are stand-ins here."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from devstack.engines import ELASTICSEARCH, ELASTICSEARCH_VERSION, REDIS, Engine
from devstack.instance import Instance, StartedEngine
from devstack.servers import free_port
from devstack.stack import Stack
from devstack.terminal import DevstackError


@dataclass
class Engines:
    """A backend that starts nothing and records what it was called with."""

    running: set[int] = field(default_factory=set)
    fails: str = ""
    _pids: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def start(self, engine: Engine, port: int) -> StartedEngine:
        if engine.name == self.fails:
            raise DevstackError(f"{engine.title} cannot be started")
        pid = next(self._pids)
        self.running.add(pid)
        return StartedEngine(port, "engine.log", pid=pid)

    def alive(self, state: StartedEngine) -> bool:
        return state.pid in self.running

    def stop(self, state: StartedEngine) -> None:
        self.running.discard(state.pid)


@pytest.fixture
def engines() -> Engines:
    return Engines()


@pytest.fixture
def instance(tmp_path: Path) -> Instance:
    new = Instance(tmp_path, "default", None)
    new.folder.mkdir(parents=True)
    return new


@pytest.fixture
def stack(instance: Instance, engines: Engines) -> Stack:
    environment = {
        "BLOGSEARCH_DEVSTACK_BACKEND": "process",
        ELASTICSEARCH.port_variable: str(free_port()),
        REDIS.port_variable: str(free_port()),
    }
    at_once = tuple(replace(engine, version=_answers) for engine in (ELASTICSEARCH, REDIS))
    return Stack(instance, environment, {"process": engines}, at_once)


def _answers(url: str, environment: Mapping[str, str]) -> str:
    """An engine that answers at once, in a supported version."""
    return ELASTICSEARCH_VERSION


def test_up_starts_both_and_a_second_up_reuses_them(stack: Stack, engines: Engines) -> None:
    addresses, _ = stack.up()
    assert set(addresses) == {"ELASTICSEARCH_URL", "REDIS_URL"}
    assert engines.running == {1, 2}
    assert stack.up() == (addresses, [])
    assert engines.running == {1, 2}
    stack.down()
    assert not engines.running


def test_a_start_that_fails_stops_what_it_had_started(stack: Stack, engines: Engines) -> None:
    engines.fails = "redis"
    with pytest.raises(DevstackError, match="Redis cannot be started"):
        stack.up()
    assert not engines.running
    assert stack.instance.load("elasticsearch") is None
