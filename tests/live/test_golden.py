"""Golden searches: no build that breaks one goes live."""

import json
import re
import time
from dataclasses import replace
from pathlib import Path

import pytest
from elasticsearch import Elasticsearch

from app import create_app
from app.index.golden import open_golden
from app.insights.counts import Counts, Opening
from app.settings import Settings
from indexer.store.generations import require_live
from tests.conftest import Run

SITE = "https://blog.example.org"


def write(path: Path, **texts: str) -> Path:
    posts = [
        {"oid": oid, "title": oid.title(), "text": f"<p>{text}</p>", "url": f"{SITE}/{oid}/"}
        for oid, text in texts.items()
    ]
    path.write_text("".join(json.dumps(post) + "\n" for post in posts))
    return path


@pytest.fixture
def alias(emptied: str) -> str:
    return emptied


@pytest.fixture
def source(tmp_path: Path, run: Run) -> Path:
    """A blog that is live, with one golden search."""
    path = write(tmp_path / "posts.jsonl", trees="Loquats and kumquats.", seas="Salt and fish.")
    assert run("sync", path).exit_code == 0
    done = run("golden", "add", " kumquats ", f"{SITE}/trees/index.html")
    assert done.exit_code == 0, done.output
    return path


def test_a_build_that_breaks_a_search_is_not_swapped(
    run: Run, source: Path, elastic: Elasticsearch, own_settings: Settings
) -> None:
    live = require_live(elastic, own_settings.index).name
    write(source, trees="Loquats.", seas="Salt and fish.")
    done = run("reindex", source)
    assert done.exit_code == 1
    assert "kumquats → " in done.stderr
    assert "--force" in done.stderr
    assert require_live(elastic, own_settings.index).name == live
    assert run("golden", "list", "--quiet").output == ""
    assert run("reindex", source, "--force").exit_code == 0
    checked = run("golden", "list", "--quiet")
    assert checked.exit_code == 1
    assert f"fails\tkumquats\t{SITE}/trees/index.html" in checked.stdout
    # What the live index does not answer is not broken by another build.
    assert run("reindex", source).exit_code == 0


def test_rules_that_break_a_search_are_not_loaded(
    run: Run, source: Path, tmp_path: Path, own_settings: Settings
) -> None:
    rules = tmp_path / "new" / "own.synonyms"
    rules.parent.mkdir()
    rules.write_text("oranges => kumquats\n")
    assert run("synonyms", "load", rules).exit_code == 0
    assert run("golden", "add", "oranges", f"{SITE}/trees/").exit_code == 0
    rules.write_text("oranges => salt\n")
    done = run("synonyms", "load", rules)
    assert done.exit_code == 1
    assert "oranges → " in done.stderr
    assert "kumquats → " not in done.stderr
    stored = own_settings.synonyms_dir / "own.synonyms"
    assert stored.read_text() == "oranges => kumquats\n"
    stored.write_text("oranges => salt\n")
    refused = run("rebuild")
    assert refused.exit_code == 1
    assert "oranges → " in refused.stderr


def test_only_what_is_found_can_be_added(run: Run, source: Path) -> None:
    refused = run("golden", "add", "kumquats", f"{SITE}/seas/")
    assert refused.exit_code == 1
    assert "is not among the first 3" in refused.stderr
    assert run("golden", "add", "  ", f"{SITE}/seas/").exit_code == 1


def test_insights_offers_what_is_always_opened(
    run: Run, source: Path, elastic: Elasticsearch, own_settings: Settings
) -> None:
    now = time.time()
    opened = [Opening(now, "salt", "seas")] * 5 + [Opening(now, "kumquats", "trees")] * 9
    Counts(elastic, own_settings.index, 30).add(opened)
    token = "a long enough token"
    client = create_app(replace(own_settings, insights_token=token)).test_client()
    client.get("/insights", auth=("", token))
    page = client.get("/insights", auth=("", token)).text
    form = page.split('name="form" value="')[1].split('"')[0]
    section = page.split('id="steady"')[1].split("</section>")[0]
    assert 'value="salt"' in section
    assert "kumquats" not in section
    data = {"form": form, "q": "salt", "oid": "seas"}
    assert client.post("/insights/golden", data=data, auth=("", token)).status_code == 303
    assert open_golden(elastic, own_settings.index).texts()["salt"] == f"{SITE}/seas/"
    assert 'id="steady"' not in client.get("/insights", auth=("", token)).text
    wrong = client.post("/insights/golden", data={**data, "oid": "trees"}, auth=("", token))
    assert wrong.status_code == 400


def test_a_file_replaces_those_that_are_stored(
    run: Run, source: Path, tmp_path: Path, own_settings: Settings, elastic: Elasticsearch
) -> None:
    file = tmp_path / "golden.csv"
    file.write_text(run("golden", "list", "--csv").stdout + f'"salt, fish",{SITE}/seas/\n')
    assert run("golden", "load", file).exit_code == 0
    there = {"kumquats": f"{SITE}/trees/index.html", "salt, fish": f"{SITE}/seas/"}
    assert open_golden(elastic, own_settings.index).texts() == there
    assert run("golden", "list", "--csv").stdout == file.read_text()
    hostile = {"=salt": f"{SITE}/seas/", "'=a;\"=salt": f"{SITE}/seas/"}
    open_golden(elastic, own_settings.index).change(lambda _: hostile)
    file.write_text(run("golden", "list", "--csv").stdout)
    assert re.search(r"(?:^|;)[\"\s]*=", file.read_text(), re.MULTILINE) is None
    assert run("golden", "load", file).exit_code == 0
    assert open_golden(elastic, own_settings.index).texts() == hostile
    open_golden(elastic, own_settings.index).change(lambda _: there)
    file.write_text(f"q,address\n\n,{SITE}/seas/\nkumquats,{SITE}/trees/\nx,not an address\ny\n")
    refused = run("golden", "load", file)
    assert refused.exit_code == 1
    told = [line for line in range(1, 7) if f"{file}:{line}: " in refused.stderr]
    assert told == [3, 5, 6]
    file.write_text("<html>\n")  # no header: nothing would be left
    assert run("golden", "load", file).exit_code == 1
    assert open_golden(elastic, own_settings.index).texts() == there
    file.write_text("q,address\n")
    assert run("golden", "load", file).exit_code == 0
    assert not open_golden(elastic, own_settings.index).texts()


def test_a_rollback_that_breaks_a_search_needs_force(
    run: Run, source: Path, elastic: Elasticsearch, own_settings: Settings
) -> None:
    write(source, trees="Loquats and kumquats.", seas="Salt, fish and shrimp.")
    assert run("reindex", source).exit_code == 0
    assert run("golden", "add", "shrimp", f"{SITE}/seas/").exit_code == 0
    live = require_live(elastic, own_settings.index).name
    refused = run("rollback")
    assert (refused.exit_code, "shrimp → " in refused.stderr) == (1, True)
    assert require_live(elastic, own_settings.index).name == live
    assert run("rollback", "--force").exit_code == 0
    assert require_live(elastic, own_settings.index).name != live
