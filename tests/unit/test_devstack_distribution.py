"""Getting Elasticsearch through Maven; a script stands in for `mvn`, so nothing is downloaded."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from devstack.elasticsearch_distribution import ELASTICSEARCH_ARTIFACT, elasticsearch_home
from devstack.engines import ELASTICSEARCH_VERSION
from devstack.instance import Instance
from devstack.terminal import DevstackError

UNPACKS = f"""#!/bin/sh
for argument in "$@"; do
  case "$argument" in -DoutputDirectory=*) out=${{argument#*=}}/sonarqube ;; esac
done
echo "$@" > "$MAVEN_CALLED"
mkdir -p "$out/bin" "$out/elasticsearch/bin" "$out/elasticsearch/lib/tools/server-launcher"
echo start > "$out/bin/elasticsearch"
echo jar > "$out/elasticsearch/lib/elasticsearch-{ELASTICSEARCH_VERSION}.jar"
echo arm > "$out/elasticsearch/lib/tools/server-launcher/server-launcher"
chmod 700 "$out/elasticsearch/lib"
"""

Maven = Callable[[str], None]


@pytest.fixture
def instance(tmp_path: Path) -> Instance:
    new = Instance(tmp_path / "root", "default", None)
    new.downloads.mkdir(parents=True)
    return new


@pytest.fixture
def maven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Maven:
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin")
    monkeypatch.setenv("MAVEN_CALLED", str(tmp_path / "called"))

    def write(script: str) -> None:
        (folder / "mvn").write_text(script)
        (folder / "mvn").chmod(0o755)

    return write


def test_elasticsearch_is_unpacked_combined_and_kept(
    instance: Instance, maven: Maven, tmp_path: Path
) -> None:
    (instance.downloads / "partial" / "out").mkdir(parents=True)  # of one that was killed
    maven(UNPACKS)
    home = elasticsearch_home(instance, tmp_path)
    assert home == instance.downloads / f"elasticsearch-{ELASTICSEARCH_VERSION}"
    assert (home / "bin" / "elasticsearch").read_text() == "start\n"
    assert os.access(home / "bin" / "elasticsearch", os.X_OK)
    assert not (home / "lib/tools/server-launcher/server-launcher").exists()
    assert (home / "lib").stat().st_mode & 0o777 == 0o755  # the engines' user has to read it
    called = (tmp_path / "called").read_text()
    assert ELASTICSEARCH_ARTIFACT in called
    assert f"-Dmaven.repo.local={instance.root}" in called  # not the user's
    assert sorted(path.name for path in instance.downloads.iterdir()) == [home.name, "lock"]

    maven("#!/bin/sh\nexit 1\n")
    assert elasticsearch_home(instance, tmp_path) == home  # nothing is downloaded again


def test_a_failure_shows_mavens_output_and_leaves_no_files(
    instance: Instance, maven: Maven, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    maven("#!/bin/sh\necho '[ERROR] No space left on device'\nexit 1\n")
    with pytest.raises(DevstackError, match="Maven could not download"):
        elasticsearch_home(instance, tmp_path)
    captured = capfd.readouterr()
    assert "[ERROR] No space left on device" in captured.err
    assert not captured.out  # a shell evaluates it
    assert [path.name for path in instance.downloads.iterdir()] == ["lock"]
