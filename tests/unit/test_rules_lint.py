"""The check of rule files: what is wrong with rules that are used together."""

from pathlib import Path

import pytest

from analyzers.findings import Finding
from analyzers.languages import LANGUAGES
from analyzers.lint import check
from analyzers.rules.parse import rule_files

SHIPPED = Path(__file__).resolve().parents[2] / "synonyms"


def _check(folder: Path, text: str, language: str = "english") -> list[Finding]:
    path = folder / "x.synonyms"
    path.write_text(text)
    return check([path], language=LANGUAGES[language])[1]


def _codes(findings: list[Finding]) -> list[tuple[int, str, str]]:
    return [(found.line, found.severity, found.code) for found in findings]


def test_the_shipped_files_have_no_findings() -> None:
    files = rule_files(SHIPPED)
    for checked in (files, *([path] for path in files)):
        assert check(checked)[1] == []


@pytest.mark.parametrize(
    ("text", "findings"),
    [
        ("a1, b1\nc1 => d1\nmachine learning, ml", []),
        ("state of the art, sota\nto be or not to be, hamlet", []),
        ("go => go, golang", []),
        ("b1 => c1\n\nb1=>C1", [(3, "warning", "duplicate")]),
        ("c1, b1\nb1, c1", [(2, "warning", "duplicate")]),
        ("b1 => c1\nc1 => d1", []),
        ("x1 => the", [(1, "error", "stop_word")]),
        ("information technology, it", [(1, "error", "stop_word")]),
        ("et, And", [(1, "warning", "stop_word")]),
        (
            "alone\nc1, b1\nb1, c1\nx1 => y1\ny1 => x1\n, c1\nz1 => the",
            [
                (1, "error", "single_term"),
                (3, "warning", "duplicate"),
                (5, "error", "cycle"),
                (6, "error", "empty_term"),
                (7, "error", "stop_word"),
            ],
        ),
        ("# language: english\nb1, c1", []),
        ("# language: german\nb1, c1", [(0, "error", "other_language")]),
        ("# language: klingon\nb1, c1", [(0, "error", "unknown_language")]),
    ],
)
def test_findings(tmp_path: Path, text: str, findings: list[tuple[int, str, str]]) -> None:
    found = _check(tmp_path, text)
    assert _codes(found) == findings
    assert all(finding.remedy for finding in found)


def test_stop_words_are_those_of_the_language(tmp_path: Path) -> None:
    assert [code for _, _, code in _codes(_check(tmp_path, "fürs => für", "german"))] == [
        "stop_word"
    ]
    assert _codes(_check(tmp_path, "fürs => für")) == []


def test_a_finding_names_the_other_rule_by_file_and_line(tmp_path: Path) -> None:
    first, second = tmp_path / "a.synonyms", tmp_path / "b.synonyms"
    first.write_text("x, y\ngo => golang")
    second.write_text("go => golang")
    _, (finding,) = check([first, second])
    assert (finding.file, finding.line) == ("b.synonyms", 1)
    assert "a.synonyms:2" in finding.message
    assert str(finding).startswith("b.synonyms:1: warning: ")


def test_of_other_files_only_errors_are_reported(tmp_path: Path) -> None:
    mine, theirs = tmp_path / "mine.synonyms", tmp_path / "theirs.synonyms"
    mine.write_text("c1, b1\nb1, c1")
    theirs.write_text("d1, e1\nd1, e1\nalone")
    assert [(found.file, found.code) for found in check([mine], [theirs])[1]] == [
        ("mine.synonyms", "duplicate"),
        ("theirs.synonyms", "single_term"),
    ]


def test_the_older_version_of_a_checked_file_is_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    for name, text in (("mine", "a1 => b1"), ("other", "c1 => d1")):
        (folder / f"{name}.synonyms").write_text(text)
    new = tmp_path / "mine.synonyms"
    new.write_text("a1 => x1\nc1 => e1")
    _, findings = check([new], rule_files(folder))
    assert [(found.file, found.line, found.code) for found in findings] == [
        ("other.synonyms", 1, "conflict")
    ]


@pytest.mark.parametrize("names", [["words.txt"], [".my.synonyms"], ["a.synonyms", "b/a.synonyms"]])
def test_names_that_cannot_be_loaded_are_errors(tmp_path: Path, names: list[str]) -> None:
    files = [tmp_path / name for name in names]
    for file in files:
        file.parent.mkdir(exist_ok=True)
        file.write_text("a1, b1")
    codes = {(found.severity, found.code) for found in check(files)[1]}
    assert ("error", "file_name") in codes
