"""Which JDK devstack uses, and its error when there is none."""

from pathlib import Path

import pytest

from devstack.elasticsearch_distribution import find_jdk
from devstack.instance import Instance
from devstack.terminal import DevstackError

AS_MYSELF = Instance(Path("unused"), "default", None)


def _jdk(home: Path, version: str, *modules: str) -> Path:
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    lines = "\n".join(f"echo {module}@{version}" for module in ("java.base", *modules))
    java.write_text(f"#!/bin/sh\n{lines}\n")
    java.chmod(0o755)
    return home


def test_a_jdk_from_the_environment_is_preferred(tmp_path: Path) -> None:
    named = _jdk(tmp_path / "named", "21.0.2", "jdk.jdi")
    _jdk(tmp_path / "jvm" / "jdk-25", "25.0.1", "jdk.jdi")
    environment = {"JAVA_HOME": str(named), "PATH": ""}
    assert find_jdk(environment, AS_MYSELF, (str(tmp_path / "jvm"),)) == named


def test_es_java_home_is_preferred_to_java_home(tmp_path: Path) -> None:
    general = _jdk(tmp_path / "general", "25", "jdk.jdi")
    own = _jdk(tmp_path / "own", "25", "jdk.jdi")
    environment = {"JAVA_HOME": str(general), "ES_JAVA_HOME": str(own), "PATH": ""}
    assert find_jdk(environment, AS_MYSELF, ()) == own


def test_an_old_java_on_the_path_is_skipped(tmp_path: Path) -> None:
    old = _jdk(tmp_path / "old", "17.0.15", "jdk.jdi")
    good = _jdk(tmp_path / "jvm" / "new", "25.0.3", "jdk.jdi")
    environment = {"PATH": str(old / "bin"), "JAVA_HOME": str(tmp_path / "gone")}
    assert find_jdk(environment, AS_MYSELF, (str(tmp_path / "jvm"),)) == good


def test_no_jdk_is_one_error_that_lists_each_and_its_problem(tmp_path: Path) -> None:
    _jdk(tmp_path / "jvm" / "old", "17.0.15", "jdk.jdi")
    _jdk(tmp_path / "jvm" / "jre", "25.0.3")
    broken = tmp_path / "jvm" / "broken" / "bin" / "java"
    broken.parent.mkdir(parents=True)
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    environment = {"JAVA_HOME": "/nowhere/jdk", "PATH": ""}
    with pytest.raises(DevstackError) as raised:
        find_jdk(environment, AS_MYSELF, (str(tmp_path / "jvm"), str(tmp_path / "empty")))
    message = str(raised.value)
    assert "/nowhere/jdk: bin/java does not run" in message
    assert f"{tmp_path}/jvm/old: Java 17 is too old" in message
    assert "jre: Java 25, but a JRE: the module jdk.jdi is missing" in message
    assert "broken: Java 8 is too old, or broken" in message
    assert f"{tmp_path}/empty" in message
    assert "version 21 or later" in message
