"""Judges rules by what the analysis chain makes of their words before any rule is applied."""

from collections.abc import Callable, Collection, Iterator

from analyzers.findings import Finding, error, warning
from analyzers.lint.scratch_index import Trial
from analyzers.rules import RuleSet
from analyzers.rules.parse import Rule
from analyzers.rules.words import words

Tokens = tuple[str, ...]


class Judge:
    """What the chain makes of the words of the rules, before any rule is applied."""

    def __init__(self, bare: Trial, rules: RuleSet) -> None:
        self._rules = rules
        entries = rules.entries
        texts = list(
            dict.fromkeys(
                text for entry in entries.values() for text in (*entry.forms, *entry.tokens)
            )
        )
        self._before = dict(zip(texts, bare.before(texts), strict=True))
        self._stems = dict(zip(texts, bare.stems(texts), strict=True))
        self._taken: dict[Tokens, tuple[str, Rule]] = {}

    def before(self, side: str) -> Tokens:
        """The tokens of a side as they reach the synonym filter."""
        return self._before[side]

    def findings(self, rule: Rule) -> Iterator[Finding]:
        """What is wrong with one rule."""
        sides = [*rule.left, *rule.right]
        empty = [side for side in sides if not self._before[side]]
        if empty:
            message = f"no token is left of `{empty[0]}`: the analyzer knows letters and digits."
            yield told(error, rule, "eaten", message, "Remove the line, or write it in words.")
            return
        ends = {token for side in sides for token in self._rules.entries[words(side)].tokens}
        several = [end for end in ends if len(self._before[end]) > 1]
        if several:
            made = " ".join(self._before[several[0]])
            message = f"cannot work: `{several[0]}` should be one token and is several (`{made}`)."
            yield told(error, rule, "not_one_token", message, "End the rule at a single word.")
            return
        yield from self._eaten(rule, sides, ends)
        yield from self._colliding(rule)

    def _eaten(self, rule: Rule, sides: list[str], ends: Collection[str]) -> Iterator[Finding]:
        stopped = sorted(end for end in ends if not self._stems[end])
        if stopped:
            message = f"`{stopped[0]}` is a stop word, so nothing is left of `{rule}`."
            certain = len(stopped) == len(ends)
            tell = error if certain else warning
            remedy = "Remove it: stop words are not searched for."
            yield told(tell, rule, "stop_word", message, remedy)
            return
        lost = [side for side in rule.left if len(words(side)) == 1 and not self._stems[side]]
        if lost:
            message = f"`{lost[0]}` is a stop word and stands in nearly every post."
            yield told(warning, rule, "stop_word", message, "Remove it from the rule.")
        before = {self._before[side] for side in sides}
        stems = {self._stems[side] for side in sides}
        if len(before) == 1 < len(set(sides)):
            made = " ".join(next(iter(before)))
            message = f"all sides are `{made}` before any rule is applied."
            yield told(warning, rule, "same_token", message, "Remove the line.")
        elif len(stems) == 1 < len(set(sides)):
            made = " ".join(next(iter(stems)))
            message = f"all sides are stemmed to `{made}` anyway."
            remedy = "Remove the line, unless the spelling itself is to count in the ranking."
            yield told(warning, rule, "same_stem", message, remedy)

    def _colliding(self, rule: Rule) -> Iterator[Finding]:
        """Words that look different and are the same token, with different ends."""
        for side in rule.left:
            entry = self._rules.entries[words(side)]
            ends = tuple(sorted(self._before[token][0] for token in entry.tokens))
            former = self._taken.setdefault(self._before[side], (" ".join(ends), rule))
            if former[0] != " ".join(ends):
                made = " ".join(self._before[side])
                message = (
                    f"`{side}` is `{made}` to the analyzer, which {former[1].place} contracts to "
                    f"`{former[0]}`."
                )
                yield told(error, rule, "conflict", message, "Keep one of the two rules.")


def told(
    kind: Callable[[str, int, str, str, str], Finding],
    rule: Rule,
    code: str,
    message: str,
    remedy: str,
) -> Finding:
    """A finding at the place of a rule; `kind` is `error` or `warning`."""
    return kind(rule.file, rule.line, code, message, remedy)
