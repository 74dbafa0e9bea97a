"""The README's own commands, run as they stand in a copy of the checkout, on the real engines."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from app.settings import Settings
from tests.conftest import Run

REPOSITORY = Path(__file__).resolve().parents[2]


def blocks(heading: str) -> list[str]:
    """The indented blocks below a heading of the README, without their indentation."""
    section = (REPOSITORY / "README.md").read_text().split(f"\n## {heading}\n")[1]
    indented = re.findall(r"(?m)(?:^    .*\n)+", section.split("\n## ")[0])
    return [re.sub(r"(?m)^    ", "", block) for block in indented]


@pytest.fixture
def checkout(tmp_path: Path) -> Iterator[Path]:
    """What a clone has: the tracked files; and a `.venv`, which `make` would create."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    folder = tmp_path / "blogsearch"
    for name in filter(None, listed.stdout.split("\0")):
        if (REPOSITORY / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(REPOSITORY / name, folder / name)
    (folder / ".venv").symlink_to(REPOSITORY / ".venv")
    yield folder
    shutil.rmtree(folder)


def test_indexing_and_searching_the_sample_posts(
    checkout: Path, own_settings: Settings, post_oids: Callable[[], set[str]]
) -> None:
    script = next(block for block in blocks("Your posts") if "blogsearch reindex" in block)
    environment = {name: value for name, value in os.environ.items() if name[:10] != "BLOGSEARCH"}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=checkout,
        env={
            **environment,
            "ELASTICSEARCH_URL": own_settings.elasticsearch_url,
            "REDIS_URL": own_settings.redis_url,
            "BLOGSEARCH_INDEX": own_settings.index,
            "PYTHONPATH": str(checkout),
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    sample = (REPOSITORY / "sample/posts.jsonl").read_text().splitlines()
    assert post_oids() == {json.loads(line)["oid"] for line in sample}
    assert "found for 'date format'" in done.stdout


def test_the_example_of_a_post(
    run: Run, own_settings: Settings, post_oids: Callable[[], set[str]], tmp_path: Path
) -> None:
    lines = next(block for block in blocks("Your posts") if block.startswith("{"))
    (tmp_path / "posts.jsonl").write_text(" ".join(lines.split("\n")) + "\n")
    done = run("reindex", tmp_path / "posts.jsonl", settings=own_settings)
    assert done.exit_code == 0, done.output
    assert "is live: 1 post." in done.stdout
    assert "did you mean" not in done.stderr
    assert post_oids() == {"juggling"}


def test_the_example_of_a_search(client: FlaskClient) -> None:
    command, shown = blocks("Run it")[1:3]
    path = re.findall(r"curl 'http://[^/]*(/[^']*)'", command)[0]
    answer = client.get(path).get_json()
    names = re.findall(r'"(\w+)":', shown.partition('"hits"')[0])
    assert len(names) > 4
    for name in names:  # what is shown of the answer, without its hits
        assert f'"{name}": {json.dumps(answer[name])}' in shown
    hit = shown.partition('"hits": [')[2].partition('"highlight"')[0]
    fields = re.findall(r'"(\w+)":', hit)
    assert len(fields) > 2
    for name in fields:
        assert f'"{name}": {json.dumps(answer["hits"][0][name])}' in hit
    assert json.dumps(answer["corrected"]) in shown
    assert answer["instead"] in shown
