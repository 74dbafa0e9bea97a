"""The check of rule files before they are used: all findings at once, with their places.

First come findings that need no server. Others need real analysis: a scratch index without rules
gives the tokens of every term, and one with the rules proves that Elasticsearch accepts them and
that every term becomes the tokens that the compiler expects.

A comment in a rule file suppresses warnings, but not errors, in the whole file:

    # check-ignore: same_stem, frequent_word
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from elasticsearch import Elasticsearch

from analyzers.findings import Finding, Severity
from analyzers.languages import ENGLISH, LANGUAGES, Language
from analyzers.rules.compile import NO_RULES, RuleSet, compile_rules, rules_digest
from analyzers.rules.parse import (
    MAX_WORDS,
    SUFFIX,
    Rule,
    comment_values,
    is_for,
    parse_files,
    words,
)
from analyzers.scratch_index import RulesRejected, ScratchIndex, Tokens, scratch_index

FREQUENT = 0.1  # share of the posts: a word in a tenth of them is a subject of the blog
MIN_POSTS = 20  # a word in fewer posts is never frequent

_LIMITS = frozenset(("too_many_rules", "too_many_pairs"))
_REMOVE = "Remove the line."


@dataclass(frozen=True, slots=True)
class PostCounts:
    """The number of posts in the index, and of those with each word."""

    total: int
    with_word: Mapping[str, int]


CountPosts = Callable[[Sequence[str]], PostCounts]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What a check found.

    `rules` are those of all files together; None when there are errors. `suppressed` is the number
    of warnings that the files suppress.
    """

    rules: RuleSet | None
    findings: tuple[Finding, ...]
    suppressed: int

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.severity == "error")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.severity == "warning")


def check(
    client: Elasticsearch | None,
    files: Sequence[Path],
    others: Sequence[Path] = (),
    count_posts: CountPosts | None = None,
    language: Language = ENGLISH,
) -> CheckResult:
    """Checks rule files together with those that they will be used with.

    Args:
        client: analyses the terms; None for a check without Elasticsearch.
        files: their findings are reported.
        others: files in use. One with the name of a checked file is its older version and is left
            out. Only errors are reported.
        count_posts: counts the posts of the live index that have each of some words; None for no
            findings about frequent words.
        language: of the index.

    Raises:
        elasticsearch.ApiError, elasticsearch.TransportError: from the client.
    """
    checked = {path.name for path in files}
    together = [*files, *(path for path in others if path.name not in checked)]
    rules, findings = parse_files(sorted(together, key=lambda path: path.name))
    compiled, problems = compile_rules(rules)
    own = [rule for rule in rules if rule.file in checked]
    findings += [
        *problems,
        *_file_findings(files, language),
        *_static_findings(rules),
    ]
    if client is not None and not any(finding.code in _LIMITS for finding in findings):
        findings += _term_findings(client, compiled, language)
        if not _has_errors(findings):
            findings += verification_findings(client, compiled, own, language)
    if count_posts is not None:
        findings += _frequent_words(own, count_posts)
    ignored = {path.name: comment_values(path, "check-ignore") for path in files}
    kept: set[Finding] = set()
    suppressed: set[Finding] = set()
    for finding in findings:
        if finding.severity == "error":
            kept.add(finding)
        elif finding.file in checked:
            (suppressed if finding.code in ignored[finding.file] else kept).add(finding)
    in_order = tuple(
        sorted(
            kept, key=lambda finding: (finding.file, finding.line, finding.code, finding.message)
        )
    )
    if _has_errors(kept):
        return CheckResult(None, in_order, len(suppressed))
    usable = replace(compiled, digest=rules_digest(together))
    return CheckResult(usable, in_order, len(suppressed))


def _has_errors(findings: Iterable[Finding]) -> bool:
    return any(finding.severity == "error" for finding in findings)


