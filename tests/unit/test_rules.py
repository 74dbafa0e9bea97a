"""Rules taken together: what they compile to, contradictions, and which rule made a token."""

import json
import random
from pathlib import Path

import pytest

from analyzers.rules.compile import NO_RULES, Phrases, Rules, compile_rules, in_effect, setting
from analyzers.rules.parse import Rule, rule_files

DATA = Path(__file__).resolve().parents[1] / "data" / "synonyms"
COMPILED = json.loads((DATA / "compiled.json").read_text())


def _rules(folder: Path, **texts: str) -> Rules:
    files = []
    for name, text in texts.items():
        files.append(folder / f"{name}.synonyms")
        files[-1].write_text(text)
    return Rules(files)


def _errors(folder: Path, **texts: str) -> list[tuple[str, int, str]]:
    errors = _rules(folder, **texts).errors
    return [(finding.file, finding.line, finding.code) for finding in errors]


@pytest.mark.parametrize("case", COMPILED, ids=lambda case: "; ".join(case["rules"])[:40])
def test_searches_have_single_tokens_and_posts_keep_words(
    tmp_path: Path, case: dict[str, list[str]]
) -> None:
    """`compiled.json` has the lines for searches, and those for posts if they differ."""
    rules = _rules(tmp_path, one="\n".join(case["rules"]))
    assert list(rules.compiled.lines) == case["searches"]
    assert list(rules.compiled.post_lines) == case.get("posts", case["searches"])


@pytest.mark.parametrize(
    ("text", "line", "code"),
    [
        ("a => b\nb => a", 2, "cycle"),
        ("a => b\nb => c\nc => a", 3, "cycle"),
        ("a, b\na => b\nb => a", 3, "conflict"),
        ("a => b\na => c", 2, "conflict"),
        ("a, b\na => c\nb => d", 3, "conflict"),
        ("a => b, c\na => b", 2, "conflict"),
        ("\n".join(f"w{n}, w{n + 1}" for n in range(20_000)), 100, "too_many_equivalents"),
        ("\n".join(f"w{n} => w{n + 1}" for n in range(20_000)), 101, "chain_too_long"),
        ("\n".join(f"w{n} => w{n - 1}" for n in range(1, 20_000)), 101, "chain_too_long"),
    ],
)
def test_contradictions_are_errors(tmp_path: Path, text: str, line: int, code: str) -> None:
    assert _errors(tmp_path, one=text) == [("one.synonyms", line, code)]


@pytest.mark.parametrize(
    "text",
    [
        "a => c\na => b\nb => c",
        "a => b\nx, b\na => x",
        "\n".join(f"w{n} => w{n + 1}" for n in range(100)),
        "\n".join(f"w{n}, w{n + 1}" for n in range(99)),
    ],
)
def test_rules_that_agree_are_used(tmp_path: Path, text: str) -> None:
    assert _rules(tmp_path, one=text).compiled.lines


def test_all_errors_are_reported_at_once(tmp_path: Path) -> None:
    texts = {"one": "alone\na => b => c\nx => y\ny => x\nc => d", "two": "a, , b\nx => z\nc => e"}
    assert sorted(_errors(tmp_path, **texts)) == [
        ("one.synonyms", 1, "single_term"),
        ("one.synonyms", 2, "multiple_arrows"),
        ("one.synonyms", 4, "cycle"),
        ("two.synonyms", 1, "empty_term"),
        ("two.synonyms", 2, "conflict"),
        ("two.synonyms", 3, "conflict"),
    ]


def test_the_number_of_pairs_is_limited(tmp_path: Path) -> None:
    left = ", ".join(f"left{n}" for n in range(999))
    lines = [f"{left}, x{n} => {', '.join(f'r{n}-{m}' for m in range(100))}" for n in range(21)]
    text = "\n".join(line.replace("left", f"left{n}-") for n, line in enumerate(lines))
    assert [code for _, _, code in _errors(tmp_path, one=text)] == ["too_many_pairs"]


def test_the_number_of_rules_is_limited(tmp_path: Path) -> None:
    rules = _rules(tmp_path, one="a, b\n" * 100_002)
    assert len(rules.rules) == 100_000
    assert [(error.line, error.code) for error in rules.errors] == [(100_001, "too_many_rules")]


def test_rule_files_are_read_in_order_of_name_and_for_their_language(tmp_path: Path) -> None:
    texts = {
        "b": "# language: english, german\na, b",
        "a": "a, b",
        ".hidden": "a, b",
        "c": "# language: german",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.synonyms").write_text(text)
    (tmp_path / "notes.txt").write_text("a, b")
    assert [path.stem for path in rule_files(tmp_path)] == ["a", "b", "c"]
    assert [path.stem for path in rule_files(tmp_path, {"a", "c.synonyms"})] == ["b"]
    assert [path.stem for path in rule_files(tmp_path, (), "english")] == ["a", "b"]
    assert [path.stem for path in rule_files(tmp_path, (), "german")] == ["a", "b", "c"]
    assert [path.stem for path in rule_files(tmp_path, (), "dutch")] == ["a"]
    assert rule_files(tmp_path / "nowhere") == []


def test_the_digest_changes_with_the_bytes_of_the_files_only(tmp_path: Path) -> None:
    rules = _rules(tmp_path, one="a => b", two="c, d")
    assert rules.digest == Rules([tmp_path / "two.synonyms", tmp_path / "one.synonyms"]).digest
    assert rules.digest != _rules(tmp_path, one="a => b", two="# other\nc, d").digest
    assert rules.digest != NO_RULES.digest


def test_rules_are_read_from_what_an_index_has(tmp_path: Path) -> None:
    rules = _rules(tmp_path, one="js => java script\nmachine learning, ml\nnode\\,js, c\\#")
    assert list(in_effect(rules.compiled.lines, rules.compiled.post_lines)) == [
        "js => javascript",
        "java script, javascript",
        "machine learning, ml",
        "node\\,js, node js, c\\#",
    ]
    phrases = Phrases.of(setting(rules.compiled.lines))
    tokens = ["a", "machine", "learning", "node", "js", "script"]
    assert phrases.places(tokens) == [(1, 3), (3, 5)]


def test_explains_which_rules_apply(tmp_path: Path) -> None:
    rules = _rules(
        tmp_path,
        one="js => java script\ncafé => bistro",
        two="javascript, ecma\n\nml, machine learning\na b c => x\na b => y",
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


def test_random_rules_compile_to_tokens_that_no_rule_changes() -> None:
    random.seed(4)
    words = ["a", "b", "c", "d", "e f", "g h", "ef"]
    for _ in range(2000):
        rules = []
        for line in range(random.randint(1, 6)):
            left = tuple(random.sample(words, random.randint(1, 3)))
            right = tuple(random.sample(words, random.randint(0, 2)))
            rules.append(Rule("x.synonyms", line + 1, left, right))
        made = compile_rules(rules)
        for group in made.groups.values():
            assert group.tokens
            for token in group.tokens:
                assert " " not in token
                assert set(made.groups[(token,)].tokens) <= set(group.tokens)
