"""The check of rule files: what is wrong with rules that are used together."""

from pathlib import Path

import pytest

from analyzers.languages import LANGUAGES
from analyzers.lint import CheckResult, check
from analyzers.rules.parse import rule_files

SHIPPED = Path(__file__).resolve().parents[2] / "synonyms"


def _check(folder: Path, text: str, language: str = "english") -> CheckResult:
    path = folder / "x.synonyms"
    path.write_text(text)
    return check([path], language=LANGUAGES[language])


def _codes(result: CheckResult) -> list[tuple[int, str, str]]:
    return [(found.line, found.severity, found.code) for found in result.findings]


def test_the_shipped_files_have_no_findings() -> None:
    files = rule_files(SHIPPED)
    assert check(files).findings == ()
    for path in files:
        assert check([path]).findings == (), path.name


@pytest.mark.parametrize(
    ("text", "findings"),
    [
        ("a1, b1\nc1 => d1\nmachine learning, ml", []),
        ("state of the art, sota\nto be or not to be, hamlet", []),
        ("go => go, golang", []),
        ("b1 => c1\n\nb1=>C1", [(3, "warning", "duplicate")]),
        ("c1, b1\nb1, c1", [(2, "warning", "duplicate")]),
        ("b1, b1, c1", [(1, "warning", "duplicate")]),
        ("b1 => b1", [(1, "warning", "no_effect")]),
        ("b1 => c1\nc1 => d1", []),
        ("b1 => c1\nb1, c1", [(2, "warning", "unreachable")]),
        ("b1, c1\nb1 => c1", [(1, "warning", "unreachable")]),
        ("x1 => the", [(1, "error", "stop_word")]),
        ("information technology, it", [(1, "error", "stop_word")]),
        ("et, And", [(1, "warning", "stop_word")]),
        (
            "alone\nc1, b1\nb1, c1\nx1 => y1\ny1 => x1\n, c1\nx1 => the",
            [
                (1, "error", "single_term"),
                (5, "error", "cycle"),
                (6, "error", "empty_term"),
                (7, "error", "stop_word"),
            ],
        ),
        ("# language: english\nb1, c1", []),
        ("# language: german\nb1, c1", [(0, "warning", "other_language")]),
        ("# language: klingon\nb1, c1", [(0, "error", "unknown_language")]),
    ],
)
def test_findings(tmp_path: Path, text: str, findings: list[tuple[int, str, str]]) -> None:
    result = _check(tmp_path, text)
    assert _codes(result) == findings
    assert (result.rules is None) == any(severity == "error" for _, severity, _ in findings)
    assert all(found.remedy for found in result.findings)


def test_stop_words_are_those_of_the_language(tmp_path: Path) -> None:
    assert [code for _, _, code in _codes(_check(tmp_path, "fürs => für", "german"))] == [
        "stop_word"
    ]
    assert _codes(_check(tmp_path, "fürs => für")) == []


def test_a_finding_names_the_other_rule_by_file_and_line(tmp_path: Path) -> None:
    first, second = tmp_path / "a.synonyms", tmp_path / "b.synonyms"
    first.write_text("x, y\ngo => golang")
    second.write_text("go => golang")
    (finding,) = check([first, second]).findings
    assert (finding.file, finding.line) == ("b.synonyms", 1)
    assert "a.synonyms:2" in finding.message
    assert str(finding).startswith("b.synonyms:1: warning: ")


def test_of_other_files_only_errors_are_reported(tmp_path: Path) -> None:
    mine, theirs = tmp_path / "mine.synonyms", tmp_path / "theirs.synonyms"
    mine.write_text("c1, c1, b1")
    theirs.write_text("d1 => d1\nalone")
    assert [(found.file, found.code) for found in check([mine], [theirs]).findings] == [
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
    result = check([new], rule_files(folder))
    assert [(found.file, found.line, found.code) for found in result.findings] == [
        ("other.synonyms", 1, "conflict")
    ]


def test_a_name_that_cannot_be_loaded_is_reported(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("a1, b1")
    assert [found.code for found in check([tmp_path / "words.txt"]).findings] == ["file_name"]