def _file_findings(files: Sequence[Path], language: Language) -> Iterator[Finding]:
    """What is wrong with the names of files, and with the languages that they name."""
    for path in files:
        if not path.name.endswith(SUFFIX) or path.name.startswith("."):
            message = f"the name of a rule file is NAME{SUFFIX}."
            remedy = "Rename it before you load it."
            yield Finding(path.name, 0, "warning", "file_name", message, remedy)
        if unknown := comment_values(path, "language") - LANGUAGES.keys():
            message = f"there is no language `{', '.join(sorted(unknown))}`."
            remedy = f"Known are {', '.join(LANGUAGES)}."
            yield Finding(path.name, 0, "error", "unknown_language", message, remedy)
        elif not is_for(path, language.name):
            message = f"is not for {language.name} posts, so it is not used."
            remedy = "Change its comment `# language: …` if it should be."
            yield Finding(path.name, 0, "warning", "other_language", message, remedy)


def _static_findings(rules: Sequence[Rule]) -> Iterator[Finding]:
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


def _term_findings(
    client: Elasticsearch, rules: RuleSet, language: Language = ENGLISH
) -> list[Finding]:
    """What is wrong with the terms of all rules, seen without any rule applied.

    Rules of every file are looked at: two terms of different files may be the same token.
    """
    with scratch_index(client, NO_RULES, language) as index:
        terms = _Terms(index, rules)
    findings: list[Finding] = []
    for rule in rules.rules:
        findings += terms.unusable(rule) or [
            *terms.stop_words(rule),
            *terms.same_tokens(rule),
            *terms.collisions(rule),
        ]
    return findings


class _Terms:
    """The tokens of all terms of a rule set, without any rule applied."""

    def __init__(self, index: ScratchIndex, rules: RuleSet) -> None:
        self._entries = rules.entries
        texts = {
            text for entry in rules.entries.values() for text in entry.spellings + entry.tokens
        }
        self._tokens = index.tokens("before_synonyms", texts)
        self._stems = index.tokens("without_synonyms", texts)
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


def verification_findings(
    client: Elasticsearch, rules: RuleSet, own: Sequence[Rule], language: Language = ENGLISH
) -> list[Finding]:
    """Whether Elasticsearch accepts the rules, and the terms of `own` become what they should."""
    terms = {term for rule in own for term in rule.terms}
    ends = {token for term in terms for token in rules.entries[words(term)].tokens}
    try:
        with scratch_index(client, rules, language) as index:
            actual = index.tokens("after_synonyms", terms)
            analysed = index.tokens("before_synonyms", ends)
    except RulesRejected as rejection:
        named = rules.sources[rejection.line - 1]
        message = f"Elasticsearch rejects `{named}`: {rejection.reason}."
        return [named.finding("error", "rejected", message, "Write it with letters and digits.")]
    findings = []
    for rule in own:
        for term in rule.terms:
            expected = {analysed[token][0] for token in rules.entries[words(term)].tokens}
            if set(actual[term]) != expected:
                message = (
                    f"`{term}` becomes `{' '.join(actual[term])}`, "
                    f"not `{' '.join(sorted(expected))}`."
                )
                remedy = f"Another rule applies first, or a phrase has over {MAX_WORDS} tokens."
                findings.append(rule.finding("error", "wrong_tokens", message, remedy))
                break
    return findings


def _frequent_words(own: Sequence[Rule], count_posts: CountPosts) -> Iterator[Finding]:
    """Contractions that replace a word which more posts have than its replacement."""
    replaced = {
        term: rule
        for rule in own
        for term in rule.left
        if rule.is_contraction and term not in rule.right and len(words(term)) == 1
    }
    if not replaced:
        return
    replacements = [term for rule in replaced.values() for term in rule.right]
    counts = count_posts(list(dict.fromkeys([*replaced, *replacements])))
    for term, rule in replaced.items():
        posts = counts.with_word.get(term, 0)
        others = max(counts.with_word.get(right, 0) for right in rule.right)
        if posts >= max(FREQUENT * counts.total, MIN_POSTS) and posts > others:
            yield rule.finding(
                "warning",
                "frequent_word",
                f"replaces `{term}`, which {posts:,} of {counts.total:,} posts have; "
                f"`{', '.join(rule.right)}` is in {others:,}.",
                "Make sure that the word has no other meaning in them; see `synonyms preview`.",
            )
