"""Rules taken together: what they compile to, contradictions, and which rule made a token."""

import random
from pathlib import Path

import pytest

from analyzers.rules.compile import (
    NO_RULES,
    RuleErrors,
    RuleSet,
    compile_rules,
    read_rules,
    rules_digest,
)
from analyzers.rules.parse import Rule, parse_files, rule_files


def _rules(folder: Path, **texts: str) -> RuleSet:
    files = []
    for name, text in texts.items():
        files.append(folder / f"{name}.synonyms")
        files[-1].write_text(text)
    return read_rules(files)


def _codes(error: pytest.ExceptionInfo[RuleErrors]) -> list[tuple[str, int, str]]:
    return [(finding.file, finding.line, finding.code) for finding in error.value.findings]


@pytest.mark.parametrize(
    ("text", "compiled"),
    [
        ("reactjs, react", ["reactjs, react"]),
        ("react => reactjs", ["react => reactjs"]),
        ("Go => GoLang", ["go => golang"]),
        ("dont => don’t", ["dont => don't"]),
        # a phrase becomes the single words of its group ...
        ("machine learning, ml", ["machine learning => ml"]),
        ("ML, machine learning", ["machine learning => ml"]),
        ("state of the art, sota", ["state of the art => sota"]),
        ("sqlserver, mssql, sql server", ["sqlserver, mssql, sql server => sqlserver, mssql"]),
        # ... or its own words joined
        ("js => java script", ["js => javascript", "java script => javascript"]),
        ("hot dog, frankfurter sausage", ["hot dog, frankfurter sausage => hotdog"]),
        (
            "the c++ builder, our c# thing",
            ["the c++ builder, our c\\# thing => thecplusplusbuilder"],
        ),
        # a chain splits more words than a person sees
        ("nodejs, node.js", ["node.js, node js => nodejs"]),
        ("utf8, utf-8", ["utf-8, utf 8 => utf8"]),
        ("nihon, 日本", ["日本, 日 本 => nihon"]),
        # rules are followed over several lines
        ("a => b\nb => c", ["a => c", "b => c"]),
        ("a, b\nb, c", ["a, b, c"]),
        ("a, b\nb => c", ["a, b => c"]),
        ("a => b\nb, c", ["a => b, c", "b, c"]),
        ("a, b\na => b", ["a => b"]),
        ("a => b, c", ["a => b, c"]),
        ("a => a, b", ["a => a, b"]),
        ("x => machine learning\nmachine learning, ml", ["x => ml", "machine learning => ml"]),
        ("java script => js\nx => java script", ["java script => js", "x => js"]),
        # a phrase also matches with synonyms of its words
        (
            "colour => color\ncolour scheme, palette",
            ["colour => color", "colour scheme, color scheme => palette"],
        ),
        # characters that are tokens of their own are spelled out in a joined word
        ("日本 => 東京", ["日本, 日 本 => 67714eac", "東京, 東 京 => 67714eac"]),
        ("a => a", []),
        ("a, a", []),
        ("a\\, b => c\\=>d", ["a\\, b, a b => cd", "c\\=\\>d, c d => cd"]),
    ],
)
def test_rules_compile_to_single_tokens(tmp_path: Path, text: str, compiled: list[str]) -> None:
    assert list(_rules(tmp_path, one=text).lines) == compiled


@pytest.mark.parametrize(
    ("text", "line", "code"),
    [
        ("a => b\nb => a", 2, "cycle"),
        ("a => b\nb => c\nc => a", 3, "cycle"),
        ("a, b\na => b\nb => a", 3, "cycle"),
        ("a => b\na => c", 2, "conflict"),
        ("a, b\na => c\nb => d", 3, "conflict"),
        ("a => b, c\na => b", 2, "conflict"),
        ("!? ?!, ... !!", 1, "no_tokens"),
    ],
)
def test_contradictions_are_errors(tmp_path: Path, text: str, line: int, code: str) -> None:
    with pytest.raises(RuleErrors) as error:
        _rules(tmp_path, one=text)
    assert _codes(error) == [("one.synonyms", line, code)]


@pytest.mark.parametrize(
    "text", ["a => c\na => b\nb => c", "a => b\na => b", "a => b\nx, b\na => x"]
)
def test_rules_with_the_same_result_do_not_contradict(tmp_path: Path, text: str) -> None:
    assert _rules(tmp_path, one=text).lines


def test_a_contradiction_between_files_names_both(tmp_path: Path) -> None:
    with pytest.raises(RuleErrors) as error:
        _rules(tmp_path, first="a => b", second="# mine\na => c")
    (finding,) = error.value.findings
    assert (finding.file, finding.line, finding.code) == ("second.synonyms", 2, "conflict")
    assert "first.synonyms:1" in finding.message


def test_all_errors_are_reported_at_once(tmp_path: Path) -> None:
    with pytest.raises(RuleErrors) as error:
        _rules(tmp_path, one="alone\na => b => c\nx => y\ny => x", two="a, , b\nx => z")
    assert sorted(_codes(error)) == [
        ("one.synonyms", 1, "single_term"),
        ("one.synonyms", 2, "multiple_arrows"),
        ("one.synonyms", 4, "cycle"),
        ("two.synonyms", 1, "empty_term"),
    ]


def test_a_chain_longer_than_the_stack_is_followed(tmp_path: Path) -> None:
    rules = _rules(tmp_path, one="\n".join(f"w{n} => w{n + 1}" for n in range(5000)))
    assert rules.lines[0] == "w0 => w5000"


