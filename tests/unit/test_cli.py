"""How the `blogsearch` command starts."""

import subprocess
import sys
from importlib.metadata import entry_points, version

import pytest


@pytest.mark.parametrize("words", [["--help"], ["search", "--help"], ["--version"]])
def test_help_does_not_import_the_engines_clients(words: list[str]) -> None:
    code = (
        "import sys\n"
        "from app.cli import main\n"
        "main(sys.argv[1:], standalone_mode=False)\n"
        "slow = {'elasticsearch', 'redis', 'pydantic', 'flask'} & set(sys.modules)\n"
        "sys.exit(f'imported {slow}' if slow else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_search_does_not_import_what_only_the_service_needs() -> None:
    code = (
        "import sys\n"
        "from app.settings import Settings\n"
        "import app.commands.search, app.search\n"
        "Settings()\n"
        "slow = {'redis', 'flask', 'feedparser'} & set(sys.modules)\n"
        "sys.exit(f'imported {slow}' if slow else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_installed_command_prints_its_version() -> None:
    (command,) = entry_points(group="console_scripts", name="blogsearch")
    code = f"from {command.module} import {command.attr}; {command.attr}()"
    done = subprocess.run([sys.executable, "-c", code, "--version"], capture_output=True, text=True)
    assert done.stdout == f"blogsearch, version {version('blogsearch')}\n", done.stderr


def test_an_unknown_command_is_an_error_that_names_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from app.cli import run; run()", "serach"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert "serach" in done.stderr
