"""The rule files that the repository ships, and the script that makes one of them."""

from pathlib import Path

import pytest

from analyzers.rules import RuleSet, read_rules, rule_files
from scripts.british_american import EXCLUDED, pairs

FOLDER = Path(__file__).resolve().parents[2] / "synonyms"


@pytest.fixture(scope="module")
def rules() -> RuleSet:
    return read_rules(rule_files(FOLDER))


def _tokens(rules: RuleSet, text: str) -> tuple[str, ...]:
    (found,) = rules.explain(text.split())
    return found.tokens


def test_every_file_has_rules(rules: RuleSet) -> None:
    count = {
        path.stem: sum(rule.file == path.name for rule in rules.rules)
        for path in rule_files(FOLDER)
    }
    assert set(count) == {"british-american", "misspellings", "tech"}
    assert count["british-american"] > 1500
    assert count["tech"] >= 100


@pytest.mark.parametrize(
    ("one", "other"),
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
def test_both_terms_become_the_same_tokens(rules: RuleSet, one: str, other: str) -> None:
    assert _tokens(rules, one) == _tokens(rules, other)


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


def test_pairs_are_made_of_word_lists(tmp_path: Path) -> None:
    lists = {
        "british-words.35": "colour colours organise centre cheque flavour",
        "american-words.35": "color colors organize center",
        "english-words.35": "check flavor organized",
    }
    for name, content in lists.items():
        (tmp_path / name).write_text("\n".join(content.split()))
    found = pairs(tmp_path)
    assert found["colours"] == "colors"
    assert found["centre"] == "center"
    assert found["organising"] == "organizing"
    assert found["licences"] == "licenses"
    assert "organised" in found
    assert "flavour" not in found
    assert not EXCLUDED & found.keys()


def test_missing_word_lists_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="SCOWL"):
        pairs(tmp_path)
