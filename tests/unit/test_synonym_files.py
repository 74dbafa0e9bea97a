"""The rule files that the repository ships."""

from pathlib import Path

import pytest

from analyzers.rules.compile import Rules
from analyzers.rules.parse import rule_files

FOLDER = Path(__file__).resolve().parents[2] / "synonyms"


@pytest.fixture(scope="module")
def rules() -> Rules:
    return Rules(rule_files(FOLDER))


def _tokens(rules: Rules, text: str) -> tuple[str, ...]:
    ((_, _, group),) = rules.explain(text.split())
    return group.tokens


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
def test_both_terms_become_the_same_tokens(rules: Rules, term: str, other: str) -> None:
    assert _tokens(rules, term) == _tokens(rules, other)


@pytest.mark.parametrize(
    "word", ["teh", "cheque", "storey", "flyer", "going", "wont", "its", "story"]
)
def test_other_words_are_left_alone(rules: Rules, word: str) -> None:
    assert rules.explain([word]) == []


def test_no_british_spelling_becomes_another() -> None:
    rules = Rules([FOLDER / "british-american.synonyms"]).rules
    assert len(rules) > 4000
    assert not {rule.right[0] for rule in rules} & {rule.left[0] for rule in rules}
