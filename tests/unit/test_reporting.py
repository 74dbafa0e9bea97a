"""What a long command prints while it runs."""

import json
from pathlib import Path

import click
import pytest

from app.commands.indexing import concerns, watched_folders
from app.commands.runs import Display, display, reject_log
from indexer.records import Origin, Progress, Reject


def test_plain_lines_have_rate_fraction_and_time_left(capsys: pytest.CaptureFixture[str]) -> None:
    clock = iter([0.0, 0.0, 10.0, 11.0, 20.0])
    show = Display(None, clock=lambda: next(clock))
    show.on_progress(Progress("reading"))
    show.on_progress(Progress("reading", 12_000, 0.4, rejected=2))
    show.on_progress(Progress("reading", 13_000, 0.5))  # too soon for another line
    show.on_progress(Progress("reading", 20_000))
    _, first, second = capsys.readouterr().err.splitlines()
    assert all(part in first for part in ("12,000", "1,200/s", "40%", "15 s", "2 rejected"))
    assert "20,000" in second
    assert "1,000/s" in second


def test_a_run_that_is_over_in_a_moment_has_no_time_left(
    capsys: pytest.CaptureFixture[str],
) -> None:
    clock = iter([0.0, 10.0, 10.3, 20.0])
    show = Display(None, clock=lambda: next(clock))
    show.on_progress(Progress("reading", 30, 0.43))
    show.on_progress(Progress("reading", 60, 0.46))
    show.on_progress(Progress("reading", 99, 0.99))
    _, first, last = capsys.readouterr().err.splitlines()
    assert ("43%" in first, "99%" in last) == (True, True)
    line = first + last
    assert "left" not in line


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
