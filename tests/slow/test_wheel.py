"""The wheel in an environment of its own: its command does all, outside the repository."""

import json
import os
import subprocess
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from app.settings import Settings
from devstack.servers import free_port

REPOSITORY = Path(__file__).resolve().parents[2]
UV = REPOSITORY / ".venv/bin/uv"

Call = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(["make", "-s", "wheel", f"DIST={folder}"], cwd=REPOSITORY, check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def command(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`blogsearch`, installed as `uv tool install` and `pipx install` do it."""
    folder = tmp_path_factory.mktemp("installed") / "environment"
    subprocess.run([UV, "venv", "--quiet", folder], check=True)
    python = folder / "bin/python"
    versions = folder.with_name("versions.txt")
    export: list[str | Path] = [
        UV,
        "export",
        "--quiet",
        "--locked",
        "--no-dev",
        "--no-emit-project",
        "--no-hashes",
    ]
    subprocess.run([*export, "--output-file", versions], cwd=REPOSITORY, check=True)
    install: list[str | Path] = [UV, "pip", "install", "--quiet", "--python", python]
    subprocess.run([*install, "--constraint", versions, wheel], check=True)
    return folder / "bin/blogsearch"


@pytest.fixture
def environment(own_settings: Settings) -> dict[str, str]:
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith("BLOGSEARCH_")
    }
    inherited.pop("PYTHONPATH", None)
    return {
        **inherited,
        "ELASTICSEARCH_URL": own_settings.elasticsearch_url,
        "REDIS_URL": own_settings.redis_url,
        "BLOGSEARCH_INDEX": own_settings.index,
    }


@pytest.fixture
def call(command: Path, environment: dict[str, str], tmp_path: Path) -> Call:
    """Runs the command in an empty folder."""

    def call(*words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [command, *words], cwd=tmp_path, env=environment, capture_output=True, text=True
        )

    return call


@contextmanager
def _serving(command: Path, environment: dict[str, str], folder: Path) -> Iterator[str]:
    url = f"http://127.0.0.1:{(port := free_port())}"
    words: list[str | Path] = [command, "serve", "--port", str(port), "--workers", "1"]
    with subprocess.Popen(words, cwd=folder, env=environment) as process:
        try:
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline and process.poll() is None:
                with suppress(URLError), urlopen(f"{url}/__lbheartbeat__"):
                    break
                time.sleep(0.1)
            yield url
        finally:
            process.terminate()


def test_the_first_search(
    call: Call, command: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "app.py").write_text("raise SystemExit('another module of this name')")
    post = {"oid": "mail", "title": "The colour of a mail", "text": "<p>Ours is grey.</p>"}
    (tmp_path / "posts.jsonl").write_text(json.dumps(post))
    for words in (("try", "posts.jsonl"), ("reindex", "posts.jsonl"), ("doctor",)):
        done = call(*words)
        assert done.returncode == 0, done.stdout + done.stderr
    with (
        _serving(command, environment, tmp_path) as url,
        urlopen(f"{url}/search?q=color") as response,
    ):
        answer = json.load(response)
    assert [hit["oid"] for hit in answer["hits"]] == ["mail"]  # with a rule of the package


def test_the_wheel_has_one_package_with_all_modules_of_the_service(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    packages = {name.split("/")[0] for name in names}
    assert {name for name in packages if not name.endswith(".dist-info")} == {"blogsearch"}
    modules = {
        path.relative_to(REPOSITORY).as_posix()
        for package in ("analyzers", "app", "indexer")
        for path in (REPOSITORY / package).rglob("*.py")
    } - {"app/installed/__init__.py"}
    assert {f"blogsearch/{name}" for name in modules} <= names