def test_the_number_of_equivalents_is_limited(tmp_path: Path) -> None:
    with pytest.raises(RuleErrors) as error:
        _rules(tmp_path, one="\n".join(f"w{n}, w{n + 1}" for n in range(150)))
    assert [code for _, _, code in _codes(error)] == ["too_many_equivalents"]


def test_the_number_of_pairs_is_limited(tmp_path: Path) -> None:
    left = ", ".join(f"left{n}" for n in range(999))
    lines = [f"{left}, x{n} => {', '.join(f'r{n}-{m}' for m in range(100))}" for n in range(21)]
    text = "\n".join(line.replace("left", f"left{n}-") for n, line in enumerate(lines))
    with pytest.raises(RuleErrors) as error:
        _rules(tmp_path, one=text)
    assert [code for _, _, code in _codes(error)] == ["too_many_pairs"]


def test_the_number_of_rules_is_limited(tmp_path: Path) -> None:
    path = tmp_path / "one.synonyms"
    path.write_text("a, b\n" * 100_002)
    rules, findings = parse_files([path])
    assert len(rules) == 100_000
    assert [(finding.line, finding.code) for finding in findings] == [(100_001, "too_many_rules")]


def test_rule_files_are_read_in_order_of_name(tmp_path: Path) -> None:
    for name in ("b.synonyms", "a.synonyms", ".hidden.synonyms", "c.synonyms", "notes.txt"):
        (tmp_path / name).write_text("a, b")
    assert [path.name for path in rule_files(tmp_path)] == [
        "a.synonyms",
        "b.synonyms",
        "c.synonyms",
    ]
    left = rule_files(tmp_path, {"a", "c.synonyms"})
    assert [path.name for path in left] == ["b.synonyms"]
    assert rule_files(tmp_path / "nowhere") == []


def test_rule_files_for_other_languages_are_left_out(tmp_path: Path) -> None:
    texts = {"all": "a, b", "one": "# language: german\na, b", "two": "# language: german, dutch"}
    for name, text in texts.items():
        (tmp_path / f"{name}.synonyms").write_text(text)

    def names(language: str) -> list[str]:
        return [path.stem for path in rule_files(tmp_path, (), language)]

    assert names("english") == ["all"]
    assert names("german") == ["all", "one", "two"]
    assert names("dutch") == ["all", "two"]
    assert names("") == ["all", "one", "two"]
    (tmp_path / "one.synonyms").write_text("# language: english, german\na, b")
    assert names("english") == ["all", "one"]


def test_the_digest_changes_with_the_bytes_of_the_files_only(tmp_path: Path) -> None:
    rules = _rules(tmp_path, one="a => b", two="c, d")
    assert rules.digest == rules_digest([tmp_path / "two.synonyms", tmp_path / "one.synonyms"])
    assert rules.digest != _rules(tmp_path, one="a => b", two="# other\nc, d").digest
    assert rules.digest != NO_RULES.digest == rules_digest([])


def test_the_source_of_each_compiled_line_is_known(tmp_path: Path) -> None:
    rules = _rules(tmp_path, one="a, b\nx => y", two="b, c")
    assert [(line, rule.place) for line, rule in zip(rules.lines, rules.sources, strict=True)] == [
        ("a, b, c", "one.synonyms:1"),
        ("x => y", "one.synonyms:2"),
    ]


def test_the_setting_is_all_lines_in_one(tmp_path: Path) -> None:
    assert _rules(tmp_path, one="a, b\nx => y").compiled == ("a, b\nx => y",)
    assert NO_RULES.compiled == ()


def test_explains_which_rules_apply(tmp_path: Path) -> None:
    rules = _rules(
        tmp_path,
        one="js => java script\ncafé => bistro",
        two="javascript, ecma\n\nml, machine learning",
    )
    made = rules.explain(["the", "js", "and", "machine", "learning", "at", "the", "cafe"])
    assert [
        (applied.start, applied.count, applied.tokens, [rule.place for rule in applied.rules])
        for applied in made
    ] == [
        (1, 1, ("javascript", "ecma"), ["one.synonyms:1", "two.synonyms:1"]),
        (3, 2, ("ml",), ["two.synonyms:3"]),
        (7, 1, ("bistro",), ["one.synonyms:2"]),
    ]


def test_explaining_takes_the_longest_match(tmp_path: Path) -> None:
    rules = _rules(tmp_path, one="a b c => x\na b => y\nb => z")
    assert [applied.tokens for applied in rules.explain(list("abcab"))] == [("x",), ("y",)]
    assert rules.explain([]) == ()
    assert NO_RULES.explain(["a"]) == ()


def test_random_rules_compile_to_tokens_that_no_rule_changes() -> None:
    random.seed(4)
    words = ["a", "b", "c", "d", "e f", "g h", "ef"]
    for _ in range(2000):
        rules = []
        for line in range(random.randint(1, 6)):
            left = tuple(random.sample(words, random.randint(1, 3)))
            right = tuple(random.sample(words, random.randint(0, 2)))
            rules.append(Rule("x.synonyms", line + 1, left, right))
        made, findings = compile_rules(rules)
        if findings:
            continue
        for entry in made.entries.values():
            assert entry.tokens
            for token in entry.tokens:
                assert " " not in token
                again = made.entries[(token,)].tokens
                assert set(again) <= set(entry.tokens)
