"""`synonyms check` and `convert`, which need no engine: what they print, and the exit code."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from app.cli import main
from app.commands.tools import Tools
from app.settings import Settings

Check = Callable[..., Result]


def _run(folder: Path, *words: str | Path) -> Result:
    settings = Settings(synonyms_dir=folder)
    return CliRunner().invoke(main, [str(word) for word in words], obj=Tools(settings))


@pytest.fixture
def check(tmp_path: Path) -> Check:
    def run(text: str, *options: str) -> Result:
        file = tmp_path / "my.synonyms"
        file.write_text(text)
        return _run(tmp_path, "synonyms", "check", *options, file)

    return run


def test_no_findings(check: Check) -> None:
    checked = check("cron => crontab\n")
    assert (checked.exit_code, checked.stdout) == (0, "0 errors, 0 warnings.\n")


def test_errors(check: Check) -> None:
    checked = check("cron =>\n")
    assert checked.exit_code == 1
    finding, count = checked.stdout.splitlines()
    assert finding.startswith("my.synonyms:1: error: ")
    assert count == "1 error, 0 warnings."
    checked = check("cron =>\n", "--json")
    assert checked.exit_code == 1
    body = json.loads(checked.stdout)
    assert (body["errors"], body["warnings"]) == (1, 0)
    assert body["findings"][0].keys() == {
        "file", "line", "severity", "code", "message", "remedy",
    }  # fmt: skip


def test_only_warnings(check: Check) -> None:
    checked = check("cron, crond\ncrond, cron\n")
    assert (checked.exit_code, "0 errors, 1 warning." in checked.stdout) == (3, True)


def test_says_where_it_stopped(check: Check) -> None:
    checked = check("alone\n" * 1234)
    assert checked.exit_code == 1
    assert len(checked.stdout.splitlines()) == 101
    assert "100 of 1,234" in checked.stdout
    assert json.loads(check("alone\n" * 1234, "--json").stdout)["errors"] == 1234


def test_quiet_prints_only_what_is_wrong(check: Check) -> None:
    assert check("cron => crontab\n", "--quiet").output == ""
    assert "my.synonyms:1" in check("cron =>\n", "--quiet").output


def test_without_a_file_those_in_use_are_checked(tmp_path: Path) -> None:
    (tmp_path / "a.synonyms").write_text("alone\n")
    checked = _run(tmp_path, "synonyms", "check")
    assert (checked.exit_code, "a.synonyms:1: error" in checked.output) == (1, True)
    assert _run(tmp_path, "synonyms", "check", tmp_path / "nowhere.synonyms").exit_code == 1
    missing = _run(tmp_path / "nowhere", "synonyms", "check")
    assert (missing.exit_code, "BLOGSEARCH_SYNONYMS_DIR" in missing.output) == (1, True)


def test_what_is_converted_is_a_rule_file(tmp_path: Path) -> None:
    wordnet = tmp_path / "wn_s.pl"
    wordnet.write_text("s(1,1,'car',n,1,70).\ns(1,2,'motor car',n,1,0).\n")
    refused = _run(tmp_path, "synonyms", "check", wordnet)
    assert (refused.exit_code, "WordNet" in refused.stdout) == (1, True)
    made = _run(tmp_path, "synonyms", "convert", wordnet)
    assert (made.exit_code, made.stdout) == (0, "car, motor car\n")
    (tmp_path / "my.synonyms").write_text(made.stdout)
    assert _run(tmp_path, "synonyms", "check", tmp_path / "my.synonyms").exit_code == 0


@pytest.mark.parametrize(
    ("name", "code"), [("my.synonyms", 1), ("latin1.json", 1), ("nowhere.json", 2), (".", 2)]
)
def test_what_cannot_be_converted_is_an_error(tmp_path: Path, name: str, code: int) -> None:
    (tmp_path / "my.synonyms").write_text("car, auto\n")
    (tmp_path / "latin1.json").write_bytes(b'{"synonyms": "na\xefve"}')
    refused = _run(tmp_path, "synonyms", "convert", tmp_path / name)
    assert (refused.exit_code, refused.stdout) == (code, "")
    assert str(tmp_path / name) in refused.stderr
