"""Parsing: Solr's syntax in full, and files that are not rule files."""

import os
from pathlib import Path

import pytest

from analyzers.findings import Finding
from analyzers.rules.graph import joined
from analyzers.rules.parse import Rule, normalise, parse_file, words


def _read(folder: Path, content: str | bytes) -> list[Rule | Finding]:
    path = folder / "x.synonyms"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(parse_file(path))


def _rules(folder: Path, content: str | bytes) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    return [(item.left, item.right) for item in _read(folder, content) if isinstance(item, Rule)]


def _error(folder: Path, content: str | bytes) -> tuple[int, str, str]:
    findings = [item for item in _read(folder, content) if isinstance(item, Finding)]
    assert len(findings) == 1
    assert findings[0].remedy
    return findings[0].line, findings[0].code, findings[0].message


@pytest.mark.parametrize(
    ("line", "left", "right"),
    [
        ("a, b", ("a", "b"), ()),
        ("a,b,c", ("a", "b", "c"), ()),
        ("a, b => c, d", ("a", "b"), ("c", "d")),
        ("a=>b", ("a",), ("b",)),
        ("  Machine \t Learning ,  ML ", ("machine learning", "ml"), ()),
        ("DON’T, don‘t, donʼt => don't", ("don't", "don't", "don't"), ("don't",)),
        (r"1\,000 => 1000", ("1,000",), ("1000",)),
        (r"\=> => arrow", ("=>",), ("arrow",)),
        (r"a \=> b, c", ("a => b", "c"), ()),
        (r"back\\ => slash", ("back\\",), ("slash",)),
        (r"back\\=> slash", ("back\\",), ("slash",)),
        (r"\#1 => first", ("#1",), ("first",)),
        ("c# => csharp", ("c#",), ("csharp",)),
        ("a = b, c > d", ("a = b", "c > d"), ()),
        ("cafe\u0301 => café", ("café",), ("café",)),
    ],
)
def test_reads_a_rule(
    tmp_path: Path, line: str, left: tuple[str, ...], right: tuple[str, ...]
) -> None:
    assert _rules(tmp_path, line) == [(left, right)]


def test_reads_comments_blank_lines_crlf_and_a_byte_order_mark(tmp_path: Path) -> None:
    content = "\ufeff# words\r\n\r\n   \r\n  # more\r\na, b\r\n#c, d\r\nx => y"
    items = _read(tmp_path, content)
    assert [(item.line, str(item)) for item in items] == [(5, "a, b"), (7, "x => y")]


def test_an_empty_file_has_no_rules(tmp_path: Path) -> None:
    assert _read(tmp_path, b"") == []


@pytest.mark.parametrize(
    ("content", "line", "code"),
    [
        ("# a\nword", 2, "single_term"),
        ("a => b => c", 1, "multiple_arrows"),
        ("a,, b", 1, "empty_term"),
        ("a, b,", 1, "empty_term"),
        ("a =>", 1, "empty_term"),
        ("=> b", 1, "empty_term"),
        ("a, b # the same", 1, "trailing_comment"),
        ("a => b\\", 1, "trailing_backslash"),
        ("a, b\n\nx\u202ey => z", 3, "invisible_character"),
        ("pass\u200bword => a", 1, "invisible_character"),
        ("a\x07, b", 1, "invisible_character"),
        ("a, b\rc, d", 1, "invisible_character"),
        (b"a, b\nna\xefve => naive", 2, "encoding"),
        ("a, b".encode("utf-16"), 1, "encoding"),
        (b"\x7fELF\x02\x01\0\0", 1, "binary"),
        ("a, b\n" + "x" * 100_000 + ", y", 2, "line_too_long"),
        (" ".join(["word"] * 10_000) + " => x", 1, "term_too_long"),
        (" ".join(["word"] * 11) + " => x", 1, "term_too_long"),
        ("x" * 201 + " => x", 1, "term_too_long"),
        (", ".join(f"w{n}" for n in range(1001)) + " => x", 1, "too_many_terms"),
        (", ".join(f"w{n}" for n in range(101)), 1, "too_many_terms"),
        ("x => " + ", ".join(f"w{n}" for n in range(101)), 1, "too_many_terms"),
    ],
)
def test_invalid_lines_are_reported_with_line_and_code(
    tmp_path: Path, content: str | bytes, line: int, code: str
) -> None:
    assert _error(tmp_path, content)[:2] == (line, code)


def test_too_many_equivalents_are_to_be_contracted(tmp_path: Path) -> None:
    """Several lines with a common term would be as many equivalents."""
    (item,) = _read(tmp_path, ", ".join(f"w{n}" for n in range(101)))
    assert isinstance(item, Finding)
    assert item.message == "101 terms on the line; the limit is 100."
    assert item.remedy == "Contract to one word: `a, b => c`."


def test_an_invalid_byte_is_named(tmp_path: Path) -> None:
    assert "0xef at column 3" in _error(tmp_path, b"na\xefve => naive")[2]


def test_an_invisible_character_is_named(tmp_path: Path) -> None:
    assert "U+202E RIGHT-TO-LEFT OVERRIDE" in _error(tmp_path, "a\u202eb, c")[2]


def test_lines_after_an_invalid_one_are_read(tmp_path: Path) -> None:
    items = _read(tmp_path, "a, b\nalone\nc, d")
    assert [str(item) for item in items if isinstance(item, Rule)] == ["a, b", "c, d"]


def test_only_regular_files_are_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.synonyms")  # opening it would block
    (tmp_path / "folder.synonyms").mkdir()
    for name in ("pipe", "folder"):
        (finding,) = parse_file(tmp_path / f"{name}.synonyms")
        assert isinstance(finding, Finding)
        assert (finding.line, finding.code) == (0, "not_a_file")


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    (finding,) = parse_file(tmp_path / "none.synonyms")
    assert isinstance(finding, Finding)
    assert finding.code == "unreadable"
    assert "No such file" in finding.message


def test_a_huge_file_is_refused_by_its_size(tmp_path: Path) -> None:
    path = tmp_path / "huge.synonyms"
    with path.open("wb") as handle:
        handle.truncate(2**30)  # sparse: takes no space
    (finding,) = parse_file(path)
    assert isinstance(finding, Finding)
    assert finding.code == "too_large"
    assert "1,024.0 MiB" in finding.message


@pytest.mark.parametrize(
    ("term", "tokens"),
    [
        ("node.js", ("node", "js")),
        ("utf-8", ("utf", "8")),
        ("don't", ("don't",)),
        ("o'reilly's", ("o'reilly's",)),
        ("c++", ("c++",)),
        ("c# and f#", ("c#", "and", "f#")),
        (".net", (".net",)),
        ("asp.net core", ("asp", "net", "core")),
        ("tcp/ip", ("tcp", "ip")),
        ("3.11", ("3", "11")),
        ("snake_case", ("snake", "case")),
        ("naïve café", ("naïve", "café")),
        ("日本", ("日", "本")),
        ("ひらがな", ("ひ", "ら", "が", "な")),
        ("カタカナ", ("カ", "タ", "カ", "ナ")),
        ("기계 학습", ("기", "계", "학", "습")),
        ("emoji 😀", ("emoji", "😀")),
        ("===", ("===",)),
        ("=== ==", ("===", "==")),
    ],
)
def test_terms_are_split_wherever_a_chain_might(term: str, tokens: tuple[str, ...]) -> None:
    assert words(normalise(term)) == tokens


def test_joined_words_are_letters_and_digits() -> None:
    assert joined(("c++", "o'reilly", "3", "😀")) == "cpluspluso" + "reilly31f600"
