"""`synonyms check` without engines: what they print, and the exit code."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from app.cli import main
from app.commands.tools import Tools
from app.settings import Settings

CHECKS = [["synonyms", "check", "--offline", "--alone"]]


def _check(words: list[str], text: str, folder: Path, form: str = "text") -> tuple[int, str]:
    file = folder / f"my.{words[0]}"
    file.write_text(text)
    words = [*words, "--format", form, str(file)]
    result = CliRunner().invoke(main, words, obj=Tools(Settings()))
    return result.exit_code, result.stdout


@pytest.mark.parametrize("words", CHECKS)
def test_no_findings(words: list[str], tmp_path: Path) -> None:
    assert _check(words, "cron => crontab\n", tmp_path) == (0, "0 errors, 0 warnings.\n")


@pytest.mark.parametrize("words", CHECKS)
def test_errors(words: list[str], tmp_path: Path) -> None:
    code, printed = _check(words, "cron =>\n", tmp_path)
    assert code == 1
    finding, count = printed.splitlines()
    assert finding.startswith(f"my.{words[0]}:1: error: ")
    assert count == "1 error, 0 warnings."
    code, printed = _check(words, "cron =>\n", tmp_path, "json")
    assert code == 1
    body = json.loads(printed)
    assert (body["errors"], body["warnings"], len(body["findings"])) == (1, 0, 1)
    assert body.get("suppressed") == (0 if words[0] == "synonyms" else None)
