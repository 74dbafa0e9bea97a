"""The rule files that the repository ships."""

from pathlib import Path

import pytest

from analyzers.rules.compile import RuleSet, read_rules
from analyzers.rules.parse import rule_files

FOLDER = Path(__file__).resolve().parents[2] / "synonyms"


@pytest.fixture(scope="module")
def rules() -> RuleSet:
    return read_rules(rule_files(FOLDER))


def _tokens(rules: RuleSet, text: str) -> tuple[str, ...]:
    (applied,) = rules.explain(text.split())
    return applied.tokens


def test_every_file_has_rules(rules: RuleSet) -> None:
    count = {
        path.stem: sum(rule.file == path.name for rule in rules.rules)
        for path in rule_files(FOLDER)
    }
    assert set(count) == {"british-american", "misspellings", "tech"}
    assert count["british-american"] > 1500
    assert count["tech"] >= 100


@pytest.mark.parametrize(
    ("term", "other"),
    [
        ("reactjs", "react"),
        ("postgres", "postgresql"),
        ("go", "golang"),
        ("dont", "don't"),
        ("centre", "center"),
        ("licence", "license"),
        ("organisations", "organizations"),
        ("tokenising", "tokenizing"),
        ("travelling", "traveling"),
        ("machine learning", "ml"),
        ("js", "java script"),
        ("c sharp", "c#"),
    ],
)
def test_both_terms_become_the_same_tokens(rules: RuleSet, term: str, other: str) -> None:
    assert _tokens(rules, term) == _tokens(rules, other)


@pytest.mark.parametrize(
    "word", ["teh", "cheque", "storey", "flyer", "going", "wont", "its", "story"]
)
def test_other_words_are_left_alone(rules: RuleSet, word: str) -> None:
    assert rules.explain([word]) == ()


def test_each_file_can_be_used_alone() -> None:
    for path in rule_files(FOLDER):
        assert read_rules([path]).compiled


def test_no_british_spelling_becomes_another() -> None:
    rules = read_rules([FOLDER / "british-american.synonyms"])
    assert not {rule.right[0] for rule in rules.rules} & {rule.left[0] for rule in rules.rules}
