"""The check of rule files without a server."""

from pathlib import Path

import pytest

from analyzers.lint import CheckResult, check


def _check(folder: Path, text: str) -> CheckResult:
    path = folder / "x.synonyms"
    path.write_text(text)
    return check(None, [path])


def _codes(result: CheckResult) -> list[tuple[int, str]]:
    return [(finding.line, finding.code) for finding in result.findings]


@pytest.mark.parametrize(
    ("text", "warnings"),
    [
        ("a, b\nc => d\nmachine learning, ml", []),
        ("a => b\n\na=>B", [(3, "duplicate")]),
        ("a, b\nb, a", [(2, "duplicate")]),
        ("a => b\nb => c", [(1, "chained")]),
        ("a, b\nb => c", [(1, "chained")]),
        ("a, b, c\na, b", [(2, "unreachable")]),
        ("a => b\na, b", [(2, "unreachable")]),
        ("a, b\na => b", [(1, "unreachable")]),
        ("a, a, b", [(1, "duplicate")]),
        ("a => a", [(1, "no_effect")]),
        ("go => go, golang", []),
    ],
)
def test_rules_without_their_effect_are_warned_about(
    tmp_path: Path, text: str, warnings: list[tuple[int, str]]
) -> None:
    result = _check(tmp_path, text)
    assert _codes(result) == warnings
    assert all(finding.severity == "warning" and finding.remedy for finding in result.findings)
    assert result.rules is not None


def test_a_finding_names_the_other_rule_by_file_and_line(tmp_path: Path) -> None:
    first, second = tmp_path / "a.synonyms", tmp_path / "b.synonyms"
    first.write_text("x, y\ngo => golang")
    second.write_text("go => golang")
    (finding,) = check(None, [first, second]).findings
    assert (finding.file, finding.line) == ("b.synonyms", 1)
    assert "a.synonyms:2" in finding.message
    assert str(finding).startswith("b.synonyms:1: warning: ")


def test_everything_is_reported_at_once(tmp_path: Path) -> None:
    result = _check(tmp_path, "alone\na, b\nb, a\nx => y\ny => x\n, c\nd => d")
    assert _codes(result) == [
        (1, "single_term"),
        (3, "duplicate"),
        (5, "cycle"),
        (6, "empty_term"),
        (7, "no_effect"),
    ]
    assert result.rules is None


def test_of_other_files_only_errors_are_reported(tmp_path: Path) -> None:
    mine, theirs = tmp_path / "mine.synonyms", tmp_path / "theirs.synonyms"
    mine.write_text("a, a, b")
    theirs.write_text("c => c\nalone")
    result = check(None, [mine], [theirs])
    assert [(finding.file, finding.code) for finding in result.findings] == [
        ("mine.synonyms", "duplicate"),
        ("theirs.synonyms", "single_term"),
    ]


def test_a_file_suppresses_warnings(tmp_path: Path) -> None:
    result = _check(tmp_path, "# check-ignore: duplicate, chained\na, b\na, b\n")
    assert result.findings == ()
    assert result.suppressed == 1
    assert result.rules is not None


def test_errors_cannot_be_suppressed(tmp_path: Path) -> None:
    result = _check(tmp_path, "# check-ignore: cycle\na => b\nb => a")
    assert [error.code for error in result.errors] == ["cycle"]
    assert result.rules is None


def test_the_older_version_of_a_checked_file_is_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    old, other = folder / "mine.synonyms", folder / "other.synonyms"
    old.write_text("a => b")
    other.write_text("c => d")
    new = tmp_path / "mine.synonyms"
    new.write_text("a => x\nc => e")
    result = check(None, [new], [old, other])
    assert [(finding.file, finding.line, finding.code) for finding in result.findings] == [
        ("other.synonyms", 1, "conflict")
    ]
