"""Getting Elasticsearch through Maven; a script stands in for `mvn`, so nothing is downloaded."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

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
    maven(UNPACKS)
    home = elasticsearch_home(instance, tmp_path)
    assert home == instance.downloads / f"elasticsearch-{ELASTICSEARCH_VERSION}"
    assert (home / "bin" / "elasticsearch").read_text() == "start\n"
    assert os.access(home / "bin" / "elasticsearch", os.X_OK)
    assert not (home / "lib/tools/server-launcher/server-launcher").exists()
    assert (home / "lib").stat().st_mode & 0o777 == 0o755  # the engines' user has to read it
    assert ELASTICSEARCH_ARTIFACT in (tmp_path / "called").read_text()
    assert sorted(path.name for path in instance.downloads.iterdir()) == [home.name, "lock"]

    maven("#!/bin/sh\nexit 1\n")
    assert elasticsearch_home(instance, tmp_path) == home  # nothing is downloaded again


def test_nothing_is_put_into_the_users_maven_repository(
    instance: Instance, maven: Maven, tmp_path: Path
) -> None:
    maven(UNPACKS)
    elasticsearch_home(instance, tmp_path)
    (repository,) = [
        word.partition("=")[2]
        for word in (tmp_path / "called").read_text().split()
        if word.startswith("-Dmaven.repo.local=")
    ]
    assert Path(repository).is_relative_to(instance.root)
    assert not Path(repository).exists()


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


def test_the_rest_of_a_killed_download_is_not_used(
    instance: Instance, maven: Maven, tmp_path: Path
) -> None:
    half = instance.downloads / "partial" / "out" / "sonarqube" / "elasticsearch"
    half.mkdir(parents=True)
    maven(UNPACKS)
    home = elasticsearch_home(instance, tmp_path)
    assert (home / "bin" / "elasticsearch").exists()


def test_an_artifact_with_another_version_is_refused(
    instance: Instance, maven: Maven, tmp_path: Path
) -> None:
    maven(UNPACKS.replace(f"elasticsearch-{ELASTICSEARCH_VERSION}.jar", "elasticsearch-9.0.0.jar"))
    with pytest.raises(DevstackError, match=r"devstack/elasticsearch_distribution\.py"):
        elasticsearch_home(instance, tmp_path)


def test_without_maven_the_error_names_the_alternatives(
    instance: Instance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DevstackError, match="`mvn` is not on the PATH"):
        elasticsearch_home(instance, tmp_path)


class _Usage(NamedTuple):
    total: int
    used: int
    free: int


def test_a_full_disk_is_an_error_before_the_download(
    instance: Instance, maven: Maven, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    maven(UNPACKS)
    monkeypatch.setattr(shutil, "disk_usage", lambda _folder: _Usage(0, 0, 900_000_000))
    with pytest.raises(DevstackError, match=r"0\.9 GB free; 2\.5 GB are needed"):
        elasticsearch_home(instance, tmp_path)
    assert not (tmp_path / "called").exists()
