"""Warnings that need no server: rules that are repeated, or have no effect or another one."""

from collections.abc import Iterable, Iterator, Sequence

from analyzers.findings import Finding
from analyzers.rules import Rule

_REMOVE = "Remove the line."


def static_findings(rules: Sequence[Rule]) -> Iterator[Finding]:
    """Warnings about rules that are used together, in reading order."""
    contractions: dict[str, Rule] = {}
    for rule in rules:
        if rule.is_contraction:
            for term in rule.left:
                contractions.setdefault(term, rule)
    yield from _duplicates(rules)
    yield from _without_effect(rules, contractions)
    yield from _chained(rules, contractions)


def _duplicates(rules: Iterable[Rule]) -> Iterator[Finding]:
    seen: dict[tuple[frozenset[str], frozenset[str]], Rule] = {}
    for rule in rules:
        for side in (rule.left, rule.right):
            for term in {term for term in side if side.count(term) > 1}:
                message = f"`{term}` is in the rule twice."
                yield rule.finding("warning", "duplicate", message, "Remove one of the two.")
        key = frozenset(rule.left), frozenset(rule.right)
        former = seen.setdefault(key, rule)
        if former is not rule:
            message = f"`{rule}` repeats {former.place}."
            yield rule.finding("warning", "duplicate", message, _REMOVE)


def _without_effect(rules: Iterable[Rule], contractions: dict[str, Rule]) -> Iterator[Finding]:
    equivalents: dict[str, list[Rule]] = {}
    for rule in rules:
        if set(rule.left) == set(rule.right) or len(set(rule.terms)) == 1:
            message = f"`{rule}` changes nothing."
            yield rule.finding("warning", "no_effect", message, _REMOVE)
        elif not rule.is_contraction:
            yield from _unreachable(rule, contractions, equivalents)


def _unreachable(
    rule: Rule, contractions: dict[str, Rule], equivalents: dict[str, list[Rule]]
) -> Iterator[Finding]:
    for term in rule.left:
        other = contractions.get(term)
        if other is not None and set(other.right) <= set(rule.left):
            message = f"`{other}` ({other.place}) replaces `{term}`, so `{rule}` has no effect."
            remedy = f"Keep one of the two; `{rule}` alone keeps both words in the index."
            yield rule.finding("warning", "unreachable", message, remedy)
            return
    terms = set(rule.left)
    for former in equivalents.get(rule.left[0], ()):
        if terms < set(former.left):
            message = f"`{former}` ({former.place}) includes `{rule}`."
            yield rule.finding("warning", "unreachable", message, _REMOVE)
            return
    for term in terms:
        equivalents.setdefault(term, []).append(rule)


def _chained(rules: Iterable[Rule], contractions: dict[str, Rule]) -> Iterator[Finding]:
    """Rules whose result another rule replaces."""
    for rule in rules:
        for term in rule.right or rule.left:
            other = contractions.get(term)
            if other is None or other is rule or set(other.right) <= set(rule.left):
                continue
            result = ", ".join(other.right)
            message = (
                f"the result of `{rule}` is not `{term}`: `{other}` ({other.place}) "
                f"replaces it with `{result}`."
            )
            remedy = f"If that is intended, write `{result}` here, too."
            yield rule.finding("warning", "chained", message, remedy)
            break
