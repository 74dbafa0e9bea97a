"""`blogsearch meaning`: the setting, the index, and what the doctor says of it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from elasticsearch import Elasticsearch

from analyzers import meaning as models
from app.commands import meaning
from app.commands.meaning import with_setting
from app.settings import Settings, load_settings
from indexer.generations import require_live
from tests.conftest import REPOSITORY, Run


@pytest.fixture
def settings(own_settings: Settings) -> Settings:
    """The commands work on an index of the test's own."""
    return own_settings


@pytest.fixture
def site_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `blogsearch.toml` in the current folder."""
    file = tmp_path / "blogsearch.toml"
    file.write_text('sources = ["posts"]\n\n[settings]  # ours\nsite_name = "A blog"\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BLOGSEARCH_SEMANTIC", raising=False)
    return file


def test_it_is_turned_on_and_off(
    run: Run,
    elastic: Elasticsearch,
    own_settings: Settings,
    site_file: Path,
    installed_model: None,
) -> None:
    assert run("reindex", REPOSITORY / "sample" / "posts.jsonl").exit_code == 0
    before = site_file.read_text()
    asked = run("meaning", "on")  # nobody answers
    assert asked.exit_code == 1
    assert "69 MB" in asked.stdout
    assert "85 posts" in asked.stdout
    assert site_file.read_text() == before

    done = run("meaning", "on", "--yes")
    assert done.exit_code == 0, done.output
    assert require_live(elastic, own_settings.index).model == models.MODEL_NAME
    assert load_settings().semantic
    assert load_settings().site_name == "A blog"
    is_on = replace(own_settings, semantic=True)
    assert run("meaning", "off", settings=is_on).exit_code == 0
    assert require_live(elastic, own_settings.index).model == ""
    assert not load_settings().semantic
    site_file.write_text(before)
    assert run("meaning", "off").exit_code == 0
    assert site_file.read_text() == before


def test_a_failure_changes_nothing(
    run: Run,
    own_settings: Settings,
    site_file: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = site_file.read_text()
    monkeypatch.setattr(meaning, "_MODULES", ("no_such_package_of_ours",))
    monkeypatch.setattr(meaning, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", "")
    refused = run("meaning", "on", "--yes")
    assert refused.exit_code == 1
    assert "neither pip nor uv" in refused.stderr
    monkeypatch.setenv("BLOGSEARCH_SEMANTIC", "off")
    refused = run("meaning", "on", "--yes")
    assert refused.exit_code == 1
    assert "BLOGSEARCH_SEMANTIC" in refused.stderr
    assert site_file.read_text() == before


def test_the_doctor_knows_that_the_packages_are_gone(
    run: Run, own_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone() -> None:
        raise models.NoModel("BLOGSEARCH_SEMANTIC needs packages that are not installed.")

    monkeypatch.setattr("app.meaning._load", gone)
    done = run("doctor", "--json", settings=replace(own_settings, semantic=True))
    assert done.exit_code == 1
    check = json.loads(done.stdout)["meaning"]
    assert check["status"] == "error"
    assert "blogsearch meaning on" in check["remedy"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "[settings]\nsemantic = true\n"),
        ('site = "x"\n', 'site = "x"\n\n[settings]\nsemantic = true\n'),
        ("[settings]\nshards = 2\n", "[settings]\nsemantic = true\nshards = 2\n"),
        (
            "[settings]  # a\nsemantic=false # b\n[urls]\nsemantic = 'x'\n",
            "[settings]  # a\nsemantic = true\n[urls]\nsemantic = 'x'\n",
        ),
        ("[urls]\nsemantic = '/x'\n", "[urls]\nsemantic = '/x'\n\n[settings]\nsemantic = true\n"),
    ],
)
def test_the_rest_of_the_file_stays(before: str, after: str) -> None:
    assert with_setting(before, on=True) == after
    assert with_setting(after, on=True) == after
