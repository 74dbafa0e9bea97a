"""What can be said about rule files without a server: bad syntax, circles, rules without effect."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from analyzers.findings import Finding, warning
from analyzers.rules import Rule, RuleErrors, RuleSet, read_rules

_REMOVE = "Remove the line."


@dataclass(frozen=True, slots=True)
class Review:
    """The rules, None when there are errors, and the findings so far, errors first come first."""

    rules: RuleSet | None
    findings: tuple[Finding, ...]


def review(files: Sequence[Path]) -> Review:
    """Reads rule files together, in the given order, and looks for what is wrong with them."""
    try:
        rules = read_rules(files)
    except RuleErrors as errors:
        return Review(None, errors.findings)
    findings = [*_repetitions(rules.rules), *_without_effect(rules), *_led_on(rules)]
    return Review(rules, tuple(findings))


def _repetitions(rules: Iterable[Rule]) -> Iterator[Finding]:
    seen: dict[tuple[frozenset[str], frozenset[str]], Rule] = {}
    for rule in rules:
        for hand in (rule.left, rule.right):
            for side in {side for side in hand if hand.count(side) > 1}:
                message = f"`{side}` stands in it twice."
                yield warning(rule.file, rule.line, "duplicate", message, "Remove one of the two.")
        key = frozenset(rule.left), frozenset(rule.right)
        former = seen.setdefault(key, rule)
        if former is not rule:
            message = f"`{rule}` is there already ({former.place})."
            yield warning(rule.file, rule.line, "duplicate", message, _REMOVE)


def _without_effect(rules: RuleSet) -> Iterator[Finding]:
    """Rules whose words another rule decides about, or that say a word is itself."""
    decided: dict[str, Rule] = {}
    for rule in rules.rules:
        if rule.kind == "contraction":
            for side in rule.left:
                decided.setdefault(side, rule)
    groups: dict[str, list[Rule]] = {}
    for rule in rules.rules:
        if set(rule.left) == set(rule.right) or len(set(rule.left) | set(rule.right)) == 1:
            message = f"`{rule}` leaves every word as it is."
            yield warning(rule.file, rule.line, "no_effect", message, _REMOVE)
        elif rule.kind == "equivalent":
            yield from _shadowed(rule, decided, groups)


def _shadowed(
    rule: Rule, decided: dict[str, Rule], groups: dict[str, list[Rule]]
) -> Iterator[Finding]:
    for side in rule.left:
        other = decided.get(side)
        if other is not None and set(other.right) <= set(rule.left):
            message = (
                f"unreachable: `{other}` ({other.place}) leaves nothing of `{side}` to be the same."
            )
            remedy = f"Keep one of the two; `{rule}` alone leaves both words in the index."
            yield warning(rule.file, rule.line, "unreachable", message, remedy)
            return
    sides = set(rule.left)
    for former in groups.get(rule.left[0], ()):
        if sides < set(former.left):
            message = f"`{former}` ({former.place}) says the same and more."
            yield warning(rule.file, rule.line, "unreachable", message, _REMOVE)
            return
    for side in sides:
        groups.setdefault(side, []).append(rule)


def _led_on(rules: RuleSet) -> Iterator[Finding]:
    """Rules that end elsewhere than they say, because another rule goes on from there."""
    onward: dict[str, Rule] = {}
    for rule in rules.rules:
        if rule.kind == "contraction":
            for side in rule.left:
                onward.setdefault(side, rule)
    for rule in rules.rules:
        ends = rule.right or rule.left
        for side in ends:
            other = onward.get(side)
            if other is None or other is rule or set(other.right) <= set(rule.left):
                continue
            message = (
                f"`{rule}` does not end at `{side}`: `{other}` ({other.place}) leads on to "
                f"`{', '.join(other.right)}`."
            )
            remedy = f"If that is meant, write `{', '.join(other.right)}` here, too."
            yield warning(rule.file, rule.line, "leads_on", message, remedy)
            break
