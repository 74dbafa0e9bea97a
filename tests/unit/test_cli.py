"""How the `blogsearch` command starts, and how it fails."""

import os
import subprocess
import sys

import pytest
from click.testing import CliRunner
from elasticsearch import Elasticsearch

from app.cli import main
from app.commands.operations import exit_code
from app.commands.tools import Tools
from app.index.health import Check, Status
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


class BrokenTools(Tools):
    @property
    def elastic(self) -> Elasticsearch:
        raise RuntimeError("broken on purpose")


@pytest.mark.parametrize("words", [["search", "python"], ["pins", "list"]])
def test_an_unexpected_error_shows_its_traceback_only_on_request(words: list[str]) -> None:
    tools = BrokenTools(Settings())
    result = CliRunner().invoke(main, words, obj=tools)
    assert result.exit_code == 1
    assert "RuntimeError: broken on purpose" in result.output
    assert "Traceback (most" not in result.output
    again = CliRunner().invoke(main, ["--traceback", *words], obj=tools)
    assert isinstance(again.exception, RuntimeError)


@pytest.mark.parametrize(
    ("statuses", "code"),
    [
        (["ok", "ok"], 0),
        (["ok", "warning"], 3),
        (["warning"], 3),
        (["error"], 1),
        (["ok", "warning", "error"], 1),
    ],
)
def test_doctor_ends_with_the_worst_that_it_found(statuses: list[Status], code: int) -> None:
    assert exit_code([Check("a check", status, "seen") for status in statuses]) == code


def test_a_closed_stdout_is_no_error() -> None:
    """cron jobs and daemons may have none."""
    command = f"{sys.executable} -c 'from app.cli import run; run()' doctor >&-"
    nowhere = {"ELASTICSEARCH_URL": "http://127.0.0.1:1", "REDIS_URL": ""}
    environment = {**os.environ, **nowhere}
    done = subprocess.run(["bash", "-c", command], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "")


def test_help_on_a_full_disk_ends_with_a_message() -> None:
    command = f"{sys.executable} -c 'from app.cli import run; run()' --help > /dev/full"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert (done.returncode, "Free some space" in done.stderr) == (1, True)
    assert "Traceback" not in done.stderr
