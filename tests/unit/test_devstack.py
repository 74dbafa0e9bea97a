"""Which engines `make run` uses."""

from pathlib import Path

import pytest

from devstack.engines import ELASTICSEARCH, Engine
from devstack.instance import Instance, StartedEngine
from devstack.stack import Stack
from devstack.terminal import DevstackError


class Running:
    """A backend whose engines run already."""

    def start(self, engine: Engine, port: int) -> StartedEngine:
        raise AssertionError(f"{engine.name} is started once more")

    def alive(self, state: StartedEngine) -> bool:
        return state.port > 0

    def stop(self, state: StartedEngine) -> None:
        raise AssertionError(f"{state} is stopped")


def test_an_engine_that_runs_on_another_port_than_the_one_asked_for_is_not_used(
    tmp_path: Path,
) -> None:
    instance = Instance(tmp_path, "default", None)
    instance.folder.mkdir(parents=True)
    instance.save(ELASTICSEARCH.name, StartedEngine(9200, "log", pid=1))
    stack = Stack(instance, {ELASTICSEARCH.port_variable: "9321"}, {"process": Running()})
    with pytest.raises(DevstackError, match=r"already runs on port 9200.*services-stop"):
        stack.up()
