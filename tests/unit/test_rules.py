"""Rules taken together: what they compile to, when they contradict, and which made a token."""

import random
from pathlib import Path

import pytest

from analyzers.rules import NO_RULES, Rule, RuleErrors, RuleSet, read_rules, rule_files


def _rules(folder: Path, **texts: str) -> RuleSet:
    files = []
    for name, text in texts.items():
        files.append(folder / f"{name}.synonyms")
        files[-1].write_text(text)
    return read_rules(files)


def _codes(error: pytest.ExceptionInfo[RuleErrors]) -> list[tuple[str, int, str]]:
    return [(found.file, found.line, found.code) for found in error.value.findings]


@pytest.mark.parametrize(
    ("text", "compiled"),
    [
        ("reactjs, react", ["reactjs, react"]),
        ("react => reactjs", ["react => reactjs"]),
        ("Go => GoLang", ["go => golang"]),
        ("dont => don’t", ["dont => don't"]),
        # a phrase ends at its group's single words ...
        ("machine learning, ml", ["machine learning => ml"]),
        ("ML, machine learning", ["machine learning => ml"]),
        ("state of the art, sota", ["state of the art => sota"]),
        ("sqlserver, mssql, sql server", ["sqlserver, mssql, sql server => sqlserver, mssql"]),
        # ... or at the words joined
        ("js => java script", ["js => javascript", "java script => javascript"]),
        ("hot dog, frankfurter sausage", ["hot dog, frankfurter sausage => hotdog"]),
        (
            "the c++ builder, our c# thing",
            ["the c++ builder, our c\\# thing => thecplusplusbuilder"],
        ),
        # a chain cuts more words than a person sees
        ("nodejs, node.js", ["node.js, node js => nodejs"]),
        ("utf8, utf-8", ["utf-8, utf 8 => utf8"]),
        ("nihon, 日本", ["日本, 日 本 => nihon"]),
        # chains of rules and groups over several lines are followed to their end
        ("a => b\nb => c", ["a => c", "b => c"]),
        ("a, b\nb, c", ["a, b, c"]),
        ("a, b\nb => c", ["a, b => c"]),
        ("a => b\nb, c", ["a => b, c", "b, c"]),
        ("a, b\na => b", ["a => b"]),
        ("a => b, c", ["a => b, c"]),
        ("a => a, b", ["a => a, b"]),
        ("x => machine learning\nmachine learning, ml", ["x => ml", "machine learning => ml"]),
        ("java script => js\nx => java script", ["java script => js", "x => js"]),
        # a phrase is found with its own words exchanged, too
        (
            "colour => color\ncolour scheme, palette",
            ["colour => color", "colour scheme, color scheme => palette"],
        ),
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
    ],
)
def test_contradictions_are_errors(tmp_path: Path, text: str, line: int, code: str) -> None:
    with pytest.raises(RuleErrors) as error:
        _rules(tmp_path, one=text)
    assert _codes(error) == [("one.synonyms", line, code)]


@pytest.mark.parametrize(
    "text", ["a => c\na => b\nb => c", "a => b\na => b", "a => b\nx, b\na => x"]
)
def test_rules_that_end_at_the_same_do_not_contradict(tmp_path: Path, text: str) -> None:
    assert _rules(tmp_path, one=text).lines


def test_a_contradiction_between_files_names_both(tmp_path: Path) -> None:
    with pytest.raises(RuleErrors) as error:
        _rules(tmp_path, first="a => b", second="# mine\na => c")
    (found,) = error.value.findings
    assert (found.file, found.line, found.code) == ("second.synonyms", 2, "conflict")
    assert "first.synonyms:1" in found.message


def test_every_complaint_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(RuleErrors) as error:
        _rules(tmp_path, one="alone\na => b => c\nx, y", two="a, , b")
    assert _codes(error) == [
        ("one.synonyms", 1, "one_sided"),
        ("one.synonyms", 2, "several_arrows"),
        ("two.synonyms", 1, "empty_side"),
    ]


def test_a_chain_longer_than_the_stack_is_followed(tmp_path: Path) -> None:
    rules = _rules(tmp_path, one="\n".join(f"w{n} => w{n + 1}" for n in range(5000)))
    assert rules.lines[0] == "w0 => w5000"


