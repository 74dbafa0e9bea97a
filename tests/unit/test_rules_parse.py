"""Parsing: Solr's syntax in full, and files that are not rule files."""

import json
import os
from pathlib import Path

import pytest

from analyzers.findings import Finding
from analyzers.rules.formats import NotConvertible, converted
from analyzers.rules.parse import Rule, normalise, parse_file, words

FOREIGN = Path(__file__).resolve().parents[1] / "data" / "synonyms"


def _read(folder: Path, content: str | bytes) -> list[Rule | Finding]:
    path = folder / "x.synonyms"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(parse_file(path))


@pytest.mark.parametrize(
    ("line", "left", "right"),
    [
        ("a, b", ("a", "b"), ()),
        ("a,b,c", ("a", "b", "c"), ()),
        ("a, b => c, d", ("a", "b"), ("c", "d")),
        ("a=>b", ("a",), ("b",)),
        ("a\t=>\tb,\tc", ("a",), ("b", "c")),
        ("  Machine   Learning ,  ML ", ("machine learning", "ml"), ()),
        ("DON’T, don‘t, donʼt => don't", ("don't", "don't", "don't"), ("don't",)),
        (r"1\,000 => 1000", ("1,000",), ("1000",)),
        (r"\=> => arrow", ("=>",), ("arrow",)),
        (r"a \=> b, c", ("a => b", "c"), ()),
        (r"back\\ => slash", ("back\\",), ("slash",)),
        (r"back\\=> slash", ("back\\",), ("slash",)),
        (r"\#1 => first", ("#1",), ("first",)),
        ("c# => csharp", ("c#",), ("csharp",)),
        (r"a \= b, c\;d, e \-> f", ("a = b", "c;d", "e -> f"), ()),
        ("->, arrow", ("->", "arrow"), ()),
        ("x === y, a != b, c || d", ("x === y", "a != b", "c || d"), ()),
        ("<b> => strong", ("<b>",), ("strong",)),
        ("cafe\u0301 => café", ("café",), ("café",)),
    ],
)
def test_reads_a_rule(
    tmp_path: Path, line: str, left: tuple[str, ...], right: tuple[str, ...]
) -> None:
    assert _read(tmp_path, line) == [Rule("x.synonyms", 1, left, right)]


def test_reads_comments_blank_lines_crlf_and_a_byte_order_mark(tmp_path: Path) -> None:
    content = "\ufeff# words\r\n\r\n   \r\n  # more\r\na, b\r\nalone\r\n#c, d\r\nx => y"
    items = _read(tmp_path, content)
    rules = [item for item in items if isinstance(item, Rule)]
    assert [(rule.line, str(rule)) for rule in rules] == [(5, "a, b"), (8, "x => y")]
    assert _read(tmp_path, b"") == []


