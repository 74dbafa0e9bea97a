"""Rule files: what is read and refused, what rules become together, and the commands for them.

`tests/data/synonyms/rules.json` has the short cases:

    read      a line, the terms on its left and on its right
    invalid   a text, the line of its only error, the code, and a part of the message
    checked   a text, and [line, severity, code] of each finding
    split     a term and its words
    compiled  rules, the lines for searches, and those for posts where they differ
    unstemmed the same for unstemmed fields
"""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from analyzers.errors import Finding
from analyzers.languages import LANGUAGES
from analyzers.rules.compile import NO_RULES, Phrases, RuleErrors, Rules, check, in_effect, setting
from analyzers.rules.parse import Rule, normalise, parse_file, rule_files, words
from analyzers.signs import synonym_word
from app.cli import main
from app.commands.tools import Tools
from app.settings import Settings

SHIPPED = Path(__file__).resolve().parents[2] / "synonyms"
DATA = Path(__file__).resolve().parents[1] / "data" / "synonyms"
CASES = json.loads((DATA / "rules.json").read_text("utf-8"))

Write = Callable[..., list[Path]]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes rule files: `write(one="a, b")`."""

    def files(**texts: str | bytes) -> list[Path]:
        for name, text in texts.items():
            content = text if isinstance(text, bytes) else text.encode()
            (tmp_path / f"{name}.synonyms").write_bytes(content)
        return [tmp_path / f"{name}.synonyms" for name in texts]

    return files


def _codes(findings: list[Finding]) -> list[list[Any]]:
    assert all(finding.remedy for finding in findings)
    return [[finding.line, finding.severity, finding.code] for finding in findings]


# -- one file ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("line", "left", "right"), CASES["read"])
def test_reads_a_rule(write: Write, line: str, left: list[str], right: list[str]) -> None:
    assert list(parse_file(*write(x=line))) == [Rule("x.synonyms", 1, tuple(left), tuple(right))]


def test_reads_comments_blank_lines_crlf_and_a_byte_order_mark(write: Write) -> None:
    content = "\ufeff# words\r\n\r\n   \r\n  # more\r\na, b\r\nalone\r\n#c, d\r\nx => y"
    rules = [item for item in parse_file(*write(x=content)) if isinstance(item, Rule)]
    assert [(rule.line, str(rule)) for rule in rules] == [(5, "a, b"), (8, "x => y")]


@pytest.mark.parametrize(
    ("content", "line", "code", "named"),
    [
        *CASES["invalid"],
        (b"a, b\nna\xefve => naive", 2, "encoding", ""),
        ("a, b".encode("utf-16"), 1, "encoding", ""),
        (b"\x7fELF\x02\x01\0\0", 1, "encoding", ""),
        ("a, b\n" + "x" * 100_000 + ", y", 2, "line_too_long", ""),
        (" ".join(["word"] * 10_000) + " => x", 1, "term_too_long", ""),
        (", ".join(f"w{n}" for n in range(1001)) + " => x", 1, "too_many_terms", "1,001"),
        (", ".join(f"w{n}" for n in range(101)), 1, "too_many_terms", "101"),
        ("x => " + ", ".join(f"w{n}" for n in range(101)), 1, "too_many_terms", "right"),
    ],
)
def test_invalid_lines_are_reported_with_line_and_code(
    write: Write, content: str | bytes, line: int, code: str, named: str
) -> None:
    findings = [item for item in parse_file(*write(x=content)) if isinstance(item, Finding)]
    assert _codes(findings) == [[line, "error", code]]
    assert named in findings[0].message


def test_only_regular_files_of_usual_size_are_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.synonyms")  # opening it would block
    (tmp_path / "folder.synonyms").mkdir()
    with (tmp_path / "huge.synonyms").open("wb") as handle:
        handle.truncate(2**30)  # sparse: takes no space
    codes = {"pipe": "not_a_file", "folder": "not_a_file", "huge": "too_large", "no": "unreadable"}
    for name, code in codes.items():
        (finding,) = parse_file(tmp_path / f"{name}.synonyms")
        assert isinstance(finding, Finding)
        assert (finding.line, finding.code) == (0, code)


def test_a_file_that_is_gone_when_it_is_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(RuleErrors, match=r"no\.synonyms: error: cannot be read"):
        assert Rules([tmp_path / "no.synonyms"]).digest


@pytest.mark.parametrize(("term", "tokens"), CASES["split"])
def test_terms_are_split_as_a_chain_does(term: str, tokens: list[str]) -> None:
    assert words(normalise(term)) == tuple(tokens)


@pytest.mark.parametrize(
    ("name", "expected"), json.loads((DATA / "expected.json").read_text()).items()
)
def test_other_formats_are_told_by_name(name: str, expected: dict[str, Any]) -> None:
    (finding,) = parse_file(DATA / name)
    assert isinstance(finding, Finding)
    assert finding.code == "foreign_format"
    assert f"is {expected['format']}" in finding.message


# -- several files -----------------------------------------------------------------------------


def test_the_shipped_files_have_no_findings() -> None:
    files = rule_files(SHIPPED)
    for checked in (files, *([path] for path in files)):
        assert check(checked)[1] == []


@pytest.mark.parametrize(("text", "findings"), CASES["checked"])
def test_findings(write: Write, text: str, findings: list[list[Any]]) -> None:
    assert _codes(check(write(x=text))[1]) == findings


def test_stop_words_are_those_of_the_language(write: Write) -> None:
    files = write(x="fürs => für")
    assert _codes(check(files, language=LANGUAGES["german"])[1]) == [[1, "error", "stop_word"]]
    assert check(files)[1] == []


def test_of_files_in_use_the_older_version_is_left_out(write: Write, tmp_path: Path) -> None:
    folder = tmp_path / "used"
    folder.mkdir()
    (folder / "mine.synonyms").write_text("alone")
    (folder / "theirs.synonyms").write_text("d1, e1\nalone\nb1 => d1")
    found = check(write(mine="c1, b1\nc1 => x1"), rule_files(folder))[1]
    assert [(str(finding)[:16], finding.code) for finding in found] == [
        ("theirs.synonyms:", "single_term"),
        ("theirs.synonyms:", "conflict"),
    ]
    assert "mine.synonyms:2" in found[1].message


@pytest.mark.parametrize("name", ["words.txt", ".my.synonyms"])
def test_names_that_cannot_be_loaded_are_errors(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("a1, b1")
    assert [0, "error", "file_name"] in _codes(check([tmp_path / name])[1])


@pytest.mark.parametrize("case", CASES["compiled"], ids=lambda case: "; ".join(case["rules"])[:40])
def test_searches_have_single_tokens_and_posts_keep_words(
    write: Write, case: dict[str, list[str]]
) -> None:
    made = Rules(write(one="\n".join(case["rules"]))).compiled
    assert list(made.lines) == case["searches"]
    assert list(made.post_lines) == case.get("posts", case["searches"])


@pytest.mark.parametrize("case", CASES["unstemmed"], ids=lambda case: "; ".join(case["rules"])[:40])
def test_unstemmed_fields_keep_what_was_written(write: Write, case: dict[str, list[str]]) -> None:
    """`*ml` is the word that stands for `ml`."""
    made = Rules(write(one="\n".join(case["rules"]))).compiled
    for lines, name in ((made.unstemmed_lines, "searches"), (made.unstemmed_post_lines, "posts")):
        expected = [
            re.sub(r"\*(\w+)", lambda word: synonym_word(word[1]), line) for line in case[name]
        ]
        assert list(lines) == expected


def _layer(number: int) -> str:
    """The terms of the 60 rules that come after those of this rule."""
    return ", ".join(str((number // 60 + 1) * 60 + n) for n in range(60 if number < 2_940 else 1))


@pytest.mark.parametrize(
    ("text", "line", "code"),
    [
        ("a => b\nb => a", 2, "cycle"),
        ("a, b\na => b\nb => a", 3, "conflict"),
        ("a => b\na => c", 2, "conflict"),
        ("a, b\na => c\nb => d", 3, "conflict"),
        ("a => b, c\na => b", 2, "conflict"),
        ("\n".join(f"w{n}, w{n + 1}" for n in range(2_000)), 100, "too_many_equivalents"),
        ("\n".join(f"w{n} => w{n + 1}" for n in range(2_000)), 101, "chain_too_long"),
        ("\n".join(f"w{n} => w{n - 1}" for n in range(1, 2_000)), 101, "chain_too_long"),
        ("\n".join(f"{n} => {_layer(n)}" for n in range(3_000)), 2769, "too_many_followed"),
        ("a, b" + "\u0315\u0300" * 15_000, 1, "term_too_long"),
    ],
)
def test_contradictions_and_too_much_are_errors(
    write: Write, text: str, line: int, code: str
) -> None:
    assert _codes(Rules(write(one=text)).errors) == [[line, "error", code]]


@pytest.mark.parametrize("text", ["a => c\na => b\nb => c", "a => b\nx, b\na => x"])
def test_rules_that_agree_are_used(write: Write, text: str) -> None:
    assert Rules(write(one=text)).compiled.lines


def test_all_errors_are_reported_at_once(write: Write) -> None:
    one = "alone\na => b => c\nx => y\ny => x\nc => d"
    errors = Rules(write(one=one, two="a, , b\nx => z\nc => e")).errors
    assert sorted((finding.file[:3], finding.line, finding.code) for finding in errors) == [
        ("one", 1, "single_term"),
        ("one", 2, "multiple_arrows"),
        ("one", 4, "cycle"),
        ("two", 1, "empty_term"),
        ("two", 2, "conflict"),
        ("two", 3, "conflict"),
    ]


def test_rule_files_are_read_in_order_of_name_and_for_their_language(
    write: Write, tmp_path: Path
) -> None:
    texts = {"b": "# language: english, german\na, b", "a": "a, b", "c": "# language: german"}
    write(**texts, **{".hidden": "a, b"})
    (tmp_path / "notes.txt").write_text("a, b")
    assert [path.stem for path in rule_files(tmp_path)] == ["a", "b", "c"]
    assert [path.stem for path in rule_files(tmp_path, "english")] == ["a", "b"]
    assert [path.stem for path in rule_files(tmp_path, "dutch")] == ["a"]
    assert rule_files(tmp_path / "nowhere") == []


def test_the_digest_changes_with_the_bytes_of_the_files_only(write: Write) -> None:
    files = write(one="a => b", two="c, d")
    former = Rules(files).digest
    assert former == Rules(reversed(files)).digest != NO_RULES.digest
    assert former != Rules(write(one="a => b", two="# other\nc, d")).digest


def test_rules_are_read_from_what_an_index_has(write: Write) -> None:
    made = Rules(write(one="js => java script\nmachine learning, ml\nnode\\,js, c\\#")).compiled
    assert list(in_effect(made.lines, made.post_lines)) == [
        "js => javascript",
        "java script, javascript",
        "machine learning, ml",
        "node\\,js, node js, c\\#",
    ]
    tokens = ["a", "machine", "learning", "node", "js", "script"]
    phrases = [("machine", "learning"), ("node", "js")]
    assert Phrases.of(setting(made.lines)).places(tokens) == [
        (1, 3, phrases[0]),
        (3, 5, phrases[1]),
    ]


def test_a_phrase_counts_in_any_inflection(write: Write) -> None:
    rules = Rules(write(one="vm, virtual machine\nset up => setup\nstate of the art, sota"))
    phrases = Phrases.of(setting(rules.compiled.lines))
    found = phrases.places(["two", "virtual", "machines", "setting", "up", "states", "of", "the"])
    assert [place[:2] for place in found] == [(1, 3), (3, 5)]
    assert [made[2].tokens for made in rules.explain(["virtual", "machines"])] == [("vm",)]


def test_explains_which_rules_apply(write: Write) -> None:
    rules = Rules(
        write(
            one="js => java script\ncafé => bistro",
            two="javascript, ecma\n\nml, machine learning\na b c => x\na b => y",
        )
    )
    made = rules.explain(["js", "and", "machine", "learning", "cafe", *"abcab"])
    assert [
        (start, end, group.tokens, [rule.place for rule in group.rules])
        for start, end, group in made
    ] == [
        (0, 1, ("javascript", "ecma"), ["one.synonyms:1", "two.synonyms:1"]),
        (2, 4, ("ml",), ["two.synonyms:3"]),
        (4, 5, ("bistro",), ["one.synonyms:2"]),
        (5, 8, ("x",), ["two.synonyms:4"]),
        (8, 10, ("y",), ["two.synonyms:5"]),
    ]
    assert rules.explain([]) == NO_RULES.explain(["a"]) == []


# -- the shipped rules -------------------------------------------------------------------------


def test_other_words_are_left_alone() -> None:
    others = ["teh", "cheque", "storey", "flyer", "going", "wont", "its", "story"]
    assert Rules(rule_files(SHIPPED)).explain(others) == []


# -- `synonyms check`, which needs no engine -----------------------------------------------------


def _run(folder: Path, *arguments: str | Path) -> Result:
    tools = Tools(Settings(synonyms_dir=folder))
    return CliRunner().invoke(main, ["synonyms", *map(str, arguments)], obj=tools)


@pytest.mark.parametrize(
    ("text", "code", "lines"),
    [
        ("cron => crontab\n", 0, ["0 errors, 0 warnings."]),
        ("cron =>\n", 1, ["my.synonyms:1: error: ", "1 error, 0 warnings."]),
    ],
)
def test_check(tmp_path: Path, write: Write, text: str, code: int, lines: list[str]) -> None:
    (file,) = write(my=text)
    checked = _run(tmp_path, "check", file)
    assert checked.exit_code == code
    for line, start in zip(checked.stdout.splitlines(), lines, strict=True):
        assert line.startswith(start)
    assert _run(tmp_path, "check").output == checked.output  # it is the only one in use
    quiet = _run(tmp_path, "check", "--quiet", file)
    assert (quiet.exit_code, quiet.output.splitlines()) == (code, checked.stdout.splitlines()[:-1])
    body = json.loads(_run(tmp_path, "check", "--json", file).stdout)
    assert f"{body['errors']} error" in lines[-1]
    for finding in body["findings"]:
        assert finding.keys() == {"file", "line", "severity", "code", "message", "remedy"}


def test_check_says_where_it_stopped(tmp_path: Path, write: Write) -> None:
    (file,) = write(my="alone\n" * 1234)
    checked = _run(tmp_path, "check", file)
    assert len(checked.stdout.splitlines()) == 101
    assert "100 of 1,234" in checked.stdout
    assert json.loads(_run(tmp_path, "check", "--json", file).stdout)["errors"] == 1234