def test_no_more_equivalents_than_the_filter_can_pair(tmp_path: Path) -> None:
    with pytest.raises(RuleErrors) as error:
        _rules(tmp_path, one="\n".join(f"w{n}, w{n + 1}" for n in range(150)))
    assert [code for _, _, code in _codes(error)] == ["too_many_equivalents"]


def test_no_more_pairs_than_an_engine_can_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("analyzers.rules.compile.MAX_PAIRS", 5)
    with pytest.raises(RuleErrors) as error:
        _rules(tmp_path, one="a, b, c\nd => e")
    assert _codes(error) == [("one.synonyms", 1, "too_many_pairs")]


def test_no_more_rules_than_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analyzers.rules.rule_set.MAX_RULES", 2)
    with pytest.raises(RuleErrors) as error:
        _rules(tmp_path, one="a, b", two="c, d\ne, f\ng, h")
    assert _codes(error) == [("two.synonyms", 2, "too_many_rules")]


def test_the_order_of_files_is_their_names(tmp_path: Path) -> None:
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


def test_the_digest_follows_what_the_index_would_hold(tmp_path: Path) -> None:
    one = _rules(tmp_path, one="a => b\nc, d")
    assert one.digest == _rules(tmp_path, two="# other\na   =>  B\nc, d\n").digest
    assert one.digest != _rules(tmp_path, one="a => b\nc => d").digest
    assert one.digest != NO_RULES.digest


def test_the_source_of_each_compiled_line_is_known(tmp_path: Path) -> None:
    rules = _rules(tmp_path, one="a, b\nx => y", two="b, c")
    assert [(line, rule.place) for line, rule in zip(rules.lines, rules.sources, strict=True)] == [
        ("a, b, c", "one.synonyms:1"),
        ("x => y", "one.synonyms:2"),
    ]


def test_the_setting_is_all_lines_in_one(tmp_path: Path) -> None:
    assert _rules(tmp_path, one="a, b\nx => y").compiled == ("a, b\nx => y",)
    assert NO_RULES.compiled == ()


def test_explains_which_rules_are_at_work(tmp_path: Path) -> None:
    rules = _rules(
        tmp_path,
        one="js => java script\ncafé => bistro",
        two="javascript, ecma\n\nml, machine learning",
    )
    made = rules.explain(["the", "js", "and", "machine", "learning", "at", "the", "cafe"])
    assert [
        (found.start, found.count, found.tokens, [rule.place for rule in found.rules])
        for found in made
    ] == [
        (1, 1, ("javascript", "ecma"), ["one.synonyms:1", "two.synonyms:1"]),
        (3, 2, ("ml",), ["two.synonyms:3"]),
        (7, 1, ("bistro",), ["one.synonyms:2"]),
    ]


def test_explaining_takes_the_longest_match(tmp_path: Path) -> None:
    rules = _rules(tmp_path, one="a b c => x\na b => y\nb => z")
    assert [found.tokens for found in rules.explain(list("abcab"))] == [("x",), ("y",)]
    assert rules.explain([]) == ()
    assert NO_RULES.explain(["a"]) == ()


def test_any_rules_are_followed_to_an_end_or_refused() -> None:
    """Whatever is thrown at it, it ends, and nothing it compiles to is looked up again."""
    random.seed(4)
    words = ["a", "b", "c", "d", "e f", "g h", "ef"]
    for _ in range(2000):
        rules = []
        for line in range(random.randint(1, 6)):
            left = tuple(random.sample(words, random.randint(1, 3)))
            right = tuple(random.sample(words, random.randint(0, 2)))
            kind = "contraction" if right else "equivalent"
            rules.append(Rule("x.synonyms", line + 1, left, right, kind))  # type: ignore[arg-type]
        try:
            made = RuleSet.of(rules)
        except RuleErrors:
            continue
        for entry in made.entries.values():
            assert entry.tokens
            for token in entry.tokens:
                assert " " not in token
                again = made.entries[(token,)].tokens
                assert set(again) <= set(entry.tokens)
