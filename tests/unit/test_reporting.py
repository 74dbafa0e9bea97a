"""What a long command shows, and which rejects it tells."""

import json
from pathlib import Path

import pytest
from watchfiles import Change

from app.commands.reporting import display, rejects
from app.commands.watched import Watched
from indexer.bulk.operations import Operation, index_operation
from indexer.bulk.sender import Outcome
from indexer.ingest import Ingest
from indexer.progress import Progress
from indexer.records import Origin, RawPost, Reject


def test_plain_lines_have_rate_part_and_time_left(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([0.0, 0.0, 10.0, 11.0, 20.0])
    monkeypatch.setattr("app.commands.reporting.time.monotonic", lambda: next(clock))
    with display() as show:
        show.report(Progress("reading"))
        show.report(Progress("reading", 12_000, 0.4, rejected=2))
        show.report(Progress("reading", 13_000, 0.5))  # too soon for another line
        show.report(Progress("reading", 20_000))
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "reading …",
        "reading: 12,000 documents, 1,200/s, 40%, about 15 s left, 2 rejected",
        "reading: 20,000 documents, 1,000/s",
    ]


def test_the_first_rejects_are_told_and_all_are_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "rejects.jsonl"
    with display() as show, rejects(show, file) as on_reject:
        for number in range(1, 31):
            on_reject(Reject(Origin("posts.jsonl", number), "ä", "no title", "Give it one."))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 21
    assert lines[0] == "rejected: posts.jsonl:1 (ä): no title. Give it one."
    written = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert len(written) == 30
    assert written[29] == {
        "source": "posts.jsonl",
        "line": 30,
        "oid": "ä",
        "reason": "no title",
        "remedy": "Give it one.",
    }


def test_a_file_for_rejects_that_cannot_be_written_is_said_before_anything_is_done(
    tmp_path: Path,
) -> None:
    with (
        pytest.raises(Exception, match="cannot be written"),
        display() as show,
        rejects(show, tmp_path / "no" / "such"),
    ):
        pytest.fail("it went on")


def test_an_intake_counts_lines_documents_and_what_is_through() -> None:
    told: list[Reject] = []
    raws = [
        RawPost(Origin("s", 1), "a", "A", "x"),
        Reject(Origin("s", 2), None, "not JSON", "…"),
        RawPost(Origin("s", 3), "a", "Again", "x"),
        RawPost(Origin("s", 4), "b", "B", "x"),
    ]
    with Ingest(told.append) as intake:
        items: list[Operation] = [index_operation(one) for one in intake.documents(raws)]
    assert [one.oid for one in items] == ["a", "b"]
    assert (intake.lines, intake.rejected_lines, intake.rejects) == (4, 2, 2)
    assert "s:1" in told[1].reason
    assert intake.fraction_done(1.0) == 0.0
    intake.record_outcomes([Outcome(items[0], 201, "created")])
    assert (intake.fraction_done(1.0), intake.fraction_done(0.5), intake.fraction_done(None)) == (
        0.5,
        0.25,
        None,
    )
    assert (intake.accepted.posts, intake.created) == (1, 1)


def test_a_file_is_watched_through_its_folder(tmp_path: Path) -> None:
    file, folder = tmp_path / "posts.jsonl", tmp_path / "content"
    file.touch()
    folder.mkdir()
    watched = Watched([file, folder])
    assert watched.folders == [tmp_path, folder]
    assert watched(Change.modified, str(file))
    assert watched(Change.added, str(folder / "2024" / "new.md"))
    assert not watched(Change.modified, str(tmp_path / "rejects.jsonl"))
    assert not watched(Change.modified, str(folder / ".git" / "index"))
