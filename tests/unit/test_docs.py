"""The README and the docs mention every parameter and make target, and no setting that is gone."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from app.cli import main
from app.settings import CONFIG, NAMES, environment_name

REPOSITORY = Path(__file__).resolve().parents[2]
PAGES = [
    REPOSITORY / "README.md",
    REPOSITORY / "CONTRIBUTING.md",
    *sorted((REPOSITORY / "docs").rglob("*.md")),
]


@pytest.fixture(scope="module")
def prose() -> str:
    return "\n".join(page.read_text() for page in PAGES)


def _missing(names: list[str], prose: str) -> list[str]:
    """The names that do not occur as a whole word."""
    return [
        name for name in names if not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", prose)
    ]


@pytest.fixture(scope="module")
def targets() -> set[str]:
    done = subprocess.run(["make", "help"], cwd=REPOSITORY, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(re.findall(r"^  make (\S+)", done.stdout, re.MULTILINE))


def test_every_make_target_is_mentioned(prose: str, targets: set[str]) -> None:
    assert "test" in targets
    missing = _missing([f"make {target}" for target in targets], prose)
    assert not missing, f"neither in README.md nor in docs: {', '.join(missing)}"


def test_every_make_target_that_is_mentioned_exists(prose: str, targets: set[str]) -> None:
    others = [".pre-commit-config.yaml", ".github/workflows/ci.yml", ".ci/run"]
    text = prose + "".join((REPOSITORY / name).read_text() for name in others)
    # In prose "make sure" is not a target: only commands in code or at the start of a line count.
    used = re.findall(r"(?:`|^\s*|run: |exec |entry: |-s )make (?:-s )?([a-z][a-z-]+)", text, re.M)
    assert "check" in used
    assert not set(used) - targets


def test_every_file_of_the_code_that_is_mentioned_exists(prose: str) -> None:
    named = set(re.findall(r"\b(?:app|indexer|analyzers|bench|devstack|tests)/[\w/]+\.py", prose))
    assert "bench/clients.py" in named
    assert [name for name in sorted(named) if not (REPOSITORY / name).exists()] == []


def test_every_variable_that_is_mentioned_is_a_setting(prose: str) -> None:
    mentioned = set(re.findall(r"\bBLOGSEARCH_[A-Z_]*[A-Z]\b", prose))
    known = {environment_name(name) for name in NAMES}
    files = {f"{name}_FILE" for name in known}
    unknown = mentioned - known - files - {CONFIG}
    assert [name for name in unknown if not name.startswith("BLOGSEARCH_DEVSTACK_")] == []


def _commands() -> Iterator[tuple[str, list[str]]]:
    """Each `blogsearch …` of the pages, of deploy/ and of the Docker files, as words."""
    files = [path for path in (REPOSITORY / "deploy").rglob("*") if path.is_file()]
    for path in (*PAGES, *files, REPOSITORY / "docker-compose.yml", REPOSITORY / "Dockerfile"):
        text = path.read_text().replace("\\\n", " ")
        for match in re.finditer(r"(?<![\w/.-])blogsearch((?: [\w./:=\[\]\"$@{}-]+)+)", text):
            yield f"{path.name}: {match[0]}", match[1].split()


def test_every_command_that_is_mentioned_exists_with_its_options() -> None:
    seen = 0
    for where, words in _commands():
        command: click.Command = main
        while words and isinstance(command, click.Group):
            inner = command.get_command(click.Context(command), words[0])
            if inner is None:
                break
            command = inner
            words.pop(0)
        if command is main:
            continue  # prose
        seen += 1
        known = {name for option in command.params for name in option.opts} | {"--help", "-h"}
        used = {word.partition("=")[0] for word in words if word.startswith("--") and word != "--"}
        assert used <= known, where
    assert seen > 50
