"""What is told about rule files without a server: rules that do nothing, or not what they say."""

from pathlib import Path

import pytest

from analyzers.findings import error, warning
from analyzers.lint.check import check
from analyzers.lint.static import review
from analyzers.lint.suppressions import allowed, in_files


def _codes(folder: Path, text: str) -> list[tuple[int, str]]:
    path = folder / "x.synonyms"
    path.write_text(text)
    reviewed = review([path])
    assert reviewed.rules is not None
    assert all(found.severity == "warning" and found.remedy for found in reviewed.findings)
    return [(found.line, found.code) for found in reviewed.findings]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a, b\nc => d\nmachine learning, ml", []),
        ("a => b\n\na=>B", [(3, "duplicate")]),
        ("a, b\nb, a", [(2, "duplicate")]),
        ("a => b\nb => c", [(1, "leads_on")]),
        ("a, b\nb => c", [(1, "leads_on")]),
        ("a, b, c\na, b", [(2, "unreachable")]),
        ("a => b\na, b", [(2, "unreachable")]),
        ("a, b\na => b", [(1, "unreachable")]),
        ("a, a, b", [(1, "duplicate")]),
        ("a => a", [(1, "no_effect")]),
        ("go => go, golang", []),
    ],
)
def test_finds_rules_without_the_effect_they_promise(
    tmp_path: Path, text: str, found: list[tuple[int, str]]
) -> None:
    assert _codes(tmp_path, text) == found


def test_a_finding_names_the_other_rule_by_file_and_line(tmp_path: Path) -> None:
    first, second = tmp_path / "a.synonyms", tmp_path / "b.synonyms"
    first.write_text("x, y\ngo => golang")
    second.write_text("go => golang")
    (found,) = review([first, second]).findings
    assert (found.file, found.line) == ("b.synonyms", 1)
    assert "a.synonyms:2" in found.message
    assert str(found).startswith("b.synonyms:1: warning: `go => golang` is there already")


def test_errors_leave_no_rules(tmp_path: Path) -> None:
    path = tmp_path / "x.synonyms"
    path.write_text("a => b\nb => a")
    reviewed = review([path])
    assert reviewed.rules is None
    assert [found.code for found in reviewed.findings] == ["cycle"]


def test_warnings_are_told_about_the_files_asked_about_and_errors_about_all() -> None:
    mine = warning("mine", 2, "x", "", "")
    theirs = warning("theirs", 1, "x", "", "")
    broken = error("theirs", 1, "x", "", "")
    assert in_files([mine, theirs, broken, mine], {"mine"}) == [mine, broken]


def test_a_file_may_allow_itself_warnings(tmp_path: Path) -> None:
    path = tmp_path / "x.synonyms"
    path.write_text("# check-allow: duplicate, leads_on\n# check-allow: no_effect\na, b\na, b\n")
    assert allowed(path) == {"duplicate", "leads_on", "no_effect"}
    report = check(None, [path])
    assert report.findings == ()
    assert report.silenced == 1
    assert report.rules is not None


def test_no_file_may_allow_itself_errors(tmp_path: Path) -> None:
    path = tmp_path / "x.synonyms"
    path.write_text("# check-allow: cycle\na => b\nb => a")
    report = check(None, [path])
    assert [found.code for found in report.errors] == ["cycle"]
    assert report.rules is None


def test_the_older_version_of_a_checked_file_is_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    old, other = folder / "mine.synonyms", folder / "other.synonyms"
    old.write_text("a => b")
    other.write_text("c => d")
    new = tmp_path / "mine.synonyms"
    new.write_text("a => x\nc => e")
    report = check(None, [new], [old, other])
    assert [(found.file, found.line, found.code) for found in report.findings] == [
        ("other.synonyms", 1, "conflict")
    ]
