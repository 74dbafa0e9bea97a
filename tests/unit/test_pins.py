"""Pin files: what a line means, what is wrong with it, and which rules a search has."""

import json
from pathlib import Path

import pytest

from analyzers.languages import ENGLISH
from analyzers.rules.compile import Phrases
from app.search.pins import MAX_POSTS, MAX_RULES, PinRule, match_rules, parse, words_of
from app.search.plan import plan_typed
from app.search.request import SearchRequest

CASES = json.loads((Path(__file__).parents[1] / "data/unit/pins.json").read_text("utf-8"))
"""By test: its cases."""


def _rules(text: str) -> list[PinRule]:
    rules, findings = parse({"my.pins": text}, ENGLISH)
    assert findings == []
    return rules


def _matched(text: str, q: str) -> tuple[list[str], list[str]]:
    plan = plan_typed(SearchRequest(q=q), ENGLISH, Phrases(), recency=True)
    words = words_of(plan.terms, plan.query, ENGLISH)
    pins = match_rules(_rules(text), words)
    return list(pins.first), list(pins.never)


@pytest.mark.parametrize(("rule", "q", "first"), CASES["which_posts_come_first"])
def test_which_posts_come_first(rule: str, q: str, first: list[str]) -> None:
    assert _matched(rule, q) == (first, [])


def test_exact_rules_come_before_those_by_word_and_never_wins() -> None:
    text = "cron * => d\ncron jobs * => c, e\ncron jobs => a, b\njobs * => -b"
    assert _matched(text, "cron jobs") == (["a", "c", "e", "d"], ["b"])


def test_only_so_many_posts_come_first() -> None:
    text = "\n".join(f"cron * => p{number}" for number in range(2 * MAX_POSTS))
    assert len(_matched(text, "cron")[0]) == MAX_POSTS


@pytest.mark.parametrize(("line", "code"), CASES["an_invalid_line_is_named"])
def test_an_invalid_line_is_named(line: str, code: str) -> None:
    rules, findings = parse({"my.pins": f"# pins\n\n{line}\nok => a\n"}, ENGLISH)
    assert [rule.line for rule in rules] == [4]
    assert [(finding.file, finding.line, finding.code) for finding in findings] == [
        ("my.pins", 3, code)
    ]
    assert findings[0].severity == "error"


def test_too_many_rules() -> None:
    text = "\n".join(f"word{number} => a" for number in range(MAX_RULES + 1))
    rules, (finding,) = parse({"my.pins": text}, ENGLISH)
    assert len(rules) == MAX_RULES
    assert (finding.code, finding.line) == ("too_many_rules", MAX_RULES + 1)
