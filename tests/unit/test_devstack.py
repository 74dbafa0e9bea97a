"""Which engines `make run` uses, and how it calls them."""

import os
from pathlib import Path

import pytest

from devstack.engines import ELASTICSEARCH, Engine
from devstack.instance import Instance, StartedEngine
from devstack.launch import Launch, server_launch
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


# In place of Elasticsearch's program: what it prints has the port of the configuration.
PRINTS = """#!/usr/bin/env python3
import os, struct, sys
text = lambda value: struct.pack(">H", len(value)) + value.encode()
port = open(os.environ["ES_PATH_CONF"] + "/elasticsearch.yml").read()
if not port.isdecimal():
    sys.exit("no port: " + port)
lists = struct.pack(">i", 1) + text("-Xmx1g") + struct.pack(">i", 2) + text("-m") + text(port)
environment = struct.pack(">i", 1) + text("HOME") + text(os.getcwd())
last = text("/folder") + text("/tmp") + bytes([0]) + struct.pack(">i", 3) + b"end"
sys.stdout.buffer.write(b"ESLD" + text("/bin/java") + lists + environment + last)
open("runs", "a").write("1")
"""


def test_how_elasticsearch_is_called_is_asked_once_for_each_configuration(tmp_path: Path) -> None:
    instance = Instance(tmp_path, "default", None)
    home, config = instance.downloads / "elasticsearch-9", instance.folder / "config"
    for folder in (home / "bin", config):
        folder.mkdir(parents=True)
    program = home / "bin" / "elasticsearch-cli"
    program.write_text(PRINTS)
    program.chmod(0o755)
    environment = {
        "ES_PATH_CONF": str(config),
        "ES_JAVA_HOME": str(tmp_path),
        "PATH": os.environ["PATH"],
    }
    runs = instance.folder / "runs"
    for port, number in (("9200", "1"), ("9200", "1"), ("9201", "11"), ("9200", "111")):
        (config / "elasticsearch.yml").write_text(port)
        launch = server_launch(instance, home, environment, ())
        command = ["/bin/java", "-Xmx1g", "-m", port]
        assert launch == Launch(command, {"HOME": str(instance.folder)}, "/folder", b"end")
        assert runs.read_text() == number
    (config / "elasticsearch.yml").write_text("none")
    with pytest.raises(DevstackError, match="or ES_JAVA_OPTS:\nno port: none"):
        server_launch(instance, home, environment, ())
