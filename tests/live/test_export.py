"""`blogsearch export`: what is live can be read back, without the sources."""

import gzip
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from elasticsearch import Elasticsearch

from indexer.runs.export import FORMAT
from tests.conftest import Run
from tests.writing import put_comments, put_post

REPOSITORY = Path(__file__).resolve().parents[2]


def test_export_reindex_export_is_identical_and_sync_then_writes_nothing(
    run: Run, elastic: Elasticsearch, alias: str, tmp_path: Path
) -> None:
    source = REPOSITORY / "sample" / "posts.jsonl"
    file, again = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    assert run("reindex", source).exit_code == 0
    oid = json.loads(source.read_text().splitlines()[3])["oid"]
    put_comments(elastic, alias, oid, "http")
    put_post(elastic, alias, "http <&> post")
    put_comments(elastic, alias, "http <&> post", "of a post over HTTP")
    elastic.indices.refresh(index=alias)
    assert run("export", file).exit_code == 0
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert len(lines) == 86
    assert all(line["format"] == FORMAT for line in lines)
    piped = run("export").stdout_bytes
    assert piped == file.read_bytes()
    refused = run("export", tmp_path / "nowhere" / "a.jsonl")
    assert (refused.exit_code, "Create its folder" in refused.stderr) == (1, True)

    elastic.indices.delete(index=[f"{alias}-000001", f"{alias}-state"])
    packed = tmp_path / "a.jsonl.gz"
    packed.write_bytes(gzip.compress(piped))
    assert run("reindex", packed).exit_code == 0
    assert run("export", again).exit_code == 0
    assert again.read_bytes() == file.read_bytes()
    before = elastic.indices.stats(index=alias)["_all"]["primaries"]["indexing"]["index_total"]
    for synced in (source, file):
        done = run("sync", synced)
        assert "0 posts added, 0 changed, 0 removed" in done.stdout
    after = elastic.indices.stats(index=alias)["_all"]["primaries"]["indexing"]["index_total"]
    assert after == before


def test_a_full_disk_is_named(
    run: Run, start: Callable[..., subprocess.Popen[str]], alias: str
) -> None:
    line = json.dumps({"oid": "a", "title": "A"})
    assert run("reindex", "-", input=line).exit_code == 0
    program = "import sys; sys.stdout = open('/dev/full', 'w'); from app.cli import run; run()"
    process = start("export", program=program)
    assert process.stderr
    said = process.stderr.read()
    assert (process.wait(60), "Free some space" in said) == (1, True), said
    assert "bug" not in said


def test_lines_that_export_did_not_write_are_rejected(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "posts.jsonl"
    right: dict[str, Any] = {"format": FORMAT, "title": "T", "text": "x", "code": ""}
    right |= {"categories": [], "keywords": []}
    wrong: list[dict[str, Any]] = [
        {"format": "blogsearch-0"},
        {"oid": ""},
        {"title": "<script>"},
        {"text": 7},
        {"comments": [{"oid": "1", "comment": "<b>"}]},
        {"headings": [{"text": "<i>"}]},
        {"categories": ["<b>"]},
        {"categories": "a"},
        {"unknown": "a"},
    ]
    posts = [{**right, "oid": f"post-{n}", **changed} for n, changed in enumerate([{}, *wrong])]
    file.write_text("".join(json.dumps(post) + "\n" for post in posts))
    done = run("reindex", file, "--force")
    assert done.exit_code == 3, done.output
    said = done.stderr.replace("\n", "")
    assert all(f"{file}:{line}" in said for line in range(2, len(posts) + 1))
    assert f"{file}:1:" not in said
    assert "blogsearch export" in said
