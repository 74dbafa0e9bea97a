"""The check of rule files: all findings at once, without those that a file suppresses.

A comment in a rule file suppresses warnings, but not errors, in the whole file:

    # check-ignore: same_stem, frequent_word
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from elasticsearch import Elasticsearch

from analyzers.findings import Finding
from analyzers.languages import ENGLISH, LANGUAGES, Language
from analyzers.lint.analysis import term_findings, verification_findings
from analyzers.lint.static import static_findings
from analyzers.rules import SUFFIX, Rule, RuleSet, rules_digest
from analyzers.rules.compile import compile_rules
from analyzers.rules.parse import comment_values, is_for, parse_files, words

FREQUENT = 0.1  # share of the posts: a word in a tenth of them is a subject of the blog
MIN_POSTS = 20  # a word in fewer posts is never frequent

_LIMITS = frozenset(("too_many_rules", "too_many_pairs"))


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
        *_file_names(files),
        *_languages(files, language),
        *static_findings(rules),
    ]
    if client is not None and not any(finding.code in _LIMITS for finding in findings):
        findings += term_findings(client, compiled, language)
        if not _has_errors(findings):
            findings += verification_findings(client, compiled, own, language)
    if count_posts is not None:
        findings += _frequent_words(own, count_posts)
    reported = _reported(findings, checked)
    kept = _not_suppressed(reported, files)
    suppressed = len(reported) - len(kept)
    if _has_errors(kept):
        return CheckResult(None, tuple(kept), suppressed)
    return CheckResult(replace(compiled, digest=rules_digest(together)), tuple(kept), suppressed)


def _has_errors(findings: Sequence[Finding]) -> bool:
    return any(finding.severity == "error" for finding in findings)


def _reported(findings: Sequence[Finding], names: Collection[str]) -> list[Finding]:
    """All findings in these files, and the errors in every file, in order and once."""
    wanted = {one for one in findings if one.file in names or one.severity == "error"}
    return sorted(wanted, key=lambda one: (one.file, one.line, one.code, one.message))


def _not_suppressed(findings: Sequence[Finding], files: Sequence[Path]) -> list[Finding]:
    codes = {path.name: comment_values(path, "check-ignore") for path in files}
    return [
        finding
        for finding in findings
        if finding.severity == "error" or finding.code not in codes.get(finding.file, ())
    ]


def _file_names(files: Sequence[Path]) -> Iterator[Finding]:
    for path in files:
        if not path.name.endswith(SUFFIX) or path.name.startswith("."):
            message = f"the name of a rule file is NAME{SUFFIX}."
            remedy = "Rename it before you load it."
            yield Finding(path.name, 0, "warning", "file_name", message, remedy)


def _languages(files: Sequence[Path], language: Language) -> Iterator[Finding]:
    for path in files:
        if unknown := comment_values(path, "language") - LANGUAGES.keys():
            message = f"there is no language `{', '.join(sorted(unknown))}`."
            remedy = f"Known are {', '.join(LANGUAGES)}."
            yield Finding(path.name, 0, "error", "unknown_language", message, remedy)
        elif not is_for(path, language.name):
            message = f"is not for {language.name} posts, so it is not used."
            remedy = "Change its comment `# language: …` if it should be."
            yield Finding(path.name, 0, "warning", "other_language", message, remedy)


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
