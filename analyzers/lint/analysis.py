"""Findings that need real analysis: what Elasticsearch makes of the terms of rules.

Two scratch indices are used: one without rules gives the tokens of every term; one with the rules
proves that Elasticsearch accepts them and that every term becomes the tokens that the compiler
expects.
"""

from collections.abc import Iterator, Sequence

from elasticsearch import Elasticsearch

from analyzers.findings import Finding, Severity
from analyzers.languages import ENGLISH, Language
from analyzers.lint.scratch_index import RulesRejected, ScratchIndex, Tokens, scratch_index
from analyzers.rules import NO_RULES, Rule, RuleSet
from analyzers.rules.parse import MAX_WORDS, words


def term_findings(
    client: Elasticsearch, rules: RuleSet, language: Language = ENGLISH
) -> list[Finding]:
    """What is wrong with the terms of all rules, seen without any rule applied.

    Rules of every file are looked at: two terms of different files may be the same token.
    """
    with scratch_index(client, NO_RULES, language) as index:
        terms = _Terms(index, rules)
    found: list[Finding] = []
    for rule in rules.rules:
        found += terms.unusable(rule) or [
            *terms.stop_words(rule),
            *terms.same_tokens(rule),
            *terms.collisions(rule),
        ]
    return found


def verification_findings(
    client: Elasticsearch, rules: RuleSet, own: Sequence[Rule], language: Language = ENGLISH
) -> list[Finding]:
    """Whether Elasticsearch accepts the rules, and the terms of `own` become what they should."""
    try:
        with scratch_index(client, rules, language) as index:
            return list(_wrong_tokens(index, rules, own))
    except RulesRejected as rejection:
        named = rules.sources[rejection.line - 1]
        message = f"Elasticsearch rejects `{named}`: {rejection.reason}."
        return [named.finding("error", "rejected", message, "Write it with letters and digits.")]


def _wrong_tokens(index: ScratchIndex, rules: RuleSet, own: Sequence[Rule]) -> Iterator[Finding]:
    terms = list(dict.fromkeys(term for rule in own for term in rule.terms))
    actual = dict(zip(terms, index.after_synonyms(terms), strict=True))
    ends = list({token for term in terms for token in rules.entries[words(term)].tokens})
    analysed = dict(zip(ends, index.before_synonyms(ends), strict=True))
    for rule in own:
        for term in rule.terms:
            expected = {analysed[token][0] for token in rules.entries[words(term)].tokens}
            if set(actual[term]) != expected:
                message = (
                    f"`{term}` becomes `{' '.join(actual[term])}`, "
                    f"not `{' '.join(sorted(expected))}`."
                )
                remedy = f"Another rule applies first, or a phrase has over {MAX_WORDS} tokens."
                yield rule.finding("error", "wrong_tokens", message, remedy)
                break


class _Terms:
    """The tokens of all terms of a rule set, without any rule applied."""

    def __init__(self, index: ScratchIndex, rules: RuleSet) -> None:
        self._entries = rules.entries
        texts = list(
            dict.fromkeys(
                text for entry in rules.entries.values() for text in entry.spellings + entry.tokens
            )
        )
        self._tokens = dict(zip(texts, index.before_synonyms(texts), strict=True))
        self._stems = dict(zip(texts, index.without_synonyms(texts), strict=True))
        self._seen: dict[Tokens, tuple[str, str, Rule]] = {}

    def unusable(self, rule: Rule) -> list[Finding]:
        """Terms of which no token is left, and results that are not one token; at most one."""
        for term in rule.terms:
            if not self._tokens[term]:
                message = f"no token is left of `{term}`: the analyzer keeps letters and digits."
                remedy = "Remove the line, or write it in words."
                return [rule.finding("error", "no_tokens", message, remedy)]
        for end in self._ends(rule):
            if len(self._tokens[end]) > 1:
                message = (
                    f"the result `{end}` must be one token, but the analyzer makes several of it "
                    f"(`{' '.join(self._tokens[end])}`)."
                )
                return [
                    rule.finding("error", "several_tokens", message, "Contract to a single word.")
                ]
        return []

    def stop_words(self, rule: Rule) -> Iterator[Finding]:
        """A result or a term that the stop filter removes; at most one."""
        ends = self._ends(rule)
        stopped = [end for end in ends if not self._stems[end]]
        if stopped:
            severity: Severity = "error" if len(stopped) == len(ends) else "warning"
            message = f"`{stopped[0]}` is a stop word: no token is left of it in `{rule}`."
            remedy = "Remove it: stop words are not searched for."
            yield rule.finding(severity, "stop_word", message, remedy)
            return
        for term in rule.left:
            if len(words(term)) == 1 and not self._stems[term]:
                message = f"`{term}` is a stop word, which nearly every post has."
                yield rule.finding("warning", "stop_word", message, "Remove it from the rule.")
                return

    def same_tokens(self, rule: Rule) -> Iterator[Finding]:
        """Rules whose terms are equal without the rule."""
        if len(set(rule.terms)) == 1 or not all(self._stems[end] for end in self._ends(rule)):
            return
        tokens = {self._tokens[term] for term in rule.terms}
        stems = {self._stems[term] for term in rule.terms}
        if len(tokens) == 1:
            message = f"all terms are `{' '.join(tokens.pop())}` before any rule is applied."
            yield rule.finding("warning", "same_token", message, "Remove the line.")
        elif len(stems) == 1:
            message = f"all terms are stemmed to `{' '.join(stems.pop())}` anyway."
            remedy = "Remove the line, unless the spelling itself is to count in the ranking."
            yield rule.finding("warning", "same_stem", message, remedy)

    def collisions(self, rule: Rule) -> Iterator[Finding]:
        """Terms that are spelled differently, are the same token, and have different results."""
        for term in rule.left:
            tokens = self._tokens[term]
            result = " ".join(
                sorted(self._tokens[end][0] for end in self._entries[words(term)].tokens)
            )
            other, other_result, former = self._seen.setdefault(tokens, (term, result, rule))
            if other_result != result:
                message = (
                    f"`{term}` and `{other}` ({former.place}) are the same token, "
                    f"`{' '.join(tokens)}`, but become `{result}` and `{other_result}`."
                )
                yield rule.finding("error", "conflict", message, "Keep one of the two rules.")

    def _ends(self, rule: Rule) -> list[str]:
        """The tokens that the terms of a rule become."""
        tokens = {token for term in rule.terms for token in self._entries[words(term)].tokens}
        return sorted(tokens)
