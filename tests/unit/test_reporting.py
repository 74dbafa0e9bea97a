"""What a long command prints while it runs."""

import json
from pathlib import Path

import click
import pytest

from app.commands.indexing import concerns, watched_folders
from app.commands.runs import Output, display, reject_log
from indexer.records import Origin, Progress, Reject


def test_in_a_pipe_each_phase_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    with display() as show:
        for phase in ("reading", "reading", "verifying", "replaying", "swapping"):
            show.on_progress(Progress(phase, 12_000, 0.4))  # type: ignore[arg-type]
    assert capsys.readouterr().err.splitlines() == ["reading …", "replaying …"]
    with display(Output(quiet=True)) as show:
        show.on_progress(Progress("reading"))
    assert capsys.readouterr().err == ""


def test_the_first_rejects_are_printed_and_all_are_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "rejects.jsonl"
    with display() as show, reject_log(show, file) as on_reject:
        for number in range(1, 31):
            on_reject(Reject(Origin("posts.jsonl", number), "ä", "no title", "Give it one."))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 21
    assert all(part in lines[0] for part in ("posts.jsonl:1", "ä", "no title", "Give it one."))
    written = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert len(written) == 30
    assert written[29] == {
        "source": "posts.jsonl",
        "line": 30,
        "oid": "ä",
        "reason": "no title",
        "remedy": "Give it one.",
    }


def test_a_file_for_rejects_that_cannot_be_written_fails_first(tmp_path: Path) -> None:
    with (
        pytest.raises(click.ClickException, match="such"),
        display() as show,
        reject_log(show, tmp_path / "no" / "such"),
    ):
        pytest.fail("it continued")


def test_a_file_is_watched_through_its_folder(tmp_path: Path) -> None:
    file, folder = tmp_path / "posts.jsonl", tmp_path / "content"
    file.touch()
    folder.mkdir()
    paths = [file, folder]
    assert watched_folders(paths) == [tmp_path, folder]
    assert concerns(paths, file)
    assert concerns(paths, folder / "2024" / "new.md")
    assert not concerns(paths, tmp_path / "rejects.jsonl")
