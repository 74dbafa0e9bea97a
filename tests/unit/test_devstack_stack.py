"""What is started, reused and stopped; the engines themselves are stand-ins here."""

import itertools
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from devstack import stack as stack_module
from devstack.errors import DevstackError
from devstack.places import Places
from devstack.services import ELASTICSEARCH, REDIS, Service
from devstack.stack import Stack
from devstack.state import State, remembered


@dataclass
class Engines:
    """A backend that only keeps books."""

    running: set[int] = field(default_factory=set)
    fails: str = ""
    _pids: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def start(self, service: Service, port: int, keep: bool) -> State:
        if service.name == self.fails:
            raise DevstackError(f"{service.title} cannot be started")
        pid = next(self._pids)
        self.running.add(pid)
        return State("process", port, "engine.log", keep, pid=pid)

    def alive(self, state: State) -> bool:
        return state.pid in self.running

    def stop(self, state: State) -> None:
        self.running.discard(state.pid)


@pytest.fixture
def engines() -> Engines:
    return Engines()


@pytest.fixture
def places(tmp_path: Path) -> Places:
    found = Places(tmp_path, "default", None)
    found.folder.mkdir(parents=True)
    return found


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def stack(places: Places, engines: Engines, monkeypatch: pytest.MonkeyPatch) -> Stack:
    monkeypatch.setattr(
        stack_module, "wait_until_ready", lambda service, state, _alive: service.url(state.port)
    )
    environment = {
        "BLOGSEARCH_DEVSTACK_BACKEND": "process",
        ELASTICSEARCH.port_variable: str(_free_port()),
        REDIS.port_variable: str(_free_port()),
    }
    return Stack(places, environment, {"process": engines})


def test_up_starts_both_and_a_second_up_reuses_them(stack: Stack, engines: Engines) -> None:
    addresses = stack.up(keep=True)
    assert set(addresses) == {"ELASTICSEARCH_URL", "REDIS_URL"}
    assert engines.running == {1, 2}
    assert stack.up(keep=True) == addresses
    assert engines.running == {1, 2}
    assert stack.addresses() == addresses


def test_down_stops_both_and_a_second_down_finds_nothing(
    stack: Stack, engines: Engines, capsys: pytest.CaptureFixture[str]
) -> None:
    stack.up(keep=True)
    stack.down()
    assert not engines.running
    with pytest.raises(DevstackError, match="make services"):
        stack.addresses()
    stack.down()
    assert "nothing of devstack's is running" in capsys.readouterr().err


def test_a_dead_service_is_started_again(stack: Stack, engines: Engines) -> None:
    stack.up(keep=True)
    engines.running.discard(1)
    stack.up(keep=True)
    assert engines.running == {2, 3}


def test_a_block_stops_what_it_started(stack: Stack, engines: Engines) -> None:
    with stack.using(keep=False):
        assert engines.running == {1, 2}
    assert not engines.running


def test_a_block_leaves_what_ran_before(stack: Stack, engines: Engines) -> None:
    stack.up(keep=True)
    with stack.using(keep=False):
        pass
    assert engines.running == {1, 2}


def test_a_block_that_is_to_keep_leaves_what_it_started(stack: Stack, engines: Engines) -> None:
    with stack.using(keep=True):
        pass
    assert engines.running == {1, 2}


def test_a_block_stops_only_the_one_of_two_that_it_started(stack: Stack, engines: Engines) -> None:
    stack.up(keep=True)
    engines.running.discard(1)
    with stack.using(keep=False):
        assert engines.running == {2, 3}
    assert engines.running == {2}


def test_of_two_blocks_the_last_one_stops(stack: Stack, engines: Engines) -> None:
    first, second = stack.using(keep=False), stack.using(keep=False)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert engines.running == {1, 2}
    second.__exit__(None, None, None)
    assert not engines.running


def test_services_asked_for_during_a_block_stay(stack: Stack, engines: Engines) -> None:
    with stack.using(keep=False):
        stack.up(keep=True)
    assert engines.running == {1, 2}


def test_an_exception_in_a_block_does_not_leave_services(stack: Stack, engines: Engines) -> None:
    with pytest.raises(KeyboardInterrupt), stack.using(keep=False):
        raise KeyboardInterrupt
    assert not engines.running


def test_a_start_that_fails_stops_what_it_had_started(stack: Stack, engines: Engines) -> None:
    engines.fails = "redis"
    with pytest.raises(DevstackError, match="Redis cannot be started"):
        stack.up(keep=True)
    assert not engines.running
    assert remembered(stack.places, ELASTICSEARCH) is None


def test_an_interrupt_while_waiting_stops_what_was_started(
    stack: Stack, engines: Engines, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_arguments: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(stack_module, "wait_until_ready", interrupted)
    with pytest.raises(KeyboardInterrupt):
        stack.up(keep=True)
    assert not engines.running


def test_a_port_that_something_else_has_is_an_error_before_anything_starts(
    stack: Stack, engines: Engines
) -> None:
    with socket.socket() as other:  # bound but deaf: who asks it is refused at once
        other.bind(("127.0.0.1", 0))
        port = other.getsockname()[1]
        stack.environment = {**stack.environment, REDIS.port_variable: str(port)}
        with pytest.raises(DevstackError, match=f"Port {port}, for Redis, is taken") as raised:
            stack.up(keep=True)
    assert REDIS.port_variable in str(raised.value)
    assert not engines.running


def test_addresses_from_the_environment_start_nothing(
    stack: Stack, engines: Engines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stack_module, "check_given", lambda _service, url, _environment: url)
    given = {"ELASTICSEARCH_URL": "http://es.example:9200", "REDIS_URL": ""}
    stack.environment = given
    assert stack.up(keep=True) == given
    assert stack.addresses() == given
    assert not engines.running


def test_an_address_where_nothing_answers_is_an_error_without_the_password(stack: Stack) -> None:
    url = f"http://me:secret@127.0.0.1:{_free_port()}"
    stack.environment = {**stack.environment, "ELASTICSEARCH_URL": url}
    with pytest.raises(DevstackError, match="no Elasticsearch answers there") as raised:
        stack.up(keep=True)
    assert "secret" not in str(raised.value)


def test_status_asks_the_address_from_the_environment_too(stack: Stack) -> None:
    given = f"http://me:secret@127.0.0.1:{_free_port()}"
    environment = {**stack.environment, "ELASTICSEARCH_URL": given, "REDIS_URL": ""}
    first, second = Stack(stack.places, environment, stack.backends).status()
    assert "from ELASTICSEARCH_URL, does not answer" in first
    assert "secret" not in first
    assert second == "Redis: none, by REDIS_URL"


def test_an_unknown_backend_is_refused(stack: Stack) -> None:
    stack.environment = {**stack.environment, "BLOGSEARCH_DEVSTACK_BACKEND": "podman"}
    with pytest.raises(DevstackError, match="`process` or `container`"):
        stack.up(keep=True)
