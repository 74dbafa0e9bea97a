"""How the `blogsearch` command starts, and how it fails."""

import subprocess
import sys

import pytest
from click.testing import CliRunner
from elasticsearch import Elasticsearch

from app.cli import main
from app.commands.tools import Tools
from app.settings import Settings


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


def test_a_search_does_not_import_what_only_the_service_needs() -> None:
    code = (
        "import sys\n"
        "from app.settings import Settings\n"
        "import app.commands.search, app.search\n"
        "Settings()\n"
        "slow = {'redis', 'flask', 'feedparser', 'rich'} & set(sys.modules)\n"
        "sys.exit(f'imported {slow}' if slow else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_an_unknown_command_is_an_error_that_names_it() -> None:
    result = CliRunner().invoke(main, ["serach"])
    assert result.exit_code == 2
    assert "serach" in result.output


class BrokenTools(Tools):
    @property
    def elastic(self) -> Elasticsearch:
        raise RuntimeError("broken on purpose")


@pytest.mark.parametrize("words", [["search", "python"], ["pins", "list"]])
def test_an_unexpected_error_is_not_hidden(words: list[str]) -> None:
    result = CliRunner().invoke(main, words, obj=BrokenTools(Settings()))
    assert isinstance(result.exception, RuntimeError)
