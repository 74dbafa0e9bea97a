"""How the `blogsearch` command starts, and how it fails."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("words", [["--help"], ["search", "--help"], ["--version"]])
def test_help_does_not_import_the_engines_clients(words: list[str]) -> None:
    code = (
        "import sys\n"
        "from app.cli import main\n"
        "main(sys.argv[1:], standalone_mode=False)\n"
        "slow = {'elasticsearch', 'redis', 'msgspec', 'flask'} & set(sys.modules)\n"
        "sys.exit(f'imported {slow}' if slow else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