@pytest.mark.parametrize(
    ("content", "line", "code", "named"),
    [
        ("# a\nword", 2, "single_term", "`word`"),
        ("a => b => c", 1, "multiple_arrows", ""),
        ("a,, b", 1, "empty_term", ""),
        ("a =>", 1, "empty_term", "right"),
        ("=> b", 1, "empty_term", "left"),
        ("a, b # the same", 1, "trailing_comment", ""),
        ("a, b\ncolour -> color", 2, "sign", "`->` at column 8"),
        ("colour --> color", 1, "sign", "`-->` at column 8"),
        ("  colour → color", 1, "sign", "`→` at column 10"),
        ("a, colour = color", 1, "sign", "`=` at column 11"),
        ("colour=color", 1, "sign", "`=` at column 7"),
        ("colour;color", 1, "sign", "`;` at column 7"),
        ("colour | color", 1, "sign", "`|` at column 8"),
        ("colour\tcolor", 1, "sign", "a tab at column 7"),
        ("a, b\n\nx\u202ey => z", 3, "invisible_character", "U+202E"),
        ("pass\u200bword => a", 1, "invisible_character", "U+200B"),
        ("a\x07, b", 1, "invisible_character", "U+0007"),
        ("a, b\rc, d", 1, "invisible_character", "U+000D"),
        (b"a, b\nna\xefve => naive", 2, "encoding", ""),
        ("a, b".encode("utf-16"), 1, "encoding", ""),
        (b"\x7fELF\x02\x01\0\0", 1, "encoding", ""),
        ("a, b\n" + "x" * 100_000 + ", y", 2, "line_too_long", ""),
        (" ".join(["word"] * 10_000) + " => x", 1, "term_too_long", ""),
        (" ".join(["word"] * 11) + " => x", 1, "term_too_long", ""),
        ("x" * 201 + " => x", 1, "term_too_long", ""),
        (", ".join(f"w{n}" for n in range(1001)) + " => x", 1, "too_many_terms", "1,001"),
        (", ".join(f"w{n}" for n in range(101)), 1, "too_many_terms", "101"),
        ("x => " + ", ".join(f"w{n}" for n in range(101)), 1, "too_many_terms", "right"),
        ("@@@ => at", 1, "no_tokens", "`@@@`"),
        ("python3.12 => py", 1, "version", "`python3.12`"),
        ("v18, eighteen", 1, "version", "`v18`"),
    ],
)
def test_invalid_lines_are_reported_with_line_and_code(
    tmp_path: Path, content: str | bytes, line: int, code: str, named: str
) -> None:
    findings = [item for item in _read(tmp_path, content) if isinstance(item, Finding)]
    assert [(finding.line, finding.code) for finding in findings] == [(line, code)]
    assert named in findings[0].message
    assert findings[0].remedy


def test_only_regular_files_of_usual_size_are_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.synonyms")  # opening it would block
    (tmp_path / "folder.synonyms").mkdir()
    with (tmp_path / "huge.synonyms").open("wb") as handle:
        handle.truncate(2**30)  # sparse: takes no space
    for name, code in {
        "pipe": "not_a_file",
        "folder": "not_a_file",
        "huge": "too_large",
        "none": "unreadable",
    }.items():
        (finding,) = parse_file(tmp_path / f"{name}.synonyms")
        assert isinstance(finding, Finding)
        assert (finding.line, finding.code) == (0, code)


@pytest.mark.parametrize(
    ("name", "expected"), json.loads((FOREIGN / "expected.json").read_text()).items()
)
def test_other_formats_are_told_by_name_and_converted(name: str, expected: dict[str, str]) -> None:
    (finding,) = parse_file(FOREIGN / name)
    assert isinstance(finding, Finding)
    assert finding.code == "foreign_format"
    assert f"is {expected['format']}" in finding.message
    assert ("synonyms convert" in finding.remedy) == ("rules" in expected)
    text = (FOREIGN / name).read_text()
    if "rules" in expected:
        assert converted(text) == expected["rules"]
    else:
        with pytest.raises(NotConvertible):
            converted(text)


@pytest.mark.parametrize(
    "text", ["a, b\nc => d\n", "{", "[" * 100_000, '{"synonyms": 3}', "s(1,1,'alone',n,1,0).", ""]
)
def test_what_has_no_synonyms_is_not_converted(text: str) -> None:
    with pytest.raises(NotConvertible):
        converted(text)


@pytest.mark.parametrize(
    ("term", "tokens"),
    [
        ("node.js", ("node", "js")),
        ("utf-8", ("utf", "8")),
        ("o'reilly's", ("o'reilly's",)),
        ("c# and f#", ("c#", "and", "f#")),
        ("c++", ("c++",)),
        ("asp.net core", ("asp", "net", "core")),
        (".net", (".net",)),
        ("1,000", ("1,000",)),
        ("snake_case", ("snake", "case")),
        ("naïve café", ("naïve", "café")),
        ("カタ", ("カ", "タ")),
        ("기계 학습", ("기", "계", "학", "습")),
        ("emoji 😀", ("emoji", "😀")),
        ("=== ==", ("===", "==")),
    ],
)
def test_terms_are_split_as_a_chain_does(term: str, tokens: tuple[str, ...]) -> None:
    assert words(normalise(term)) == tokens
